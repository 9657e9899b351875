"""Evidence from acts, as handles: provisions the question names, definitions it asks for, and in graph mode what the
passages found depend on. Only the acts of the asker's own two spaces are looked at."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graph.knowledge.extensions import NAMED_SCORE, Augmenter, RankedHits, Spaces
from graph.knowledge.index import Hit, Where, content_words
from graph.regulation import asking, store
from graph.regulation.act import Act
from graph.regulation.expansion import expand as expanded

NEIGHBOUR_SCORE = 0.35  # of a passage that no search found: above the floor, below those that one found
WHOLE = 12  # passages of a provision that is asked for by name and nothing else
_CHARS_A_TOKEN = 4.5  # of passages of ordinary documents, whose tokens are not kept
_TIMED = re.compile(
    r"\b(?:when|deadline|how (?:long|soon|fast|quickly|often)|time|period|by when|until|within|date|days?|months?)\b",
    re.I,
)
_REASONS = re.compile(r"\b(?:why|reasons?|rationale|purpose of|aim|recitals?|background|intended)\b", re.I)

Key = tuple[Where, str]  # where, chunk id


@dataclass(frozen=True)
class _OpenAct:
    where: Where
    act: Act
    numbers: Mapping[str, int]  # chunk id → passage


def augmenter(spaces: Spaces, documents: Sequence[str] = ()) -> Augmenter | None:
    """Over the acts of the asker, its own first; those of `documents` when given. None when there is none."""
    acts = [
        _OpenAct(where, act, {p.chunk_id: n for n, p in enumerate(act.passages)})
        for where, space in spaces
        for act in store.acts(space)
        if not documents or act.doc_id in documents
    ]
    return _Acts(spaces, acts) if acts else None


@dataclass(frozen=True)
class _Acts:
    spaces: Spaces
    acts: list[_OpenAct]
    depth: int = 60  # hits of a search that the expansion weighs

    def augment(self, query: str, ranked: RankedHits, *, expand: bool, top_k: int) -> RankedHits:
        """With `expand`, the passages shown have no more tokens than the first `top_k` that are shown without it."""
        pins, alone = _pinned(query, ranked.hits, _meant(self.acts, query))
        pinned = {(hit.where, hit.chunk_id) for hit in pins}
        plain = pins + [hit for hit in ranked.hits if (hit.where, hit.chunk_id) not in pinned]
        if not expand:
            return RankedHits(pins if alone else plain, dict.fromkeys(pinned, "named"), alone)
        budget = sum(map(self._tokens, plain[:top_k]))
        if alone:
            budget = max(budget, sum(map(self._tokens, pins)))
        timed, reasons = (pattern.search(query) is not None for pattern in (_TIMED, _REASONS))
        hits: list[Hit] = []
        why: dict[Key, str] = {}
        for hit in plain[:top_k]:  # what is of no act stays as it was
            if self._act_of(hit) is None:
                hits.append(hit)
                budget -= self._tokens(hit)
        for source in self.acts:
            mine = {(h.where, h.chunk_id): h for h in plain if self._act_of(h) is source}
            if not any(self._act_of(h) is source for h in plain[:top_k]) or budget <= 0:
                continue
            scores = {source.numbers[h.chunk_id]: h.score for h in mine.values() if (h.where, h.chunk_id) not in pinned}
            terms = asking.speaks_of(source.act, query)
            firsts = [source.numbers[h.chunk_id] for h in pins if self._act_of(h) is source]
            for c in expanded(source.act, scores, budget, pinned=firsts, terms=terms, timed=timed, reasons=reasons):
                passage = source.act.passages[c.passage]
                key = (source.where, passage.chunk_id)
                hit = mine.get(key) or Hit(source.where, passage.chunk_id, source.act.doc_id, NEIGHBOUR_SCORE, 0.0, 0.0)
                hits.append(hit if c.why == "anchor" else replace(hit, score=max(hit.score, NEIGHBOUR_SCORE)))
                why[key] = "named" if key in pinned else c.why
                budget -= passage.tokens
        hits.sort(key=lambda h: why.get((h.where, h.chunk_id)) not in (None, "named", "anchor"))
        return RankedHits(hits, why, True)

    def _act_of(self, hit: Hit) -> _OpenAct | None:
        acts = (source for source in self.acts if source.where == hit.where and hit.chunk_id in source.numbers)
        return next(acts, None)

    def _tokens(self, hit: Hit) -> int:
        source = self._act_of(hit)
        if source is not None:
            return source.act.passages[source.numbers[hit.chunk_id]].tokens
        chunk = next((c for where, s in self.spaces if where == hit.where and (c := s.chunk(hit.chunk_id))), None)
        return round((chunk.end - chunk.start) / _CHARS_A_TOKEN) if chunk else 0


def _meant(acts: list[_OpenAct], query: str) -> list[_OpenAct]:
    """The acts whose title shares a word or number with the question; all when none does, or one is there."""
    if len(acts) < 2:
        return acts
    words = set(content_words(query)) - {"regulation", "directive", "article", "act"}
    shared = [len(words & set(content_words(source.act.title))) for source in acts]
    return [source for source, n in zip(acts, shared, strict=True) if n == max(shared)]


def _pinned(query: str, hits: list[Hit], acts: list[_OpenAct]) -> tuple[list[Hit], bool]:
    """Passages that the question names, and whether it asks for nothing else."""
    by_key = {(hit.where, hit.chunk_id): hit for hit in hits}
    pins: dict[Key, Hit] = {}
    alone = False
    for source in acts:
        act = source.act
        nodes, rest = asking.named_provisions(act, query)
        words = content_words(rest)
        alone = alone or (bool(nodes) and asking.only(words))
        passages = list(dict.fromkeys(p for node in nodes for p in act.within(node)))
        if not nodes and (node := asking.defined(act, query)) >= 0:
            passages = act.within(node)
        elif not asking.only(words):
            score = {p: by_key[k].score for p in passages if (k := (source.where, act.passages[p].chunk_id)) in by_key}
            passages = sorted(passages, key=lambda p: (-score.get(p, 0.0), p))[:3]
        for p in passages[:WHOLE]:
            key = (source.where, act.passages[p].chunk_id)
            hit = by_key.get(key) or Hit(source.where, key[1], act.doc_id, NAMED_SCORE, 0.0, 0.0)
            pins[key] = replace(hit, score=max(hit.score, NAMED_SCORE))
    return list(pins.values())[:WHOLE], alone
