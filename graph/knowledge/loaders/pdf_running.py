"""Running heads and feet, page numbers, what is printed across every page: out, but for what says of the document."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from graph.knowledge.loaders.pdf_lines import NAMED, Line

FEWEST_OF_PART = 8  # pages of a part of a file that has running heads and feet of its own
FEW_LINES = 3  # lines at either end of a page among which running heads and feet are looked for
MOST_BETWEEN = 12  # lines between a name and the value below it, of what stands beside them
ANOTHER = 0.8  # times the size: less is a line of what stands beside it
_BARE_NUMBER = re.compile(
    r"[-–— ]*(?:page|seite|p\.)?\s*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:of|/|von)\s*\d{1,4})?[-–— ]*", re.IGNORECASE
)
_PAGE_NUMBER = re.compile(
    r"\b(?:page|seite|p\.)\s*\d{1,4}(?:\s*(?:of|/|von)\s*\d{1,4})?|\b\d{1,4} of \d{1,4}\b", re.IGNORECASE
)
_PAGE_OF_A_PART = re.compile(r"[A-Z]?\d{0,3}[-–]\d{1,3}")  # "8-2", "A-3"
_OF_ITSELF = re.compile(
    r"\b(?:version|revision|rev\.? ?\w|v\.? ?\d|effective|valid (?:from|until)|in force|owner|approved|issued?\b|status"
    r"|draft|superseded|review(?:ed)?|document (?:no|number|id)|last updated|amended)\b",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"(?:table|figure|listing|chart|appendix|annex)\b", re.IGNORECASE)  # of what goes on for pages
_PRINTED = re.compile(r"\b(?:printed|downloaded|accessed)\b", re.IGNORECASE)


def without_running(pages: list[list[Line]]) -> list[list[Line]]:
    """Without lines at the edge that repeat from page to page, without bare page numbers, and without what is printed
    across every page."""
    if len(pages) < 2:
        return pages
    across = Counter(place for lines in pages for place in {_place(line) for line in lines if not line.gaps})
    most = max(3, len(pages) * 0.5)
    printed = {id(line) for lines in pages for line in lines if not line.gaps and across[_place(line)] >= most}
    heads = [[line for line in _outer(lines) if id(line) in printed] for lines in pages]
    pages = [[line for line in lines if id(line) not in printed] for lines in pages]
    edges = [_edges(lines) for lines in pages]
    apart = Counter(pattern for lines in edges for line in lines for pattern in _patterns(line))
    outer = [_outer(lines) for lines in pages]
    on_pages: dict[tuple[str, int], list[int]] = {}
    for number, lines in enumerate(outer):
        for pattern in {pattern for line in lines for pattern in _patterns(line)}:
            on_pages.setdefault(pattern, []).append(number)
    often = max(2 if len(pages) < 4 else 3, len(pages) * 0.4)
    repeated = {
        pattern
        for pattern, numbers in on_pages.items()
        if len(numbers) >= often or (_of_a_part(numbers) and not _CAPTION.match(pattern[0]))
    }
    dropped = [
        # What runs on most pages may have the text close to it on some.
        {id(line): line for line in near if any(p in repeated and apart[p] >= min(often, 3) for p in _patterns(line))}
        for near in outer
    ]
    running = Counter(_kind(line) for known in (*heads, *map(dict.values, dropped)) for line in known)
    cleaned: list[list[Line]] = []
    known: set[str] = set()
    for lines, head, edge, near, out in zip(pages, heads, edges, outer, dropped, strict=True):
        out |= {id(e): e for e in edge if _BARE_NUMBER.fullmatch(e.text)}
        usual = median(line.size for line in lines) if lines else 0.0
        small = [line for line in near if not line.gaps and line.size <= usual]
        out |= {id(line): line for line in small if running[_kind(line)] >= often}  # on pages of another size
        says = [about for about in _about_document([*head, *out.values()]) if about.text not in known]
        known |= {line.text for line in says}
        cleaned.append(says[: 2 * FEW_LINES] + [line for line in lines if id(line) not in out])
    return cleaned


def _of_a_part(numbers: list[int]) -> bool:
    """Whether these are most pages of a part of the file, as of a report that has another one as its appendix."""
    return len(numbers) >= FEWEST_OF_PART and len(numbers) >= 0.8 * (numbers[-1] - numbers[0] + 1)


def _about_document(lines: list[Line]) -> list[Line]:
    """What running heads and feet say of their document, its version or from when it holds, without its page number. A
    value may stand below its name."""
    about: list[Line] = []
    for at, line in enumerate(lines):
        cells = [_PAGE_NUMBER.sub("", cell).strip(" |-–—·•,") for cell in line.cells()]
        text = "; ".join(cell for cell in cells if cell and not _PAGE_OF_A_PART.fullmatch(cell))
        if not (_OF_ITSELF.search(text) or NAMED.match(text)) or _PRINTED.search(text):
            continue
        if text.endswith(":"):
            near = lines[at + 1 : at + 1 + MOST_BETWEEN]
            text = " ".join([text, *(below.text for below in near if abs(below.left - line.left) < 2)][:2])
        about.append(replace(line, text=text, gaps=[], edges=[], raised=[], hung=None, alone=True))
    return about


def _edges(lines: list[Line]) -> list[Line]:
    """The lines at the first and last few heights, where they stand apart from the body of the page."""
    ordered = sorted(lines, key=lambda line: -line.bottom)
    if len(ordered) <= 2:
        return [line for line in ordered if _BARE_NUMBER.fullmatch(line.text)]
    edges = []
    for side in (ordered, ordered[::-1]):
        apart = 0
        for index, gap in _outermost(side):
            if gap > 1.8 * max(side[index].size, side[index + 1].size):
                apart = index + 1
        edges += side[:apart]
    return list({id(line): line for line in edges}.values())  # of a short page both sides reach the middle


def _outer(lines: list[Line]) -> list[Line]:
    """The lines at the first and last few heights of a page of more than two lines."""
    ordered = sorted(lines, key=lambda line: -line.bottom)
    if len(ordered) <= 2:
        return []
    return [side[index] for side in (ordered, ordered[::-1]) for index, _ in _outermost(side)]


def _outermost(side: list[Line]) -> Iterator[tuple[int, float]]:
    """The lines at the first few heights, by their place, each with how far the next one is."""
    heights = 0
    for index in range(len(side) - 1):
        gap = abs(side[index].bottom - side[index + 1].bottom)
        yield index, gap
        heights += gap > ANOTHER * side[index].size
        if heights == FEW_LINES:
            return


def _place(line: Line) -> tuple[str, int, int]:
    return line.text, round(line.left / 4), _height(line)


def _height(line: Line) -> int:
    return round(line.bottom / 4)


def _kind(line: Line) -> tuple[str, int]:
    """What a line is told by wherever it stands on a page: its words and their size."""
    return line.text, round(2 * line.size)


def _patterns(line: Line) -> set[tuple[str, int]]:
    """What of a line would be the same on another page: all of it but its numbers, or one of its parts."""
    parts = [cell for cell in line.cells() if sum(map(str.isalpha, cell)) >= 6]
    return {(_bare(part), _height(line)) for part in (line.text, *parts)}


def _bare(text: str) -> str:
    """With one sign for each number."""
    return re.sub(r"\d+", "#", text)
