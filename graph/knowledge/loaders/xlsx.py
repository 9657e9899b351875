"""Excel workbooks: each visible sheet in order, one row, one sentence, with the values that Excel last computed."""

import datetime
import io
from typing import Any

from graph.errors import Quarantined
from graph.knowledge.loaders import archive, table
from graph.knowledge.loaders.build import MAX_BLOCKS, Builder

MAX_CELLS = 2_000_000  # about 300 MiB in openpyxl
HEADER_WITHIN = 10  # rows in which the headings are looked for


def read(data: bytes, out: Builder) -> None:
    archive.check(data)
    from openpyxl import load_workbook

    workbook = load_workbook(io.BytesIO(data), data_only=True, keep_links=False)
    for sheet in workbook.worksheets:
        rows = _rows(sheet, out)
        if sheet.sheet_state != "visible":
            for _, cells in sorted(rows.items()):
                out.hide(f"{sheet.title}: {'; '.join(cells[column] for column in sorted(cells))}")
            continue
        _sheet(sheet, rows, out)
    for field in ("title", "subject", "description", "keywords"):
        out.hide(getattr(workbook.properties, field) or "")


def _sheet(sheet: Any, rows: dict[int, dict[int, str]], out: Builder) -> None:
    hidden = _hidden_columns(sheet)
    visible: list[tuple[int, list[str]]] = []
    for number, cells in sorted(rows.items()):
        if sheet.row_dimensions[number].hidden if number in sheet.row_dimensions else False:
            out.hide("; ".join(cells.values()))
            continue
        for column in [column for column in cells if column in hidden]:
            out.hide(cells.pop(column))
        if cells:
            visible.append((number, [cells.get(column, "") for column in range(1, max(cells) + 1)]))
    if not visible:
        return
    out.sheet = sheet.title
    out.leave_sections()
    out.heading(sheet.title, 1)
    out.table()
    header = _header(visible)
    for _, row in visible[: max(header, 0)]:  # a title, a date, a remark above the table
        out.paragraph(" ".join(cell for cell in row if cell))
    listed = visible[max(header, 0) :]
    numbers = [number for number, _ in listed]
    for index, sentence in table.sentences((row for _, row in listed), header=header >= 0):
        out.row(sentence, numbers[index - 1])
    out.sheet = None


def _header(rows: list[tuple[int, list[str]]]) -> int:
    """Index of the row with the headings: the first that has words in most of the columns used; -1 for none."""
    first = rows[: HEADER_WITHIN + 5]
    width = max(sum(map(bool, row)) for _, row in first)
    for index, (_, row) in enumerate(rows[:HEADER_WITHIN]):
        filled = sum(map(bool, row))
        if filled >= max(1, (width + 1) // 2):
            return index if table.looks_like_header(row) else -1
    return -1


def _rows(sheet: Any, out: Builder) -> dict[int, dict[int, str]]:
    """Row → column → text, both from 1, of the cells that exist.

    `iter_rows` would make up all cells as far as the last one, 17 thousand million for a value in XFD1048576.
    """
    cells = getattr(sheet, "_cells", {})
    if len(cells) > MAX_CELLS:
        raise Quarantined("oversize", f"the workbook has more than {MAX_CELLS:,} cells", hint="split it")
    rows: dict[int, dict[int, str]] = {}
    for (row, column), cell in cells.items():
        if cell.comment is not None:
            out.hide(cell.comment.text)
        if cell.value is not None and (text := _text(cell)):
            rows.setdefault(row, {})[column] = text
            if len(rows) > MAX_BLOCKS:
                raise Quarantined("oversize", f"a sheet has more than {MAX_BLOCKS:,} rows", hint="split the workbook")
    for area in sheet.merged_cells.ranges:
        top = rows.get(area.min_row, {}).get(area.min_col)
        # A value merged downwards holds for each of its rows; merged across, it is said once.
        if top and area.max_row - area.min_row < MAX_BLOCKS:
            for row in range(area.min_row + 1, area.max_row + 1):
                if row in rows:
                    rows[row].setdefault(area.min_col, top)
    return {row: dict(sorted(cells.items())) for row, cells in rows.items()}


def _hidden_columns(sheet: Any) -> set[int]:
    found: set[int] = set()
    for dimension in sheet.column_dimensions.values():
        if dimension.hidden:
            first = dimension.min or 1
            found.update(range(first, (dimension.max or first) + 1))
    return found


def _text(cell: Any) -> str:
    """The value as the sheet shows it, as far as it matters: ISO dates, thousands and percent."""
    value, form = cell.value, str(cell.number_format or "General")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ", "seconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return value.isoformat("seconds" if value.second else "minutes")
    if isinstance(value, int | float):
        return _number(value, form)
    return str(value)


def _number(value: float, form: str) -> str:
    shown = form.split(";")[0]
    decimals = len(shown.split(".", 1)[1]) - len(shown.split(".", 1)[1].lstrip("0")) if "." in shown else 0
    if "%" in shown:
        return f"{value * 100:.{decimals}f}%"
    if "#,##0" in shown:
        return f"{value:,.{decimals}f}"
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15g}"
