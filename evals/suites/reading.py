"""reading: the same text in two formats must be read alike. `python -m evals.suites.reading DIR | FILE FILE`

Markdown documents of a folder are written by other programs (pandoc, LibreOffice, Chromium, Typst; Debian's packages,
for development only) as HTML, DOCX, ODT, EPUB and PDF, read back by Cordon, and compared with the HTML that Markdown
stands for, which is taken apart here by a parser of its own:

    words     of the running text, in order: twice the matching ones by those of both
    headings  those that were read as headings; and how many were read that are none
    numbers   items of numbered lists, but for lists in lists, with their number
    cells     cells of tables under the heading of their column
    pages     sentences whose page is the one on which the PDF library finds them
"""

import argparse
import difflib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

from graph.errors import Quarantined
from graph.knowledge.document import Document
from graph.knowledge.ingest import Source
from graph.knowledge.loaders import dialects, load
from graph.policy.text import structure
from graph.policy.text.sentences import split

MOST_WORDS = 4_000  # of a document, that are compared
CHARACTERS = (1_500, 40_000)  # of a Markdown file
_FRONT = re.compile(r"\s*---\n.*?\n---\n", re.DOTALL)
_TABLE, _LISTED = re.compile(r"^\|? *:?-{3,}:? *\|", re.MULTILINE), re.compile(r"^\d\. .*\n+2\. ", re.MULTILINE)
_NUMBERED = re.compile(r"\(?(\d{1,3})[.)]\s+(.*)", re.DOTALL)
PRINTED = """<style>@page {{ size: A4; margin: 25mm; @bottom-center {{ content: "Page " counter(page); }} }}
body {{ font: 10.5pt/1.35 serif; }} main {{ {columns} }}
table {{ border-collapse: collapse; width: 100%; }} td, th {{ border: 1px solid #888; padding: 3px; text-align: left; }}
tr {{ break-inside: avoid; }}</style>"""


Sums = dict[str, tuple[float, float]]  # measure → right, in all


TWO_COLUMNS = "columns: 2; column-gap: 8mm;"


TYPST = '#set page(numbering: "1 of 1")\n#set par(justify: true)\n#set text(size: 10.5pt)'


@dataclass
class Contents:
    words: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    items: list[tuple[int, str]] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)  # each after the heading of its column
    rows: list[str] = field(default_factory=list)  # as they were read


def plain(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def page(path: Path) -> str:
    """The HTML that a Markdown file stands for: text, headings, lists, tables and code alone."""
    text, _ = dialects.common_markdown(_FRONT.sub("", path.read_text(encoding="utf-8", errors="replace"), count=1))
    html = MarkdownIt("commonmark", {"html": False}).enable(["table"]).render(dialects.rid(text))
    parser = LexborHTMLParser(f"<html><head></head><body>{html}</body></html>")
    for node in parser.css("img, hr, script, style"):
        node.decompose()
    for node in parser.css("a"):
        node.unwrap()
    return parser.html or ""


def written(html: str) -> Contents:
    """What the page says, by a reading of its own."""
    parser, found = LexborHTMLParser(html), Contents()
    body = parser.body
    assert body is not None
    tables = [table for table in body.css("table") if len(table.css("thead th")) > 1]  # one column is a frame
    for table in tables:
        titles = [" ".join(plain(cell.text())) for cell in table.css("thead th")]
        for row in table.css("tbody tr"):
            cells = [" ".join(plain(cell.text())) for cell in row.css("td")]
            found.cells += [f" {title} {cell} " for title, cell in zip(titles, cells, strict=False) if title and cell]
    for heading in body.css("h1, h2, h3, h4, h5, h6"):
        found.headings.append(" ".join(plain(heading.text())))
    inner = {one.mem_id for one in body.css("ol ol")}  # other programs count these by letters
    for ordered in (one for one in body.css("ol") if one.mem_id not in inner):
        start = int(ordered.attributes.get("start") or 1)
        items = [item for item in ordered.iter() if item.tag == "li"]
        found.items += [(start + n, _beginning(plain(_own(item)))) for n, item in enumerate(items)]
    for table in tables:
        table.decompose()
    found.words = plain(body.text(separator=" "))[:MOST_WORDS]
    return found


def _own(item: LexborNode) -> str:
    """Text of an item without the lists in it."""
    parts = [child.text() for child in item.iter(include_text=True) if child.tag not in ("ul", "ol")]
    return " ".join(parts)


def _beginning(words: Sequence[str]) -> str:
    return " ".join(words[:5])


def read(document: Document) -> Contents:
    """What Cordon read, in the same form."""
    found, running = Contents(), []
    for block in document.blocks:
        text = document.text[block.start : block.end]
        if block.kind == "heading":
            found.headings.append(" ".join(plain(structure.without_marks(text))))
        if block.kind == "row":
            found.rows.append(f" {' '.join(plain(text))} ")
            continue
        if block.kind == "list":
            lines = [_NUMBERED.match(line.strip()) for line in text.split("\n")]
            found.items += [(int(line[1]), _beginning(plain(line[2]))) for line in lines if line]
            text = "\n".join(re.sub(r"^\s*\(?\d{1,3}[.)] ", "", line) for line in text.split("\n"))
        running.append(structure.without_marks(text))
    found.words = plain("\n".join(running))[:MOST_WORDS]
    return found


def compared(wanted: Contents, got: Contents) -> Sums:
    """Right and in all, by measure."""
    same = difflib.SequenceMatcher(None, wanted.words, got.words, autojunk=False)
    matching = sum(block.size for block in same.get_matching_blocks())
    return {
        "words": (2 * matching, len(wanted.words) + len(got.words)),
        "headings": (_common(wanted.headings, got.headings), len(wanted.headings)),
        "headings that are none": (len(got.headings) - _common(wanted.headings, got.headings), len(got.headings)),
        "numbers": (_common(wanted.items, got.items), len(wanted.items)),
        "cells": (sum(any(cell in row for row in got.rows) for cell in wanted.cells), len(wanted.cells)),
    }


def _common(wanted: Sequence[object], got: Sequence[object]) -> int:
    left = list(got)
    count = 0
    for one in wanted:
        if one in left:
            left.remove(one)
            count += 1
    return count


def paged(document: Document, data: bytes) -> tuple[int, int]:
    """Sentences on the page on which the PDF library finds them, of those that it finds."""
    import pypdfium2

    with pypdfium2.PdfDocument(data) as pdf:
        texts = ["".join(plain(sheet.get_textpage().get_text_range())) for sheet in pdf]
    right = counted = 0
    for block in document.blocks:
        for start, end in split(document.text[block.start : block.end]):
            letters = "".join(plain(document.text[block.start + start : block.start + end]))
            on = {number for number, text in enumerate(texts, 1) if letters in text}
            if len(letters) >= 30 and on:
                counted += 1
                right += document.places(block.start + start, block.start + end)[0][1] in on
    return right, counted


# -- writing ------------------------------------------------------------------------------------------------------


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True, capture_output=True, timeout=300)


def _pandoc(kind: str) -> Callable[[dict[str, Path], Path], None]:
    def write(pages: dict[str, Path], out: Path) -> None:
        for name, path in pages.items():
            _run("pandoc", path, "-f", "html", "-o", out / f"{name}.{kind}")

    return write


def _office(kind: str) -> Callable[[dict[str, Path], Path], None]:
    """Word documents of pandoc, written anew by LibreOffice."""

    def write(pages: dict[str, Path], out: Path) -> None:
        source = out / "source"
        source.mkdir()
        _pandoc("docx")(pages, source)
        _run("soffice", f"-env:UserInstallation=file://{out}/profile", "--headless", "--convert-to", kind, "--outdir",
             out, *source.glob("*.docx"))  # fmt: skip

    return write


def _chromium(columns: int) -> Callable[[dict[str, Path], Path], None]:
    def write(pages: dict[str, Path], out: Path) -> None:
        for name, path in pages.items():
            styled = out / f"{name}.html"
            html = (
                path.read_text(encoding="utf-8").replace("<body>", "<body><main>").replace("</body>", "</main></body>")
            )
            styled.write_text(
                html.replace("</head>", PRINTED.format(columns=TWO_COLUMNS if columns == 2 else "") + "</head>"),
                encoding="utf-8",
            )
            _run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
                 f"--user-data-dir={out}/profile", f"--print-to-pdf={out}/{name}.pdf", styled)  # fmt: skip

    return write


def _typst(pages: dict[str, Path], out: Path) -> None:
    import typst

    for name, path in pages.items():
        body = LexborHTMLParser(path.read_text(encoding="utf-8")).body
        assert body is not None
        source = out / f"{name}.typ"
        source.write_text(f"{TYPST}\n{_blocks(body)}", encoding="utf-8")
        typst.compile(str(source), output=str(out / f"{name}.pdf"))


def _blocks(node: LexborNode) -> str:
    """The children of an element in Typst's language."""
    parts = []
    for child in node.iter(include_text=True):
        tag = child.tag or ""
        if re.fullmatch("h[1-6]", tag):
            parts.append(f"\n#heading(level: {tag[1]})[{_quoted(child)}]\n")
        elif tag in ("ul", "ol"):
            items = ", ".join(f"[{_blocks(item)}]" for item in child.iter() if item.tag == "li")
            start = f"start: {int(child.attributes.get('start') or 1)}, " if tag == "ol" else ""
            parts.append(f"\n#{'enum' if tag == 'ol' else 'list'}({start}{items})\n")
        elif tag == "table":
            rows = [[f"[{_quoted(cell)}]" for cell in row.iter()] for row in child.css("tr")]
            head = f"table.header({', '.join(rows[0])})" if child.css_first("thead") else ", ".join(rows[0])
            cells = ", ".join([head, *(cell for row in rows[1:] for cell in row)])
            parts.append(f"\n#table(columns: {max(map(len, rows))}, {cells})\n")
        elif tag in ("p", "pre"):
            parts.append(f"\n{_quoted(child)}\n\n")
        elif tag in ("blockquote", "div"):
            parts.append(_blocks(child))
        else:
            parts.append(_quoted(child))
    return "".join(parts)


def _quoted(node: LexborNode) -> str:
    text = " ".join(node.text().split()) if node.tag != "-text" else re.sub(r"\s+", " ", node.text())
    return '#"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' if text else ""


def _copied(pages: dict[str, Path], out: Path) -> None:
    for path in pages.values():
        shutil.copy(path, out)


# How a twin is called, the extension it is read by, what writes it, and the programs that takes.
WRITERS = (
    ("html", "html", _copied, ()),
    ("docx, pandoc", "docx", _pandoc("docx"), ("pandoc",)),
    ("docx, LibreOffice", "docx", _office("docx"), ("pandoc", "soffice")),
    ("odt, LibreOffice", "odt", _office("odt"), ("pandoc", "soffice")),
    ("epub, pandoc", "epub", _pandoc("epub"), ("pandoc",)),
    ("pdf, LibreOffice", "pdf", _office("pdf"), ("pandoc", "soffice")),
    ("pdf, Chromium", "pdf", _chromium(1), ("chromium",)),
    ("pdf, Chromium, two columns", "pdf", _chromium(2), ("chromium",)),
    ("pdf, Typst", "pdf", _typst, ()),
)


def twins(given: Sequence[Source], kind: str, out: Path) -> list[Source]:
    """The same sources, with the Markdown among them as files of a kind of twin."""
    _, extension, write, _ = next(writer for writer in WRITERS if writer[0] == kind)
    (out / "pages").mkdir(parents=True)
    pages = {}
    for number, source in enumerate(given):
        if source.path.suffix == ".md":
            pages[f"d{number}"] = out / "pages" / f"d{number}.html"
            pages[f"d{number}"].write_text(page(source.path), encoding="utf-8")
    (out / "files").mkdir()
    write(pages, out / "files")
    made = {f"d{n}": out / "files" / f"d{n}.{extension}" for n in range(len(given))}
    return [
        replace(source, path=made[name], name=f"{Path(source.name).stem}.{extension}") if name in pages else source
        for name, source in ((f"d{n}", source) for n, source in enumerate(given))
    ]


def pair(one: Path, other: Path) -> Sums:
    """Two files that an organisation publishes of one text, compared: the first is what is wanted."""
    return compared(read(load(one.read_bytes(), one.name)), read(load(other.read_bytes(), other.name)))


def chosen(folder: Path, count: int) -> list[Path]:
    """Markdown files of a middling size, the same ones each time: a third with tables, a third with numbered lists."""
    paths = [p for p in sorted(folder.rglob("*.md")) if CHARACTERS[0] <= p.stat().st_size <= CHARACTERS[1]]
    Random(34).shuffle(paths)
    kinds: dict[str, list[Path]] = {"table": [], "numbered": [], "other": []}
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        kind = "table" if _TABLE.search(text) else "numbered" if _LISTED.search(text) else "other"
        kinds[kind].append(path)
    return sorted(path for group in kinds.values() for path in group[: -(-count // 3)])[:count]


def measured(
    folder: Path, count: int, only: str = ""
) -> Iterator[tuple[str, dict[str, tuple[float, float]], list[str]]]:
    """For each kind of twin: its name, right and in all by measure, and what could not be read."""
    pages = {f"d{n:03}": page(path) for n, path in enumerate(chosen(folder, count))}
    wanted = {name: written(html) for name, html in pages.items()}
    for title, kind, write, programs in WRITERS:
        if only not in title or not all(map(shutil.which, programs)):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            sources, out = Path(scratch) / "pages", Path(scratch) / "out"
            sources.mkdir()
            out.mkdir()
            for name, html in pages.items():
                (sources / f"{name}.html").write_text(html, encoding="utf-8")
            write({name: sources / f"{name}.html" for name in pages}, out)
            sums: Sums = {}
            failed = []
            for name in pages:
                try:
                    data = (out / f"{name}.{kind}").read_bytes()
                    document = load(data, f"{name}.{kind}")
                except Exception as error:
                    failed.append(f"{name}: {error}")
                    continue
                found = compared(wanted[name], read(document))
                if kind == "pdf":
                    found["pages"] = paged(document, data)
                for measure, (right, total) in found.items():
                    before = sums.get(measure, (0, 0))
                    sums[measure] = (before[0] + right, before[1] + total)
            yield title, sums, failed


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m evals.suites.reading", description="Compare a text with what is read of it in other formats."
    )
    parser.add_argument("paths", type=Path, nargs="+", metavar="DIR", help="with Markdown documents; or two files")
    parser.add_argument("--pages", action="store_true", help="of each PDF there: sentences on their page")
    parser.add_argument("--documents", type=int, default=40, metavar="N")
    parser.add_argument("--only", default="", metavar="WORDS", help="twins whose name holds this: pdf, docx, Typst")
    options = parser.parse_args()
    if options.pages:
        files = sorted(options.paths[0].rglob("*.pdf"))
        pairs, refused = [], []
        for path in files:
            data = path.read_bytes()
            try:
                pairs.append(paged(load(data, path.name), data))
            except Quarantined as error:
                refused.append(str(error))
        results: Iterable[tuple[str, Sums, list[str]]] = [
            (f"{len(files)} PDFs", {"pages": (sum(right for right, _ in pairs), sum(of for _, of in pairs))}, refused)
        ]
    elif len(options.paths) == 2:
        results = [(options.paths[1].name, pair(*options.paths), [])]
    else:
        results = measured(options.paths[0], options.documents, options.only)
    for title, sums, failed in results:
        figures = [f"{m} {right / total:.3f} ({total:.0f})" for m, (right, total) in sums.items() if total]
        sys.stdout.write(f"{title:<28} {'; '.join(figures)}{f'; not read: {failed}' if failed else ''}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
