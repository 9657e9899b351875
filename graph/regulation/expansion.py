"""From the passages that a search found to those they depend on, within the same number of tokens.

Anchors are what the search put first. From them come their neighbours by personalised PageRank, and by closure the
exceptions, conditions, definitions and deadlines that bear on them. Each passage says why it came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.regulation import ranking
from graph.regulation.act import Act


@dataclass(frozen=True)
class Weights:
    """Fitted on the part `dev` of evals/datasets/regulation.jsonl; `cordon eval regulation` measures the other."""

    anchors: int = 4
    sharp: float = 4.0  # power of the anchors' scores
    rank: float = 0.2
    sibling: float = 0.0
    exception: float = 0.35
    condition: float = 0.06
    definition: float = 0.0
    deadline: float = 0.1
    reference: float = 0.1
    recital: float = -0.35
    length: float = 0.02


WEIGHTS = Weights()


@dataclass(frozen=True)
class Chosen:
    """A passage to show. `why` is "anchor", "recital" or the kind of its tie to the anchors; `value` is its worth."""

    passage: int
    why: str
    value: float


def expand(
    act: Act, scores: Mapping[int, float], budget: int, *, pinned: Sequence[int] = (), terms: Sequence[int] = (),
    timed: bool = False, reasons: bool = False,
) -> list[Chosen]:  # fmt: skip
    """The passages to show, anchors first, then by worth, of at most `budget` tokens but never fewer than one.

    `scores` is passage → score of the search, 0-1; `pinned` are passages the question names; `terms` the definitions of
    terms in the question; `timed` whether it asks for a time, `reasons` whether for reasons, which recitals give.
    """
    order = sorted(scores, key=lambda p: (-scores[p], p))
    anchors = list(dict.fromkeys([*pinned, *order[: WEIGHTS.anchors]]))
    if not anchors:
        return []
    best = max(scores.values(), default=1.0) or 1.0
    start = {p: (1.0 if p in pinned else max(scores.get(p, 0.0) / best, 0.05)) ** WEIGHTS.sharp for p in anchors}
    ranks = ranking.pagerank(act, start)
    top = max((r for p, r in enumerate(ranks) if p not in start), default=0.0) or 1.0
    labels = _labels(act, start, terms)
    worth: dict[int, tuple[float, str]] = {}
    for p, passage in enumerate(act.passages):
        kind = act.nodes[passage.node].kind
        if kind in ("front", "signature", "closing") and p not in scores:
            continue
        why, strength = labels.get(p, ("", 0.0))
        near = scores.get(p, 0.0) / best
        if not near and not why and ranks[p] < 0.02 * top:
            continue
        value = near + WEIGHTS.rank * min(1.0, ranks[p] / top)
        value += strength * getattr(WEIGHTS, why, 0.0) if why != "context" else strength * WEIGHTS.sibling
        value += WEIGHTS.recital if kind == "recital" and not reasons else 0.0
        value -= WEIGHTS.length * passage.tokens / 100
        if timed and any(act.nodes[n].deadline for n in _nodes_of(act, p)) and why:
            value += WEIGHTS.deadline
        why = "recital" if kind == "recital" else why or "reference"
        worth[p] = (round(value, 6), why)
    for p in anchors:
        worth[p] = (worth.get(p, (0.0, ""))[0] + (10.0 if p in pinned else 0.0), "anchor")
    chosen: list[Chosen] = []
    left = budget
    for p in sorted(worth, key=lambda p: (-worth[p][0], p)):
        if act.passages[p].tokens <= left or not chosen:
            chosen.append(Chosen(p, worth[p][1], worth[p][0]))
            left -= act.passages[p].tokens
    return chosen


def _nodes_of(act: Act, passage: int) -> list[int]:
    node = act.passages[passage].node
    return [n for n in range(node, act.nodes[node].last + 1) if act.nodes[n].chunk == passage] or [node]


def _labels(act: Act, start: Mapping[int, float], terms: Sequence[int]) -> dict[int, tuple[str, float]]:
    """Why a passage bears on the anchors, and how strongly, 0-1: the strongest reason counts."""
    labels: dict[int, tuple[str, float]] = {}

    def label(passage: int, why: str, strength: float) -> None:
        if passage >= 0 and passage not in start and (passage not in labels or labels[passage][1] < strength):
            labels[passage] = (why, strength)

    for anchor, weight in start.items():
        for neighbour, kind, forth in act.neighbours.get(anchor, ()):
            if kind == "exception":
                label(neighbour, "exception" if not forth else "reference", weight)
            elif kind == "condition":
                label(neighbour, "condition" if forth else "exception", weight * (1.0 if forth else 0.5))
            elif kind == "refers":
                timed = any(act.nodes[n].deadline for n in _nodes_of(act, neighbour))
                label(neighbour, "deadline" if timed else "reference", weight * (1.0 if forth else 0.8))
        for sibling in _siblings(act, anchor):
            label(sibling, "context", 0.6 * weight)
    for node in terms:
        label(act.nodes[node].chunk, "definition", 0.9)
    return labels


def _siblings(act: Act, passage: int) -> list[int]:
    """The other passages of the same article."""
    at = act.passages[passage].node
    while at >= 0 and act.nodes[at].kind != "article":
        at = act.nodes[at].parent
    return [p for p in act.within(at) if p != passage] if at >= 0 else []
