"""remember: what the thread will keep of an answered turn, once it is on record. A refused turn is never remembered."""

import re

from graph import memory
from graph.policy.question import followup
from graph.settings import Settings
from graph.state import PastTurn, State

_ENUMERATION = re.compile(r":\s*([^.:;]{3,80}(?:[,;]\s+[^.:;,]{3,80})+(?:,?\s+and\s+[^.:;,]{3,80})?)")


def remember(state: State, *, settings: Settings) -> State:
    """`remembered` becomes the thread's memory in `record`; nothing where the question failed the first checks."""
    kind = state["options"]["memory"]
    if kind == "none" or state["admitted"]:
        return {}
    turn = _turn(state)
    return {"said": turn, "remembered": memory.remember(state["memory"], turn, kind, settings.memory_turns)}


def _turn(state: State) -> PastTurn:
    cited = {c["n"]: c for c in state["citations"]}
    titles = {e["doc_id"]: e["title"] for e in state["evidence"]}
    order = [cited[n]["doc_id"] for s in state["sentences"] for n in s["citations"][:1]]
    docs = list(dict.fromkeys(order))
    # At an item of a list: the list goes on, "and the third?" comes next.
    about = state["follow_up"].get("about", "")
    pointed = any(about in turn["items"] for turn in memory.recalled(state["memory"], state["options"]["memory"]))
    shown = [] if pointed else [titles.get(doc, doc) for doc in docs if len(docs) > 1 or state["listing"]]
    items = ([] if pointed else _listed(state)) or shown
    meant = state["query"]
    for short, long in state["understood"].get("abbreviations", {}).items():
        meant = meant.replace(f"{short} ({long})", short)  # for the model; the asker wrote the short form
    turn: PastTurn = {
        "question": state["question"],
        "answer": state["answer"],
        "meant": meant,
        "topic": about or followup.antecedent(meant, state["answer"]) or state["query"],
        "items": items[: memory.MAX_ITEMS],
        "doc_ids": docs[: memory.MAX_ITEMS],
    }
    return {**turn, "audiences": state["audiences"]} if state["audiences"] else turn


def _listed(state: State) -> list[str]:
    """The entries of the answer's list or table, or what a single sentence enumerates after a colon: "three datasets:
    A, B and C"."""
    if items := memory.items_of(state["answer"]):
        return items
    if len(state["sentences"]) == 1 and (match := _ENUMERATION.search(state["sentences"][0]["text"])):
        return [part.strip() for part in re.split(r"[,;]\s+(?:and\s+)?|\s+and\s+", match[1]) if part.strip()]
    return []
