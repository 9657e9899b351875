"""An act as a Document: a block for each unit, its section the unit's path. Runs inside the sandbox."""

import re
from collections.abc import Sequence

from graph.errors import DocumentError, Quarantined
from graph.knowledge.loaders.build import Builder
from graph.regulation import from_html, from_pdf, from_text, structure
from graph.regulation.unit import Unit

_TOP = re.compile(r"Article \w+\(\d+[a-z]*\)")  # a definition, which stands by itself
FORMATS = ("pdf", "html", "text")


def read(data: bytes, out: Builder, form: str, name: str) -> None:
    """Raises Quarantined "unsupported" when `form` is not one of FORMATS, and DocumentError "broken" when nothing in it
    reads like an act: then not even one article or recital was found."""
    if form not in FORMATS:
        raise Quarantined(
            "unsupported", f"cannot read {name!r} as an act", hint="use its official PDF, its web page or plain text"
        )
    if form == "pdf":
        lines = from_pdf.read(data, out)
    elif form == "html":
        lines = from_html.read(data, out)
    else:
        lines = from_text.read(data)
    title, units = structure.parse(lines)
    if not any(unit.kind in ("article", "recital") for unit in units):
        raise DocumentError(
            "broken",
            "no article and no recital was found: this does not read like an act of the Union",
            hint="ingest it without --regulation, or check that the file is whole",
        )
    write(title, units, out)


def write(title: str, units: Sequence[Unit], out: Builder) -> None:
    """A block for each unit; points and indents join the block before, but for a definition."""
    out.title = title
    for unit in units:
        out.page = unit.page
        heading = unit.kind in ("article", "division", "annex")
        listed = unit.kind in ("point", "indent") and not _TOP.fullmatch(unit.name)
        out.placed("heading" if heading else "paragraph", unit.text, unit.path, joined=listed)
