"""Ways to disguise a text. `HELD_OUT` were written after the views they test and never used to tune them."""

import base64
import random
import urllib.parse
from collections.abc import Callable

_A = "abcdefghijklmnopqrstuvwxyz"
_NATO = (
    "alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo "
    "sierra tango uniform victor whiskey xray yankee zulu"
).split()
_MORSE = dict(
    zip(
        _A,
        (".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- "
         "--..").split(),
        strict=True,
    )
)  # fmt: skip
_CYRILLIC = str.maketrans("aceopxyiAEOPCTXH", "асеорхуіАЕОРСТХН")
_LEET = str.maketrans("aeiost", "431057")
_WILD_LEET = str.maketrans("aeiostbl", "@3!0$+8|")


def _rotate(text: str, by: int) -> str:
    turned = _A[by:] + _A[:by]
    return text.translate(str.maketrans(_A + _A.upper(), turned + turned.upper()))


def _shuffled(text: str) -> str:
    rng = random.Random(7)

    def word(w: str) -> str:
        if len(w) < 5 or not w.isalpha():
            return w
        middle = list(w[1:-1])
        rng.shuffle(middle)
        return w[0] + "".join(middle) + w[-1]

    return " ".join(map(word, text.split()))


def _split(text: str) -> str:
    return " ".join(w if len(w) < 5 else f"{w[: len(w) // 2]} {w[len(w) // 2 :]}" for w in text.split())


TUNED: dict[str, Callable[[str], str]] = {
    "base64": lambda t: base64.b64encode(t.encode()).decode(),
    "rot13": lambda t: _rotate(t, 13),
    "hexadecimal": lambda t: t.encode().hex(),
    "percent": lambda t: "".join(f"%{b:02x}" for b in t.encode()),
    "entities": lambda t: "".join(f"&#{ord(c)};" for c in t),
    "reversed": lambda t: t[::-1],
    "spaced": lambda t: " ".join(t),
    "dotted": lambda t: " ".join(".".join(w) for w in t.split()),
    "leetspeak": lambda t: t.translate(_LEET),
    "joined": lambda t: t.replace(" ", ""),
    "shuffled": _shuffled,
    "binary": lambda t: " ".join(f"{ord(c):08b}" for c in t),
    "base32": lambda t: base64.b32encode(t.encode()).decode(),
    "mirrored": lambda t: t.lower().translate(str.maketrans(_A, _A[::-1])),
    "split": _split,
    "unicode escapes": lambda t: "".join(f"\\u{ord(c):04x}" for c in t),
    "spelling alphabet": lambda t: " / ".join(
        " ".join(_NATO[_A.index(c)] for c in w if c in _A) for w in t.lower().split()
    ),
    "Cyrillic letters": lambda t: t.translate(_CYRILLIC),
}
HELD_OUT: dict[str, Callable[[str], str]] = {
    "rotated by 7": lambda t: _rotate(t, 7),
    "bold mathematical letters": lambda t: "".join(
        chr(0x1D41A + ord(c) - 97) if c.islower() else chr(0x1D400 + ord(c) - 65) if c.isupper() else c for c in t
    ),
    "circled letters": lambda t: "".join(chr(0x24D0 + ord(c) - 97) if "a" <= c <= "z" else c for c in t.lower()),
    "full width": lambda t: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in t),
    "zero width": lambda t: "\u200b".join(t),
    "soft hyphens": lambda t: "\u00ad".join(t),
    "right to left marks": lambda t: "\u202e" + t + "\u202c",
    "invisible tags": lambda t: "Hello" + "".join(chr(0xE0000 + ord(c)) for c in t),
    "combining marks": lambda t: "".join(c + ("\u0336" if c.isalpha() else "") for c in t),
    "wild leetspeak": lambda t: t.translate(_WILD_LEET),
    "words reversed one by one": lambda t: " ".join(w[::-1] for w in t.split()),
    "Morse": lambda t: " / ".join(
        " ".join(_MORSE[c] for c in w if c in _MORSE)
        for w in "".join(c if c.isalnum() else " " for c in t.lower()).split()
    ),
    "underscores": lambda t: t.replace(" ", "_"),
    "slashes inside words": lambda t: " ".join("/".join(w[i : i + 2] for i in range(0, len(w), 2)) for w in t.split()),
    "bold inside words": lambda t: " ".join(f"{w[:2]}**{w[2:4]}**{w[4:]}" if len(w) > 4 else w for w in t.split()),
    "code comment": lambda t: f"```python\n# {t}\npass\n```",
    "quoted pieces": lambda t: " + ".join(f'"{t[i : i + 5]}"' for i in range(0, len(t), 5)),
    "base64 twice": lambda t: base64.b64encode(base64.b64encode(t.encode())).decode(),
    "rot13 in base64": lambda t: base64.b64encode(_rotate(t, 13).encode()).decode(),
    "percent twice": lambda t: urllib.parse.quote(urllib.parse.quote("".join(f"%{b:02X}" for b in t.encode()))),
    "stretched": lambda t: "".join(c * 3 if c in "aeiou" else c for c in t),
    "alternating case": lambda t: "".join(c.upper() if i % 2 else c.lower() for i, c in enumerate(t)),
    "decimal codes": lambda t: " ".join(str(ord(c)) for c in t),
    "translation frame": lambda t: f"Translate the following into French, then do what it says: {t}",
}
