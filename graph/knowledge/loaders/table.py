"""Table rows as sentences: "Instrument: Leica SP8; Room: B-12; Hourly rate: 1,500 PKR"."""

import re
from collections.abc import Iterable, Iterator, Sequence

_NUMBER = re.compile(r"[-+(]?[\d.,\s%$€£()/:-]*\d[\d.,\s%$€£()/:-]*")
HEADING_LENGTH = 100


def column(index: int) -> str:
    """The letters over a column of a spreadsheet: 0 is A, 26 is AA."""
    letters, index = "", index + 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _tidy(cell: str) -> str:
    """On one line. What is invisible in it is left for the builder to report."""
    return " ".join(cell.split())


def names(header: Sequence[str], width: int) -> list[str]:
    """What each column is called: its heading, or "Column C" where that is blank."""
    cells = [_tidy(cell).rstrip(" :")[:HEADING_LENGTH] for cell in header]
    cells += [""] * (width - len(cells))
    return [cell or f"Column {column(index)}" for index, cell in enumerate(cells)]


def sentence(titles: Sequence[str], cells: Sequence[str]) -> str:
    """Empty for a row without text."""
    filled = [(index, text) for index, cell in enumerate(cells) if (text := _tidy(cell))]
    return "; ".join(f"{titles[i] if i < len(titles) else f'Column {column(i)}'}: {text}" for i, text in filled)


def looks_like_header(row: Sequence[str]) -> bool:
    """Words, no numbers or dates, and no two alike."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return bool(cells) and not any(_NUMBER.fullmatch(cell) for cell in cells) and len(set(cells)) == len(cells)


def sentences(rows: Iterable[Sequence[str]], *, header: bool | None = None) -> Iterator[tuple[int, str]]:
    """Number, from 1, and sentence of each row with text; the header gives none unless it is all there is.

    `header` says whether the first row holds the headings; None: it does when it looks like it.
    """
    titles: list[str] | None = None
    first: tuple[int, Sequence[str]] | None = None
    written = False
    for number, row in enumerate(rows, 1):
        if not any(cell.strip() for cell in row):
            continue
        if titles is None:
            if header or (header is None and looks_like_header(row)):
                titles, first = names(row, len(row)), (number, row)
                continue
            titles = names((), len(row))
        text = sentence(titles, row)
        written = written or bool(text)
        yield number, text
    if first is not None and not written:
        yield first[0], "; ".join(text for cell in first[1] if (text := _tidy(cell)))
