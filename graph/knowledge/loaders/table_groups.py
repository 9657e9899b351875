"""Names that stand once for a group of rows: "Graduated; Rook" in the first row, and blanks below until the next name.

Every row gets the names of its group, else a row on its own says neither of what level nor of what project it is. Most
tables with blanks have none of this: a list of members may name the chair, the secretary and nobody else. So groups are
taken for such only where names stand over several rows each, and the column after them is filled throughout.
"""

from collections.abc import Sequence

from graph.knowledge.loaders.table_kinds import kind, tidy

FEWEST = 4  # rows, of two groups
MOST_COLUMNS = 3  # of names, one inside the other
_LABEL_WORDS = 8
_FILLED = 0.9  # of the cells of the first column behind the names


def grouping_columns(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first columns hold the names of groups of rows; 0 in nearly every table. `rows` are those below
    the headings."""
    rows = [row for row in rows if sum(1 for cell in row if cell.strip()) > 1]
    if len(rows) < FEWEST:
        return 0
    count = 0
    while count < MOST_COLUMNS and _names_groups(rows, count):
        count += 1
    if not count or len(_sizes(rows, count - 1)) < 2:  # one outer name may go on beyond these rows; the inner ones tell
        return 0
    behind = sum(1 for row in rows if count < len(row) and row[count].strip())
    return count if behind >= _FILLED * len(rows) else 0


def _names_groups(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether a column has a name in its first row, blanks in most others, and no two names alike that follow."""
    cells = [tidy(row[at]) if at < len(row) else "" for row in rows]
    names = [cell for cell in cells if cell]
    if not cells[0] or len(names) * 2 > len(cells):
        return False
    if any(kind(name) not in ("word", "text") or len(name.split()) > _LABEL_WORDS for name in names):
        return False
    sizes = _sizes(rows, at)
    several = sum(size > 1 for size in sizes)
    return several * 2 > len(sizes) and len({*names}) * 2 > len(names) and (len(sizes) == 1 or several > 1)


def _sizes(rows: Sequence[Sequence[str]], at: int) -> list[int]:
    """How many rows each name stands for. One in the column further out begins a group, too."""
    starts = [n for n, row in enumerate(rows) if any(cell.strip() for cell in row[: at + 1])]
    return [end - start for start, end in zip(starts, [*starts[1:], len(rows)], strict=True)]


class Groups:
    """Rows with the names of their group, in the order in which they come."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._names: list[str] = [""] * columns

    def named(self, row: Sequence[str]) -> Sequence[str]:
        """The row with the names that its blanks stand for. A row of one cell is none of a group."""
        filled = [at for at, cell in enumerate(row) if cell.strip()]
        if not self._columns or len(filled) < 2:
            return row
        first = filled[0]
        if first < self._columns:  # a name; the names inside the group before it end
            self._names[first:] = [*row[first : self._columns], *[""] * (self._columns - len(row))]
        return [*self._names, *row[self._columns :]]
