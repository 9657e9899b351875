"""What stays of a run: the reply that leaves and the journal line that proves it."""

import hashlib
import uuid
from typing import Any, Literal

from graph import turn_cache
from graph.context import Principal
from graph.policy import pii
from graph.policy.answer import table
from graph.policy.evidence.judged import policy_name
from graph.policy.question import rewrite
from graph.policy.threats import learned
from graph.state import Reply, State
from graph.timestamps import timestamp

VERSION = 1
PersonKind = Literal["review", "feedback", "link"]  # what people do with a run


def thread_of(runtime: Any) -> str:
    """The thread's name: the caller's in process, LangGraph's on a server."""
    if runtime.server_info is None and runtime.context is not None and runtime.context.thread_id:
        return str(runtime.context.thread_id)
    info = runtime.execution_info
    return str(info.thread_id or "") if info is not None else ""


def reply_of(state: State, asker: Principal, thread_id: str) -> Reply:
    """The reply object, version 1 (contract). Every text in it is masked."""
    timings = {k: v for k, v in state["timings"].items() if k != "turn"}
    # The turn's own time counts what lies between the stages, too.
    total = turn_cache.spent_ms() or round(sum(timings.values()), 2)
    verdict, retrieval = state["verdict"], state["retrieval"]
    reply: Reply = {
        "version": 1,
        "run_id": state["turn"],
        "timestamp": state["started"],
        "tenant_id": asker.tenant_id,
        "user_id": asker.user_id,
        "thread_id": thread_id,
        "question": state["question"],
        "intent": state["intent"],
        "verdict": {
            "action": verdict["action"],
            "risk_score": verdict["risk_score"],
            "risk_rationale": verdict["risk_rationale"],
            "threats": verdict["threats"],
            "safe_response": verdict["safe_response"],
            "recommended_controls": verdict["recommended_controls"],
        },
        "decision": state["decision"],
        "refusal": state["refusal"],
        "answer": state["answer"],
        "sentences": state["sentences"],
        "citations": state["citations"],
        "confidence": state["confidence"],
        "safety_flags": state["flags"],
        "reasoning": state["reasoning"],
        "retrieval": {"confidence": retrieval["confidence"], "candidates": retrieval["candidates"]},
        "memory": {"type": state.get("options", {}).get("memory", "none"), "turns_used": state["turns_used"]},
        "usage": state["usage"],
        "timings_ms": {**timings, "total": total},
        "artifacts": state["artifacts"],
    }
    if outcome := state["draft"]["outcome"]:
        reply["draft"] = outcome
    if state["rewrite"]:
        reply["rewrite"] = _prefixed(state["rewrite"])
    if state["understood"]:
        reply["understood"] = state["understood"]
    if rows := table.from_citations(state["query"], state["citations"]):
        reply["table"] = rows
    if state["assessment"]:
        reply["assessment"] = state["assessment"]
    return reply


def entry_of(state: State, reply: Reply) -> dict[str, Any]:
    """The journal line of requirement A10, with what C7 adds. No answer text: ids, hashes, codes and figures."""
    usage, verdict, candidates = reply["usage"], reply["verdict"], reply["retrieval"]["candidates"]
    shown = [{"where": one["where"], "sha256": _sha256(one["text"])} for one in state["evidence"]]
    kinds = {threat["type"] for threat in verdict["threats"]}
    return {
        "kind": "run",
        "timestamp": reply["timestamp"],
        "run_id": reply["run_id"],
        "user_id": reply["user_id"],
        "tenant_id": reply["tenant_id"],
        "thread_id": reply["thread_id"],
        "query": reply["question"],
        "question_sha256": _sha256(reply["question"]),
        "memory_type": reply["memory"]["type"],
        "plan": {
            "injection": bool(kinds & {"prompt_injection", "jailbreak", "prompt_extraction"}),
            "prohibited": verdict["action"] == "BLOCK",
            "retrieval_query": state["query"],
        },
        "options": state.get("options", {}),
        "follow_up": state["follow_up"],
        "listing": state["listing"],
        "understood": state["understood"],
        "intent": reply["intent"]["name"],
        "action": verdict["action"],
        "risk_score": verdict["risk_score"],
        "guard_events": [
            {"type": t["type"], "score": t["score"], "severity": t["severity"], "pattern": t["exploit_path"]}
            for t in verdict["threats"]
        ],
        "rewrite": reply.get("rewrite", ""),
        "rewrite_sha256": _sha256(reply["rewrite"]) if "rewrite" in reply else "",
        "tools_called": [name for name in state["timings"] if name != "turn"],
        "filters_applied": state["filters"],
        "retrieved_doc_ids": list(dict.fromkeys(c["doc_id"] for c in reply["retrieval"]["candidates"])),
        "retrieved": [{**one, **more} for one, more in zip(candidates, shown or [{}] * len(candidates), strict=False)],
        "cited": [{k: c[k] for k in ("doc_id", "chunk_id", "start", "end", "sha256")} for c in reply["citations"]],
        "final_decision": reply["decision"],
        "refusal_reason": reply["refusal"]["code"] if reply["refusal"] else None,
        "error": state["error"],
        "flags": reply["safety_flags"],
        "confidence": reply["confidence"],
        "repair_steps": state["draft"]["steps"],
        "draft": state["draft"]["outcome"],
        "draft_dropped": state["draft"]["why"],
        "prompts": state["prompts"],
        "guard_weights": learned.digest()[:16],
        "policy": policy_name(),
        "model": usage["model"],
        "model_calls": usage["model_calls"],
        "tokens_prompt": usage["prompt_tokens"],
        "tokens_completion": usage["completion_tokens"],
        "answer_sha256": _sha256(reply["answer"]),
        "timings_ms": reply["timings_ms"],
        "latency_ms": reply["timings_ms"]["total"],
        "artifacts": reply["artifacts"].get("dir", ""),
    }


def review_line(
    tenant_id: str, run_id: str, says: str, by: str, note: str = "", kind: PersonKind = "review"
) -> dict[str, Any]:
    """The journal line of what a person decided of a run, or asked for, or said of it: who, what, why (masked) and
    when. `about` names the line itself, so that an erasure of either of the two people finds it."""
    return {
        "kind": kind, "timestamp": timestamp(), "tenant_id": tenant_id, "about": uuid.uuid4().hex, "run": run_id,
        "says": says, "user_id": by, "note": note,
    }  # fmt: skip


def _prefixed(text: str) -> str:
    return text if text.startswith(rewrite.PREFIX.strip()) else rewrite.PREFIX + pii.mask(text).text


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
