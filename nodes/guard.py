"""guard: resolves each handle, checks access again, withholds planted instructions, masks. The only stage that sees
raw document text, and the last that can reach the index."""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Literal
from weakref import WeakKeyDictionary

from langgraph.runtime import Runtime

from graph import memory
from graph.checkpoints import note_masked
from graph.context import Context, ReadScope, principal
from graph.extractive import rerank
from graph.knowledge import standing
from graph.knowledge.extensions import ROWS, SAYS
from graph.knowledge.index import Index
from graph.policy import pii
from graph.policy.evidence import access, withholding
from graph.policy.evidence.judged import PassageJudgement, judge, judge_name, read
from graph.policy.evidence.redaction import redact
from graph.policy.pii.public import Public
from graph.policy.threats.detector import Detector
from graph.public import PublicValues
from graph.settings import Settings
from graph.state import Candidate, Evidence, Handle, State
from graph.stores.spaces import Passage

ASSESSMENT_TOP_K = 8
CONFIDENT = 0.5  # best score from which retrieval counts as confident


def guard(
    state: State,
    runtime: Runtime[Context],
    *,
    index: Index,
    public: PublicValues,
    settings: Settings,
    detector: Detector | None = None,
) -> State:
    """Evidence is numbered from 1; a passage that was removed since the search is passed over."""
    asker = principal(runtime)
    permitted, flags, filters = 0, list(state["flags"]), list(state["filters"])
    shown: list[tuple[Evidence, list[str], bool]] = []  # with the groups it is for, and whether it is masked
    choose = rerank.reranked(state, settings)
    most = max(rerank.READ, _shown_at_most(state)) if choose else _shown_at_most(state)
    reader = asker.reader
    # Passages of one document share its names, all of them the lists.
    masked, public_for = cache(_masked), cache(public.for_tenant)
    places = [(handle["where"], handle["chunk_id"]) for handle in state["retrieved"]]
    passages = index.passages(reader, places, judge_name())
    for handle, place in zip(state["retrieved"], places, strict=True):
        passage = passages.get(place)
        if passage is None:
            continue
        record = passage.record
        why = access.denied(asker, passage.owner, record.visibility, record.expires, record.groups)
        if why is not None:
            filters.append(f"dropped:{why}")
            continue
        permitted += 1
        beyond = len(shown) >= most and handle.get("why") != standing.IN_FORCE
        looked_up = handle.get("why") in (ROWS, SAYS)  # by what it says, not by likeness
        if (handle["score"] < settings.relevance_floor and not looked_up) or beyond:
            continue
        judged = _judged(index, reader, handle, passage, detector)
        keep = public_for(asker.tenant_id, record.visibility)
        item = _evidence(len(shown) + 1, handle, passage, judged, keep, masked)
        shown.append((item, record.groups, len(item["edits"]) > item["withheld"]))
    if choose and rerank.needed(state["query"], [item for item, *_ in shown], _shown_at_most(state)):
        shown = _best(state, shown, settings)
    evidence = [item for item, *_ in shown]
    audiences = [groups for _, groups, _ in shown if groups]
    flags += ["injection_in_context"] if any(item["withheld"] for item in evidence) else []
    filters += [f"masked:{item['doc_id']}" for item, _, edited in shown if edited]
    best = max((item["score"] for item in evidence), default=0.0)
    return {
        "evidence": evidence,
        "audiences": memory.united(state["audiences"], audiences),
        "flags": list(dict.fromkeys(flags)),
        "filters": list(dict.fromkeys([f"tenant:{asker.tenant_id}", "public", *filters])),
        "retrieval": {
            **state["retrieval"],
            "confidence": "high" if best >= CONFIDENT else "low",
            "candidates": [_candidate(item) for item in evidence],
        },
        "refusal": None if permitted or "empty_knowledge_base" in flags else {"code": "AccessDenied", "text": ""},
    }


def _evidence(
    n: int, handle: Handle, passage: Passage, judged: PassageJudgement, keep: Public, masked: Callable[[str], str]
) -> Evidence:
    """A passage as a model and a reader may see it: without orders to the machine, masked but for what is public."""
    record, chunk, raw = passage.record, passage.chunk, passage.text
    withheld = withholding.unreleased(raw, judged.orders, record.released)
    masking = pii.mask(raw, keep=keep, personal=judged.personal)
    text, edits = redact(raw, withheld, masking.spans)
    if not withheld and not masking.public:
        note_masked(text)
    item: Evidence = {
        "n": n,
        "chunk_id": chunk.chunk_id,
        "doc_id": record.doc_id,
        "filename": masked(record.filename),
        "title": masked(record.title),
        "tenant_id": record.tenant_id,
        "visibility": "public" if record.visibility == "public" else "private",
        "page": chunk.page,
        "sheet": masked(chunk.sheet) if chunk.sheet else None,
        "section": masked(chunk.section),
        "places": chunk.places,
        "score": round(handle["score"], 3),
        "sha256": record.sha256,
        "text": text,
        "where": handle["where"],
        "start": chunk.start,
        "edits": edits,
        "withheld": len(withheld),
    }
    if masking.public:
        item["public"] = list(masking.public)
    if "why" in handle:
        item["why"] = handle["why"]
    return item


def _best(
    state: State, shown: list[tuple[Evidence, list[str], bool]], settings: Settings
) -> list[tuple[Evidence, list[str], bool]]:
    """The passages that answer best, as many as may be shown, and those that say of them that they are no longer in
    force; numbered anew."""
    rest = {item["n"]: (groups, edited) for item, groups, edited in shown}
    items = [item for item, *_ in shown]
    chosen = rerank.best(state["query"], items, settings, _shown_at_most(state))
    lapses, named, numbers = standing.lapsed(items), standing.lapsed_codes(items), {item["n"] for item in chosen}
    said_by = {lapses[n].n for n in numbers if n in lapses}
    said_by |= {lapse.n for item in chosen if (lapse := standing.lapse_named(item["text"], named))}
    said_by -= numbers
    chosen += [item for item in items if item["n"] in said_by]
    return [({**item, "n": n}, *rest[item["n"]]) for n, item in enumerate(chosen, 1)]


def _masked(text: str) -> str:
    masked = pii.mask(text).text
    note_masked(masked)
    return masked


# Judgements that were not stored at ingestion, or in which the operator's detector has a part. The key has the space,
# so that no answer's time tells what others read, and a digest instead of the raw text. The oldest entry goes first.
_JUDGED: WeakKeyDictionary[Index, dict[tuple[str, bytes, str, Detector | None], PassageJudgement]] = WeakKeyDictionary()
_KEPT = 1_024


def _judged(
    index: Index, reader: ReadScope, handle: Handle, passage: Passage, detector: Detector | None
) -> PassageJudgement:
    if not (detector is not None and detector.documents) and passage.judged:
        return read(passage.judged)
    raw, known = passage.text, _JUDGED.setdefault(index, {})
    name = (
        f"{reader.tenant} {handle['where']}",
        hashlib.sha256(raw.encode("utf-8", "surrogatepass")).digest(),
        judge_name(),
        detector,
    )
    if name not in known:
        if len(known) >= _KEPT:
            known.pop(next(iter(known)), None)
        known[name] = judge(raw, detector)
    return known[name]


def _candidate(item: Evidence) -> Candidate:
    """`withheld` counts sentences that give instructions, `masked` places with personal data."""
    candidate: Candidate = {"chunk_id": item["chunk_id"], "doc_id": item["doc_id"], "score": item["score"]}
    if "why" in item:
        candidate["why"] = item["why"]
    if item["withheld"]:
        candidate["withheld"] = item["withheld"]
    if masked := len(item["edits"]) - item["withheld"]:
        candidate["masked"] = masked
    return candidate


def _shown_at_most(state: State) -> int:
    """An assessment rests on several documents, and a list names them all, so both get more of them. Where an
    extension chose the passages, all of them are shown."""
    if state["listing"] or state["retrieval"].get("whole"):
        return len(state["retrieved"])
    return max(state["options"]["top_k"], ASSESSMENT_TOP_K if state["intent"]["name"] == "ASSESSMENT_GEN" else 0)


def permitted(state: State) -> Literal["refuse", "respond", "generate"]:
    """Nothing permitted: `refuse`. Permitted, but nothing near the question: `respond`, which says so."""
    if state["refusal"] is not None:
        return "refuse"
    return "generate" if state["evidence"] else "respond"
