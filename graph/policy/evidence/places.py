"""Where in its file a part of a passage stands: page and row, kept with the passage as a short text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

# Offset in the passage's text as the document has it, page from 1, row of the sheet from 1: all three hold from there
# on to the next place.
Place = tuple[int, int | None, int | None]


def written(places: Sequence[Place]) -> str:
    """As JSON; "" where no place has a page or a row."""
    known = any(page is not None or row is not None for _, page, row in places)
    return json.dumps(places, separators=(",", ":")) if known else ""


def on_page(page: int | None, places: str, length: int, wanted: int) -> list[tuple[int, int]]:
    """Half-open ranges of a passage of this length that stand on the page `wanted`."""
    pages: list[tuple[int, int | None]] = [(at, its_page) for at, its_page, _ in json.loads(places or "[]")]
    pages = pages or [(0, page)]
    ends = [at for at, _ in pages[1:]] + [length]
    return [(at, end) for (at, its_page), end in zip(pages, ends, strict=True) if its_page == wanted and at < end]


def locate(page: int | None, places: str, start: int, end: int) -> tuple[int | None, int | None, int | None]:
    """First page, last page and first row of the range `start`..`end` of a passage; None where there is none.
    `places` is what `written` gave; `page`, on which the passage begins, is all that indexes of earlier versions know.
    """
    last, row = page, None
    for at, its_page, its_row in json.loads(places) if places else []:
        if at <= start:
            page = last = its_page
            row = its_row
        elif at < end:
            last = its_page
    return page, last, row


def parts(citation: Mapping[str, Any]) -> list[str]:
    """Page, sheet and row of a citation as people read them: ["pages 3-4"], ["sheet Costs", "row 12"]; those it has."""
    first, last = citation["page"], citation.get("page_end")
    page = f"pages {first}-{last}" if last and last != first else f"page {first}"
    row = citation.get("row")
    sheet = f"sheet {citation['sheet']}" if citation["sheet"] else ""
    return list(filter(None, (page if first else "", sheet, f"row {row}" if row else "")))
