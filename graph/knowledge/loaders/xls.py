"""Workbooks of Excel 97 to 2003, by calamine: each visible sheet in order, one row, one sentence, with plain values."""

import datetime
import io
from typing import Any

from graph.errors import Quarantined
from graph.knowledge.loaders import table
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.xlsx import MAX_CELLS


def read(data: bytes, out: Builder) -> None:
    """Rows of hidden sheets are hidden text."""
    from python_calamine import CalamineWorkbook, PasswordError, SheetVisibleEnum

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
    except PasswordError as exc:
        raise Quarantined("encrypted", "it is locked with a password", hint="save it without a password") from exc
    cells = hidden = 0
    for sheet in workbook.sheets_metadata:
        rows = [[_shown(value) for value in row] for row in workbook.get_sheet_by_name(sheet.name).to_python(False)]
        cells += sum(map(len, rows))
        if cells > MAX_CELLS:
            raise Quarantined("oversize", f"more than {MAX_CELLS:,} cells", hint="divide it into several files")
        if sheet.visible != SheetVisibleEnum.Visible:
            hidden += 1
            for row in rows:
                out.hide("; ".join(filter(None, row)))
        elif any(any(row) for row in rows):
            out.sheet = sheet.name
            out.leave_sections()
            out.heading(sheet.name, 1)
            out.table()
            for number, sentence in table.sentences(rows):
                out.row(sentence, number)
            out.sheet = None
    out.note_counts({"hidden sheet": hidden})
    if any(row for row in data.split(b"_VBA_PROJECT", 1)[1:]):
        out.note("macros")
    out.note("formats of numbers (currency, percent) of an old workbook")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return format(value, ".15g")
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)
