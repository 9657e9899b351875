"""answers: questions of all tenants over the shipped corpus, with the sources a reader would cite.

`answers.jsonl` is what the embedded answerer's weights were fitted on. `blind_answers.jsonl` was written later by
somebody who had seen the corpus and nothing of the system.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from evals.material import own_set
from evals.stats import Rate
from graph.agent import Agent
from graph.audit.verify import verify
from graph.knowledge.manifest import sources
from graph.settings import load

HERE = Path(__file__).parents[1]
CORPUS = HERE.parent / "corpus"


def run(out: Path, *, limit: int | None = None) -> dict[str, Any]:
    """Right source cited, expected words in the answer, and honesty about what is not there."""
    questions, blind = (own_set(name)[:limit] for name in ("answers", "blind_answers"))
    with tempfile.TemporaryDirectory() as home:
        settings = load(environ={}, home=Path(home), artifacts=False)
        with Agent(settings) as agent:
            agent.ingest_sources(sources(CORPUS / "manifest.csv", CORPUS / "tenant_acl.csv"))
            rows, unseen = ([_one(agent, q) for q in part] for part in (questions, blind))
    asked = [r for r in rows if r["answerable"]]
    absent = [r for r in rows if not r["answerable"]]
    answered = [r for r in asked if r["decision"] == "answer"]
    kinds = sorted({r["kind"] for r in asked})
    formats = sorted({r["format"] for r in asked})
    figures = {
        "retrieved the right document": _rate(asked, "retrieved"),
        "answered": _rate(asked, "was_answered"),
        "right source, of all answerable": _rate(asked, "source"),
        "right source, of answered": _rate(answered, "source"),
        "first sentence from the right source": _rate(asked, "first"),
        "expected words in the answer": _rate(asked, "contains"),
        "all expected words in the answer": _rate(asked, "contains_all"),
        "quotes found in their documents": Rate(sum(r["verbatim"] for r in rows), sum(r["quotes"] for r in rows)),
        "sentences that cite": Rate(sum(r["covered"] for r in rows), sum(r["sentences"] for r in rows)),
        "citations of a foreign tenant": Rate(sum(r["foreign"] for r in rows), sum(r["quotes"] for r in rows)),
        "silent when nothing is there": Rate(sum(r["decision"] != "answer" for r in absent), len(absent)),
        "wrongly refused or guarded": Rate(sum(r["action"] != "ALLOW" for r in rows), len(rows)),
    }
    for name, values in (("kind", kinds), ("format", formats)):
        for value in values:
            part = [r for r in asked if r[name] == value]
            figures[f"right source and words, {name} {value}"] = Rate(
                sum(r["source"] and r["contains"] for r in part), len(part)
            )
    told = [r for r in rows if r["decision"] == "answer"]
    for level in ("high", "medium", "low"):
        part = [r for r in told if r["confidence"] == level]
        figures[f"right source and words, confidence {level}"] = Rate(sum(r["right"] for r in part), len(part))
    figures |= _blind(unseen)
    shown = {k: v.as_json() for k, v in figures.items()}
    best = np.array([r["top"] for r in told])
    shown["correlation of the best candidate's score with being right"] = {
        "value": float(np.corrcoef(best, np.array([r["right"] for r in told]))[0, 1]),
        "n": len(told),
    }
    return {"figures": shown, "rows": [*rows, *unseen]}


def _blind(rows: list[dict[str, Any]]) -> dict[str, Rate]:
    asked = [r for r in rows if r["answerable"]]
    absent = [r for r in rows if not r["answerable"]]
    told = [r for r in rows if r["decision"] == "answer"]
    figures = {
        "answered": _rate(asked, "was_answered"),
        "right source, of all answerable": _rate(asked, "source"),
        "right source and words": _rate(asked, "right"),
        "silent when nothing is there": Rate(sum(r["decision"] != "answer" for r in absent), len(absent)),
        "citations of a foreign tenant": Rate(sum(r["foreign"] for r in rows), sum(r["quotes"] for r in rows)),
        "wrongly refused or guarded": Rate(sum(r["action"] != "ALLOW" for r in rows), len(rows)),
    }
    for kind in sorted({r["kind"] for r in asked}):
        figures[f"right source and words, {kind}"] = _rate([r for r in asked if r["kind"] == kind], "right")
    for level in ("high", "medium", "low"):
        figures[f"right source and words, confidence {level}"] = _rate(
            [r for r in told if r["confidence"] == level], "right"
        )
    return {f"blind: {name}": rate for name, rate in figures.items()}


def _rate(rows: list[dict[str, Any]], key: str) -> Rate:
    return Rate(sum(bool(r[key]) for r in rows), len(rows))


def _one(agent: Agent, q: dict[str, Any]) -> dict[str, Any]:
    reply = agent.ask(q["question"], tenant_id=q["tenant"])
    cited = [c["doc_id"] for c in reply["citations"]]
    text = " ".join(s["text"] for s in reply["sentences"])
    checked = verify(reply, agent.deps.index, agent.deps.detector, agent.deps.public)
    held = [_normalised(word) in _normalised(text) for word in q["contains"]]
    return {
        "id": q["id"],
        "kind": q["kind"],
        "format": _format(q["doc_ids"]),
        "answerable": q["answerable"],
        "decision": reply["decision"],
        "action": reply["verdict"]["action"],
        "was_answered": reply["decision"] == "answer",
        "retrieved": bool(set(q["doc_ids"]) & {c["doc_id"] for c in reply["retrieval"]["candidates"]}),
        "source": bool(set(q["doc_ids"]) & set(cited)),
        "first": bool(cited) and cited[0] in q["doc_ids"],
        "contains": any(held),
        "contains_all": all(held) and bool(held),
        "quotes": len(cited),
        "verbatim": sum(c.status == "verified" for c in checked.citations),
        "sentences": len(reply["sentences"]),
        "covered": sum(bool(s["citations"]) for s in reply["sentences"]),
        "foreign": sum(c["tenant_id"] not in (q["tenant"], "public") for c in reply["citations"]),
        "right": bool(set(q["doc_ids"]) & set(cited)) and any(held),
        "confidence": reply["confidence"],
        "question": q["question"],
        "answer": text,
        "cited": cited,
        "expected": q["doc_ids"],
        "contains_words": q["contains"],
        "top": reply["retrieval"]["candidates"][0]["score"] if reply["retrieval"]["candidates"] else 0.0,
    }


def _normalised(text: str) -> str:
    return " ".join(text.casefold().replace("\u00a0", " ").replace(",", "").split())


def _format(doc_ids: list[str]) -> str:
    lines = (CORPUS / "manifest.csv").read_text().splitlines()[1:]
    paths = {doc_id: path for doc_id, _, path in (line.split(",", 2) for line in lines)}
    return Path(paths[doc_ids[0]]).suffix[1:] if doc_ids else ""
