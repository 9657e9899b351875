"""Tables of web pages: which hold data, and their cells."""

from collections.abc import Callable

from selectolax.lexbor import LexborNode

MAX_SPAN = 100


def has_header(node: LexborNode) -> bool:
    first = node.css_first("tr")
    return first is not None and (node.css_first("thead th, thead td") is not None or first.css_first("td") is None)


def names_values(node: LexborNode) -> bool:
    """Whether each row is a name and its value, as in the box at the side of an article."""
    rows = [[cell.tag for cell in row.iter()] for row in node.css("tr")]
    return (
        all(row == ["th", "td"] for row in rows) and node.css_first("table table, pre, ul, ol") is None and bool(rows)
    )


def data_table(
    node: LexborNode, cell_text: Callable[[LexborNode], str], hidden: Callable[[LexborNode], bool]
) -> list[list[str]]:
    """Cells of a table of data; empty for one that only lays out the page."""
    rows = node.css("tr")
    layout = "table table, h1, h2, h3" if has_header(node) else "table table, h1, h2, h3, ul, ol, pre, p + p"
    if len(rows) < 2 or node.css_first(layout) is not None:
        return []
    cells: list[list[str]] = []
    down: dict[int, tuple[int, str]] = {}  # column → rows still to fill, text
    for row in rows:
        if hidden(row):
            continue
        line: list[str] = []
        for cell in row.iter():
            if cell.tag not in ("td", "th"):
                continue
            _fill(line, down)
            text = cell_text(cell)
            if (rowspan := _span(cell, "rowspan")) > 1:
                down[len(line)] = (rowspan - 1, text)
            line += [text] + [""] * (_span(cell, "colspan") - 1)
        across = sum(map(bool, line)) == 1 and len(line) > 1 and row.css_first("[colspan]") is not None
        _fill(line, down)
        cells.append([line[0]] if across and line[0] and not down else line)
    return cells if sum(len(line) > 1 for line in cells) > 1 else []


def _fill(line: list[str], down: dict[int, tuple[int, str]]) -> None:
    """Repeats the cells above that reach down into this row."""
    while (column := len(line)) in down:
        left, text = down.pop(column)
        if left > 1:
            down[column] = (left - 1, text)
            line.append(text)
            continue
        line.append(text)


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or ""
    return min(int(value), MAX_SPAN) if value.isdecimal() and len(value) < 6 and int(value) else 1
