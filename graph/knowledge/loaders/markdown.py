"""Markdown as a reader sees it: the words without the marks, links by their text, pictures left out."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from graph.knowledge.loaders import html, normalise, table, visibility
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.text import decode

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title[ \t]*:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.IGNORECASE | re.MULTILINE)
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(r"([\w-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_REFERENCE_COMMENT = re.compile(r"^ {0,3}\[(?://|comment)\]:[^\n]*$", re.IGNORECASE | re.MULTILINE)


def read(data: bytes, out: Builder) -> None:
    text = normalise.clean(raw := decode(data))
    for words in normalise.smuggled(raw):
        out.hide(words)
    if front := _FRONT_MATTER.match(text):
        out.hide(front.group(1))
        text = text[front.end() :]
    first = front.group(1) if front else text.lstrip().split("\n", 1)[0]
    if title := _TITLE.search(first):
        out.title = title.group(1)
    for comment in _REFERENCE_COMMENT.findall(text):
        out.hide(comment)  # "[//]: # (like this)"
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    _Walk(out).run(parser.parse(text))


class _Walk:
    def __init__(self, out: Builder) -> None:
        self.out = out
        self.concealed = _Concealed()
        self.items: list[tuple[int, str, str]] = []  # depth, mark, text
        self.lists = 0
        self.in_item = False
        self.rows: list[list[str]] = []

    def run(self, tokens: list[Token]) -> None:
        above = ""
        for token in tokens:
            kind = token.type
            if kind == "inline":
                self.text(above, token)
            elif kind in ("fence", "code_block"):
                self.end_list()
                self.out.hide(token.content) if self.concealed else self.out.code(token.content)
            elif kind == "html_block":
                self.html(token.content)
            elif kind in ("bullet_list_open", "ordered_list_open"):
                self.lists += 1
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self.lists -= 1
                if not self.lists:
                    self.end_list()
            elif kind == "list_item_open":
                mark = f"{token.info}{token.markup}" if token.info else "-"
                self.items.append((self.lists - 1, mark, ""))
                self.in_item = True
            elif kind == "table_open":
                self.end_list()
                self.rows = []
            elif kind == "tr_open":
                self.rows.append([])
            elif kind == "table_close":
                self.out.table()
                for _, sentence in table.sentences(self.rows, header=True):
                    self.out.row(sentence)
                self.out.table()
            above = f"{token.tag} {token.type}"
        self.end_list()

    def text(self, above: str, token: Token) -> None:
        text = self.inline(token.children or [])
        tag, kind = above.split(" ", 1)
        if kind in ("th_open", "td_open"):
            self.rows[-1].append(text)
        elif kind == "heading_open":
            self.end_list()
            self.out.heading(text, int(tag[1:]))
        elif self.in_item and self.items:
            depth, mark, before = self.items[-1]
            self.items[-1] = (depth, mark, f"{before} {text}")
        else:
            self.end_list()
            self.out.paragraph(text)

    def inline(self, tokens: list[Token]) -> str:
        """Visible words, with a line end where the writer meant one."""
        paragraph: list[str] = []
        lines = [""]
        for token in tokens:
            if token.type == "html_inline":
                self.tag(token.content)
            elif token.type == "image":
                self.out.hide(f"{token.content} {token.attrGet('title') or ''}")
            elif token.type == "link_open":
                self.out.hide(str(token.attrGet("title") or ""))
            elif token.type == "softbreak":
                lines.append("")
            elif token.type == "hardbreak":
                paragraph.append(normalise.unwrap(lines))
                lines = [""]
            elif token.content and self.concealed:
                self.out.hide(token.content)
            else:
                lines[-1] += token.content
        return "\n".join([*paragraph, normalise.unwrap(lines)])

    def tag(self, source: str) -> None:
        for comment in _COMMENT.findall(source):
            self.out.hide(comment)
        self.concealed.feed(_COMMENT.sub("", source))

    def html(self, source: str) -> None:
        for comment in _COMMENT.findall(source):
            self.out.hide(comment)
        source = _COMMENT.sub("", source)
        if self.concealed:
            self.out.hide(_TAG.sub(" ", source))
        elif source.strip():
            self.end_list()
            html.read_fragment(source, self.out)
        self.concealed.feed(source)

    def end_list(self) -> None:
        self.out.items((depth, f"{mark} {text}") for depth, mark, text in self.items if text)
        self.items, self.in_item = [], False


class _Concealed:
    """Whether the place reached is inside HTML tags that hide it: tags and Markdown may alternate."""

    def __init__(self) -> None:
        self.open = 0
        self.tag = ""

    def __bool__(self) -> bool:
        return self.open > 0

    def feed(self, source: str) -> None:
        for close, tag, attributes in _TAG.findall(source):
            tag = tag.lower()
            if self.open:
                self.open += (tag == self.tag) * (-1 if close else 1)
            elif not close and tag != "br" and not attributes.endswith("/"):
                found = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(attributes)}
                style = visibility.declarations(found.get("style", ""))
                if "hidden" in found or visibility.conceals(style) or visibility.white(style):
                    self.open, self.tag = 1, tag
