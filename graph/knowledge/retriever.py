"""From a question to the passages it is answered from, as hits: searches put together, the documents that the talk was
about, those that the question calls, and what extensions add."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.context import ReadScope
from graph.knowledge import extensions, standing, versions
from graph.knowledge.extensions import NAMED_SCORE, PLACE, SECTION, RankedHits
from graph.knowledge.index import Hit, Index
from graph.knowledge.mentions import MENTIONED
from graph.policy.question import mentioning, named_section
from graph.policy.question.answer_type import all_of
from graph.policy.question.intent import IntentName, overview, searches

NEARLY = 0.75  # of the best score of all: what a passage of a document that is called by its name must reach
STAYS = 0.05  # how much better another document's best passage must be for a follow-up to leave the one it speaks of
SECTIONS = 5  # best hits whose sections are read whole where a question is about all of something
READ_OF_ONE = 16  # passages of one section, at most
BESIDE = 24  # passages that come with the sections, at most
MENTIONS = 500  # passages of a space that are looked at for a word, at most
MENTIONING = 40  # documents that are shown to mention it, at most
OF_EACH = 2  # passages of each
POOL = 3  # the guard may drop some: fetch more than will be shown


def find(
    index: Index,
    reader: ReadScope,
    ways: Sequence[str],
    *,
    intent: IntentName,
    documents: Sequence[str],
    follow_up: Mapping[str, Any],
    top_k: int,
    expand: bool,
) -> RankedHits:
    """What is to be shown, best first: all of it, or `top_k` times POOL.

    `ways` are ways to put one question, the first as it stands; `documents` the ids it names; `expand` as for an
    Augmenter. Of a follow-up `doc_ids` are the documents that the talk was about, and `after` is the question before
    it, where it goes on from that.
    """
    query, answers = ways[0], intent == "GENERIC_QA"
    meant, after = follow_up.get("doc_ids", []), follow_up.get("after", "")
    documents = documents or (meant if len(meant) == 1 and not after else [])  # "the first one" is one document
    queries, also = searches(intent, query), ways[1:] if answers else ()
    both = f"{after} {query}" if after and not documents else ""
    for text in (*queries, *also, *((both, query) if both else ())):
        index.vector(text)
    with index.reading():
        if answers and not documents:
            places = _mentioning(index, reader, query, top_k) or _no_longer_in_force(index, reader, query)
            if places:
                return places
            documents = _before_colon(index, reader, query)
        augmenters = extensions.augmenters(index.visible(reader), documents)
        limit = max([top_k * POOL, *(one.depth for one in augmenters)])
        lists = [index.search(reader, one, limit, documents=documents) for one in queries]
        if also:
            lists = [_best([*lists, *(index.search(reader, one, limit, documents=documents) for one in also)])]
        if both:
            lists = _going_on(index, reader, query, both, meant, lists, limit)
        ranked = RankedHits(_in_turn(lists)[:limit])
        if answers and ranked.hits and not documents:
            ranked = _mentioned_first(index, reader, query, ranked.hits)
        if answers and ranked.hits:
            ranked = _called_first(index, reader, query, ranked)
        for one in augmenters if answers else ():
            more = one.augment(query, ranked, expand=expand, top_k=top_k)
            ranked = RankedHits(more.hits, ranked.why | more.why, ranked.whole or more.whole)
        if answers and not ranked.whole and needs_sections(query):
            ranked = _with_sections(index, reader, ranked, top_k)
        if not ranked.whole:
            ranked = replace(ranked, hits=ranked.hits[: top_k * POOL])
        return _with_standing(index, reader, ranked) if answers else ranked


def _before_colon(index: Index, reader: ReadScope, query: str) -> list[str]:
    """The documents that the question names before a colon, unless others hold clearly better."""
    named = index.before_colon(reader, query)
    inside = index.search(reader, query, 1, documents=named) if named else []
    return named if inside and inside[0].score >= NEARLY * index.search(reader, query, 1)[0].score else []


def _going_on(
    index: Index, reader: ReadScope, query: str, both: str, meant: list[str], lists: list[list[Hit]], limit: int
) -> list[list[Hit]]:
    """What a follow-up is answered from: the one document that the talk was about, unless others hold clearly better;
    else its documents, all others, and what the question before it and this one find together, as `both`."""
    inside = index.search(reader, query, limit, documents=meant) if meant else []
    if len(meant) == 1 and inside and inside[0].score >= max(hits[0].score for hits in lists if hits) - STAYS:
        return [inside]
    return [inside, *lists, index.search(reader, both, limit)]


def _mentioned_first(index: Index, reader: ReadScope, query: str, hits: list[Hit]) -> RankedHits:
    """With what the question calls ("the AI policy") in turn with the rest; all of it, from its opening, where it
    asks for the whole. Of a document that is about a thing which it names, only passages that are nearly as good."""
    ids = index.mentioned(reader, query)
    of_name = [one for one in index.titled(reader, query) if one not in ids]
    if not ids and not of_name:
        return RankedHits(hits)
    called = index.search(reader, query, sys.maxsize, documents=[*ids, *of_name])
    called = [hit for hit in called if hit.doc_id in ids or hit.score >= NEARLY * hits[0].score]
    why = {(hit.where, hit.chunk_id): MENTIONED for hit in called}
    if not overview(query):
        return RankedHits(_in_turn([called, hits]), why)
    openings = {index.opening(reader, hit) for hit in {(hit.where, hit.doc_id): hit for hit in called}.values()}
    called = [replace(hit, score=max(hit.score, NAMED_SCORE)) for hit in called]
    called.sort(key=lambda hit: hit.chunk_id not in openings)
    return RankedHits(_in_turn([[*called, *hits]]), why)


def _called_first(index: Index, reader: ReadScope, query: str, ranked: RankedHits) -> RankedHits:
    """With the section that the question calls by its number first, of the documents that it names, else of those of
    the best hits: words find no number."""
    wanted = named_section.find(query)
    if wanted is None or not wanted.number:
        return ranked
    named = [hit for hit in ranked.hits if ranked.why.get((hit.where, hit.chunk_id)) == MENTIONED]
    documents = [*_best_of_each(named or ranked.hits[:SECTIONS]).values()][:SECTIONS]
    if named:
        documents = [replace(one, score=max(one.score, NAMED_SCORE)) for one in documents]
    called = [hit for one in documents for hit in index.numbered(reader, one, wanted.fits)]
    return replace(ranked, hits=_in_turn([[*called, *ranked.hits]]))


def _no_longer_in_force(index: Index, reader: ReadScope, query: str) -> RankedHits | None:
    """The opening of each document that is no longer in force, and the passage that says so, where the question is
    which these are; None where there are none."""
    kind = mentioning.no_longer_in_force(query)
    if kind is None:
        return None
    documents = _best_of_each(index.inventory(reader, kind, sys.maxsize))
    gone = index.lapses(reader, documents, index.replaced(reader))
    shown = RankedHits([documents[of] for of, *_ in gone[:MENTIONING]], whole=True, cut=len(gone) > MENTIONING)
    return _with_standing(index, reader, shown) if gone else None


def _mentioning(index: Index, reader: ReadScope, query: str, top_k: int) -> RankedHits | None:
    """The best passages of each document that has the words, of the kind that is asked for where there are any, where
    the question is which documents mention something; None where none does. A chat model is shown `top_k` of them."""
    asked_for = mentioning.find(query)
    if asked_for is None:
        return None
    hits = index.mentioning(reader, asked_for.what, MENTIONS)
    kind = {hit.doc_id for hit in index.inventory(reader, asked_for.kind, sys.maxsize)} if asked_for.kind else set()
    of: dict[tuple[str, str], list[Hit]] = {}
    for hit in [hit for hit in hits if hit.doc_id in kind] or hits:
        of.setdefault((hit.where, hit.doc_id), []).append(hit)
    best = [hit for passages in [*of.values()][:MENTIONING] for hit in passages[:OF_EACH]]
    why = {(hit.where, hit.chunk_id): PLACE for hit in best[top_k:]}
    return RankedHits(best, why, whole=True, cut=len(of) > MENTIONING or len(hits) >= MENTIONS) if best else None


def _with_standing(index: Index, reader: ReadScope, ranked: RankedHits) -> RankedHits:
    """With the passages that say of a document among the hits, or of one that a hit names, that it is no longer in
    force."""
    best = _best_of_each(ranked.hits)
    hits = {(hit.where, hit.chunk_id): hit for hit in ranked.hits}
    why = dict(ranked.why)
    replaced = index.replaced(reader)
    lapses = [(best[of], where, doc, text) for of, where, doc, text in index.lapses(reader, best, replaced)]
    lapses += index.lapses_named(reader, ranked.hits, replaced)
    for of, where, doc_id, sentence in lapses:
        if chunk_id := index.chunk_with(reader, where, doc_id, sentence):
            own = hits.get((where, chunk_id), of)
            hits[where, chunk_id] = replace(
                own, where=where, doc_id=doc_id, chunk_id=chunk_id, score=max(own.score, of.score)
            )
            why.setdefault((where, chunk_id), standing.IN_FORCE)
    return replace(ranked, hits=[*hits.values()], why=why)


def needs_sections(query: str) -> bool:
    """Whether passages alone do not answer: it wants all of a list or document, a section, or what changed."""
    return bool(all_of(query) or named_section.find(query) or versions.asks_for_changes(query))


def _with_sections(index: Index, reader: ReadScope, ranked: RankedHits, top_k: int) -> RankedHits:
    """The best hits, then the rest of the sections in which the first of them lie: a list or a table is read whole."""
    hits = {(hit.where, hit.chunk_id): hit for hit in ranked.hits[:top_k]}
    why = dict(ranked.why)
    read: set[tuple[str, str]] = set()
    for hit in ranked.hits[:SECTIONS]:
        if (hit.where, hit.chunk_id) in read:
            continue
        for beside in index.section(reader, hit, READ_OF_ONE):
            place = (beside.where, beside.chunk_id)
            read.add(place)
            if place not in hits and len(hits) < top_k + BESIDE:
                hits[place], why[place] = beside, SECTION
    return RankedHits(list(hits.values()), why, True, searched=ranked.hits)


def _best_of_each(hits: Sequence[Hit]) -> dict[tuple[str, str], Hit]:
    """The first hit of each document, in their order, by where the document lies and its id."""
    best: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        best.setdefault((hit.where, hit.doc_id), hit)
    return best


def _best(lists: list[list[Hit]]) -> list[Hit]:
    """One list out of several ways to say the same: each chunk with the better of its scores."""
    best: dict[tuple[str, str], Hit] = {}
    for hit in (hit for hits in lists for hit in hits):
        key = (hit.where, hit.chunk_id)
        best[key] = max(best.get(key, hit), hit, key=lambda one: one.score)
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.where, hit.chunk_id))


def _in_turn(lists: list[list[Hit]]) -> list[Hit]:
    """One list out of several: the best of each, then the second of each, each chunk once."""
    taken: dict[tuple[str, str], Hit] = {}
    for rank in range(max(map(len, lists), default=0)):
        for hits in lists:
            if rank < len(hits):
                taken.setdefault((hits[rank].where, hits[rank].chunk_id), hits[rank])
    return list(taken.values())
