"""The graph of each act of a space, kept with the document it belongs to and gone with it."""

from functools import lru_cache

from graph.errors import IndexUnavailable
from graph.regulation.act import Act
from graph.stores.spaces import Annex, Space


def save(space: Space, act: Act) -> None:
    """Store an act whose document is in the space already."""
    space.annex(act.doc_id, act.sha256, act.to_json())


def complete(space: Space, doc_id: str, sha256: str) -> bool:
    """Whether the space holds the graph of this very file."""
    return any((annex.doc_id, annex.sha256) == (doc_id, sha256) for annex in space.annexes())


def acts(space: Space) -> list[Act]:
    """Every act of the space, by document id."""
    if not space.annexes():
        return []
    with space.reading():
        return [_read(space, annex) for annex in space.annexes()]


@lru_cache(maxsize=16)
def _read(space: Space, annex: Annex) -> Act:
    """`annex` tells the graph's length: made anew with other settings it has another one."""
    try:
        return Act.from_json(space.annexed(annex.doc_id))
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise IndexUnavailable(
            f"the graph of {annex.doc_id!r} is damaged.", hint="Run `cordon ingest --regulation` with its file again."
        ) from error
