"""From the Document of an act to its chunks and its graph. The same document gives the same of both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph.knowledge.chunking import Chunk, Count, placed
from graph.knowledge.document import Document
from graph.knowledge.extensions import Split
from graph.regulation import links, ranking, reading, report, store
from graph.regulation.act import Act, Edge, Node, Passage
from graph.regulation.passages import passages
from graph.stores.spaces import Space

RECITAL_FROM = 0.5  # cosine from which a recital gives the reasons of a provision
RECITALS_OF_EACH = 2  # provisions that one recital is linked to at most
LOADER = "graph.regulation.loader"


def split(document: Document, count: Count, *, size: int, overlap: int) -> Split:
    """No chunk repeats the end of the one before: each is a provision."""
    plan = Plan(document, count, size=size)
    return Split(plan.chunks, plan.words(), lambda *made: ActGraph(plan.act(*made)))


complete = store.complete


@dataclass(frozen=True)
class ActGraph:
    """The graph of an act as what is kept beside it."""

    act: Act

    def save(self, space: Space) -> None:
        store.save(space, self.act)

    def report(self) -> str:
        return report.line(self.act)


class Plan:
    """What ingestion needs before the vectors are there: chunks, and the words that are indexed for each."""

    def __init__(self, document: Document, count: Count, *, size: int) -> None:
        self.document = document
        self.placed = reading.units(document)
        self.parts = passages(document.text, self.placed, count, size=size)

    @property
    def chunks(self) -> list[Chunk]:
        """In reading order, as many as `words` gives."""
        return [placed(self.document, chunk) for chunk, _ in self.parts]

    def words(self) -> list[str]:
        """Title of the article, name of the provision, text: what a question about it would share."""
        titles = {p.unit.name: p.unit.title for p in self.placed if p.unit.kind in ("article", "annex")}
        texts = []
        for chunk, members in self.parts:
            unit = self.placed[members[0]].unit
            base = unit.name.partition("(")[0].partition(",")[0]
            lead = [t for t in (titles.get(base, ""), unit.name) if t and unit.kind != "front"]
            texts.append("\n".join([*lead, self.document.text[chunk.start : chunk.end]]))
        return texts

    def act(self, doc_id: str, sha256: str, chunk_ids: Sequence[str], vectors: np.ndarray) -> Act:
        """The graph. `vectors` is (len(chunks), d), rows of length 1: it links recitals to provisions."""
        nodes = [
            Node(p.unit.kind, p.unit.path, p.unit.name, p.unit.title, p.unit.page, p.start, p.end, p.parent, p.last,
                 -1, links.has_deadline(p.unit.text))
            for p in self.placed
        ]  # fmt: skip
        passages: list[Passage] = []
        for number, ((chunk, members), chunk_id) in enumerate(zip(self.parts, chunk_ids, strict=True)):
            passages.append(Passage(chunk_id, members[0], chunk.tokens))
            for at in members:
                if nodes[at].chunk < 0:
                    nodes[at].chunk = number
        defined = links.terms(self.placed)
        act = Act(doc_id, sha256, self.document.title, nodes, list(links.structure(self.placed)), passages, defined)
        seen: set[tuple[int, int, str]] = set()
        for at, reference, targets, kind in links.references(self.placed, act.names):
            if reference.elsewhere:
                act.elsewhere += 1
                continue
            if not targets:
                quoted = self.placed[at].unit.text[reference.start : reference.end]
                act.unresolved.append([nodes[at].name, quoted[:200]])
                continue
            act.resolved += 1
            for target in targets:
                if target != at and (at, target, kind) not in seen:
                    seen.add((at, target, kind))
                    act.edges.append(Edge(at, target, kind))
        act.edges += links.uses(self.placed, defined)
        act.edges += self._reasons(act, vectors)
        act.rank = ranking.pagerank(act)
        return act

    def _reasons(self, act: Act, vectors: np.ndarray) -> list[Edge]:
        """The edges "recital", to the provisions nearest in meaning."""
        recitals = [n for n, p in enumerate(act.passages) if act.nodes[p.node].kind == "recital"]
        provisions = [n for n, p in enumerate(act.passages) if act.nodes[p.node].kind in ("paragraph", "point")]
        if not recitals or not provisions:
            return []
        cosines = np.round(vectors[recitals] @ vectors[provisions].T, 5)
        edges = []
        for row, recital in enumerate(recitals):
            best = np.argsort(-cosines[row], kind="stable")[:RECITALS_OF_EACH]
            edges += [
                Edge(act.passages[recital].node, act.passages[provisions[at]].node, "recital")
                for at in best
                if cosines[row, at] >= RECITAL_FROM
            ]
        return edges
