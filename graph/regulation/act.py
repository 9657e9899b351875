"""An act as the graph keeps it: nodes without their text, edges, and what could not be resolved."""

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from graph.regulation.unit import Kind

FEW = 8  # passages that stand for a long provision


@dataclass(slots=True)
class Node:
    """A unit. `start` and `end` are offsets in the document's text; `last` is the index of the last node inside it.
    `chunk` is the number of the passage that holds its text, -1 for none; `deadline` whether it sets a time."""

    kind: Kind
    path: str
    name: str
    title: str
    page: int | None
    start: int
    end: int
    parent: int
    last: int
    chunk: int = -1
    deadline: bool = False


@dataclass(slots=True)
class Edge:
    """`kind` is one of KINDS; an edge goes from what speaks to what is spoken of."""

    source: int
    target: int
    kind: str


# contains, next: the order of the act. refers: names it. condition: applies only as it says ("subject to"). exception:
# takes something out of it ("by way of derogation from"). defines: a definition and where its term is used. recital: a
# recital and the provision whose reasons it gives.
KINDS = ("contains", "next", "refers", "condition", "exception", "defines", "recital")


@dataclass(slots=True)
class Passage:
    """A chunk of the act: `chunk_id`, its first node, its tokens."""

    chunk_id: str
    node: int
    tokens: int


@dataclass
class Act:
    """The graph of one document. Passages are named by their index in `passages`, nodes by theirs in `nodes`."""

    doc_id: str
    sha256: str  # of the file's bytes
    title: str
    nodes: list[Node]
    edges: list[Edge]
    passages: list[Passage]
    terms: dict[str, int]  # defined term, lower case → node
    unresolved: list[list[str]] = field(default_factory=list)  # [name of the unit, what it says]
    elsewhere: int = 0  # references to other acts
    resolved: int = 0  # references to provisions of this act
    rank: list[float] = field(default_factory=list)  # plain PageRank of each passage

    def __post_init__(self) -> None:
        self.names: dict[str, int] = {}
        for at, node in enumerate(self.nodes):
            self.names.setdefault(node.name, at)
            self.names.setdefault(node.path, at)

    def within(self, at: int, most: int = 10**9) -> list[int]:
        """The first `most` passages that hold a node and all that is in it, in order."""
        passages: dict[int, None] = {}
        for n in range(at, self.nodes[at].last + 1):
            if self.nodes[n].chunk >= 0:
                passages[self.nodes[n].chunk] = None
                if len(passages) == most:
                    break
        return list(passages)

    @cached_property
    def neighbours(self) -> dict[int, list[tuple[int, str, bool]]]:
        """Passage → (other passage, kind of edge, whether the edge starts here), by references alone. The first FEW
        passages of a whole article or chapter stand for it."""
        neighbours: dict[int, list[tuple[int, str, bool]]] = {}
        for edge in self.edges:
            if edge.kind in ("refers", "condition", "exception"):
                for a in self.within(edge.source, FEW):
                    for b in self.within(edge.target, FEW):
                        if a != b:
                            neighbours.setdefault(a, []).append((b, edge.kind, True))
                            neighbours.setdefault(b, []).append((a, edge.kind, False))
        return neighbours

    def to_json(self) -> str:
        """Nodes, edges and passages are rows, their fields in order; a kind of edge is its index in KINDS."""
        fields: dict[str, Any] = asdict(self)
        fields["nodes"] = [list(asdict(n).values()) for n in self.nodes]
        fields["edges"] = [[e.source, e.target, KINDS.index(e.kind)] for e in self.edges]
        fields["passages"] = [list(asdict(p).values()) for p in self.passages]
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Act":
        """Raises ValueError, TypeError, IndexError or KeyError for what `to_json` did not write."""
        fields = json.loads(text)
        fields["nodes"] = [Node(*row) for row in fields["nodes"]]
        fields["edges"] = [Edge(a, b, KINDS[kind]) for a, b, kind in fields["edges"]]
        fields["passages"] = [Passage(*row) for row in fields["passages"]]
        return cls(**fields)
