"""Markdown as a reader sees it: turned into the page that it stands for, and read as one."""

import re
from textwrap import dedent

from markdown_it import MarkdownIt

from graph.knowledge.loaders import dialects, front_matter, html, normalise
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.grid_tables import grid_tables
from graph.knowledge.loaders.simple_tables import simple_tables
from graph.knowledge.loaders.text import decode

_FRONT_MATTER = re.compile(
    r"\s*(?:---[ \t]*\n(.*?)\n(?:---|\.\.\.)|\+\+\+[ \t]*\n(.*?)\n\+\+\+)[ \t]*(?:\n|\Z)", re.DOTALL
)
_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(.+?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_REFERENCE_COMMENT = re.compile(r"^ {0,3}\[(?://|comment)\]:[^\n]*$", re.IGNORECASE | re.MULTILINE)


def read(data: bytes, out: Builder) -> None:
    """The fields of the front matter come first; comments are hidden text."""
    text = normalise.clean(raw := decode(data)).replace(dialects.GONE, "")
    for words in normalise.smuggled(raw):
        out.hide(words)
    front = _FRONT_MATTER.match(text)
    fields = dedent(front[1] or front[2] or "") if front else ""
    if front:
        for name, value in front_matter.shown(fields, toml=front[2] is not None):
            out.field(name, value)
        out.hide(fields)
        text = text[front.end() :]
    if title := _TITLE.search(fields or text.lstrip().split("\n", 1)[0]):
        out.title = dialects.words(title[1].strip("\"'"))
    for comment in _REFERENCE_COMMENT.findall(text):
        out.hide(comment)  # "[//]: # (like this)"
    text, unseen = dialects.common_markdown(text)
    out.hide(unseen)
    parser = (
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).use(grid_tables).use(simple_tables)
    )
    html.read_markup(dialects.rid(parser.render(text)), out)
