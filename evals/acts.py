"""Acts to test the parser on: the invented one, and any act in other forms (text, pages of text, EUR-Lex HTML, simple
HTML, a PDF in the layout of the Official Journal)."""

# Templates read best one to a line.
# ruff: noqa: E501
import html
import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from graph.regulation.unit import Unit, short

INVENTED = Path(__file__).parent / "datasets" / "act" / "act.tsv"
_NOTE = re.compile(r"\[\[(.*?)\]\]")
_MARK = re.compile(r"(\((?:\d{1,3}|[a-z]{1,5})\)|\d{1,3}\.|—)\s+")


def invented() -> list[Unit]:
    """The units of the invented act as they were written, footnotes still in [[ ]] where their marks stand."""
    rows = (line.split("\t") for line in INVENTED.read_text(encoding="utf-8").splitlines())
    return [_unit(kind, path, text) for kind, path, text in rows]


def _unit(kind: str, path: str, text: str) -> Unit:
    name = short(path)
    if kind in ("article", "division", "annex"):
        heading = {"article": name, "annex": name.upper()}.get(kind) or _division(path)
        return Unit(kind, path, name, f"{heading}\n{text}", text)  # type: ignore[arg-type]
    return Unit(kind, path, name, text)  # type: ignore[arg-type]


def _division(path: str) -> str:
    word, _, number = path.rpartition(", ")[2].partition(" ")
    return f"{word.upper()} {number}" if word == "Chapter" else f"{word} {number}"


def without_notes(text: str) -> str:
    """Without its footnotes."""
    return _NOTE.sub("", text)


def notes(units: Sequence[Unit]) -> list[str]:
    return [note for unit in units for note in _NOTE.findall(unit.text)]


def as_text(units: Sequence[Unit], *, marks_alone: bool = False, blank: bool = True) -> str:
    """A paragraph a line, as copied from a web page; with `marks_alone` each mark stands on a line of its own."""
    lines: list[str] = []
    count = 0
    for unit in units:
        text, count = _numbered(unit.text, count)
        for line in text.split("\n"):
            mark = _MARK.match(line) if marks_alone and unit.kind in ("recital", "point", "indent") else None
            lines += [mark[1], line[mark.end() :]] if mark else [line]
    lines += [f"({n}) {note}" for n, note in enumerate(notes(units), 1)]
    return ("\n\n" if blank else "\n").join(lines) + "\n"


def as_pages(units: Sequence[Unit], *, width: int = 100, length: int = 50) -> str:
    """Hard lines on pages, as copied from a PDF: running heads and footnotes stand between paragraphs."""
    page: list[str] = []
    pages: list[str] = []
    kept: list[str] = []
    for unit in units:
        text, _ = _numbered(unit.text, len(kept))
        kept += _NOTE.findall(unit.text)
        for line in text.split("\n"):
            page += textwrap.wrap(line, width, break_on_hyphens=False)
        if len(page) >= length:
            pages.append(_page(page, kept, len(pages) + 1, width))
            page, kept = [], []
    return "\n".join([*pages, _page(page, kept, len(pages) + 1, width)]) + "\n"


def _page(lines: list[str], kept: list[str], number: int, width: int) -> str:
    foot = [line for n, note in enumerate(kept, 1) for line in textwrap.wrap(f"({n}) {note}", width)]
    return "\n".join([*lines, f"L 77/{number} EN Official Journal of the European Union 3.3.2031", *foot])


def _numbered(text: str, count: int) -> tuple[str, int]:
    """The text with its footnotes' marks, counted on from `count`."""
    while _NOTE.search(text):
        count += 1
        text = _NOTE.sub(f" ({count})", text, count=1)
    return text, count


def as_eurlex(units: Sequence[Unit]) -> str:
    """With the class names and the tables of the Official Journal's HTML."""
    body = []
    count = 0
    for unit in units:
        text = html.escape(without_notes(unit.text), quote=False)
        for _ in _NOTE.findall(unit.text):
            count += 1
            text += (
                f' <a id="ntc{count}-x" href="#ntr{count}-x">(<span class="oj-super oj-note-tag">{count}</span>)</a>'
            )
        heads = {"article": ("oj-ti-art", "oj-sti-art"), "division": ("oj-ti-section-1", "oj-ti-section-2"),
                 "annex": ("oj-doc-ti", "oj-ti-grseq-1")}  # fmt: skip
        if unit.kind in heads:
            first, _, title = text.partition("\n")
            label, name = heads[unit.kind]
            body.append(
                f'<div class="eli-subdivision"><p class="{label}"><span class="oj-italic">{first}</span></p>'
                f'<div class="eli-title"><p class="{name}"><span class="oj-bold">{title}</span></p></div></div>'
            )
        elif mark := _MARK.match(text) if unit.kind in ("recital", "point", "indent") else None:
            depth = unit.name.count("(") - 1 if unit.kind == "point" else 0
            row = f'<tr><td><p class="oj-normal">{mark[1]}</p></td><td><p class="oj-normal">{text[mark.end() :]}</p></td></tr>'
            body.append("<table>" * max(depth, 1) + row + "</table>" * max(depth, 1))
        else:
            text = _MARK.sub(lambda m: f"{m[1]}\u00a0\u00a0\u00a0", text, count=1) if _MARK.match(text) else text
            body.append(f'<div><p class="oj-normal">{text}</p></div>')
    foot = "".join(f'<p class="oj-note"><a id="ntr{n}-x" href="#ntc{n}-x">({n})</a> {html.escape(note)}</p>' for n, note in enumerate(notes(units), 1))  # fmt: skip
    head = '<p class="oj-hd-date">3.3.2031</p><p class="oj-hd-ti">Official Journal of the European Union</p>'
    return f"<!DOCTYPE html><html><head><title>L_203177</title></head><body>{head}{''.join(body)}{foot}</body></html>"


def as_html(units: Sequence[Unit]) -> str:
    """Headings and paragraphs and nothing more."""
    body = []
    for unit in units:
        text = html.escape(without_notes(unit.text), quote=False)
        if unit.kind in ("article", "division", "annex"):
            first, _, title = text.partition("\n")
            body.append(f"<h2>{first}</h2><h3>{title}</h3>")
        else:
            body.append(f"<p>{text}</p>")
    return f"<!DOCTYPE html><html><head><title>Act</title></head><body>{''.join(body)}</body></html>"


_LAYOUT = """#set page(paper: "a4", margin: (x: 24mm, top: 30mm, bottom: 22mm), header: context [#text(size: 9pt)[3.3.2031 #h(1fr) EN #h(1fr) Official Journal of the European Union #h(1fr) L 77/#counter(page).display()]])
#set text(font: "Libertinus Serif", size: 9.5pt, lang: "en", hyphenate: true)
#set par(justify: true, leading: 0.5em, spacing: 1.1em)
#set super(typographic: false)
#show footnote.entry: it => text(size: 8pt)[(#super(numbering("1", ..counter(footnote).at(it.note.location())))) #it.note.body]
#let n(body) = [ (#footnote(numbering: "1", body))]
#let head(a, b) = [#align(center, text(size: 9.5pt, a)) #align(center, strong(b))]
#let item(depth, mark, body) = pad(left: depth * 6mm, grid(columns: (7mm, 1fr), mark, body))
"""


def as_pdf(units: Sequence[Unit]) -> bytes:
    """Justified and hyphenated, with running heads, footnotes at the foot of pages, and two levels of lists."""
    import typst

    data = typst.compile((_LAYOUT + "\n\n".join(_typeset(unit) for unit in units)).encode())
    assert isinstance(data, bytes)
    return data


def _typeset(unit: Unit) -> str:
    if unit.kind in ("article", "division", "annex"):
        first, _, title = unit.text.partition("\n")
        return f"#head({json.dumps(first)}, {json.dumps(title, ensure_ascii=False)})"
    mark = _MARK.match(unit.text) if unit.kind in ("recital", "point", "indent") else None
    text = unit.text[mark.end() :] if mark else unit.text
    body = "".join(_pieces(text))
    if mark is None:
        return (
            f"#par[{body}]"
            if unit.kind != "front"
            else f"#align(center)[{body}]"
            if unit.text.isupper()
            else f"#par[{body}]"
        )
    depth = (
        max(0, unit.name.count("(") - (2 if re.search(r"\w\(\d+\)\(", unit.name) else 1)) if unit.kind == "point" else 0
    )
    return f"#item({depth}, {json.dumps(mark[1], ensure_ascii=False)}, [{body}])"


def _pieces(text: str) -> Iterator[str]:
    at = 0
    for match in _NOTE.finditer(text):
        yield f"#{json.dumps(text[at : match.start()], ensure_ascii=False)}#n({json.dumps(match[1], ensure_ascii=False)})"
        at = match.end()
    yield f"#{json.dumps(text[at:], ensure_ascii=False)}"


def differences(found: Sequence[Unit], wanted: Sequence[Unit]) -> list[str]:
    """What is not equal, once white space and punctuation are folded: front matter and signatures as a whole, all else
    unit by unit, in order."""
    told = []
    for kind in ("front", "signature"):
        a, b = ("".join(fold(u.text) for u in units if u.kind == kind) for units in (found, wanted))
        told += [f"{kind}: {a[:60]!r}, not {b[:60]!r}"] if a != b else []
    left, right = (
        [(u.path, fold(u.text)) for u in units if u.kind not in ("front", "signature")] for units in (found, wanted)
    )
    told += [f"missing or other: {path}" for path, text in right if (path, text) not in left]
    told += [f"too much: {path}: {text[:40]}" for path, text in left if (path, text) not in right]
    if not told and left != right:
        told.append("in another order")
    return told


def fold(text: str) -> str:
    return re.sub(r"[\W_]", "", without_notes(text)).casefold()
