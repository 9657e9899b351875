"""What lies on top of a PDF page: fields that somebody filled in, notes and stamps, comments, attached files."""

import ctypes
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.pdf_lines import Line

MOST = 500  # annotations of one page, and as many of a file's attachments
LONGEST = 100_000  # bytes of one text
LABEL = 60  # characters of a label that a tick stands behind; before a longer one
_UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13  # flag of a text field
_TICKS = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_WRITTEN = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_SILENT = (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_WIDGET)


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    bottom: float
    right: float
    top: float

    @property
    def middle(self) -> float:
        return (self.bottom + self.top) / 2


@dataclass
class Annotations:
    """Reads those of one page after another, and says at the end what was left out."""

    out: Builder
    form: Any  # pypdfium2's form environment, or None where the file has no form
    left_out: Counter[str] = field(default_factory=Counter)

    def page(self, page: Any, lines: list[Line], number: int) -> None:
        """Adds to `lines` what a reader sees of the annotations of `page`."""
        count = pdfium.FPDFPage_GetAnnotCount(page)
        if count > MOST:
            self.left_out["annotation"] += count - MOST
        for index in range(min(count, MOST)):
            annotation = pdfium.FPDFPage_GetAnnot(page, index)
            if annotation:
                self._read(annotation, lines, number)
                pdfium.FPDFPage_CloseAnnot(annotation)

    def _read(self, annotation: Any, lines: list[Line], number: int) -> None:
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        unseen = pdfium.FPDFAnnot_GetFlags(annotation) & _UNSEEN
        text = _string(annotation, b"Contents")
        if kind == pdfium.FPDF_ANNOT_WIDGET and self.form is not None:
            self._field(annotation, lines, number, bool(unseen))
        elif kind == pdfium.FPDF_ANNOT_FREETEXT and text.strip() and not unseen:
            _put(lines, _box(annotation), text, number)
        elif kind == pdfium.FPDF_ANNOT_STAMP and not unseen:
            words = text.strip() or _string(annotation, b"Name").strip()
            if words:
                _put(lines, _box(annotation), words, number)
            else:
                self.left_out["stamp"] += 1
        else:
            self.out.hide(text)
            if kind == pdfium.FPDF_ANNOT_FILEATTACHMENT:
                self.left_out["attachment on a page"] += 1
            elif text.strip() and kind not in _SILENT:
                self.left_out["comment"] += 1

    def _field(self, annotation: Any, lines: list[Line], number: int, unseen: bool) -> None:
        kind = pdfium.FPDFAnnot_GetFormFieldType(self.form, annotation)
        name = self._of(pdfium.FPDFAnnot_GetFormFieldAlternateName, annotation)
        name = name or self._of(pdfium.FPDFAnnot_GetFormFieldName, annotation).rsplit(".", 1)[-1]
        box = _box(annotation)
        if kind in _TICKS:
            ticked = bool(pdfium.FPDFAnnot_IsChecked(self.form, annotation))
            if not unseen:
                _tick(lines, box, name, ticked, number)
        elif kind in _WRITTEN:
            value = self._of(pdfium.FPDFAnnot_GetFormFieldValue, annotation).strip()
            secret = pdfium.FPDFAnnot_GetFormFieldFlags(self.form, annotation) & _PASSWORD
            if unseen:
                self.out.hide(value)
            elif value and not (kind == pdfium.FPDF_FORMFIELD_TEXTFIELD and secret):
                _write(lines, box, name, " ".join(value.split()), number)
        elif kind == pdfium.FPDF_FORMFIELD_SIGNATURE:
            self.left_out["signature field"] += 1

    def _of(self, get: Callable[..., int], annotation: Any) -> str:
        return _decoded(lambda buffer, size: get(self.form, annotation, buffer, size))

    def report(self, document: Any) -> None:
        """Says what of the whole file was left out."""
        self.out.note_counts(self.left_out)
        if attached := document.count_attachments():
            names = ", ".join(document.get_attachment(at).get_name()[:40] for at in range(min(attached, 4)))
            more = ", ..." if attached > 4 else ""
            self.out.note(f"{attached} attachment{'' if attached == 1 else 's'}: {names}{more}")


def _string(annotation: Any, key: bytes) -> str:
    return _decoded(lambda buffer, size: pdfium.FPDFAnnot_GetStringValue(annotation, key, buffer, size))


def _decoded(get: Callable[[Any, int], int]) -> str:
    """UTF-16 of unknown length: `get` tells the length first and fills the buffer then."""
    length = get(None, 0)
    if not 2 < length < LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(length)
    get(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), length)
    return buffer.raw[: length - 2].decode("utf-16-le", errors="replace")


def _box(annotation: Any) -> _Box:
    rect = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, rect)
    return _Box(
        min(rect.left, rect.right),
        min(rect.bottom, rect.top),
        max(rect.left, rect.right),
        max(rect.bottom, rect.top),
    )


def _beside(lines: list[Line], box: _Box) -> Iterator[tuple[Line, int, int, float, float]]:
    """Each printed cell at the height of a field: its line, where it begins and ends in the line, its edges."""
    for line in lines:
        if abs(line.bottom + line.size / 2 - box.middle) <= 0.6 * line.size + 0.25 * min(box.top - box.bottom, 40):
            yield from ((line, *cell) for cell in line.spans())


def _write(lines: list[Line], box: _Box, name: str, value: str, number: int) -> None:
    """A value behind its printed label; under the name of its field where it has none."""
    labels = [cell for cell in _beside(lines, box) if cell[4] <= box.left + 4]
    label = max(labels, key=lambda cell: cell[4], default=None)
    if label is None:
        _put(lines, box, f"{name}: {value}" if name else value, number)
        return
    line, _, end, *_ = label
    line.replace(end, end, f" {value}" if line.text[:end].endswith((":", "?")) else f": {value}")


def _tick(lines: list[Line], box: _Box, name: str, ticked: bool, number: int) -> None:
    """Yes or no with the label that is printed next to the box: behind a name, before a sentence."""
    near = 30.0
    beside = list(_beside(lines, box))
    right = [cell for cell in beside if -4 <= cell[3] - box.right <= near]
    left = [cell for cell in beside if -4 <= box.left - cell[4] <= near]
    answer = "yes" if ticked else "no"
    if not right and not left:
        if ticked and name:
            _put(lines, box, f"{name}: {answer}", number)
        return
    nearest = min(right, key=lambda f: f[3]) if right else max(left, key=lambda f: f[4])
    line, start, end, *_ = nearest
    if end - start > LABEL or line.text[start:end].endswith((".", ";")):
        line.replace(start, start, f"{answer.capitalize()}: ")
    else:
        line.replace(end, end, f" {answer}" if line.text[:end].endswith((":", "?")) else f": {answer}")


def _put(lines: list[Line], box: _Box, text: str, number: int) -> None:
    """Text as paragraphs of its own, where it stands if that is between two paragraphs, else at the end of the page."""
    size = 10.0
    at = len(lines)
    for index, line in enumerate(lines):
        above = lines[index - 1] if index else None
        if line.bottom < box.bottom and (above is None or above.bottom - line.bottom > 1.6 * line.size):
            at, size = index, line.size
            break
    rows = [row for row in text.replace("\r", "\n").split("\n") if row.strip()]
    lines[at:at] = [Line(row, box.left, box.right, box.bottom, size, False, number, alone=True) for row in rows]
