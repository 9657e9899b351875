"""retrieve: the nearest chunks of the asker's two spaces, as handles. No text comes with them."""

import re
import sys
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from graph.context import Context, principal
from graph.knowledge.called import CALLED
from graph.knowledge.index import Hit, Index, content_words
from graph.knowledge.regulation import retrieval
from graph.policy import named
from graph.policy.intent import ANY, overview, searches
from graph.state import Handle, State

THIN = 0.45  # best score below which `agent` mode looks a second time
INVENTORY = 12  # documents in a list of what there is
POOL = 3  # the guard may drop some: fetch more than will be shown


def retrieve(state: State, runtime: Runtime[Context], *, index: Index) -> dict[str, Any]:
    tenant = principal(runtime).tenant_id
    if index.empty(tenant):
        return {"retrieved": [], "flags": [*state["flags"], "empty_knowledge_base"]}
    options = state["options"]
    if state["listing"]:
        listed = index.inventory(tenant, "" if state["listing"] == ANY else state["listing"], INVENTORY)
        if listed:
            return {"retrieved": [_handle(hit) for hit in listed]}
    asked = named.documents(state["query"])
    documents = index.named(tenant, asked) if asked else []
    if asked and not documents:
        return {"retrieved": [], "flags": state["flags"]}  # unknown or foreign: the same from here on
    meant = state["follow_up"].get("doc_ids", [])
    documents = documents or (meant if len(meant) == 1 else [])  # "the first one" is one document
    acts = retrieval.held(index, tenant, documents)
    limit = max(options["top_k"] * POOL, retrieval.DEEP if acts else 0)
    queries = searches(state["intent"]["name"], state["query"])
    hits = _in_turn([index.search(tenant, query, limit, documents=documents) for query in queries])[:limit]
    if options["mode"] == "agent" and (not hits or hits[0].score < THIN):
        hits = _second_pass(index, tenant, state, hits, limit)
    found = retrieval.Consulted(hits)
    if state["intent"]["name"] == "GENERIC_QA":
        if hits and not documents:
            found = _called_first(index, tenant, state["query"], hits)
        if acts:
            graph, called = options["mode"] == "graph", found
            found = retrieval.consult(
                index, tenant, state["query"], called.hits, acts, graph=graph, top_k=options["top_k"]
            )
            found.why.update(called.why | found.why)
    shown = found.hits if found.whole else found.hits[: options["top_k"] * POOL]
    return {
        "retrieved": [_handle(hit, found.why.get((hit.where, hit.chunk_id), "")) for hit in shown],
        "retrieval": {"confidence": "low", "candidates": [], "query": state["query"], "whole": found.whole},
    }


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


def _second_pass(index: Index, tenant: str, state: State, first: list[Hit], limit: int) -> list[Hit]:
    """Look again with the bare content words, and with each part of a question that has several."""
    queries = [" ".join(content_words(state["query"])), *re.split(r"\band\b|[;?]", state["query"], flags=re.I)]
    best = {(hit.where, hit.chunk_id): hit for hit in first}
    for query in [q.strip() for q in queries if len(content_words(q)) >= 2][:4]:
        for hit in index.search(tenant, query, limit):
            key = (hit.where, hit.chunk_id)
            if key not in best or hit.score > best[key].score:
                best[key] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.where, hit.chunk_id))[:limit]
