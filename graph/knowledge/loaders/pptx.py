"""Slides of PowerPoint: each visible one in order, a page each, with its title, texts, tables and speaker's notes."""

from collections.abc import Iterator
from typing import Any

from graph.knowledge.loaders import strict, table
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.zipped_xml import Parts

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
TITLES = ("title", "ctrTitle")
UNREAD = ("dt", "ftr", "sldNum", "hdr")  # placeholders that repeat on each slide
MOST_COLUMNS = 100
MOST_SLIDES = 5_000


def read(data: bytes, out: Builder) -> None:
    """Texts of hidden slides are hidden text."""
    parts = Parts(strict.usual(data), checked=True)
    main = "ppt/presentation.xml"
    targets = parts.relations(main)
    slides = [targets.get(one.get(f"{R}id") or "", "") for one in parts.xml(main).iter(f"{P}sldId")][:MOST_SLIDES]
    hidden = pictures = charts = 0
    for number, name in enumerate(slides, 1):
        if name not in parts.names:
            continue
        slide = parts.xml(name)
        if slide.get("show") in ("0", "false"):
            hidden += 1
            out.hide(" ".join(one.text or "" for one in slide.iter(f"{A}t")))
            continue
        out.page = number
        _slide(slide, out)
        pictures += sum(1 for _ in slide.iter(f"{P}pic"))
        charts += sum(one.get("uri", "").endswith("/chart") for one in slide.iter(f"{A}graphicData"))
        for other in parts.relations(name).values():
            if "/notesSlides/" in other and other in parts.names and (notes := _notes(parts.xml(other))):
                out.paragraph(f"Speaker's notes: {notes}")
    out.note_counts({"hidden slide": hidden, "picture": pictures, "chart": charts})


def _slide(slide: Any, out: Builder) -> None:
    shapes = list(_shapes(slide))
    title = next((shape for shape in shapes if _kind(shape) in TITLES), None)
    if title is not None:
        out.heading(" ".join(text for _, text, _ in _paragraphs(title)), 1)
    else:
        out.leave_sections()
    for shape in shapes:
        if shape is title or _kind(shape) in UNREAD:
            continue
        if shape.tag == f"{P}graphicFrame":
            _table(shape, out)
            continue
        texts = [one for one in _paragraphs(shape) if one[1].strip()]
        listed = any(bullet for _, _, bullet in texts) or (_kind(shape) in ("body", "obj", "") and len(texts) > 1)
        if listed and shape.find(f".//{P}ph") is not None:
            out.items((depth, f"- {' '.join(text.split())}") for depth, text, _ in texts)
        else:
            for _, text, _ in texts:
                out.paragraph(text)


def _shapes(slide: Any) -> Iterator[Any]:
    """Shapes and frames in the order of the file, those of groups among them; of alternatives the first."""
    stack = list(slide.iter(f"{P}spTree"))[:1]
    while stack:
        element = stack.pop()
        if element.tag in (f"{P}sp", f"{P}graphicFrame"):
            yield element
        elif isinstance(element.tag, str) and not element.tag.endswith("}Fallback"):
            stack.extend(reversed(list(element)))


def _kind(shape: Any) -> str | None:
    """Of a placeholder: what it is for, "" where that is not told; None for any other shape."""
    place = shape.find(f".//{P}nvPr/{P}ph")
    return None if place is None else place.get("type", "")


def _paragraphs(shape: Any) -> Iterator[tuple[int, str, bool]]:
    """Level from 0, text, and whether it has a bullet of its own."""
    body = shape.find(f"{P}txBody")
    for paragraph in body.iter(f"{A}p") if body is not None else ():
        properties = paragraph.find(f"{A}pPr")
        level = properties.get("lvl", "0") if properties is not None else "0"
        bullet = properties is not None and any(
            properties.find(f"{A}{kind}") is not None for kind in ("buChar", "buAutoNum")
        )
        yield int(level) if level.isdecimal() and len(level) < 3 else 0, _text(paragraph), bullet


def _text(element: Any) -> str:
    return "".join("\n" if one.tag == f"{A}br" else one.text or "" for one in element.iter(f"{A}t", f"{A}br"))


def _table(frame: Any, out: Builder) -> None:
    grid = frame.find(f".//{A}tbl")
    if grid is None:
        return
    rows: list[list[str]] = []
    for row in grid.iter(f"{A}tr"):
        cells: list[str] = []
        for cell in list(row.iter(f"{A}tc"))[:MOST_COLUMNS]:
            if cell.get("vMerge") in ("1", "true") and rows and len(cells) < len(rows[-1]):
                cells.append(rows[-1][len(cells)])
            else:
                cells.append(" ".join(" ".join(_text(one) for one in cell.iter(f"{A}p")).split()))
        rows.append(cells)
    properties = grid.find(f"{A}tblPr")
    marked = properties is not None and properties.get("firstRow") in ("1", "true")
    out.table()
    for _, sentence in table.sentences(rows, header=True if marked and len(rows) > 1 else None):
        out.row(sentence)
    out.table()


def _notes(notes: Any) -> str:
    bodies = [shape for shape in _shapes(notes) if _kind(shape) == "body"]
    return " ".join(" ".join(text for shape in bodies for _, text, _ in _paragraphs(shape)).split())
