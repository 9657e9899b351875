"""Text as it is stored: one form for what looks the same, and nothing that cannot be seen."""

import re
import unicodedata
from itertools import pairwise

_LINE_ENDS = re.compile("\r\n?|[\x0b\x85\u2028\u2029]")
_FORM_FEED = re.compile("\x0c")
# Controls; lone surrogates; soft hyphen, zero-width space, word joiner and other marks without a shape; the bidi
# controls, which show text in another order than it is stored. ZWJ and ZWNJ stay: Urdu and emoji need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
    "|[\U000e0000-\U000e0fff]|[\ufe00-\ufe0f](?=[\ufe00-\ufe0f])"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_SPACE = re.compile(r"[^\S\n]+")
# Signs that begin an item of a list, or stand for a box to tick, Symbol's and Wingdings' among them.
BULLETS = "*•‣▪◦·●○■□◆◇►▸➤➢✓✔❏❑❖☐☑☒⬜∙⁃\uf0b7\uf0a7\uf0d8\uf0fc\uf0a8\uf076\uf06f\uf0e0"
_BULLET = re.compile(rf"(?:[{BULLETS}]\s*)+(?=\S)|–\s+(?=\S)")
_BOXES = {sign: shown for shown, signs in (("[x] ", "☑☒"), ("[ ] ", "☐⬜")) for sign in signs}  # to tick
_BLANK = re.compile(r"_{4,}|[.…]{6,}|(?:\. ){5,}\.?")  # to be filled in
_BLANK_AT_END = re.compile(rf"[ \t]*(?:{_BLANK.pattern})[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"[^\W\d_][\w /-]{0,30}:(?:\s|$)")
_AROUND_LINE_END = re.compile(r" ?\n ?")


def clean(text: str) -> str:
    """NFC, "\\n" line ends, tabs kept, no control, surrogate or invisible character."""
    text = _LINE_ENDS.sub("\n", text)
    text = _UNSEEN.sub("", _FORM_FEED.sub("\n\n", text))
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def flow(text: str) -> str:
    """`clean`, with single spaces, no empty lines and no space at either end: a paragraph."""
    text = _AROUND_LINE_END.sub("\n", _SPACE.sub(" ", clean(text)))
    return re.sub(r"\n{2,}", "\n", text).strip()


def line(text: str) -> str:
    """`flow` on a single line."""
    return " ".join(clean(text).split())


def item(text: str) -> str:
    """A line of a list with "-" for whatever sign it begins with; each of several boxes, where they differ."""
    bullet = _BULLET.match(text)
    if bullet is None:
        return text
    boxes = [_BOXES[sign] for sign in bullet.group() if sign in _BOXES]
    if len(set(boxes)) == 1:
        del boxes[1:]
    return f"- {''.join(boxes)}{text[bullet.end() :]}"


def bulleted(text: str) -> bool:
    """Whether it begins with the sign of a list item."""
    return _BULLET.match(text) is not None


def filled(text: str) -> str:
    """Text without the lines and dots on which somebody is to write."""
    return _BLANK.sub("___", _BLANK_AT_END.sub("", text))


def smuggled(text: str) -> list[str]:
    """Words written in Unicode tag characters, which show nothing and which a model can read."""
    return ["".join(chr(ord(mark) - 0xE0000) for mark in run) for run in _TAGS.findall(text)]


def unwrap(lines: list[str]) -> str:
    """A paragraph from its lines: joined where an editor wrapped them, kept apart where the writer broke them.

    A line was wrapped when the first word of the next one would not have fitted into the widest line. "Owner: ..."
    always starts a line.
    """
    lines = [piece for piece in (line(raw) for raw in lines) if piece]
    if len(lines) < 2:
        return "".join(lines)
    width = max(map(len, lines))
    text = lines[0]
    for above, below in pairwise(lines):
        wrapped = width >= 40 and len(above) + 1 + len(below.split(" ", 1)[0]) > width
        joined = (wrapped or below[0].islower()) and not _FIELD.match(below)
        text += (" " if joined else "\n") + below
    return text
