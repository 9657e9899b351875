"""Numbers of lines in the margin of a draft or a bill are no part of its text; other numbers are."""

import io
from collections.abc import Sequence

import pytest
from reportlab.pdfgen.canvas import Canvas

from graph.knowledge.loaders import load

_WORDS = (
    "the kiln is locked at night and the key is with the porter who writes into the book when it was taken and by whom "
    "so that a member who wants to fire something knows whom to ask for it and nobody is left in the cold before the "
    "door of the workshop while others sit at the fire and look at what came out of the oven in the afternoon "
).split()


def _lines(count: int) -> list[str]:
    words = _WORDS * 40
    return [" ".join(words[8 * at : 8 * at + 8]) for at in range(count)]


def _read(pages: Sequence[Sequence[tuple[str, str]]], *, at: float = 60) -> str:
    """What is read of pages of lines, each with what stands right-aligned in the margin."""
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    for page in pages:
        canvas.setFont("Helvetica", 11)
        for n, (number, line) in enumerate(page):
            canvas.drawRightString(at, 760 - 14 * n, number)
            canvas.drawString(90, 760 - 14 * n, line)
        canvas.showPage()
    canvas.save()
    return load(stream.getvalue(), "a.pdf").text


def _paged(lines: Sequence[str], step: int, *, anew: bool = False) -> list[list[tuple[str, str]]]:
    pages, per = [], 30
    for begin in range(0, len(lines), per):
        own = [(n - (begin if anew else 0), line) for n, line in enumerate(lines[begin : begin + per], begin + 1)]
        pages.append([(str(n) if n % step == 0 else "", line) for n, line in own])
    return pages


@pytest.mark.parametrize("step", [1, 5])
@pytest.mark.parametrize("anew", [False, True])
def test_numbers_of_lines_are_left_out(step: int, anew: bool) -> None:
    lines = _lines(90)
    text = _read(_paged(lines, step, anew=anew))
    assert " ".join(text.split()) == " ".join(lines)


def test_a_number_beside_a_blank_line_goes_too() -> None:
    lines = [line if at % 10 != 4 else "" for at, line in enumerate(_lines(60))]
    text = _read(_paged(lines, 5))
    assert not any(char.isdigit() for char in text)


def test_numbered_things_stay() -> None:
    things = [f"Kiln {letter} of the workshop" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    text = _read([[(str(at), thing) for at, thing in enumerate(things, 1)]])
    assert "12" in text and "26" in text


def test_numbers_that_count_nothing_stay() -> None:
    lines = _lines(60)
    text = _read([[(str(100 + at * at % 83), line) for at, line in enumerate(lines[:30])]] * 2)
    assert "100" in text and "181" in text


def test_a_column_of_years_stays() -> None:
    rows = [(str(year), f"The club had {year % 37 + 20} members") for year in range(1960, 2020, 5)]
    text = _read([rows])
    assert "1965" in text and "2015" in text
