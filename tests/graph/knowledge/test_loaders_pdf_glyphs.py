"""Fonts that give numbers of glyphs and do not say which letters these are."""

import pypdfium2
import pytest

from graph.errors import Quarantined
from graph.knowledge.loaders import load
from graph.knowledge.loaders.pdf_glyphs import unread
from tests.support.raw_pdf import assembled, stream

POLICY = [
    "Sound Bank Continuity Plan",
    "The plan is tested on 2 September 2020, and then each year by the officer.",
    "Cash above 1,500 crowns stays in the vault (room 14) until the morning.",
]


def numbered(lines: list[str], order: dict[str, int], font: str = "ABCDEF+ArialMT") -> bytes:
    """A PDF of one page whose text is written with the numbers of glyphs in an order of letters."""
    shown = "\n".join(
        f"BT /F 11 Tf 60 {780 - 20 * at} Td <{''.join(f'{order[letter]:04x}' for letter in line)}> Tj ET"
        for at, line in enumerate(lines)
    )
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
            stream(shown.encode()),
            f"<< /Type /Font /Subtype /Type0 /BaseFont /{font} /Encoding /Identity-H /DescendantFonts [6 0 R] >>".encode(),
            f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{font} /CIDSystemInfo << /Registry (Adobe) /Ordering "
            "(Identity) /Supplement 0 >> /FontDescriptor 7 0 R /DW 500 /CIDToGIDMap /Identity >>".encode(),
            f"<< /Type /FontDescriptor /FontName /{font} /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 "
            "/Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 >>".encode(),
        ]
    )


STANDARD = {chr(code): code - 29 for code in range(32, 127)}


def test_glyphs_in_the_standard_order_are_read_as_their_letters() -> None:
    text = load(numbered(POLICY, STANDARD), "a.pdf").text
    for line in POLICY:
        assert line in text


def test_accents_are_in_the_upper_half_of_the_order() -> None:
    accents = {letter: letter.encode("mac_roman")[0] - 30 for letter in "äöüßé–"}
    line = "Der Prüfer zählt die Bestände – mindestens zweimal im Jahr – größere öfter, die Café-Kasse täglich."
    assert line in load(numbered([line], STANDARD | accents), "a.pdf").text


def test_letters_in_no_known_order_are_not_guessed() -> None:
    """A subset numbered anew: its digits, too, could be any."""
    used = sorted({letter for line in POLICY for letter in line})
    with pytest.raises(Quarantined, match="letters that cannot be told on 1 of 1 pages"):
        load(numbered(POLICY, {letter: at for at, letter in enumerate(used, 1)}), "a.pdf")


def test_only_letters_that_cannot_be_told_are_painted_over_in_pictures() -> None:
    used = sorted({letter for line in POLICY for letter in line})
    for order, told in ((STANDARD, True), ({letter: at for at, letter in enumerate(used, 1)}, False)):
        with pypdfium2.PdfDocument(numbered(POLICY, order)) as document:
            text = document[0].get_textpage()
            assert bool(unread(text)) != told
            text.close()


def test_a_sign_that_the_order_does_not_have_is_an_apostrophe_between_letters() -> None:
    text = load(
        numbered(
            ["The bank’s officer and the board’s chair see to it that all of it is done." * 2], {**STANDARD, "’": 300}
        ),
        "a.pdf",
    ).text
    assert "The bank’s officer and the board’s chair" in text
