"""What lies on the sheets of a workbook rather than in their cells: texts of boxes and shapes, and pictures."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graph.knowledge.loaders.zipped_xml import Parts

_SHEET = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MOST_BOXES = 500  # on a sheet


@dataclass
class Drawing:
    """What lies on one sheet."""

    texts: list[list[str]] = field(default_factory=list)  # the paragraphs of each box
    pictures: int = 0


def of_sheets(data: bytes, sheets: Iterable[tuple[str, str]]) -> dict[str, Drawing]:
    """Name of a sheet → what lies on it. `sheets`: names, and parts of the file, which is checked already."""
    parts = Parts(data, checked=True)
    drawings: dict[str, Drawing] = {}
    for name, part in sheets:
        for target in parts.relations(part).values():
            if target.startswith("xl/drawings/") and target.endswith(".xml") and target in parts.names:
                _read(parts.xml(target), drawings.setdefault(name, Drawing()))
    return drawings


def _read(drawing: Any, into: Drawing) -> None:
    for shape in drawing.iter(f"{_SHEET}sp", f"{_SHEET}pic"):
        about = shape.find(f".//{_SHEET}cNvPr")
        if about is not None and about.get("hidden") in ("1", "true"):
            continue
        if shape.tag == f"{_SHEET}pic":
            into.pictures += 1
            continue
        texts = ["".join(run.text or "" for run in one.iter(f"{_TEXT}t")) for one in shape.iter(f"{_TEXT}p")]
        if any(map(str.strip, texts)) and len(into.texts) < MOST_BOXES:
            into.texts.append([text for text in texts if text.strip()])
