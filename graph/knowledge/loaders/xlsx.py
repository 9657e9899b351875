"""Excel workbooks: each visible sheet in order, one row, one sentence, with the values that Excel last computed."""

import datetime
import io
import re
import zipfile
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from graph.errors import Quarantined
from graph.knowledge.loaders import number_formats, strict, table, xlsx_drawings
from graph.knowledge.loaders.build import MAX_BLOCKS, Builder
from graph.knowledge.loaders.table_kinds import LOOKED_AT
from graph.knowledge.loaders.xlsx_drawings import Drawing

MAX_CELLS = 2_000_000  # about 300 MiB in openpyxl
_NO_VALUE = re.compile(rb"(?:</f>|<f\b[^<>]*/>)\s*+(?:<v\s*+/>|<v>\s*+</v>)?\s*+</c>")
_RANGE = re.compile(r"'?([^!]+?)'?!\$?([A-Z]{1,3})\$?\d*:\$?\2\$?\d*")
MOST_NOTE = 500  # characters of a note at a cell
MOST_UNNAMED = 0.35  # of the cells below a row that is taken for the headings
LONG = 60  # characters of a cell that is no entry of a list
MOST_TABLES = 100  # of Excel's own, on a sheet
MOST_COUNTED = 0.66  # of the rows beside a gap, from which they are no table of their own
MOSTLY_BOLD = 0.8  # of the filled cells of a sheet
FEWEST_FILLED = 12  # of these cells
FEWEST_NAMES = 3  # columns of numbers that a row inside a table names anew
BESIDE = 4  # rows above and below it that are looked at
HEADER_WITHIN = 10  # rows in which the headings are looked for
Rows = list[tuple[int, list[str]]]  # number as the sheet shows it, and cells
Places = set[tuple[int, int]]  # row and column, from 1


@dataclass(frozen=True)
class _Marks:
    """What a sheet shows of its cells beside their values."""

    bold: Places  # and the headings of Excel's own tables
    merged: dict[int, list[tuple[int, int]]]  # row → first and last column of cells that reach over several columns
    notes: dict[int, list[str]]  # row → notes at its cells, until they are written
    folded: list[int]  # rows that are hidden, which leave no gap

    def from_column(self, first: int) -> "_Marks":
        """For a table that begins in this column, from 0."""
        if not first:
            return self
        bold = {(row, column - first) for row, column in self.bold if column > first}
        merged = {
            row: [(left - first, right - first) for left, right in spans if left > first]
            for row, spans in self.merged.items()
        }
        return _Marks(bold, merged, self.notes, self.folded)


def read(data: bytes, out: Builder) -> None:
    """Hidden rows, columns and sheets are hidden text; lists of choices for other sheets are left out."""
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
    names = reader.archive.namelist()
    drawn: dict[str, Drawing] = {}
    if any(name.startswith("xl/drawings/drawing") for name in names):
        drawn = xlsx_drawings.of_sheets(data, ((sheet.name, rel.target) for sheet, rel in reader.parser.find_sheets()))
    hidden = charts = pictures = 0
    for sheet in workbook.worksheets:
        rows = _rows(sheet, out)
        if sheet.title in offered:
            continue
        drawing = drawn.get(sheet.title, Drawing())
        if sheet.sheet_state != "visible":
            hidden += 1
            for _, cells in sorted(rows.items()):
                out.hide(f"{sheet.title}: {'; '.join(cells[column] for column in sorted(cells))}")
            for texts in drawing.texts:
                out.hide(" ".join(texts))
            continue
        charts += len(getattr(sheet, "_charts", ()))
        pictures += drawing.pictures
        _sheet(sheet, rows, drawing, out)
    unread = {
        "chart sheet": reader.chart_sheets,
        "chart": charts,
        "picture": pictures,
        "hidden sheet": hidden,
        "formula without a value": _without_value(data),
    }
    if any(name.endswith("vbaProject.bin") for name in names):
        out.note("macros")
    out.note_counts(unread)
    for field in ("title", "subject", "description", "keywords"):
        out.hide(getattr(workbook.properties, field) or "")


def _sheet(sheet: Any, rows: dict[int, dict[int, str]], drawing: Drawing, out: Builder) -> None:
    hidden = _hidden_columns(sheet)
    marks = _marks(sheet)
    visible: Rows = []
    for number, cells in sorted(rows.items()):
        if sheet.row_dimensions[number].hidden if number in sheet.row_dimensions else False:
            out.hide("; ".join(cells.values()))
            marks.folded.append(number)
            continue
        for column in [column for column in cells if column in hidden]:
            out.hide(cells.pop(column))
        if cells:
            visible.append((number, [cells.get(column, "") for column in range(1, max(cells) + 1)]))
    if not visible and not drawing.texts:
        return
    out.sheet = sheet.title
    out.leave_sections()
    out.heading(sheet.title, 1)
    out.table()
    if _prose([row for _, row in visible]):
        for number, row in visible:
            text = "".join(row)
            out.heading(text, 2) if _label(row, number, marks.bold) else out.paragraph(text)
    else:
        filled = [(number, column) for number, row in visible for column, cell in enumerate(row, 1) if cell]
        if sum(place in marks.bold for place in filled) > MOSTLY_BOLD * len(filled) > FEWEST_FILLED:
            marks.bold.clear()  # what is bold nearly everywhere marks nothing
        for first, part in _side_by_side(visible):
            out.table()
            _tables(part, marks.from_column(first), out)
        for number, texts in sorted(marks.notes.items()):  # at headings, titles and cells without a value
            out.row(f"Note: {'; '.join(texts)}", number)
    for texts in drawing.texts:
        out.paragraph("\n".join(texts))
    out.sheet = None


def _side_by_side(rows: Rows) -> list[tuple[int, Rows]]:
    """The tables of a sheet that stand beside one another, each with its first column from 0. Columns without a value
    divide them: two such columns do, and one does where they do not begin and end in the same rows."""
    used = sorted({at for _, row in rows for at, cell in enumerate(row) if cell})
    starts = [at for before, at in zip([-2, *used], used, strict=False) if at > before + 1]
    if len(starts) < 2:
        return [(0, rows)]
    spans: list[tuple[int, int]] = []
    parts: list[Rows] = []
    for first, end in zip(starts, [*starts[1:], used[-1] + 1], strict=True):
        part = _columns(rows, first, end)
        if parts and _nameless(part):
            spans[-1] = spans[-1][0], end
            parts[-1] = _columns(rows, *spans[-1])
            continue
        if max(sum(map(bool, row)) for _, row in part) < 2:
            return [(0, rows)]  # a remark at the side
        spans.append((first, end))
        parts.append(part)
    if len(parts) == 1:
        return [(0, rows)]
    extents = {(part[0][0], part[-1][0]) for part in parts}
    headed = [[cell for cell in part[0][1] if cell] for part in parts]
    wide_gaps = all(at > before + 2 for before, at in pairwise(used) if at > before + 1)
    if len(extents) == 1 and not wide_gaps and not all(headed[0] == titles for titles in headed):
        return [(0, rows)]
    return [
        (first, [(number, row[first:]) for number, row in part]) for part, (first, _) in zip(parts, spans, strict=True)
    ]


def _columns(rows: Rows, first: int, end: int) -> Rows:
    """The rows with a value from one column, from 0, to another, with blanks before them."""
    cells = [(number, [""] * first + row[first:end]) for number, row in rows]
    return [(number, row) for number, row in cells if any(row)]


def _nameless(part: Rows) -> bool:
    """Whether most rows are of numbers alone: what they are of stands left of the gap."""
    counted = [all(table.is_value(cell) for cell in row if cell) for _, row in part]
    return len(counted) > 2 and sum(counted) >= MOST_COUNTED * len(counted)


def _without_value(data: bytes) -> int:
    """Formulas of which the file has no result, as programs write them that do not calculate."""
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        sheets = [parts.read(name) for name in parts.namelist() if name.startswith("xl/worksheets/")]
    return sum(len(_NO_VALUE.findall(sheet)) for sheet in sheets)


def _marks(sheet: Any) -> _Marks:
    heads = _marked_heads(sheet)
    bold = {
        (cell.row, cell.column)
        for cell in _filled(sheet)
        if (cell.font is not None and cell.font.b)
        or any(first <= cell.column <= last for first, last in heads.get(cell.row, ()))
    }
    merged: dict[int, list[tuple[int, int]]] = {}
    for area in sheet.merged_cells.ranges:
        if area.max_col > area.min_col:
            merged.setdefault(area.min_row, []).append((area.min_col, area.max_col))
    return _Marks(bold, merged, _notes(sheet), [])


def _marked_heads(sheet: Any) -> dict[int, list[tuple[int, int]]]:
    """Row → first and last column of headings that Excel shows as such: of its tables, and those that it filters by."""
    from openpyxl.utils.cell import range_boundaries

    tables = [one.ref for one in list(sheet.tables.values())[:MOST_TABLES] if one.headerRowCount != 0]
    heads: dict[int, list[tuple[int, int]]] = {}
    for area in [*tables, sheet.auto_filter.ref]:
        try:
            first, row, last, _ = range_boundaries(area or "")
        except (TypeError, ValueError):
            continue
        if first and row and last:
            heads.setdefault(row, []).append((first, last))
    return heads


def _notes(sheet: Any) -> dict[int, list[str]]:
    """Row → the notes at its cells."""
    notes: dict[int, list[str]] = {}
    for (row, _), cell in sorted(getattr(sheet, "_cells", {}).items()):
        comment = str(cell.comment.text) if cell.comment is not None else ""
        if comment.startswith("[Threaded comment]"):  # Excel writes what older ones are to show above its own text
            comment = comment.partition("Comment:")[2]
        if text := " ".join(comment.split())[:MOST_NOTE]:
            notes.setdefault(row, []).append(text)
    return notes


def _tables(rows: Rows, marks: _Marks, out: Builder) -> None:
    """The rows of a sheet, which may hold several tables one below the other, each with a title above it."""
    blocks = table.Blocks(_with_gaps(rows, marks.folded))
    above: Rows = []  # the headings of the table so far
    while first := blocks.first():
        above = _table([(number, [*row]) for number, row in blocks.on(first)], above, marks, out)


def _with_gaps(rows: Rows, folded: list[int]) -> Iterator[tuple[int, list[str]]]:
    """The rows with a blank one for each gap between them that is not of hidden rows alone."""
    last = rows[0][0] if rows else 0
    for number, row in rows:
        if number - last - 1 > bisect_left(folded, number) - bisect_left(folded, last):
            yield number - 1, []
        yield number, row
        last = number


def _table(rows: Rows, above: Rows, marks: _Marks, out: Builder) -> Rows:
    """Writes the rows of one block, and gives the headings under which they stand. A row takes its notes with it."""
    cells = [row for _, row in rows]
    header = _bold_header(rows, marks)
    pairs = header < 0 and _names_in_bold(rows, marks.bold)
    titles: Rows = []
    if header < 0 and not pairs and above and not table.another(cells, table.names(above[-1][1])):
        titles = above
    elif header < 0:
        pairs = pairs or table.names_and_values([_filled_cells(row) for row in cells])
        header = -1 if pairs else _header(rows, marks)
    part: Rows = [*titles]

    def write() -> None:
        shown = [row if titles else _filled_cells(row) for _, row in part]
        paired = not titles and (pairs or table.names_and_values(shown))
        sentences = (
            enumerate(map(table.paired, shown), 1)
            if paired
            else table.sentences(shown, header=bool(titles), heads=len(titles))
        )
        for index, sentence in sentences:
            number = part[index - 1][0]
            out.row("; ".join([sentence, *(f"Note: {text}" for text in marks.notes.pop(number, ()))]), number)
        part.clear()

    at = 0
    while at < len(rows):
        number, row = rows[at]
        below = rows[at + 1] if at + 1 < len(rows) else (0, [])
        apart = at > 0 and sum(map(bool, rows[at - 1][1])) == 1
        if at < header:  # a title, a date, a remark above the table
            out.paragraph(table.title(row))
        elif at == header or (apart and _heads(row, number, marks.bold) and not _heads(*below[::-1], marks.bold)):
            write()
            out.table()
            titles = rows[at : at + _heights(rows[at:], marks)]
            part += titles
            at += len(titles) - 1
        elif _label(row, number, marks.bold):
            write()
            out.heading("".join(row), 2)
            part += titles
        elif titles and (first := _named_anew(rows, at)):
            write()
            if label := table.title(row[:first]):
                out.row(label, number)
            titles = [(number, [*titles[-1][1][:first], *[""] * (first - len(titles[-1][1])), *row[first:]])]
            part += titles
        else:
            part.append((number, row))
        at += 1
    write()
    return titles


def _named_anew(rows: Rows, at: int) -> int:
    """The first column, from 0, from which a row inside a table gives its columns of numbers other names; 0 where it
    does not: each of its cells there is a word of its own over and under numbers."""
    row = rows[at][1]
    above, below = (
        [cells for _, cells in part] for part in (rows[max(0, at - BESIDE) : at], rows[at + 1 : at + 1 + BESIDE])
    )

    def cells(column: int, part: list[list[str]]) -> list[bool]:
        return [table.is_value(one[column]) for one in part if column < len(one) and one[column].strip()]

    named = [column for column, cell in enumerate(row) if column and cell and all(cells(column, above + below))]
    named = [column for column in named if cells(column, above) or cells(column, below)]
    names = [row[column] for column in named]
    right = named and all(not cell or column in named for column, cell in enumerate(row) if column >= named[0])
    if not right or len({*names}) < max(FEWEST_NAMES, len(names)) or any(map(table.is_number, names)):
        return 0
    both = sum(bool(cells(column, above) and cells(column, below)) for column in named)
    return named[0] if both * 2 > len(named) else 0


def _filled_cells(row: list[str]) -> list[str]:
    return [cell for cell in row if cell]


def _prose(rows: list[list[str]]) -> bool:
    """Whether a sheet is a text: one cell to a row, and long ones."""
    lone = [row for row in rows if sum(map(bool, row)) == 1]
    return len(lone) == len(rows) and sum(len("".join(row)) for row in rows) > 30 * len(rows)


def _label(row: list[str], number: int, bold: Places) -> bool:
    """Whether a row names what follows: one cell, bold and short."""
    filled = [column for column, cell in enumerate(row, 1) if cell]
    text = "".join(row)
    return len(filled) == 1 and (number, filled[0]) in bold and len(text) <= 80 and text[-1] not in ".;,"


def _heads(row: list[str], number: int, bold: Places) -> bool:
    """Whether a row holds the headings of a table: several cells with words, all bold."""
    return _all_bold(row, number, bold) and table.looks_like_header(row)


def _all_bold(row: list[str], number: int, bold: Places) -> bool:
    filled = [column for column, cell in enumerate(row, 1) if cell]
    return len(filled) > 1 and all((number, column) in bold for column in filled)


def _bold_header(rows: Rows, marks: _Marks) -> int:
    """Index of the first row that is bold and wide enough to hold the headings, or names groups of them; -1 for none.
    Numbers in bold are headings where they stand first and what is below is not bold."""
    width = max(sum(map(bool, row)) for _, row in rows[: HEADER_WITHIN + 5])
    first = True
    for at, (number, row) in enumerate(rows[:HEADER_WITHIN]):
        wide = sum(map(bool, row)) >= (width + 1) // 2
        if (wide or _grouped(rows, at, marks)) and _heads(row, number, marks.bold):
            return at
        if wide and first and at + 1 < len(rows):
            counted = _all_bold(row, number, marks.bold) and table.words_before_numbers(row)
            if counted and not _all_bold(*rows[at + 1][::-1], marks.bold):
                return at
            first = False
    return -1


def _header(rows: Rows, marks: _Marks) -> int:
    """Index of the row with the headings: the first that has words in most of the columns used, or names groups of
    them; -1 for none."""
    cells = [row for _, row in rows]
    above = table.titles_above(cells)
    width = max(sum(map(bool, row)) for row in cells[: HEADER_WITHIN + 5])
    least = max(min(width, 2), (width + 1) // 2)
    for first, row in enumerate(cells[:HEADER_WITHIN]):
        grouped = _grouped(rows, first, marks)
        if first >= above and (sum(map(bool, row)) >= least or grouped):
            break
    else:
        return -1
    if grouped or table.numbers_as_headings(cells[first : first + LOOKED_AT]):
        return first
    if not table.headed(cells[first : first + LOOKED_AT]):
        return -1
    long = width == 1 and any(len("".join(row)) > LONG for row in cells[: HEADER_WITHIN + 5])
    if long or (width > 1 and not any(sum(map(bool, row)) > 1 for row in cells[first + 1 :])):
        return -1  # a form or a text
    header = cells[first]
    below = [column for row in cells[first + 1 :] for column, cell in enumerate(row) if cell]
    unnamed = sum(column >= len(header) or not header[column] for column in below)
    return first if unnamed <= len(below) * MOST_UNNAMED else -1


def _grouped(rows: Rows, at: int, marks: _Marks) -> bool:
    """Whether a row has several cells, of which one reaches over columns that the next row names: "2024" over "Visits"
    and "Income"."""
    if at + 2 >= len(rows) or sum(map(bool, rows[at][1])) < 2:
        return False
    below = rows[at + 1][1]
    return any(sum(map(bool, below[first - 1 : last])) > 1 for first, last in marks.merged.get(rows[at][0], ()))


def _heights(rows: Rows, marks: _Marks) -> int:
    """How many rows of headings stand one over the other: below merged cells, or all bold as the first one is."""
    count = 1
    while count < min(table.MOST_HEADS, len(rows) - 1):
        number, below = rows[count]
        bold = _heads(below, number, marks.bold) and not _heads(*rows[count + 1][::-1], marks.bold)
        if not (_grouped(rows, count - 1, marks) or (bold and _heads(*rows[0][::-1], marks.bold))):
            break
        count += 1
    return max(count, table.heading_rows([row for _, row in rows[:LOOKED_AT]]))


def _names_in_bold(rows: Rows, bold: Places) -> bool:
    """Whether each row is a name in bold and its value, once or several times."""
    weights = [
        [(number, column) in bold for column, cell in enumerate(row, 1) if cell]
        for number, row in rows
        if sum(map(bool, row)) > 1
    ]
    return len(weights) > 1 and all(row == [True, False] * (len(row) // 2) for row in weights)


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
        if not text and isinstance(cell.value, str):
            out.hide(cell.value)  # its format shows nothing
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
    columns: set[int] = set()
    for dimension in sheet.column_dimensions.values():
        if dimension.hidden:
            first = dimension.min or 1
            columns.update(range(first, (dimension.max or first) + 1))
    return columns


def _text(cell: Any) -> str:
    """The value as the sheet shows it; dates as ISO writes them."""
    value, form = cell.value, str(cell.number_format or "General")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.date):
        return number_formats.moment(value, form)
    if isinstance(value, datetime.time):
        return value.isoformat("seconds" if value.second else "minutes")
    if isinstance(value, datetime.timedelta):
        return number_formats.duration(value, form)
    if isinstance(value, int | float):
        return number_formats.plain(value) if form == "General" else number_formats.shown(value, form)
    return number_formats.shown_text(str(value), form)
