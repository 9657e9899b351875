"""EUR-Lex pages, by the class names of the Official Journal's HTML, and simple pages with the same text."""

# Patterns read best one to a line.
# ruff: noqa: E501
import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from graph.knowledge.loaders import html, visibility
from graph.knowledge.loaders.build import Builder
from graph.regulation import marks
from graph.regulation.lines import Line

MAX_LINES = 1_000_000
STEP = 20.0  # how far a level of lists is set in
_ROLES = (
    (re.compile(r"(?:oj-)?ti-art|title-article-norm"), "article"),
    (re.compile(r"(?:oj-)?sti-art|stitle-article-norm|(?:oj-)?ti-(?:section|grseq)-2|title-division-2|stitle-division\S*"), "title"),
    (re.compile(r"(?:oj-)?ti-(?:section|grseq)-1|title-division-1"), "division"),
    (re.compile(r"(?:oj-)?(?:doc-ti|title-doc-first|title-annex-1)"), "heading"),
)  # fmt: skip
_DROPPED = re.compile(r"(?:oj-)?(?:note|hd-\S+|footnote\S*)")
_NOTE_LINK = re.compile(r"#?(?:ntr|ntc|E\d{4}$|footnote)")
_NOTE_MARK = re.compile(r"\s*\(\s*\ue001\s*[\d*]{1,4}\s*\ue002\s*\)|\ue001\s*[\d*]{1,4}\s*\ue002(?=\W)")


def read(data: bytes, out: Builder) -> list[Line]:
    """Without footnotes and without what the site puts around the act. `out` gets what is hidden on the page."""
    html._check_depth(data)
    parser = LexborHTMLParser(html._decode(data))
    root = parser.root
    if root is None:
        return []
    names: set[str] = set()
    for sheet in parser.css("style"):
        names |= visibility.concealed_names(sheet.text() or "")
    walk = _Walk(out, names, html.BOILERPLATE | html.UNREAD)
    walk.run(root)
    official = any(line.role == "article" for line in walk.lines)
    recitals = next((at for at, line in enumerate(walk.lines) if line.text.rstrip(":") == "Whereas"), 0)
    lines = walk.lines[walk.began :] if walk.began < recitals else walk.lines
    for line in lines:
        if official and line.heading is None:
            line.heading = False  # its headings are marked: nothing else is one
    return lines


class _Walk(html._Walk):
    """Each block of text as a line, with what its class says it is and how deep it stands in lists."""

    def __init__(self, out: Builder, hidden_names: set[str], skipped: frozenset[str]) -> None:
        super().__init__(out, hidden_names, skipped)
        self.lines: list[Line] = []
        self.level = 0
        self.role = ""
        self.marks: list[tuple[str, int]] = []  # kind of each open list, and its last number
        self.mark = ""
        self.began = MAX_LINES  # the first line of the title; before it stands what the site puts around the act

    def enter(self, node: LexborNode, painted: bool) -> tuple[list[LexborNode] | None, bool]:
        tag, attributes = node.tag or "", node.attributes
        classes = (attributes.get("class") or "").split()
        if any(_DROPPED.fullmatch(name) for name in classes):
            return [], painted
        if (
            tag == "a"
            and _NOTE_LINK.match(attributes.get("href") or "")
            and re.fullmatch(r"\W*[\d*]{1,4}\W*", node.text())
        ):
            return [], painted
        if tag in ("table", "ol", "ul", "li"):
            if self.hidden(attributes, visibility.declarations(attributes.get("style") or "")):
                return super().enter(node, painted)
            self.flush()
            self._open_list(tag, attributes)
            return list(html._children(node)), painted
        if tag == "sup" or any("super" in name or "note-tag" in name for name in classes):
            self.inline.append(f"\ue001{node.text()}\ue002")
            return [], painted
        if tag in html.BLOCKS or tag in html.HEADINGS:
            self.flush()
            role = next((role for name in classes for pattern, role in _ROLES if pattern.fullmatch(name)), "")
            if role == "heading":
                self.began = min(self.began, len(self.lines))
            self.role = role or ("heading" if tag in html.HEADINGS else "")
        return super().enter(node, painted)

    def _open_list(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "li":
            kind, count = self.marks[-1] if self.marks else ("ul", 0)
            if self.marks:
                self.marks[-1] = (kind, count + 1)
            self.mark = _mark(kind, count + 1)
            return
        self.level += 1
        if tag != "table":
            start = attributes.get("start") or ""
            first = int(start) - 1 if start.isdecimal() and len(start) < 5 else 0
            self.marks.append((attributes.get("type") or ("1" if tag == "ol" else "ul"), first))

    def leave(self, tag: str) -> None:
        """The end of a block ends its line."""
        if tag in html.BLOCKS or tag in html.HEADINGS or tag in ("table", "ol", "ul", "li"):
            self.flush()
            self.role = ""
        if tag in ("table", "ol", "ul"):
            self.level = max(0, self.level - 1)
            if tag != "table" and self.marks:
                self.marks.pop()

    def flush(self) -> None:
        """Make a line of the text since the last one."""
        text = " ".join(_NOTE_MARK.sub("", "".join(self.inline)).replace("\ue001", "").replace("\ue002", "").split())
        self.inline = []
        if not text:
            return
        text, self.lead = f"{self.lead}{text}", ""
        if self.mark and not marks.read(text)[0]:
            text = f"{self.mark} {text}"
        self.mark = ""
        quoted = self.level > 0  # what stands in a list is no heading of this act, but of one that it amends
        role = "" if self.role == "heading" or quoted else self.role
        heading = False if quoted and self.role else True if self.role else None
        self.lines.append(Line(text, None, self.level * STEP, heading, role))

    def begin_item(self) -> None:
        """Nothing: `_open_list` has the mark of the item."""

    def end_list(self) -> None:
        """Nothing: an item is a line of its own."""


def _mark(kind: str, number: int) -> str:
    """What a browser shows before an item."""
    if kind == "ul":
        return "—"
    if kind == "a" and number <= 26:
        return f"({chr(96 + number)})"
    if kind == "i" and number <= 399:
        return f"({marks.written(number)})"
    return f"{number}."
