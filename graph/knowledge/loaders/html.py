"""Web pages: headings, paragraphs, lists and tables, without the boilerplate around them."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from graph.errors import Quarantined
from graph.knowledge.loaders import html_frame, html_signs, html_table, table, visibility
from graph.knowledge.loaders.build import LOOKS, Builder, looks
from graph.knowledge.loaders.html_signs import HERE, Signs
from graph.knowledge.loaders.text import BOMS, decode

BOILERPLATE = frozenset(("nav", "footer", "aside", "form"))
_UNREAD_TAGS = """
    script style template noscript svg math iframe object embed canvas audio video select button input textarea
    datalist map dialog head"""
_BLOCK_TAGS = """
    address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form header hr
    html legend main menu nav p section summary caption tr td th tbody thead tfoot"""
_OTHER_TAGS = """
    a abbr acronym applet area b base basefont bdi bdo big blink br button cite code col colgroup command data del dfn
    em embed font form frame frameset i img input ins kbd keygen label li link map mark marquee meta meter nav nobr
    noframes ol optgroup option output p param picture pre progress q rb rp rt ruby s samp slot small source span
    strike strong sub sup table time title track tt u ul var wbr footer aside html body h1 h2 h3 h4 h5 h6 g path rect
    circle line polygon polyline text use defs search hgroup"""
UNREAD, BLOCKS = frozenset(_UNREAD_TAGS.split()), frozenset(_BLOCK_TAGS.split())
TAGS = UNREAD | BLOCKS | frozenset(_OTHER_TAGS.split())
STRUCK = frozenset(("s", "strike", "del"))
_SMALL_NUMBER = re.compile(r"\s*(?:\[?[-−\d]{1,4}(?:[,;–-]\s*\d{1,4})*\]?|[*†‡])\s*")
_MEASURE = re.compile(r"(?:\d|(?:^|[^A-Za-z])[A-Za-zµ]{1,2})$")  # what a power follows; a word has a reference
BOLD = frozenset(("b", "strong"))
HEADINGS = {f"h{level}": level for level in range(1, 7)}
# The parser's time grows with the square of the depth: 100,000 levels take 20 s. Real pages have under 100.
MAX_DEPTH = 2_000
_OPTIONAL_TAGS = b"""
    p li dt dd tr td th thead tbody tfoot colgroup option optgroup rp rt html body head
    area base br col embed hr img input link meta param source track wbr"""
_OPTIONAL_END = frozenset(_OPTIONAL_TAGS.split())
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w:-]{2,30})", re.IGNORECASE)
_SPACE, _WORD = re.compile(r"\s+"), re.compile(r"[^\W_]")


def read(data: bytes, out: Builder) -> None:
    """The main part of the page; the whole page where that has no text."""
    _check_depth(data)
    parser = LexborHTMLParser(_decode(data))
    root = parser.root
    if root is None:
        return
    hidden_names: set[str] = set()
    for sheet in parser.css("style"):
        hidden_names |= visibility.concealed_names(sheet.text() or "")
    for meta in parser.css("meta[content]"):
        if (meta.attributes.get("name") or meta.attributes.get("property") or "").lower() not in ("", "viewport"):
            out.hide(meta.attributes.get("content") or "")
    mains = [node for node in parser.css("main, [role=main]") if "hidden" not in node.attributes]
    mains = mains or [node for node in parser.css("article") if "hidden" not in node.attributes]
    whole = root.parent or root  # comments may stand outside <html>
    start = mains[0] if len(mains) == 1 else whole
    signs = Signs(whole)
    titles = start.css("h1")
    named = titles[0] if len(titles) == 1 else parser.css_first("head > title")
    out.title = _cell(named, _Walk(out, hidden_names, UNREAD, signs)) if named is not None else ""
    for skipped, top in ((BOILERPLATE, start), (BOILERPLATE, whole), (frozenset(), whole)):
        _Walk(out, hidden_names, skipped | UNREAD, signs).run(top)
        if not out.empty:
            return  # some pages are one large form, or keep everything outside their main part


def read_markup(source: str, out: Builder) -> None:
    """The HTML that another format stands for: all of it is text of the document."""
    _check_depth(source.encode(errors="replace"))
    parser = LexborHTMLParser(source)
    if parser.root is not None:
        whole = parser.root.parent or parser.root
        _Walk(out, set(), UNREAD, Signs(whole)).run(whole)


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

    def __init__(
        self, out: Builder, hidden_names: set[str], skipped: frozenset[str], signs: Signs | None = None
    ) -> None:
        self.out, self.hidden_names, self.skipped, self.signs = out, hidden_names, skipped, signs or Signs()
        self.inline: list[str] = []
        self.items: list[tuple[int, str, str]] = []  # depth, mark, text
        self.lists: list[list[str | int]] = []  # "ul" or "ol" of each open list, and its last number
        self.in_item = False
        self.items_bold = True  # whether all words of these items are bold
        self.bold = 0  # elements around this text that make it bold
        self.looks: set[bool] = set()  # whether the words gathered in `inline` are bold
        self.terms: list[str] = []  # of a definition list, whose definitions follow
        self.lead = ""  # what the next text begins with: the term it defines, the name of its box
        self.notes: list[LexborNode] = []  # footnotes of this section, which stand at its end
        self.folds: html_frame.Folds | None = None
        self.skip_ids: set[int] = set()  # what need not be read where it stands: footnotes, ways to other pages

    def run(self, top: LexborNode) -> None:
        if self.folds is None:
            self.folds = html_frame.folds(top, self.shut)
            self.skip_ids |= self.folds.tabs
        if self.skipped >= BOILERPLATE:
            self.skip_ids.update(box.mem_id for box in html_frame.ways_on(top))
        # (node, whether it ends here, whether something dark is painted behind it)
        stack: list[tuple[LexborNode, bool, bool]] = [(top, False, False)]
        while stack:
            if self.notes and stack[-1][0].tag in HEADINGS and not stack[-1][1]:
                stack += self.footnotes()
            node, ends, painted = stack.pop()
            if ends:
                self.leave(node.tag or "")
            elif node.is_text_node:
                self.inline.append(text := _SPACE.sub(" ", node.text_content or ""))
                self.looks |= {self.bold > 0} if text.strip() else set()
            elif node.is_comment_node:
                self.out.hide(node.comment_content or "")
            elif node.is_element_node or node.is_document_node:
                children, painted = self.enter(node, painted)
                if children is not None:
                    stack.append((node, True, painted))
                    stack.extend((child, False, painted) for child in reversed(children))
            if not stack:
                stack = self.footnotes()

    def footnotes(self) -> list[tuple[LexborNode, bool, bool]]:
        """Ends what is open: the footnotes of a section stand at its end, wherever the page has them."""
        self.flush()
        self.end_list()
        notes, self.notes = self.notes, []
        stack: list[tuple[LexborNode, bool, bool]] = []
        for note in reversed(notes):
            stack.append((note, True, False))
            stack += [(child, False, False) for child in reversed(list(_children(note)))]
        return stack

    def out_of_sight(self, node: LexborNode | None) -> bool:
        while node is not None:
            style = visibility.declarations(node.attributes.get("style") or "")
            if node.tag in UNREAD or self.hidden(node.attributes, style) or visibility.white(style):
                return True
            node = node.parent
        return False

    def enter(self, node: LexborNode, painted: bool) -> tuple[list[LexborNode] | None, bool]:
        """The children to go on with; None for an element that is left out whole."""
        tag, attributes, folds = node.tag or "", node.attributes, self.folds or html_frame.Folds()
        if node.mem_id in self.skip_ids:
            return None, painted
        self._attributes(tag, node)
        if node.mem_id in folds.buttons:
            if node.parent is not None and node.parent.tag in HEADINGS:
                self.inline.append(node.text())
            else:
                self.flush()
                self.place(node.text())
            return None, painted
        if tag in self.skipped or (self.skipped >= BOILERPLATE and html_frame.frames(node)):
            return None, painted
        style = visibility.declarations(attributes.get("style") or "")
        painted = painted or visibility.coloured(style) or "bgcolor" in attributes
        if tab := folds.names.get(node.mem_id):
            self.flush()
            self.place(tab)
        shut = self.hidden(attributes, style) and node.mem_id not in folds.parts
        if shut or (visibility.white(style) and not painted):
            self.out.hide(node.text(separator=" "))
            return None, painted
        if self._sign(tag, node):
            return None, painted
        if label := html_frame.label(node):
            self.flush()
            self.lead = f"{label}: "
            return [], painted
        return ([] if self._open(tag, node) else list(_children(node))), painted

    def _attributes(self, tag: str, node: LexborNode) -> None:
        """What attributes say: the text of a picture, and what nobody sees."""
        attributes = node.attributes
        if tag == "img" and _sentence(attributes.get("alt") or "") and (node.parent is None or node.parent.tag != "a"):
            self.inline.append(f" {attributes['alt']} ")
        elif value := attributes.get("alt"):
            self.out.hide(value)
        for name in ("title", "aria-label"):
            if value := attributes.get(name):
                self.out.hide(value)
        if tag == "input" and attributes.get("type") == "hidden":
            self.out.hide(attributes.get("value") or "")

    def _sign(self, tag: str, node: LexborNode) -> bool:
        """Whether it only points (to a note, to the top, elsewhere) or is struck out, and so is no text of its own."""
        if tag == "a" and node in self.signs:
            self.inline.append(HERE)
            for note in self.signs.note(node):
                if note.mem_id not in self.skip_ids and not self.out_of_sight(note):
                    self.skip_ids.add(note.mem_id)
                    self.notes.append(note)
            return True
        if tag == "sup" and _SMALL_NUMBER.fullmatch(text := node.text()) and not self.signs.within(node):
            if _MEASURE.search("".join(self.inline)[-12:]):
                self.inline.append(f"^{text.strip()}")  # m², 10⁻³
            return True
        if tag in STRUCK:
            self.out.hide(node.text(separator=" "))
            return True
        if tag == "a" and html_frame.TO_TOP.fullmatch(node.text()):
            return True
        return tag in ("ul", "ol", "p") and html_frame.points_elsewhere(node, nothing_yet=self.out.only_headings)

    def _open(self, tag: str, node: LexborNode) -> bool:
        """Begin an element. Whether all of it has been read."""
        if tag in BOLD:
            self.bold += 1
        if tag == "br":
            self.inline.append("\n")
        elif tag in HEADINGS or tag in BLOCKS:
            self.flush()
            if tag in HEADINGS:
                self.end_list()
            if tag == "dd":
                self.define()
            if tag == "dl":
                self.flush_lead()
                self.lists.append(["dl", 0])
        elif tag == "pre":
            self.flush()
            self.end_list()
            self.out.code(html_signs.code(node))
            return True
        elif tag in ("ul", "ol"):
            self.flush()
            self.flush_lead()
            self.lists.append([tag, _start(node.attributes) - 1])
            self.in_item = False
        elif tag == "li":
            self.flush()
            self.begin_item()
        elif tag == "table":
            self.flush()
            return self._table(node)
        return False

    def _table(self, node: LexborNode) -> bool:
        """Read a table of data; False for one that only lays out a page."""
        if html_table.names_values(node):
            self.end_list()
            self.out.table()
            for row in node.css("tr"):
                if not self.row_hidden(row):
                    self.out.row(table.paired([_cell(cell, self) for cell in row.css("th, td")]))
            self.out.table()
            return True
        heads = html_table.heads(node)
        rows = html_table.data_table(node, lambda cell: _cell(cell, self), self.row_hidden, marked=bool(heads))
        if not rows:
            return False
        self.end_list()
        if (caption := node.css_first("caption")) is not None:
            self.out.paragraph(_cell(caption, self))
        self.out.table()
        for _, sentence in table.sentences(rows, header=True if heads else None, heads=heads if heads > 1 else 0):
            self.out.row(sentence)
        self.out.table()
        return True

    def leave(self, tag: str) -> None:
        if tag in BOLD:
            self.bold = max(0, self.bold - 1)
        elif tag in HEADINGS:
            self.out.heading(self.gathered(), HEADINGS[tag])
        elif tag == "dt":
            self.terms.append(_SPACE.sub(" ", self.gathered()).strip())
        elif tag in ("dd", "dl"):
            self.flush()
            self.flush_lead()
            self.in_item = False
            if tag == "dl":
                self.define()
                self.flush_lead()
                self.lists.pop()
                if not self.lists:
                    self.end_list()
        elif tag in BLOCKS or tag == "li":
            self.flush()
            if tag == "li":
                self.in_item = False
        elif tag in ("ul", "ol") and self.lists:
            self.flush()
            self.lists.pop()
            if not self.lists:
                self.end_list()
            else:  # what follows goes on with the item around it
                self.items.append((len(self.lists), "", ""))
                self.in_item = True

    def begin_item(self) -> None:
        self.flush_lead()
        if not self.lists:
            self.lists.append(["ul", 0])
        kind = self.lists[-1]
        kind[1] = int(kind[1]) + 1
        self.items.append((len(self.lists) - 1, f"{kind[1]}." if kind[0] == "ol" else "-", ""))
        self.in_item = True

    def define(self) -> None:
        """A new item for a definition, which begins with what it defines."""
        terms, self.terms = self.terms, []
        if any(terms):
            self.items.append((max(0, len(self.lists) - 1), "-", ""))
            self.lead = f"{', '.join(filter(None, terms)).rstrip(' :')}: "
            self.in_item = True

    def gathered(self) -> str:
        """What has gathered in `inline`."""
        text, self.inline, self.looks = "".join(self.inline), [], set()
        return html_signs.without(text)

    def flush(self) -> None:
        bold = self.looks == {True}
        text = self.gathered()
        self.items_bold &= bold or not text.strip()
        if not self.in_item and not self.lead and _WORD.search(text) and (look := looks(text, bold)):
            self.end_list()
            self.out.standing_out(text, look)
        elif _WORD.search(text) or (self.in_item and text.strip()):
            self.place(text)

    def place(self, text: str) -> None:
        text, self.lead = f"{self.lead}{text}", ""
        if self.in_item and self.items:
            depth, mark, before = self.items[-1]
            if before:
                self.items.append((depth + bool(mark), "", text))  # a further paragraph
            else:
                self.items[-1] = (depth, mark, text)
        else:
            self.end_list()
            self.out.paragraph(text)

    def flush_lead(self) -> None:
        """A term or the name of a box below which no text stands, but a list, code or nothing."""
        if self.lead:
            self.place("")

    def end_list(self) -> None:
        self.flush_lead()
        items = [(depth, f"{mark} {text}" if mark else text) for depth, mark, text in self.items if text]
        numbered = all(mark.endswith(".") for _, mark, text in self.items if text)
        if numbered and self.items_bold and len({depth for depth, _ in items}) == len(items):
            for depth, text in items:  # "3. Duties" over "1. Board", and their text below: no list
                self.out.standing_out(text, LOOKS[min(depth + 2, 3)])
        else:
            self.out.items(items)
        self.items, self.in_item, self.items_bold = [], False, True

    def row_hidden(self, row: LexborNode) -> bool:
        if hidden := self.shut(row):
            self.out.hide(row.text(separator=" "))
        return hidden

    def shut(self, node: LexborNode) -> bool:
        return self.hidden(node.attributes, visibility.declarations(node.attributes.get("style") or ""))

    def hidden(self, attributes: dict[str, str | None], style: dict[str, str]) -> bool:
        if "hidden" in attributes and attributes["hidden"] != "until-found":  # which a search on the page opens
            return True
        if visibility.conceals(style):
            return True
        if not self.hidden_names:
            return False
        names = {f".{name}" for name in (attributes.get("class") or "").split()}
        return bool(self.hidden_names & {*names, f"#{attributes.get('id') or ''}"})


def _sentence(text: str) -> bool:
    """Whether a text in place of a picture tells something, rather than naming it."""
    return len(text.split()) >= 4 and text.rstrip()[-1:] in (".", "!", "?")


def _start(attributes: dict[str, str | None]) -> int:
    value = attributes.get("start") or ""
    return int(value) if value.isdecimal() and len(value) < 6 else 1


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _cell(cell: LexborNode, walk: _Walk) -> str:
    """The visible text of a cell; what is hidden in it is reported."""
    inner = _Cell(walk)
    inner.run(cell)
    return _SPACE.sub(" ", " ".join(inner.texts)).strip()


class _Cell(_Walk):
    """A walk that keeps the text instead of writing it."""

    def __init__(self, walk: _Walk) -> None:
        super().__init__(walk.out, walk.hidden_names, walk.skipped, walk.signs)
        self.texts: list[str] = []
        self.notes, self.skip_ids, self.folds = walk.notes, walk.skip_ids, walk.folds

    def leave(self, tag: str) -> None:
        super().leave("p" if tag in HEADINGS else tag)

    def flush(self) -> None:
        if text := self.gathered().strip():
            self.place(text)

    def place(self, text: str) -> None:
        self.texts.append(f"{self.lead}{text}")
        self.lead = ""

    def footnotes(self) -> list[tuple[LexborNode, bool, bool]]:
        self.flush()
        return []  # they stand below the table

    def begin_item(self) -> None:
        self.flush()

    def end_list(self) -> None:
        self.flush()
