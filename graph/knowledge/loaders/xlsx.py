"""Excel workbooks: each visible sheet in order, one row, one sentence, with the values that Excel last computed."""

import datetime
import io
import re
import zipfile
from typing import Any

from graph.errors import Quarantined
from graph.knowledge.loaders import archive, number_formats, strict, table
from graph.knowledge.loaders.build import MAX_BLOCKS, Builder

MAX_CELLS = 2_000_000  # about 300 MiB in openpyxl
_NO_VALUE = re.compile(rb"(?:</f>|<f\b[^<>]*/>)\s*+(?:<v\s*+/>|<v>\s*+</v>)?\s*+</c>")
_RANGE = re.compile(r"'?([^!]+?)'?!\$?([A-Z]{1,3})\$?\d*:\$?\2\$?\d*")
MOST_NOTE = 500  # characters of a note at a cell
MOST_UNNAMED = 0.35  # of the cells below a row that is taken for the headings
HEADER_WITHIN = 10  # rows in which the headings are looked for


def read(data: bytes, out: Builder) -> None:
    archive.check(data)
    from openpyxl.reader.excel import ExcelReader

    class Reader(ExcelReader):  # type: ignore[misc]
        chart_sheets = 0

        def read_chartsheet(self, sheet: Any, rel: Any) -> None:
            self.chart_sheets += 1  # openpyxl fails over one without a drawing

    data = strict.usual(data)
    reader = Reader(io.BytesIO(data), data_only=True, keep_links=False)
    reader.read()
    workbook = reader.wb
    offered = _pick_lists(workbook)
    hidden = charts = 0
    for sheet in workbook.worksheets:
        rows = _rows(sheet, out)
        if sheet.title in offered:
            continue
        hidden += sheet.sheet_state != "visible"
        charts += len(getattr(sheet, "_charts", ()))
        if sheet.sheet_state != "visible":
            for _, cells in sorted(rows.items()):
                out.hide(f"{sheet.title}: {'; '.join(cells[column] for column in sorted(cells))}")
            continue
        _sheet(sheet, rows, out)
    unread = {
        "chart sheet": reader.chart_sheets,
        "chart": charts,
        "hidden sheet": hidden,
        "formula without a value": _without_value(data),
    }
    if reader.archive is not None and any(name.endswith("vbaProject.bin") for name in reader.archive.namelist()):
        out.note("macros")
    for what, count in unread.items():
        if count:
            first, _, rest = what.partition(" without")
            out.note(f"{count} {first}{'s' if count > 1 else ''}{f' without{rest}' if rest else ''}")
    for field in ("title", "subject", "description", "keywords"):
        out.hide(getattr(workbook.properties, field) or "")


def _sheet(sheet: Any, rows: dict[int, dict[int, str]], out: Builder) -> None:
    hidden = _hidden_columns(sheet)
    bold = {(cell.row, cell.column) for cell in _filled(sheet) if cell.font is not None and cell.font.b}
    notes = _notes(sheet)
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
    if _prose([row for _, row in visible]):
        for number, row in visible:
            text = "".join(row)
            out.heading(text, 2) if _label(row, number, bold) else out.paragraph(text)
    else:
        for part in _side_by_side(visible):
            out.table()
            _tables(part, bold, notes, out)
        for number, texts in sorted(notes.items()):  # at headings, titles and cells without a value
            out.row(f"Note: {'; '.join(texts)}", number)
    out.sheet = None


def _side_by_side(rows: list[tuple[int, list[str]]]) -> list[list[tuple[int, list[str]]]]:
    """The tables of a sheet that stand beside one another: columns without a value divide them, where they do not begin
    and end in the same rows. Otherwise such a column is only a gap."""
    used = sorted({at for _, row in rows for at, cell in enumerate(row) if cell})
    starts = [at for before, at in zip([-2, *used], used, strict=False) if at > before + 1]
    if len(starts) < 2:
        return [rows]
    spans = list(zip(starts, [*starts[1:], used[-1] + 1], strict=True))
    parts = []
    for first, end in spans:
        cells = [(number, [""] * first + row[first:end]) for number, row in rows]
        part = [(number, row) for number, row in cells if any(row)]
        if max(sum(map(bool, row)) for _, row in part) < 2:
            return [rows]  # a remark at the side
        parts.append(part)
    extents = {(part[0][0], part[-1][0]) for part in parts}
    headed = [[cell for cell in part[0][1] if cell] for part in parts]
    if len(extents) == 1 and not all(headed[0] == titles for titles in headed):
        return [rows]
    return [[(number, row[first:]) for number, row in part] for part, (first, _) in zip(parts, spans, strict=True)]


def _without_value(data: bytes) -> int:
    """Formulas of which the file has no result, as programs write them that do not calculate."""
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        sheets = [parts.read(name) for name in parts.namelist() if name.startswith("xl/worksheets/")]
    return sum(len(_NO_VALUE.findall(sheet)) for sheet in sheets)


def _notes(sheet: Any) -> dict[int, list[str]]:
    """Row → the notes at its cells."""
    found: dict[int, list[str]] = {}
    for (row, _), cell in sorted(getattr(sheet, "_cells", {}).items()):
        if cell.comment is not None and (text := " ".join(str(cell.comment.text).split())[:MOST_NOTE]):
            found.setdefault(row, []).append(text)
    return found


def _tables(
    rows: list[tuple[int, list[str]]], bold: set[tuple[int, int]], notes: dict[int, list[str]], out: Builder
) -> None:
    """The rows of a sheet, which may hold several tables one below the other, each with a title above it. A row takes
    its notes with it."""
    header = -1 if table.names_and_values([_filled_cells(row) for _, row in rows]) else _header(rows, bold)
    part: list[tuple[int, list[str]]] = []
    headed = False

    def write() -> None:
        cells = [row if headed else _filled_cells(row) for _, row in part]
        pairs = not headed and table.names_and_values(cells)
        for index, sentence in table.sentences(cells, header=None if pairs else headed):
            number = part[index - 1][0]
            out.row("; ".join([sentence, *(f"Note: {text}" for text in notes.pop(number, ()))]), number)
        part.clear()

    for at, (number, row) in enumerate(rows):
        below = rows[at + 1] if at + 1 < len(rows) else (0, [])
        apart = at > 0 and (number > rows[at - 1][0] + 1 or sum(map(bool, rows[at - 1][1])) == 1)
        if at < header:  # a title, a date, a remark above the table
            out.paragraph(" ".join(cell for cell in row if cell))
        elif at == header or (apart and _heads(row, number, bold) and not _heads(*below[::-1], bold)):
            write()
            out.table()
            headed = True
            part.append((number, row))
        elif _label(row, number, bold):
            titles = [part[0]] if headed and part else []
            write()
            out.heading("".join(row), 2)
            part += titles
        else:
            part.append((number, row))
    write()


def _filled_cells(row: list[str]) -> list[str]:
    return [cell for cell in row if cell]


def _prose(rows: list[list[str]]) -> bool:
    """Whether a sheet is a text: one cell to a row, and long ones."""
    lone = [row for row in rows if sum(map(bool, row)) == 1]
    return len(lone) == len(rows) and sum(len("".join(row)) for row in rows) > 30 * len(rows)


def _label(row: list[str], number: int, bold: set[tuple[int, int]]) -> bool:
    """Whether a row names what follows: one cell, bold and short."""
    filled = [column for column, cell in enumerate(row, 1) if cell]
    text = "".join(row)
    return len(filled) == 1 and (number, filled[0]) in bold and len(text) <= 80 and text[-1] not in ".;,"


def _heads(row: list[str], number: int, bold: set[tuple[int, int]]) -> bool:
    """Whether a row holds the headings of a table: several cells, all bold."""
    filled = [column for column, cell in enumerate(row, 1) if cell]
    return len(filled) > 1 and all((number, column) in bold for column in filled) and table.looks_like_header(row)


def _header(rows: list[tuple[int, list[str]]], bold: set[tuple[int, int]]) -> int:
    """Index of the row with the headings: the first that has words in most of the columns used; -1 for none. A bold
    one is preferred."""
    first = rows[: HEADER_WITHIN + 5]
    width = max(sum(map(bool, row)) for _, row in first)
    wide = [at for at, (_, row) in enumerate(rows[:HEADER_WITHIN]) if sum(map(bool, row)) >= max(1, (width + 1) // 2)]
    if marked := [at for at in wide if _heads(rows[at][1], rows[at][0], bold)]:
        return marked[0]
    if not wide:
        return -1
    if table.numbers_as_headings([row for _, row in rows[wide[0] : wide[0] + table.LOOKED_AT]]):
        return wide[0]
    if not table.looks_like_header(rows[wide[0]][1]):
        return -1
    header = rows[wide[0]][1]
    cells = [column for _, row in rows[wide[0] + 1 :] for column, cell in enumerate(row) if cell]
    unnamed = sum(column >= len(header) or not header[column] for column in cells)
    return wide[0] if unnamed <= len(cells) * MOST_UNNAMED else -1


def _pick_lists(workbook: Any) -> set[str]:
    """The sheets that hold nothing but the values that cells of others may be given."""
    offered: dict[str, set[str]] = {}
    for sheet in workbook.worksheets:
        for rule in sheet.data_validations.dataValidation:
            source = str(rule.formula1 or "").lstrip("=")
            name = workbook.defined_names.get(source) if rule.type == "list" else None
            if match := _RANGE.fullmatch(name.attr_text if name is not None else source):
                offered.setdefault(match[1].replace("''", "'"), set()).add(match[2])
    return {
        sheet.title
        for sheet in workbook.worksheets
        if sheet.title in offered and {cell.column_letter for cell in _filled(sheet)} <= offered[sheet.title]
    }


def _filled(sheet: Any) -> list[Any]:
    return [cell for cell in getattr(sheet, "_cells", {}).values() if cell.value is not None]


def _rows(sheet: Any, out: Builder) -> dict[int, dict[int, str]]:
    """Row → column → text, both from 1, of the cells that exist.

    `iter_rows` would make up all cells as far as the last one, 17 thousand million for a value in XFD1048576.
    """
    cells = getattr(sheet, "_cells", {})
    if len(cells) > MAX_CELLS:
        raise Quarantined("oversize", f"the workbook has more than {MAX_CELLS:,} cells", hint="split it")
    rows: dict[int, dict[int, str]] = {}
    for (row, column), cell in cells.items():
        text = _text(cell) if cell.value is not None else ""
        if text:
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
    """The value as the sheet shows it; dates as ISO writes them."""
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
    if isinstance(value, datetime.timedelta):
        return number_formats.duration(value, form)
    if isinstance(value, int | float):
        return number_formats.plain(value) if form == "General" else number_formats.shown(value, form)
    return str(value)
