"""The letters of a PDF page, of fonts, too, that give numbers of glyphs in place of letters."""

import ctypes
from typing import Any

import pypdfium2.raw as pdfium

# Numbers in the order in which TrueType fonts of Windows and the Macintosh have their glyphs (table `post`, format 1):
# a blank is 3, then ASCII, then the upper half of Mac Roman from "Ä" on.
_STANDARD = {glyph: chr(glyph + 29) for glyph in range(3, 98)} | {
    glyph: bytes([glyph + 30]).decode("mac_roman") for glyph in range(98, 226)
}
COMMON = frozenset("eainrtos")  # more than half of the letters in each language of Europe with Latin letters
LEAST_COMMON = 0.5
LEAST_COMMON_OF_ONE = 0.3  # in the words of one font of a page whose letters together pass
FEWEST_LETTERS = 8  # fewer tell nothing
MOST_UNKNOWN = 0.03  # of the signs: long fonts have a few more than the standard ones
LEAST_TEXT = 0.6  # of the signs of a text are letters, figures or blanks

SHIFTED = range(0x3ECC, 0x3F2B)  # a blank to a tilde
RARE = range(0x3400, 0x4DC0)  # Chinese signs that hardly any text has
LEAST_SHIFTED = 12  # of them on a page; a rare Chinese sign may be one of these
GLYPHS = 0x3000  # letters of East Asia begin here; smaller numbers may be those of glyphs
UNKNOWN = 0xFFFD  # the code of a letter that no font and no order of glyphs tells


def letters(text: Any) -> list[int]:
    """A code for each letter of a page, from its text as pdfium opened it: UTF-16 units or code points, `UNKNOWN` for
    those that cannot be told."""
    codes = [pdfium.FPDFText_GetUnicode(text, at) for at in range(text.count_chars())]
    return standard(latin(codes), _unnamed(text, codes))


def unread(text: Any) -> list[int]:
    """The places of letters that neither their font nor the order of its glyphs tells."""
    codes = letters(text)
    return [
        at
        for at, code in enumerate(codes)
        if pdfium.FPDFText_HasUnicodeMapError(text, at) == 1 and code in (UNKNOWN, pdfium.FPDFText_GetUnicode(text, at))
    ]


def _unnamed(text: Any, codes: list[int]) -> dict[str, list[int]]:
    """The places of letters whose font does not say what they are, by the name of the font."""
    fonts: dict[str, list[int]] = {}
    buffer, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    for at, code in enumerate(codes):
        if pdfium.FPDFText_HasUnicodeMapError(text, at) == 1 and code not in SHIFTED:
            pdfium.FPDFText_GetFontInfo(text, at, buffer, 128, flags)
            fonts.setdefault(buffer.value.decode("latin-1"), []).append(at)
    return fonts


def standard(codes: list[int], fonts: dict[str, list[int]]) -> list[int]:
    """`codes` with the letters at the places in `fonts` read as glyphs in the standard order, where that gives a text;
    small numbers in no such order are `UNKNOWN`, and a sign between two letters that the order does not have is an
    apostrophe. A font of a few signs is left alone, unless a part of it is in the file as of the others."""
    read = {font: [_STANDARD.get(codes[at], "") for at in places] for font, places in fonts.items()}
    fit = {font: signs for font, signs in read.items() if signs.count("") <= MOST_UNKNOWN * len(signs)}
    proven = _written([sign for signs in fit.values() for sign in signs], LEAST_COMMON)
    for font, places in fonts.items():
        few = len(places) < FEWEST_LETTERS
        if proven and font in fit and ("+" in font if few else _written(fit[font], LEAST_COMMON_OF_ONE)):
            for at, sign in zip(places, read[font], strict=True):
                codes[at] = ord(sign or chr(UNKNOWN))
            for at in places:
                if codes[at] == UNKNOWN and 0 < at < len(codes) - 1 and _in_word(codes[at - 1], codes[at + 1]):
                    codes[at] = ord("’")
        elif not few and max(codes[at] for at in places) < GLYPHS:
            for at in places:
                codes[at] = UNKNOWN
    return codes


def _in_word(before: int, after: int) -> bool:
    """Whether what stands between these two codes is in a word of Latin letters."""
    around = chr(before) + chr(after)
    return around.isascii() and around.isalpha()


def _written(signs: list[str], least: float) -> bool:
    """Whether signs are a text: most of them letters, figures or blanks, and a share of the letters common ones."""
    alphabet = [sign.lower() for sign in signs if sign.isalpha()]
    common = sum(sign in COMMON for sign in alphabet)
    written = len(alphabet) + sum(sign.isdigit() or sign == " " for sign in signs)
    return len(signs) >= FEWEST_LETTERS and common >= least * len(alphabet) and written >= LEAST_TEXT * len(signs)


def latin(codes: list[int]) -> list[int]:
    """The codes of a page, with the Latin letters of Japanese Office fonts as such: their subsets name the glyph for a
    blank U+3ECC, for "A" U+3EED and so on, and one of these signs between two letters is an apostrophe."""
    if sum(SHIFTED.start <= code < SHIFTED.stop for code in codes) >= LEAST_SHIFTED:
        codes = [code - SHIFTED.start + ord(" ") if code in SHIFTED else code for code in codes]
    for at in range(1, len(codes) - 1):
        if codes[at] in RARE and _in_word(codes[at - 1], codes[at + 1]):
            codes[at] = ord("’")
    return codes
