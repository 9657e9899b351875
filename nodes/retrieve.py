"""retrieve: the nearest chunks of the asker's spaces, as handles. No text comes with them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from langgraph.runtime import Runtime

from graph import memory
from graph.context import Context, ReadScope, principal, whose
from graph.extractive import looked_up
from graph.knowledge import register, retriever, spelling
from graph.knowledge.index import Hit, Index
from graph.policy import pii
from graph.policy.question import named_documents, wishes
from graph.policy.question.intent import ANY
from graph.policy.rubric import ACTIONS
from graph.policy.threats import Assessment, assess, courtesy
from graph.policy.threats.detector import Detector
from graph.policy.threats.thresholds import Thresholds
from graph.state import Handle, State, Understood

INVENTORY = 40  # documents in a list of what there is


def retrieve(
    state: State,
    runtime: Runtime[Context],
    *,
    index: Index,
    detector: Detector | None = None,
    thresholds: Thresholds | None = None,
) -> State:
    """Nothing where the question names a document that the asker may not read, as where there is none of that name."""
    asker = principal(runtime)
    reader = asker.reader
    with index.reading():
        if index.empty(reader):
            return {"retrieved": [], "flags": [*state["flags"], "empty_knowledge_base"]}
        if listed := _listed(state, reader, index):
            flags = [*state["flags"], *(["listing_cut"] if len(listed) > INVENTORY else [])]
            listing = state["listing"] or register.REGISTERED
            return {"retrieved": [_handle(hit) for hit in listed[:INVENTORY]], "flags": flags, "listing": listing}
        read = index.read(reader, state["query"])
    judge = partial(assess, tenant=asker.tenant_id, encode=True, detector=detector, thresholds=thresholds)
    reading = _passed(read, state, judge)
    names = named_documents.find(reading.searches[0])
    documents = index.with_names(reader, names) if names else []
    if names and not documents:
        return {"retrieved": [], "flags": state["flags"]}
    ranked = retriever.find(
        index,
        reader,
        [wishes.bare(way) for way in reading.searches],
        intent=state["intent"]["name"],
        documents=documents,
        follow_up=state["follow_up"],
        top_k=state["options"]["top_k"],
        expand=state["options"]["mode"] == "graph",
    )
    ranked, looked_through = looked_up.added(
        index, reader, wishes.bare(reading.text), ranked, state["options"]["top_k"]
    )
    # A corrected word may come from any document that the reader sees, so all their audiences count.
    visible = index.visible(reader) if reading.spelling or reading.abbreviations else []
    audiences = [sorted(groups) for where, _ in visible if (groups := whose(where)[1])]
    cut = ["listing_cut"] if ranked.cut else []
    return {
        "flags": [*state["flags"], *cut],
        "retrieved": [_handle(hit, ranked.why.get((hit.where, hit.chunk_id), "")) for hit in ranked.hits],
        "audiences": memory.united(state["audiences"], audiences),
        "query": reading.text,
        "understood": understood(state, reading),
        "retrieval": {
            "confidence": "low",
            "candidates": [],
            "query": reading.text,
            "whole": ranked.whole,
            "looked_through": looked_through,
        },
    }


def _listed(state: State, reader: ReadScope, index: Index) -> list[Hit]:
    """The openings of the documents that the question wants listed, one more than are shown where there are more."""
    if state["listing"]:
        return index.inventory(reader, "" if state["listing"] == ANY else state["listing"], INVENTORY + 1)
    if state["intent"]["name"] == "GENERIC_QA" and register.asks(state["query"]):
        return register.hits(index, reader, state["query"], INVENTORY + 1)
    return []


def _passed(read: spelling.Reading, state: State, judge: Callable[[str], Assessment]) -> spelling.Reading:
    """The completed question as it was `read`, in the words of the documents; as it was asked where that reading would
    get a stricter verdict than the asker's own words got."""
    asked, completed = " ".join(courtesy.bare(state["question"]).split()), state["query"]
    readings = [replace(read, text=pii.mask(read.text).text), spelling.unread(completed), spelling.unread(asked)]
    passed = ACTIONS.index(state["verdict"]["action"])
    for reading in readings:
        if reading.text in (asked, state["rewrite"]):
            return reading
        if ACTIONS.index(judge(reading.text).action) <= passed:
            return reading
    return readings[-1]


def understood(state: State, reading: spelling.Reading) -> Understood:
    """How the question was read, for the asker; {} where it was taken as it stands, or put otherwise by a guard."""
    asked = " ".join(courtesy.bare(state["question"]).split())
    if state["verdict"]["action"] != "ALLOW" or reading.text == asked:
        return {}
    return {
        "text": reading.text,
        "follow_up": bool(state["follow_up"]) and state["query"] != asked,
        "spelling": reading.spelling,
        "abbreviations": reading.abbreviations,
    }


def _handle(hit: Hit, why: str = "") -> Handle:
    handle: Handle = {"where": hit.where, "chunk_id": hit.chunk_id, "doc_id": hit.doc_id, "score": hit.score}
    return {**handle, "why": why} if why else handle
