"""RTF: its text by striprtf, with the rows of tables as rows; footnotes, running lines and pictures are counted."""

import re

from graph.knowledge.loaders import table, text
from graph.knowledge.loaders.build import Builder

_UNREAD = {
    "footnote": rb"\\footnote\b",
    "page header or footer": rb"\\(?:header|footer)[lrf]?\b",
    "picture": rb"\\pict\b",
    "embedded object": rb"\\objdata\b",
}
_CODE_PAGE = re.compile(rb"\\ansicpg(\d{3,5})")


def read(data: bytes, out: Builder) -> None:
    """Paragraphs and tables in their order."""
    from striprtf.striprtf import rtf_to_text

    page = _CODE_PAGE.search(data[:2_000])
    encoding = f"cp{int(page[1])}" if page else "cp1252"
    # striprtf looks for links line by line; a line end says nothing in RTF, and keeps that linear.
    source = data.rstrip(b"\0").decode("latin-1").replace("{\\field", "\n{\\field")
    whole = rtf_to_text(source, encoding=encoding, errors="replace").replace("\xad", "")  # type: ignore[no-untyped-call]
    lines = re.sub(r"\n+(?=\|)", "", whole).split("\n")  # a cell may hold paragraphs
    rows: list[list[str]] = []
    plain: list[str] = []
    for line in [*lines, ""]:
        if line.endswith("|"):
            _paragraphs(plain, out)
            rows.append([cell.strip() for cell in line[:-1].split("|")])
        elif rows:
            out.table()
            for _, sentence in table.sentences(rows):
                out.row(sentence)
            rows = []
            plain.append(line)
        else:
            plain.append(line)
    _paragraphs(plain, out)
    out.note_counts({name: len(re.findall(pattern, data)) for name, pattern in _UNREAD.items()})


def _paragraphs(lines: list[str], out: Builder) -> None:
    """A line of RTF is a paragraph; as plain text they stand apart."""
    if any(line.strip() for line in lines):
        text.read("\n\n".join(lines).encode(), out)
    lines.clear()
