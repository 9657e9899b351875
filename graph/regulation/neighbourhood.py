"""A provision with what it refers to, what refers to it, and why: for reading and for drawing."""

import re
from dataclasses import dataclass

from graph.errors import BadInput
from graph.regulation import asking
from graph.regulation.act import Act

MOST = 14  # neighbours that are drawn
_VERBS = {
    ("refers", True): "refers to", ("refers", False): "referred to by",
    ("condition", True): "subject to", ("condition", False): "bounds",
    ("exception", True): "derogates from", ("exception", False): "excepted by",
    ("defines", False): "uses the term", ("defines", True): "defines",
    ("recital", False): "explained by", ("recital", True): "explains",
}  # fmt: skip
_ORDER = (
    "excepted by", "derogates from", "subject to", "refers to", "bounds", "referred to by", "uses the term", "defines",
    "explained by", "explains",
)  # fmt: skip


@dataclass(frozen=True)
class Neighbour:
    """What stands beside a provision; `deadline` as of its node."""

    node: int
    how: str  # one of _ORDER, read from the provision: "Article 17(1) … Article 17(3)"
    deadline: bool


def find(act: Act, name: str) -> int:
    """The node of a provision by any usual spelling. Raises BadInput when the act has none of that name."""
    name = " ".join(name.split())
    if name in act.names:
        return act.names[name]
    nodes, _ = asking.named_provisions(act, name)
    if not nodes and re.fullmatch(r"\d+[a-z]?(?:\([a-z\d]+\))*", name):
        nodes, _ = asking.named_provisions(act, f"Article {name}")
    if not nodes:
        raise BadInput(
            f"there is no {name[:80]!r} in {act.title[:80]!r}.",
            hint='Name it like "Article 17(3)", "Recital 26", "Chapter III".',
        )
    return nodes[0]


def around(act: Act, node: int) -> list[Neighbour]:
    """The neighbours of a node and of what is in it, closest kinds first, each once."""
    inside = range(node, act.nodes[node].last + 1)
    neighbours: dict[int, Neighbour] = {}
    rank = {how: at for at, how in enumerate(_ORDER)}
    for edge in act.edges:
        forth, back = edge.source in inside, edge.target in inside
        if forth == back or edge.kind not in ("refers", "condition", "exception", "defines", "recital"):
            continue
        other = edge.target if forth else edge.source
        neighbour = Neighbour(other, _VERBS[edge.kind, forth], act.nodes[other].deadline)
        if other not in neighbours or rank[neighbour.how] < rank[neighbours[other].how]:
            neighbours[other] = neighbour
    return sorted(neighbours.values(), key=lambda n: (rank[n.how], n.node))
