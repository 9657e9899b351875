"""Which words of a question may be misspelt, and how far two words are apart."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+")
# Words with an apostrophe, numbers, ids, addresses, file names, what is masked and what is quoted stand as typed.
_AS_TYPED = re.compile(
    r"\S*[^\W\d_]['’]\S*|\S*[\d_@/\\:#<>\[\]]\S*|\S+\.\w\S*|[\"“”«»][^\"“”«»]*[\"“”«»]|(?<!\w)['‘][^'‘’]*['’](?!\w)"
)
_SHORTEST, _LONG = 4, 8  # letters: shorter words are never corrected, from the longer on two slips are allowed
_CHANGED = 1.2  # people drop, double and swap letters more often than they hit another one
_FAR = 3.0  # more than two slips; a swap looks two rows back and costs 1, so no later row falls below it
_SPAN = 32  # letters; nobody mistypes a longer word, and distances cost the square of it


def words(question: str) -> list[re.Match[str]]:
    """The words that may be corrected: not those in capitals, which are names or abbreviations."""
    text = _AS_TYPED.sub(lambda match: " " * len(match[0]), question)
    return [word for word in _WORD.finditer(text) if _SHORTEST <= len(word[0]) <= _SPAN and not word[0].isupper()]


def slips(word: str) -> int:
    """How many letters of a word may be wrong, missing, too many or in another order."""
    return 2 if len(word) >= _LONG else 1


def starts(word: str) -> set[str]:
    """The two letters with which the word that is meant begins: as typed, or in the other order."""
    return {word[:2], word[1::-1]}


def second_letter(word: str) -> set[str]:
    """What may be meant where the slip is at the second letter."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return {word[0] + c + word[at:] for c in letters for at in (1, 2)} | {word[0] + word[2:]}


def roots(word: str, stems: Iterable[str]) -> dict[str, float]:
    """The stems of which the word may be a misspelt form, and how far each is from the beginning of the word."""
    most, letters = slips(word), set(word)
    found: dict[str, float] = {}
    for stem in stems:
        # The stem of a word that ends in y ends in i.
        for form in (stem, f"{stem[:-1]}y") if stem[-1:] == "i" else (stem,):
            if len(form) <= len(word) + most and len(set(form) - letters) <= most:
                apart = min(_row(form, word)[max(0, len(form) - most) :], default=most + 1.0)
                if int(apart) <= most:
                    found[stem] = min(apart, found.get(stem, apart))
    return found


def distance(one: str, other: str) -> float:
    """Letters to add, drop, swap with their neighbour, or change; to change one is a little dearer than the others."""
    return _row(one, other)[-1]


def meant(typed: str, word: str) -> bool:
    """Whether the word is near enough to be what was typed. With two slips, the first two letters agree."""
    most = slips(typed)
    if abs(len(typed) - len(word)) > most or word[:1] not in (typed[0], typed[1]):
        return False
    apart = int(distance(typed, word))
    return 0 < apart <= most and (apart < 2 or typed[:2] == word[:2])


def _row(one: str, other: str) -> list[float]:
    """The distance of `one` from each beginning of `other` (optimal string alignment); from where it has grown beyond
    all that counts, no less than it then was."""
    before: list[float] = []
    last = [float(n) for n in range(len(other) + 1)]
    for i, a in enumerate(one, 1):
        row = [float(i)]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (_CHANGED if a != b else 0))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
        if min(row) >= _FAR:
            break
    return last
