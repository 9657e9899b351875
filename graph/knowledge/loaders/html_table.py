"""Tables of web pages: which hold data, and their cells."""

from collections.abc import Callable

from selectolax.lexbor import LexborNode

MAX_SPAN = 100
MOST_WORDS = 120  # of a cell with lists or paragraphs, where bold alone marks the headings


def heads(node: LexborNode) -> int:
    """How many rows at the top of a table are marked as headings: by <thead>, by <th> alone, or by being all bold."""
    if (top := node.css_first("thead")) is not None:
        return len(top.css("tr"))
    rows = node.css("tr")
    count = 0
    for row in rows:
        if row.css_first("th") is None or row.css_first("td") is not None:
            break
        count += 1
    if count or len(rows) < 2:
        return count
    weights = [[_named(cell) for cell in row.css("td")] for row in rows[:2]]
    return int(len(weights[0]) > 1 and all(weights[0]) and not all(weights[1]))


def names_values(node: LexborNode) -> bool:
    """Whether each row is a name and its value, or several of them, as in the box at the side of an article: the names
    are marked, by <th> or in bold, and the values are not. What makes the first row one of headings in Markdown, which
    knows no table without, marks nothing: there bold alone does."""
    if node.css_first("table table, pre, ul, ol, [colspan]") is not None:
        return False
    marked = _bold if node.css_first("thead th, thead td") is not None else _named
    rows = [[marked(cell) for cell in row.iter() if cell.tag in ("th", "td")] for row in node.css("tr")]
    return bool(rows) and all(row and row == [True, False] * (len(row) // 2) for row in rows)


def _named(cell: LexborNode) -> bool:
    return cell.tag == "th" or _bold(cell)


def _bold(cell: LexborNode) -> bool:
    text = cell.text().strip()
    return bool(text) and any(bold.text().strip() == text for bold in cell.css("b, strong"))


def data_table(
    node: LexborNode, cell_text: Callable[[LexborNode], str], hidden: Callable[[LexborNode], bool], *, marked: bool
) -> list[list[str]]:
    """Cells of a table of data; empty for one that only lays out the page. `marked` says that it has headings."""
    rows = node.css("tr")
    layout = "table table, td h1, td h2, td h3" if marked else "table table, h1, h2, h3, ul, ol, pre, p + p"
    if len(rows) < 2 or node.css_first(layout) is not None:
        return []
    if node.css_first("th") is None and node.css_first("ul, ol, pre, p + p") is not None and _long(node):
        return []  # texts side by side below bold names, which are better quoted by their sentences
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


def _long(node: LexborNode) -> bool:
    return any(len(cell.text(separator=" ").split()) > MOST_WORDS for cell in node.css("td"))


def _fill(line: list[str], down: dict[int, tuple[int, str]]) -> None:
    """Repeats the cells above that reach down into this row."""
    while (column := len(line)) in down:
        left, text = down.pop(column)
        line.append(text)
        if left > 1:
            down[column] = (left - 1, text)


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or ""
    return min(int(value), MAX_SPAN) if value.isdecimal() and len(value) < 6 and int(value) else 1
