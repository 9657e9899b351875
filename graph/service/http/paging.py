"""Lists in pages: `limit` rows, those after the row that was seen last."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
    begin, ids = 0, _distinct(map(row_id, rows))
    if after is not None:
        names = (ids, [also(row) for row in rows] if also else [])
        place = next((n for known in names for n, name in enumerate(known) if name == after), None)
        if place is None:
            raise Problem(404)
        begin = place + 1
    shown = list(rows[begin : begin + limit] if limit else rows[begin:])
    more = begin + len(shown) < len(rows)
    return {name: shown, **({"next": ids[begin + len(shown) - 1]} if more else {})}


def _distinct(ids: Iterable[str]) -> list[str]:
    """The ids, a repeated one with a number behind it: documents of several groups may share an id."""
    times: Counter[str] = Counter()
    distinct = []
    for row_id in ids:
        times[row_id] += 1
        distinct.append(row_id if times[row_id] == 1 else f"{row_id}:{times[row_id]}")
    return distinct
