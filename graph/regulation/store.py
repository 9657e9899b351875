"""The graph of each act of a space, kept with the document it belongs to and gone with it."""

from functools import lru_cache

from graph.errors import IndexUnavailable
from graph.regulation.act import Act
from graph.stores.spaces import Space, StoredAttachment


def save(space: Space, act: Act) -> None:
    """Store an act whose document is in the space already."""
    space.attach(act.doc_id, act.sha256, act.to_json())


def complete(space: Space, doc_id: str, sha256: str) -> bool:
    """Whether the space holds the graph of this very file."""
    return any((attachment.doc_id, attachment.sha256) == (doc_id, sha256) for attachment in space.attachments())


def acts(space: Space) -> list[Act]:
    """Every act of the space, by document id."""
    if not space.attachments():
        return []
    with space.reading():
        return [_read(space, attachment) for attachment in space.attachments()]


@lru_cache(maxsize=16)
def _read(space: Space, attachment: StoredAttachment) -> Act:
    """Read once for each attachment, which tells the graph's length: a graph made with other settings has another."""
    try:
        return Act.from_json(space.attachment(attachment.doc_id))
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise IndexUnavailable(
            f"the graph of {attachment.doc_id!r} is damaged.",
            hint="Run `cordon ingest --regulation` with its file again.",
        ) from error
