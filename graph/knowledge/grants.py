"""What an access list no longer grants is taken away again."""

from collections.abc import Collection, Mapping

from graph.knowledge.index import Index


def withdraw(granted: Mapping[str, Collection[str]], index: Index) -> dict[str, list[str]]:
    """Remove each document that a manifest brought (`granted`: its id, the spaces it is for) from the spaces it may no
    longer be in; which those were, by id. A document of the same id that came by itself stays."""
    left: dict[str, list[str]] = {}
    for name in index.spaces.names() if granted else ():
        space = index.space(name)
        for record in space.records() if space else ():
            if record.listed and name not in granted.get(record.doc_id, (name,)):
                index.remove(name, record.doc_id, "withdrawn")
                left.setdefault(record.doc_id, []).append(name)
    return left
