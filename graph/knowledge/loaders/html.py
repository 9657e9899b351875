"""Web pages: headings, paragraphs, lists and tables, without the boilerplate around them."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from graph.errors import Quarantined
from graph.knowledge.loaders import table, visibility
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.text import BOMS, decode

BOILERPLATE = frozenset(("nav", "footer", "aside", "form"))
_UNREAD_TAGS = """
    script style template noscript svg math iframe object embed canvas audio video select button input textarea
    datalist map dialog head"""
_BLOCK_TAGS = """
    address article blockquote body center dd details div dl dt fieldset figcaption figure header hr html legend main
    menu p section summary caption tr td th tbody thead tfoot"""
UNREAD, BLOCKS = frozenset(_UNREAD_TAGS.split()), frozenset(_BLOCK_TAGS.split())
HEADINGS = {f"h{level}": level for level in range(1, 7)}
# The parser's time grows with the square of the depth: 100,000 levels take 20 s. Real pages have under 100.
MAX_DEPTH = 2_000
_OPTIONAL_TAGS = b"""
    p li dt dd tr td th thead tbody tfoot colgroup option optgroup rp rt html body head
    area base br col embed hr img input link meta param source track wbr"""
_OPTIONAL_END = frozenset(_OPTIONAL_TAGS.split())
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w:-]{2,30})", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
MAX_SPAN = 100


def read(data: bytes, out: Builder) -> None:
    _check_depth(data)
    parser = LexborHTMLParser(_decode(data))
    root = parser.root
    if root is None:
        return
    titles = parser.css("h1")
    named = titles[0] if len(titles) == 1 else parser.css_first("head > title")
    out.title = named.text() if named is not None else ""
    hidden_names: set[str] = set()
    for sheet in parser.css("style"):
        hidden_names |= visibility.concealed_names(sheet.text() or "")
    for meta in parser.css("meta[content]"):
        if (meta.attributes.get("name") or meta.attributes.get("property") or "").lower() not in ("", "viewport"):
            out.hide(meta.attributes.get("content") or "")
    mains = [node for node in parser.css("main") if "hidden" not in node.attributes]
    whole = root.parent or root  # comments may stand outside <html>
    start = mains[0] if len(mains) == 1 else whole
    for skipped, top in ((BOILERPLATE, start), (BOILERPLATE, whole), (frozenset(), whole)):
        _Walk(out, hidden_names, skipped | UNREAD).run(top)
        if not out.empty:
            return  # some pages are one large form, or keep everything outside their main part


def read_fragment(source: str, out: Builder) -> None:
    """A piece of HTML inside another format."""
    _check_depth(source.encode(errors="replace"))
    body = LexborHTMLParser(source).body
    if body is not None:
        _Walk(out, set(), UNREAD).run(body)


def _check_depth(data: bytes) -> None:
    depth = 0
    for close, name in _TAG.findall(data):
        if name.lower() not in _OPTIONAL_END:
            depth += -1 if close else 1
            if depth > MAX_DEPTH:
                raise Quarantined(
                    "bomb", f"the page nests elements more than {MAX_DEPTH:,} deep", hint="save its text instead"
                )


def _decode(data: bytes) -> str:
    if not data.startswith(tuple(bom for bom, _ in BOMS)) and (match := _CHARSET.search(data[:4096])):
        try:
            encoding = match.group(1).decode().lower()
            return data.decode("cp1252" if encoding in ("iso-8859-1", "latin1") else encoding)
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data)


class _Walk:
    """One pass over the tree, without recursion. Text gathers in `inline` until an element that ends a block."""

    def __init__(self, out: Builder, hidden_names: set[str], skipped: frozenset[str]) -> None:
        self.out, self.hidden_names, self.skipped = out, hidden_names, skipped
        self.inline: list[str] = []
        self.items: list[tuple[int, str, str]] = []  # depth, mark, text
        self.lists: list[list[str | int]] = []  # "ul" or "ol" of each open list, and its last number
        self.in_item = False

    def run(self, top: LexborNode) -> None:
        # (node, whether it ends here, whether something dark is painted behind it)
        stack: list[tuple[LexborNode, bool, bool]] = [(top, False, False)]
        while stack:
            node, ends, painted = stack.pop()
            if ends:
                self.leave(node.tag or "")
            elif node.is_text_node:
                self.inline.append(_SPACE.sub(" ", node.text_content or ""))
            elif node.is_comment_node:
                self.out.hide(node.comment_content or "")
            elif node.is_element_node or node.is_document_node:
                children, painted = self.enter(node, painted)
                stack.append((node, True, painted))
                stack.extend((child, False, painted) for child in reversed(children))
        self.flush()
        self.end_list()

    def enter(self, node: LexborNode, painted: bool) -> tuple[list[LexborNode], bool]:
        """The children to go on with."""
        tag, attributes = node.tag or "", node.attributes
        for name in ("alt", "title", "aria-label"):
            if value := attributes.get(name):
                self.out.hide(value)
        if tag == "input" and attributes.get("type") == "hidden":
            self.out.hide(attributes.get("value") or "")
        if tag in self.skipped:
            return [], painted
        style = visibility.declarations(attributes.get("style") or "")
        painted = painted or visibility.coloured(style) or "bgcolor" in attributes
        if self.hidden(attributes, style) or (visibility.white(style) and not painted):
            self.out.hide(node.text(separator=" "))
            return [], painted
        if tag == "br":
            self.inline.append("\n")
        elif tag in HEADINGS or tag in BLOCKS:
            self.flush()
            if tag in HEADINGS:
                self.end_list()
        elif tag == "pre":
            self.flush()
            self.end_list()
            self.out.code(node.text())
            return [], painted
        elif tag in ("ul", "ol"):
            self.flush()
            self.lists.append([tag, 0])
            self.in_item = False
        elif tag == "li":
            self.flush()
            self.begin_item()
        elif tag == "table":
            self.flush()
            if rows := _data_table(node, self):
                self.end_list()
                self.out.table()
                for _, sentence in table.sentences(rows, header=True if _has_header(node) else None):
                    self.out.row(sentence)
                self.out.table()
                return [], painted
        return list(_children(node)), painted

    def leave(self, tag: str) -> None:
        if tag in HEADINGS:
            text = "".join(self.inline)
            self.inline = []
            self.out.heading(text, HEADINGS[tag])
        elif tag in BLOCKS or tag == "li":
            self.flush()
            if tag == "li":
                self.in_item = False
        elif tag in ("ul", "ol") and self.lists:
            self.flush()
            self.lists.pop()
            if not self.lists:
                self.end_list()

    def begin_item(self) -> None:
        if not self.lists:
            self.lists.append(["ul", 0])
        kind = self.lists[-1]
        kind[1] = int(kind[1]) + 1
        self.items.append((len(self.lists) - 1, "-" if kind[0] == "ul" else f"{kind[1]}.", ""))
        self.in_item = True

    def flush(self) -> None:
        text = "".join(self.inline)
        self.inline = []
        if not text.strip():
            return
        if self.in_item and self.items:
            depth, mark, before = self.items[-1]
            self.items[-1] = (depth, mark, f"{before} {text}")
        else:
            self.end_list()
            self.out.paragraph(text)

    def end_list(self) -> None:
        self.out.items((depth, f"{mark} {text}") for depth, mark, text in self.items if text)
        self.items, self.in_item = [], False

    def hidden(self, attributes: dict[str, str | None], style: dict[str, str]) -> bool:
        if "hidden" in attributes or visibility.conceals(style):
            return True
        if not self.hidden_names:
            return False
        names = {f".{name}" for name in (attributes.get("class") or "").split()}
        return bool(self.hidden_names & {*names, f"#{attributes.get('id') or ''}"})


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _has_header(node: LexborNode) -> bool:
    first = node.css_first("tr")
    return first is not None and (node.css_first("thead th, thead td") is not None or first.css_first("td") is None)


def _data_table(node: LexborNode, walk: _Walk) -> list[list[str]]:
    """Cells of a table of data; empty for one that only lays out the page."""
    rows = node.css("tr")
    if len(rows) < 2 or node.css_first("table table, h1, h2, h3, ul, ol, pre, p + p") is not None:
        return []
    cells: list[list[str]] = []
    down: dict[int, tuple[int, str]] = {}  # column → rows still to fill, text
    for row in rows:
        style = visibility.declarations(row.attributes.get("style") or "")
        if walk.hidden(row.attributes, style):
            walk.out.hide(row.text(separator=" "))
            continue
        line: list[str] = []
        for cell in _children(row):
            if cell.tag not in ("td", "th"):
                continue
            _fill(line, down)
            text = _cell(cell, walk)
            if (rowspan := _span(cell, "rowspan")) > 1:
                down[len(line)] = (rowspan - 1, text)
            line += [text] + [""] * (_span(cell, "colspan") - 1)
        _fill(line, down)
        cells.append(line)
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


def _cell(cell: LexborNode, walk: _Walk) -> str:
    """The visible text of a cell; what is hidden in it is reported."""
    inner = _Cell(walk)
    inner.run(cell)
    return _SPACE.sub(" ", " ".join(inner.texts)).strip()


class _Cell(_Walk):
    """A walk that keeps the text instead of writing it."""

    def __init__(self, walk: _Walk) -> None:
        super().__init__(walk.out, walk.hidden_names, walk.skipped)
        self.texts: list[str] = []

    def flush(self) -> None:
        self.texts.append("".join(self.inline))
        self.inline = []

    def begin_item(self) -> None:
        self.flush()

    def end_list(self) -> None:
        self.flush()
