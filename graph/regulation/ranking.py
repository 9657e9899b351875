"""PageRank over the passages of an act, plain and from given passages, by rustworkx."""

from collections import defaultdict
from functools import lru_cache

from graph.regulation.act import Act

DAMPING = 0.7
TOLERANCE = 1e-9
WIDE = 40  # passages
# How strongly each kind of edge carries, forth and back.
WEIGHTS = {
    "refers": (1.0, 0.5),
    "condition": (1.2, 0.5),
    "exception": (0.8, 1.5),
    "defines": (0.0, 0.15),
    "recital": (0.3, 0.2),
    "next": (0.3, 0.3),
}


def weights(act: Act) -> dict[tuple[int, int], float]:
    """(passage, passage) → weight. A reference to a whole article is shared by its passages."""
    weight: dict[tuple[int, int], float] = defaultdict(float)
    for edge in act.edges:
        if edge.kind not in WEIGHTS:
            continue
        sources, targets = (act.within(node, WIDE + 1) for node in (edge.source, edge.target))
        if len(sources) > WIDE or len(targets) > WIDE or not sources or not targets:
            continue  # a whole chapter is no neighbour
        forth, back = WEIGHTS[edge.kind]
        share = 1.0 / (len(sources) * len(targets))
        for a in sources:
            for b in targets:
                if a != b:
                    weight[a, b] += forth * share
                    weight[b, a] += back * share
    return weight


class _ByContent:
    """An act as a key of the cache: equal for the same object with the same document and file."""

    def __init__(self, act: Act) -> None:
        self.act, self.key = act, (act.doc_id, act.sha256, id(act))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByContent) and other.key == self.key


@lru_cache(maxsize=8)
def _built(key: _ByContent) -> object:
    """The rustworkx graph of an act."""
    import rustworkx

    graph = rustworkx.PyDiGraph(multigraph=False)
    graph.add_nodes_from(list(range(len(key.act.passages))))
    graph.add_edges_from([(a, b, w) for (a, b), w in sorted(weights(key.act).items()) if w > 0])
    return graph


def pagerank(act: Act, anchors: dict[int, float] | None = None) -> list[float]:
    """Rank of each passage, summing to 1; from `anchors` (passage → weight > 0) when given. Rounded to 9 decimals, so
    that equal acts rank equally."""
    import rustworkx

    if not act.passages:
        return []
    ranks = rustworkx.pagerank(
        _built(_ByContent(act)),  # type: ignore[arg-type]
        alpha=DAMPING,
        weight_fn=float,
        personalization=anchors,
        tol=TOLERANCE,
        max_iter=500,
    )
    return [round(ranks[at], 9) for at in range(len(act.passages))]
