"""Jupyter notebooks: cells of text, of code, and what the code printed."""

import json
from typing import Any

from graph.errors import DocumentError
from graph.knowledge.loaders import markdown
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.text import decode


def read(data: bytes, out: Builder) -> None:
    """Cells in their order; pictures that the code drew are counted."""
    book = json.loads(decode(data))
    if not isinstance(book, dict) or not isinstance(book.get("cells"), list):
        raise DocumentError("broken", "it is no notebook of version 4", hint="open it in Jupyter and save it again")
    pictures = 0
    for cell in book["cells"]:
        if not isinstance(cell, dict):
            continue
        source = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            markdown.read(source.encode(), out)
        else:
            out.code(source)
        for result in cell.get("outputs") or ():
            shown: dict[str, Any] = result if isinstance(result, dict) else {}
            kinds: dict[str, Any] = shown["data"] if isinstance(shown.get("data"), dict) else {}
            pictures += any(str(kind).startswith("image/") for kind in kinds)
            out.code(_joined(shown.get("text") or kinds.get("text/plain")))
    out.note_counts({"picture": pictures})


def _joined(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")
