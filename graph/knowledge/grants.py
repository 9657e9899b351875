"""What an access list no longer grants is taken away again."""

from collections.abc import Collection, Mapping

from graph.knowledge.index import Index


def withdraw(granted: Mapping[str, Collection[str]], index: Index) -> dict[str, list[str]]:
    """Remove each document that a manifest brought (`granted`: its id, who reads it) from the spaces it may no longer
    be in; which those were, by id. A document of the same id that came by itself stays."""
    left: dict[str, list[str]] = {}
    for tenant in index.spaces.tenants() if granted else ():
        space = index.space(tenant)
        for record in space.records() if space else ():
            if record.listed and tenant not in granted.get(record.doc_id, (tenant,)):
                assert space is not None
                space.remove(record.doc_id)
                left.setdefault(record.doc_id, []).append(tenant)
    return left
