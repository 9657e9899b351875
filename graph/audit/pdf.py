"""Markdown to PDF by Typst: headings, lists, tables, page numbers, any script.

Every piece of text goes into the Typst source as a string literal, never as markup, and the source reads no file and
no address: a document or a model cannot make the writer do anything.
"""

import re
import secrets
import threading
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

# The template is Typst, a line each.
# ruff: noqa: E501
_HEAD = """#set document(title: {title}, author: "Cordon", date: datetime(year: {year}, month: {month}, day: {day}))
#set page(paper: "a4", margin: (x: 24mm, top: 24mm, bottom: 22mm), numbering: "1 / 1", footer: context [
  #set text(size: 8pt, fill: luma(110))
  #line(length: 100%, stroke: 0.4pt + luma(190)) #v(-4pt)
  Cordon #h(1fr) #{created} #h(1fr) #counter(page).display("1 / 1", both: true)])
#set text(font: ("Libertinus Serif", "DejaVu Sans"), size: 10.5pt, lang: "en")
#set par(leading: 0.68em, spacing: 1.05em)
#set list(indent: 4pt, body-indent: 6pt, spacing: 0.75em)
#set enum(indent: 4pt, body-indent: 6pt, spacing: 0.75em)
#show heading.where(level: 1): it => block(below: 14pt, text(size: 17pt, weight: "semibold", fill: rgb("#12324f"), it.body))
#show heading.where(level: 2): it => block(above: 18pt, below: 9pt, text(size: 12.5pt, weight: "semibold", fill: rgb("#12324f"), it.body))
#show heading.where(level: 3): it => block(above: 13pt, below: 7pt, text(size: 11pt, weight: "semibold", it.body))
#set table(stroke: 0.4pt + luma(170), inset: 5.5pt, align: left + top, fill: (_, row) => if row == 0 {{ rgb("#e8eef4") }})
#show table: set text(size: 9pt)
#show table: set par(leading: 0.55em)
#let aside(body) = block(width: 100%, inset: (x: 10pt, y: 8pt), stroke: (left: 2pt + rgb("#b3772a")), fill: rgb("#fbf5ea"), body)
#show raw.where(block: true): it => block(width: 100%, inset: (x: 9pt, y: 7pt), radius: 2pt, fill: luma(244), text(size: 9pt, it))
#let cite(numbers) = text(size: 0.78em, weight: "semibold", fill: rgb("#1d5c8a"), numbers)
#let bar(share) = box(width: share, height: 5pt, radius: 1pt, fill: rgb("#1d5c8a"))
#let tick = box(width: 8pt, height: 8pt, baseline: 0.5pt, stroke: 0.6pt + luma(90)) + h(5pt)
"""
BAR, BARS = "\ue000", 40  # what a bar is made of, in no text of a document; how many fill the column
_NUMBERS = re.compile(r"(\[\d{1,3}\])+")  # of the sources of a sentence
_parser = MarkdownIt("commonmark", {"html": False}).enable("table")


def pdf_of(text: str, *, title: str, created: str = "1970-01-01T00:00:00Z") -> bytes:
    """Markdown `text` as an A4 PDF. `created` is UTC, ISO 8601."""
    source = _cache_breaker() + source_of(text, title=title, created=created)
    with _COMPILING:
        data: bytes = _compiler().compile(source.encode())
    return data


def write_pdf(text: str, path: Path, *, title: str, created: str) -> None:
    """As `pdf_of`, into a new file. Raises OSError when it is there or cannot be written."""
    data = pdf_of(text, title=title, created=created)
    with path.open("xb") as file:
        path.chmod(0o600)
        file.write(data)


_COMPILING = threading.Lock()  # the compiler refuses a second thread


@cache
def _compiler() -> Any:
    """Made once: to read the fonts takes twice as long as to set a page."""
    import typst

    return typst.Compiler(b"", font_paths=typst.Fonts())


def _cache_breaker() -> str:
    """A feature that no font has, with a random value for each document. Typst caches what it has set: without this, words
    that somebody else just had in an answer would take half the time, which tells of them."""
    return f"#set text(features: (zrun: {secrets.randbelow(2**31)}))\n"


def source_of(text: str, *, title: str, created: str) -> str:
    """The Typst source of a Markdown text."""
    year, month, day = (int(part) for part in re.findall(r"\d+", created)[:3])
    head = _HEAD.format(title=_literal(title), year=year, month=month, day=day, created=_literal(created))
    tokens = _parser.parse(text)
    return head + "".join(_block(tokens, at) for at in range(len(tokens)))


def _block(tokens: list[Token], at: int) -> str:
    token = tokens[at]
    match token.type:
        case "heading_open":
            return f"\n#heading(level: {min(int(token.tag[1]), 3)})["
        case "heading_close":
            return "]\n"
        case "paragraph_open" | "paragraph_close":
            return "" if token.hidden else "\n\n"
        case "bullet_list_open":
            boxes = tokens[at + 3].content.startswith("[ ] ")
            return "\n#list(marker: [], " if boxes else "\n#list("
        case "ordered_list_open":
            return f"\n#enum(start: {int(token.attrs.get('start', 1))}, "
        case "list_item_open":
            return "["
        case "list_item_close":
            return "], "
        case "bullet_list_close" | "ordered_list_close":
            return ")\n"
        case "blockquote_open":
            return "\n#aside["
        case "blockquote_close":
            return "]\n"
        case "table_open":
            return f"\n#table(columns: ({_columns(tokens[at:])}), "
        case "thead_open":
            return "table.header("
        case "thead_close":
            return "), "
        case "th_open" | "td_open":
            return "["
        case "th_close" | "td_close":
            return "], "
        case "table_close":
            return ")\n"
        case "inline":
            return "".join(map(_inline, token.children or []))
        case "fence" | "code_block":
            return f"\n#raw({_literal(token.content.rstrip())}, block: true)\n"
        case "hr":
            return "\n#line(length: 100%, stroke: 0.4pt + luma(170))\n"
        case _:
            return ""


def _columns(tokens: list[Token]) -> str:
    """Widths for the table that begins here: short columns take what they need, the others share the rest."""
    longest: list[int] = []
    column = 0
    for token in tokens:
        if token.type == "tr_open":
            column = 0
        elif token.type == "inline":
            longest += [0] * (column + 1 - len(longest))
            longest[column] = max(longest[column], len(token.content))
        elif token.type in ("th_close", "td_close"):
            column += 1
        elif token.type == "table_close":
            break
    return "".join("auto, " if length <= 12 else "1fr, " for length in longest)


def _inline(token: Token) -> str:
    match token.type:
        case "text" if _NUMBERS.fullmatch(token.content):
            return f"#cite({_literal(token.content)});"
        case "text" if not token.content.strip(BAR) and token.content:
            return f"#bar({min(len(token.content), BARS) * 100 / BARS}%);"
        case "text":
            open_box = token.content.startswith("[ ] ")
            return ("#tick;" if open_box else "") + f"#{_literal(token.content[4 if open_box else 0 :])};"
        case "code_inline":
            return f"#raw({_literal(token.content)});"
        case "strong_open":
            return "#strong["
        case "em_open":
            return "#emph["
        case "strong_close" | "em_close":
            return "];"
        case "softbreak":
            return " "
        case "hardbreak":
            return "#linebreak();"
        case "image":
            return f"#{_literal(token.content)};"
        case _:
            return ""  # links lose their target and keep their text


def _literal(text: str) -> str:
    """A Typst string literal."""
    text = "".join(c for c in text if c in "\n\t" or (ord(c) >= 32 and not 0xD800 <= ord(c) <= 0xDFFF))
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
