"""Table rows as sentences: "Instrument: Leica SP8; Room: B-12; Hourly rate: 1,500 PKR"."""

import re
from collections.abc import Iterable, Iterator, Sequence

_NUMBER = re.compile(r"[-+(]?[\d.,\s%$€£()/:-]*\d[\d.,\s%$€£()/:-]*")
_STATEMENT = re.compile(r"\S+(?:\s+\S+){4,}[.!;]", re.DOTALL)
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
    """Empty for a row without text. A row of one cell in a wider table goes across it and belongs to no column."""
    if len(cells) == 1 and len(titles) > 1:
        return _tidy(cells[0])
    filled = [(index, text) for index, cell in enumerate(cells) if (text := _tidy(cell))]
    return "; ".join(f"{titles[i] if i < len(titles) else f'Column {column(i)}'}: {text}" for i, text in filled)


def looks_like_header(row: Sequence[str]) -> bool:
    """Words, no numbers or dates, no whole sentences, and no two alike."""
    cells = [cell.strip() for cell in row if cell.strip()]
    if any(_NUMBER.fullmatch(cell) or len(cell) > HEADING_LENGTH or _STATEMENT.fullmatch(cell) for cell in cells):
        return False
    return bool(cells) and len(set(cells)) == len(cells)


def _again(row: Sequence[str], titles: Sequence[str]) -> bool:
    """Whether a row is the header once more, or that of a further part of the table: all but its first cell alike."""
    cells = [_tidy(cell).rstrip(" :").lower() for cell in row]
    same = [at for at, cell in enumerate(cells) if cell and at < len(titles) and cell == titles[at].lower()]
    return len(same) > 1 or (len(same) == 1 and sum(map(bool, cells)) == 2 and same != [0])


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
        elif first is not None and _again(row, titles):
            titles = names(row, len(row))
            continue
        text = sentence(titles, row)
        written = written or bool(text)
        yield number, text
    if first is not None and not written:
        yield first[0], "; ".join(text for cell in first[1] if (text := _tidy(cell)))
