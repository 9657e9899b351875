"""One canonical form of a text, for detection only, with an exact map back to the original.

Attackers and word processors write the same thing in many ways: other digits, other dashes, invisible characters,
letters borrowed from another alphabet. Rules that look at the canonical form need to know only one way. It is never
shown to people, because it loses accents and distinctions that matter to a reader.
"""

import re
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress

_LAYOUT = "\t\n\v\f\r"
_PLAIN = re.compile(r"[\t-\r -~]*")
_UNUSUAL = re.compile(r"[^\t-\r -~]+")
# Marks that readers see through on a Latin letter: general ones, and Cyrillic, Hebrew, Arabic, kana ones put there to
# hide the letter. `re` counts no mark as part of a word.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a\ufe20-\ufe2f"
)
_MARK = re.compile(f"[{_MARKS}]")
_WORD = re.compile(rf"[\w{_MARKS}]+")
_BORNE = re.compile(f"(?<=[a-zA-Z])[{_MARKS}]+")
_ON_ASCII = re.compile(f"(?<=[ -~])[{_MARKS}]+")
_DROPPED = "\0"  # cannot stand in a canonical text otherwise

# Compatibility characters that unfold into a phrase (U+FDFA is 18 letters) would let a text grow many times over.
_LONGEST_EXPANSION = 8

# Looked up before NFKC, which would split or space some of these.
_PUNCTUATION = {
    **dict.fromkeys("‘’‚‛′‵ʼʻʹˈ´ˋ‹›❛❜", "'"),
    **dict.fromkeys("“”„‟″‶«»❝❞〝〞", '"'),
    **dict.fromkeys("−⁃˗➖─━﹘﹣－", "-"),
    **dict.fromkeys("⁄∕⧸╱", "/"),
    **dict.fromkeys("。｡∙⋅‧·٫۔", "."),
    **dict.fromkeys("،٬、", ","),
    **dict.fromkeys("∶꞉ː", ":"),
    **dict.fromkeys("➕", "+"),
    **dict.fromkeys("\u2028\u2029\x85", "\n"),
    "\u0344": "\u0301",  # the one mark that NFKC makes two of
    "\u2800": " ",  # the blank braille pattern
}
# Letters and marks that draw nothing, beyond the categories Cf, Cc and Cs: Hangul fillers, grapheme joiner, Khmer
# inherent vowels, variation selectors (Unicode's Default_Ignorable_Code_Point).
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
# Characters that are not marks and yet compose with the one before: Hangul vowels and finals.
_JOINS = re.compile("[\u1161-\u11ff]")

# Letters of other alphabets that print like a Latin one, by eye, in common fonts. Upper and lower case are listed apart
# because they differ: Cyrillic В looks like B, в does not look like b.
_LOOKALIKES = {
    alike: latin
    for latin, group in {
        # Cyrillic, Greek, then Armenian, Cherokee and Coptic
        "A": "АΑᎪ", "B": "ВΒᏴ", "C": "СϹᏟⲤ", "E": "ЕΕᎬ", "H": "НΗᎻ", "I": "ІӀΙ", "J": "ЈͿᎫ", "K": "КΚᏦ", "L": "ԼᏞ",
        "M": "МΜᎷ", "N": "Ν", "O": "ОΟՕⲞ", "P": "РΡᏢ", "Q": "Ԛ", "R": "Ꮢ", "S": "ЅՏᏚ", "T": "ТΤᎢ", "V": "ѴᏙ", "W": "ԜᎳ",
        "X": "ХΧ", "Y": "ҮΥ", "Z": "ΖᏃ",
        "a": "аα", "c": "сϲⲥ", "d": "ԁ", "e": "е", "g": "ց", "h": "һհ", "i": "іι", "j": "јϳ", "k": "κ", "l": "ӏ",
        "n": "ո", "o": "оοօⲟσ", "p": "рρ", "q": "ԛզ", "s": "ѕ", "u": "υս", "v": "νѵ", "w": "ԝω", "x": "хχ", "y": "уүγ",
    }.items()
    for alike in group
}  # fmt: skip
# Latin letters in odd dress; a reader takes them for the plain ones in any word.
_DRESSED = {
    **dict(zip("ıȷɑɡɩʟɴʀʏʙɢʜɪᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜰꜱ", "ijagilnrybghiacdejkmoptuvwzfs", strict=True)),
    **{chr(0x1F150 + i): chr(65 + i) for i in range(26)},
    **{chr(0x1F170 + i): chr(65 + i) for i in range(26)},
}


@dataclass(frozen=True)
class Canonical:
    """`text` is canonical; its character i was written as original[starts[i]:ends[i]]. Both arrays never fall."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    @property
    def origin(self) -> Sequence[tuple[int, int]]:
        """The pairs (start, end) in the original, one for each canonical character."""
        return list(zip(self.starts, self.ends, strict=True))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The smallest range of the original that covers the canonical range; an empty range stays empty."""
        if start < end:
            return self.starts[start], self.ends[end - 1]
        if start < len(self.text):
            return self.starts[start], self.starts[start]
        last = self.ends[-1] if self.text else 0
        return last, last


def canonicalise(text: str) -> Canonical:
    """The canonical form of `text`: linear in its length, identity for printable ASCII.

    NFKC; invisible and control characters removed; every decimal digit, dash, space and quote in its ASCII form;
    accents off Latin letters; letters of another alphabet that look Latin folded where the word mixes alphabets or is
    made of nothing else. Newlines and tabs stay. A lone surrogate becomes U+FFFD.
    """
    if text.isascii() and _PLAIN.fullmatch(text):
        return Canonical(text, range(len(text)), range(1, len(text) + 1))
    if len(one_by_one := text.translate(_ONE_BY_ONE)) == len(text):
        return _fold_lookalikes(one_by_one, range(len(text)), range(1, len(text) + 1))
    parts: list[str] = []
    starts, ends = array("I"), array("I")
    done = 0
    for run in _UNUSUAL.finditer(text):
        if done < run.start():
            parts.append(text[done : run.start()])
            starts.extend(range(done, run.start()))
            ends.extend(range(done + 1, run.start() + 1))
        for at, char in enumerate(run.group(), run.start()):
            folded = _fold(char)
            if not folded:
                continue
            if parts and _continues(folded):
                base = parts[-1][-1]
                if _is_latin(base):
                    if _MARK.match(folded):
                        ends[-1] = at + 1  # the accent goes where its letter goes
                        continue
                elif len(joined := unicodedata.normalize("NFC", base + folded)) == 1:
                    parts[-1] = parts[-1][:-1] + joined if len(parts[-1]) > 1 else joined
                    ends[-1] = at + 1
                    continue
            parts.append(folded)
            if len(folded) == 1:
                starts.append(at)
                ends.append(at + 1)
            else:
                starts.extend([at] * len(folded))
                ends.extend([at + 1] * len(folded))
        done = run.end()
    if done < len(text):
        parts.append(text[done:])
        starts.extend(range(done, len(text)))
        ends.extend(range(done + 1, len(text) + 1))
    return _fold_lookalikes("".join(parts), starts, ends)


@cache
def _fold(char: str) -> str:
    """What one character outside printable ASCII becomes, seen alone; "" when it is dropped."""
    if char in _LAYOUT:
        return char
    if mapped := _PUNCTUATION.get(char) or _DRESSED.get(char):
        return mapped
    category = unicodedata.category(char)
    if category == "Cs":
        return "\ufffd"
    if category in ("Cc", "Cf") or _INVISIBLE.match(char):
        return ""
    if category == "Zs":
        return " "
    if category == "Pd":
        return "-"
    if (digit := unicodedata.digit(char, None)) is not None:
        return str(digit)
    expanded = unicodedata.normalize("NFKC", char)
    if len(expanded) > _LONGEST_EXPANSION:
        return char
    if expanded != char:
        pieces = "".join(piece if piece.isascii() else _fold(piece) for piece in expanded)
        return _ON_ASCII.sub("", pieces)
    bare = unicodedata.normalize("NFD", char)
    if len(bare) > 1 and bare[0].isascii():
        return bare[0]
    return char


@cache
def _continues(folded: str) -> bool:
    """Whether a folded character belongs to the one before it: a mark, or a Hangul vowel or final."""
    return len(folded) == 1 and (unicodedata.category(folded)[0] == "M" or bool(_JOINS.match(folded)))


class _OneByOne(dict[int, str]):
    """For `str.translate`: what a character becomes where that is one character and changes no other; else nothing."""

    def __missing__(self, code: int) -> str:
        folded = _fold(chr(code))
        return self.setdefault(code, folded if len(folded) == 1 and not _continues(folded) else "")


_ONE_BY_ONE = _OneByOne({code: chr(code) for code in range(128) if _PLAIN.fullmatch(chr(code))})


def _is_latin(char: str) -> bool:
    return char < "\u0250" or "\u1e00" <= char <= "\u1eff"


@cache
def _lookalike(char: str) -> str:
    """The Latin letter that `char` prints like, accents aside; "" for none."""
    base = unicodedata.normalize("NFD", char)[0]
    return _LOOKALIKES.get(base, "")


def _fold_lookalikes(text: str, starts: Sequence[int], ends: Sequence[int]) -> Canonical:
    """Fold borrowed letters word by word, leaving real words of other alphabets alone.

    A word that mixes Latin letters with lookalikes is folded. A word of lookalikes only is folded unless it stands
    beside a real word of another alphabet: in "он у меня" the middle word is Russian, in "click у now" it is not.
    """
    if text.isascii():
        return Canonical(text, starts, ends)
    words = [word for word in _WORD.finditer(text) if not word.group().isascii()]
    kinds = [_word_kind(word.group()) for word in words]
    folded: list[str] = []
    done = 0
    for index, word in enumerate(words):
        kind = kinds[index]
        if kind in ("real", "none"):
            continue
        if kind == "lookalike":
            before = index > 0 and kinds[index - 1] == "real" and word.start() - words[index - 1].end() < 3
            after = index + 1 < len(words) and kinds[index + 1] == "real" and words[index + 1].start() - word.end() < 3
            if before or after:
                continue
        folded.append(text[done : word.start()])
        letters = "".join(char if char.isascii() else _lookalike(char) or char for char in word.group())
        folded.append(_BORNE.sub(lambda accents: _DROPPED * len(accents.group()), letters))
        done = word.end()
    if not folded:
        return Canonical(text, starts, ends)
    folded.append(text[done:])
    text = "".join(folded)
    if _DROPPED in text:
        stays = [char != _DROPPED for char in text]
        text = text.replace(_DROPPED, "")
        starts, ends = array("I", compress(starts, stays)), array("I", compress(ends, stays))
    return Canonical(text, starts, ends)


def _word_kind(word: str) -> str:
    """ "mixed" and "lookalike" words are folded; "real" words of another alphabet and words with "none" are not."""
    latin = alike = foreign = False
    for char in word:
        if char.isascii():
            latin = latin or char.isalpha()
        elif _lookalike(char) and char.isalpha():
            alike = True
        elif char.isalpha():
            foreign = True
    if not alike:
        return "real" if foreign and not latin else "none"
    if latin:
        return "mixed"
    return "real" if foreign else "lookalike"
