import io

import pytest
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate

from graph.knowledge.loaders import load
from graph.knowledge.loaders.pdf import _Reader
from graph.knowledge.loaders.pdf_glyphs import latin

BODY = getSampleStyleSheet()["BodyText"]


def read(text: str) -> str:
    stream = io.BytesIO()
    SimpleDocTemplate(stream).build([Paragraph(text, BODY)])
    return load(stream.getvalue(), "a.pdf").text


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("below 10<super>-6</super> mbar", "below 10^-6 mbar"),
        ("a room of 24 m<super>2</super>.", "a room of 24 m^2."),
        ("5 kg/m<super>3</super> of it", "5 kg/m^3 of it"),
        ("a fee of 1,500<super>1</super> crowns", "a fee of 1,500 crowns"),
        ("the members<super>12</super>, who", "the members, who"),
        ("H<sub>2</sub>O and CO<sub>2</sub> here", "H2O and CO2 here"),
        ("on the 1<super>st</super> of May", "on the 1st of May"),
    ],
)
def test_raised_signs(written: str, expected: str) -> None:
    assert read(written) == expected


def test_a_running_foot_that_names_the_version_is_kept_once() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    for number in (1, 2, 3):
        canvas.drawString(72, 810, "House rules")
        canvas.drawString(72, 700, f"Rule {number} says that the door stays shut.")
        canvas.drawString(72, 684, f"It was made for reason {number} alone.")
        canvas.drawString(72, 30, "SP-114 v3.2, effective 1 March 2026")
        canvas.drawString(480, 30, f"Page {number} of 3")
        canvas.showPage()
    canvas.save()
    text = load(stream.getvalue(), "a.pdf").text
    assert text.count("SP-114 v3.2, effective 1 March 2026") == 1
    assert "of 3" not in text and "House rules" not in text


def in_the_middle_bold(*lines: str) -> str:
    """What is read of three lines, of which the second is bold."""
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    for at, line in enumerate(lines):
        canvas.setFont("Helvetica-Bold" if at == 1 else "Helvetica", 11)
        canvas.drawString(72, 700 - 14 * at, line)
    canvas.save()
    return load(stream.getvalue(), "a.pdf").text


def test_a_bold_line_within_a_paragraph_is_no_heading() -> None:
    lines = ["Who sees smoke in the corridor of the house calls", "the fire brigade and nobody else before"]
    assert in_the_middle_bold(*lines, "anything else is done in the building.") == " ".join(
        [*lines, "anything else is done in the building."]
    )


def test_a_bold_line_right_below_the_end_of_a_sentence_is_a_heading() -> None:
    first = "The study was done by the rules of good practice, as all of them are."
    last = "What is written here may not be given to anybody else than the reader."
    text = in_the_middle_bold(first, "Confidentiality statement", last)
    assert text.split("\n\n") == [first, "# Confidentiality statement", last]


def test_latin_letters_of_japanese_office_fonts_are_read() -> None:
    shifted = [ord(letter) - ord(" ") + 0x3ECC for letter in "The center was set up in 2015."]
    assert "".join(map(chr, latin(shifted))) == "The center was set up in 2015."
    assert latin([0x3EED, 0x4E00]) == [0x3EED, 0x4E00]  # rare Chinese signs are left alone


@pytest.mark.parametrize(
    ("codes", "fonts", "expected"),
    [
        ([0x28, 0xF0B3, 0x31, 0x38], "tstt", "(≥18"),
        ([0xF02D], "s", "-"),
        ([0xF0B7], "s", "•"),
        ([0x35, 0xF06D, 0x6D], "tst", "5µm"),
        ([0xF0B3], "t", "\uf0b3"),  # a font of its own: nobody knows what it draws
    ],
)
def test_letters_of_the_symbol_font_are_what_it_shows(
    codes: list[int], fonts: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"t": "abcdef+timesnewroman", "s": "bcdefg+symbolmt"}
    monkeypatch.setattr(_Reader, "font", lambda self, index: names[fonts[index - 7]])
    assert object.__new__(_Reader).word(7, codes) == expected


def test_a_lone_o_before_a_gap_is_the_bullet_of_the_second_level() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    for at, (left, mark, words) in enumerate([(72, "•", "the fee is due"), (90, "o", "in May"), (90, "o", "in June")]):
        canvas.drawString(left, 700 - 14 * at, mark)
        canvas.drawString(left + 18, 700 - 14 * at, words)
    canvas.save()
    assert load(stream.getvalue(), "a.pdf").text == "- the fee is due\n  - in May\n  - in June"
