"""retrieve: the nearest chunks of the asker's two spaces, as handles. No text comes with them."""

import sys
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from graph.context import Context, principal
from graph.knowledge import spelling
from graph.knowledge.called import CALLED
from graph.knowledge.index import Hit, Index
from graph.policy import named, pii
from graph.policy.intent import ANY, overview, searches
from graph.policy.rubric import ACTIONS
from graph.policy.threats import Detector, assess
from graph.regulation import retrieval
from graph.state import Handle, State, Understood

STAYS = 0.05  # how much better another document's best passage must be for a follow-up to leave the one it speaks of
INVENTORY = 12  # documents in a list of what there is
POOL = 3  # the guard may drop some: fetch more than will be shown


def retrieve(
    state: State, runtime: Runtime[Context], *, index: Index, detector: Detector | None = None
) -> dict[str, Any]:
    tenant = principal(runtime).tenant_id
    if index.empty(tenant):
        return {"retrieved": [], "flags": [*state["flags"], "empty_knowledge_base"]}
    options = state["options"]
    if state["listing"]:
        listed = index.inventory(tenant, "" if state["listing"] == ANY else state["listing"], INVENTORY)
        if listed:
            return {"retrieved": [_handle(hit) for hit in listed]}
    reading = _read(index, tenant, state, detector)
    query = reading.searches[0]
    asked = named.documents(query)
    documents = index.named(tenant, asked) if asked else []
    if asked and not documents:
        return {"retrieved": [], "flags": state["flags"]}  # unknown or foreign: the same from here on
    meant, after = state["follow_up"].get("doc_ids", []), state["follow_up"].get("after", "")
    documents = documents or (meant if len(meant) == 1 and not after else [])  # "the first one" is one document
    acts = retrieval.held(index, tenant, documents)
    limit = max(options["top_k"] * POOL, retrieval.DEEP if acts else 0)
    queries = searches(state["intent"]["name"], query)
    lists = [index.search(tenant, one, limit, documents=documents) for one in queries]
    if state["intent"]["name"] == "GENERIC_QA":
        lists += [index.search(tenant, one, limit, documents=documents) for one in reading.searches[1:]]
        lists = [_best(lists)] if len(reading.searches) > 1 else lists
    if after and not documents:
        lists = _going_on(index, tenant, query, after, meant, lists, limit)
    hits = _in_turn(lists)[:limit]
    found = retrieval.Consulted(hits)
    if state["intent"]["name"] == "GENERIC_QA":
        if hits and not documents:
            found = _called_first(index, tenant, query, hits)
        if acts:
            graph, called = options["mode"] == "graph", found
            found = retrieval.consult(index, tenant, query, called.hits, acts, graph=graph, top_k=options["top_k"])
            found.why.update(called.why | found.why)
    shown = found.hits if found.whole else found.hits[: options["top_k"] * POOL]
    return {
        "retrieved": [_handle(hit, found.why.get((hit.where, hit.chunk_id), "")) for hit in shown],
        "query": reading.text,
        "understood": understood(state, reading),
        "retrieval": {"confidence": "low", "candidates": [], "query": reading.text, "whole": found.whole},
    }


def _read(index: Index, tenant: str, state: State, detector: Detector | None) -> spelling.Reading:
    """The completed question in the words of the documents; as it was asked where it says something worse so, since
    the verdict was passed on the words of the asker."""
    asked, completed = " ".join(state["question"].split()), state["query"]
    read = index.read(tenant, completed)
    readings = [replace(read, text=pii.mask(read.text).text), spelling.unread(completed), spelling.unread(asked)]
    passed = ACTIONS.index(state["verdict"]["action"])
    for reading in readings:
        if reading.text in (asked, state["rewrite"]):
            return reading
        judged = assess(reading.text, tenant=tenant, encode=True, detector=detector)
        if ACTIONS.index(judged.action) <= passed:
            return reading
    return readings[-1]


def understood(state: State, reading: spelling.Reading) -> Understood:
    """How the question was read, for the asker; {} where it was taken as it stands, or put otherwise by a guard."""
    asked = " ".join(state["question"].split())
    if state["verdict"]["action"] != "ALLOW" or reading.text == asked:
        return {}
    return {
        "text": reading.text,
        "follow_up": bool(state["follow_up"]) and state["query"] != asked,
        "spelling": reading.spelling,
        "abbreviations": reading.abbreviations,
    }


def _going_on(
    index: Index, tenant: str, query: str, after: str, meant: list[str], lists: list[list[Hit]], limit: int
) -> list[list[Hit]]:
    """What a follow-up is answered from: the one document that the talk was about, unless others hold clearly better;
    else its documents, all others, and what the question before it and this one find together."""
    inside = index.search(tenant, query, limit, documents=meant) if meant else []
    if len(meant) == 1 and inside and inside[0].score >= max(hits[0].score for hits in lists if hits) - STAYS:
        return [inside]
    return [inside, *lists, index.search(tenant, f"{after} {query}", limit)]


def _best(lists: list[list[Hit]]) -> list[Hit]:
    """One list out of several ways to say the same: each chunk with the better of its scores."""
    best: dict[tuple[str, str], Hit] = {}
    for hit in (hit for hits in lists for hit in hits):
        key = (hit.where, hit.chunk_id)
        best[key] = max(best.get(key, hit), hit, key=lambda one: one.score)
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.where, hit.chunk_id))


def _handle(hit: Hit, why: str = "") -> Handle:
    handle: Handle = {"where": hit.where, "chunk_id": hit.chunk_id, "doc_id": hit.doc_id, "score": hit.score}
    return {**handle, "why": why} if why else handle


def _in_turn(lists: list[list[Hit]]) -> list[Hit]:
    """One list out of several: the best of each, then the second of each, each chunk once."""
    taken: dict[tuple[str, str], Hit] = {}
    for rank in range(max(map(len, lists), default=0)):
        for hits in lists:
            if rank < len(hits):
                taken.setdefault((hits[rank].where, hits[rank].chunk_id), hits[rank])
    return list(taken.values())


def _called_first(index: Index, tenant: str, query: str, hits: list[Hit]) -> retrieval.Consulted:
    """With what the question calls ("the AI policy") in turn with the rest; all of it, from its opening, where it
    asks for the whole."""
    ids = index.called(tenant, query)
    if not ids:
        return retrieval.Consulted(hits)
    called = index.search(tenant, query, sys.maxsize, documents=ids)
    why = {(hit.where, hit.chunk_id): CALLED for hit in called}
    if not overview(query):
        return retrieval.Consulted(_in_turn([called, hits]), why)
    openings = {index.opening(tenant, hit) for hit in {(hit.where, hit.doc_id): hit for hit in called}.values()}
    called = [replace(hit, score=max(hit.score, retrieval.NAMED_SCORE)) for hit in called]
    called.sort(key=lambda hit: hit.chunk_id not in openings)
    return retrieval.Consulted(_in_turn([[*called, *hits]]), why)
