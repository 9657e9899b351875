"""Lists in pages: `limit` rows, those after the row that was seen last."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import Query

from graph.service.http.problems import Problem

Limit = Annotated[int | None, Query(ge=1, le=1_000, description="rows at most; all of them when left out")]
After = Annotated[str | None, Query(max_length=200, description="`next` of the page before, or the id of a row")]
Row = dict[str, Any]


def page(
    name: str,
    rows: Sequence[Row],
    limit: int | None,
    after: str | None,
    row_id: Callable[[Row], str],
    also: Callable[[Row], str] | None = None,
) -> dict[str, Any]:
    """{name: the rows, "next": the id to go on from, when there are more}. `also` is another name that a row has.

    Raises Problem 404 when there is no row `after`.
    """
    begin = 0
    if after is not None:
        names = (row_id, also or row_id)
        found = next((n for of in names for n, row in enumerate(rows) if of(row) == after), None)
        if found is None:
            raise Problem(404)
        begin = found + 1
    shown = list(rows[begin : begin + limit] if limit else rows[begin:])
    more = begin + len(shown) < len(rows)
    return {name: shown, **({"next": row_id(shown[-1])} if more else {})}
