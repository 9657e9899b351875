"""guard: resolves each handle, checks access again, withholds planted instructions, masks. The only stage that sees
raw document text, and the last that can reach the index."""

import hashlib
from collections.abc import Collection
from typing import Literal
from weakref import WeakKeyDictionary

from langgraph.runtime import Runtime

from graph.context import Context, principal
from graph.knowledge.index import Index
from graph.policy import pii
from graph.policy.evidence import access, withholding
from graph.policy.evidence.redaction import redact
from graph.policy.threats.detector import Detector
from graph.public import Lists
from graph.settings import Settings
from graph.state import Candidate, Evidence, State

ASSESSMENT_TOP_K = 8
CONFIDENT = 0.5  # best score from which retrieval counts as confident


def guard(
    state: State,
    runtime: Runtime[Context],
    *,
    index: Index,
    public: Lists,
    settings: Settings,
    detector: Detector | None = None,
) -> State:
    asker = principal(runtime)
    permitted, flags, filters = 0, list(state["flags"]), list(state["filters"])
    evidence: list[Evidence] = []
    for handle in state["retrieved"]:
        found = index.resolve(asker.tenant_id, handle["where"], handle["chunk_id"])
        if found is None:
            continue  # removed since it was found
        record, chunk, raw = found
        owner = index.owner(asker.tenant_id, handle["where"], handle["chunk_id"])
        why = access.denied(asker, owner, record.visibility, record.expires)
        if why is not None:
            filters.append(f"dropped:{why}")
            continue
        permitted += 1
        if handle["score"] < settings.relevance_floor or len(evidence) == shown_at_most(state):
            continue
        keep = public.of(asker.tenant_id, record.visibility)
        withheld, text, edits, kept = _shown(index, asker.tenant_id, raw, record.released, detector, keep)
        if withheld:
            flags.append("injection_in_context")
        filters += [f"masked:{record.doc_id}"] if len(edits) > withheld else []
        evidence.append(
            {
                "n": len(evidence) + 1,
                "chunk_id": chunk.chunk_id,
                "doc_id": record.doc_id,
                "filename": pii.mask(record.filename).text,
                "title": pii.mask(record.title).text,
                "tenant_id": record.tenant_id,
                "visibility": "public" if record.visibility == "public" else "private",
                "page": chunk.page,
                "sheet": pii.mask(chunk.sheet).text if chunk.sheet else None,
                "section": pii.mask(chunk.section).text,
                "score": round(handle["score"], 3),
                "sha256": record.sha256,
                "text": text,
                "start": chunk.start,
                "edits": [list(edit) for edit in edits],  # the cached ones are nobody's to change
                "withheld": withheld,
            }
        )
        if kept:
            evidence[-1]["public"] = list(kept)
        if "why" in handle:
            evidence[-1]["why"] = handle["why"]
    best = max((item["score"] for item in evidence), default=0.0)
    return {
        "evidence": evidence,
        "flags": list(dict.fromkeys(flags)),
        "filters": list(dict.fromkeys([f"tenant:{asker.tenant_id}", "public", *filters])),
        "retrieval": {
            **state["retrieval"],
            "confidence": "high" if best >= CONFIDENT else "low",
            "candidates": [_candidate(item) for item in evidence],
        },
        "refusal": None if permitted or "empty_knowledge_base" in flags else {"code": "AccessDenied", "text": ""},
    }


_Judged = tuple[int, str, list[list[int]], tuple[str, ...]]
# What became of a passage, by index: the same few are shown again and again, and judging one takes 5 ms. By tenant, so
# that no time tells one tenant what another one reads; by digest, so that no raw text is kept; by all that it hangs on.
_JUDGED: WeakKeyDictionary[Index, dict[tuple[bytes, Detector | None, str, pii.Public], _Judged]] = WeakKeyDictionary()
_KEPT = 1_024


def _shown(
    index: Index, tenant: str, raw: str, released: Collection[str], detector: Detector | None, keep: pii.Public
) -> _Judged:
    """How many sentences were withheld, the masked text, what was edited, and what was left because it is public."""
    judged = _JUDGED.setdefault(index, {})
    known = f"{len(tenant)}:{tenant}{len(released)}:{''.join(sorted(released))}{raw}"
    passage = hashlib.sha256(known.encode("utf-8", "surrogatepass")).digest()
    name = passage, detector, pii.level, keep
    found = judged.get(name)
    if found is None:
        withheld = withholding.ranges(raw, detector, released)
        text, edits = redact(raw, withheld, keep)
        kept = pii.mask(raw, keep=keep).kept if keep != pii.NOTHING else ()
        if len(judged) >= _KEPT:
            judged.clear()
        judged[name] = found = len(withheld), text, edits, kept
    return found


def _candidate(item: Evidence) -> Candidate:
    """With how much of it nobody is shown: sentences that give instructions, and places with personal data."""
    told: Candidate = {"chunk_id": item["chunk_id"], "doc_id": item["doc_id"], "score": item["score"]}
    if "why" in item:
        told["why"] = item["why"]
    if item["withheld"]:
        told["withheld"] = item["withheld"]
    if masked := len(item["edits"]) - item["withheld"]:
        told["masked"] = masked
    return told


def shown_at_most(state: State) -> int:
    """An assessment rests on several documents, and a list names them all, so both get more of them. Where an
    extension chose the passages, all of them are shown."""
    if state["listing"] or state["retrieval"].get("whole"):
        return len(state["retrieved"])
    return max(state["options"]["top_k"], ASSESSMENT_TOP_K if state["intent"]["name"] == "ASSESSMENT_GEN" else 0)


def permitted(state: State) -> Literal["refuse", "respond", "generate"]:
    """Nothing permitted: refused. Permitted but nothing near the question: said so. Else: on to the generator."""
    if state["refusal"] is not None:
        return "refuse"
    return "generate" if state["evidence"] else "respond"
