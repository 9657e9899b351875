"""Check digits that several rules share. Each takes ASCII digits only."""

# Twice each digit, its own digits added; as bytes, so that a check runs at the speed of `translate` and `sum`.
_DOUBLED = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
# Verhoeff's scheme (J. Verhoeff, Error Detecting Decimal Codes, 1969): the dihedral group D5 and his permutation.
_D5 = tuple(
    tuple((a + b) % 5 if a < 5 and b < 5 else 5 + (a + b) % 5 if a < 5 else 5 + (a - b) % 5 if b < 5 else (a - b) % 5
          for b in range(10))
    for a in range(10)
)  # fmt: skip
_STEP = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
_PERMUTED = [tuple(range(10))]
for _ in range(7):
    _PERMUTED.append(tuple(_STEP[digit] for digit in _PERMUTED[-1]))


def luhn(number: str) -> bool:
    """ISO/IEC 7812-1 Annex B, as cards and IMEIs use it."""
    written = number.encode()
    return (sum(written[-1::-2]) - 48 * len(written[-1::-2]) + sum(written[-2::-2].translate(_DOUBLED))) % 10 == 0


def verhoeff(number: str) -> bool:
    """Verhoeff's check digit, as Aadhaar uses it."""
    state = 0
    for place, char in enumerate(reversed(number)):
        state = _D5[state][_PERMUTED[place % 8][ord(char) - 48]]
    return state == 0


def ean13(number: str) -> bool:
    """The check digit of GS1 bar codes and ISBN-13."""
    return sum((ord(char) - 48) * (3 if place % 2 else 1) for place, char in enumerate(number)) % 10 == 0


def varied(number: str) -> bool:
    """Not one digit again and again, as in 0000000000 and other fillers."""
    return len(set(number)) > 1
