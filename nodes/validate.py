"""validate: lets out only sentences that this turn's evidence supports, each with the verbatim quote that does."""

from typing import Any, Literal

from graph.policy import grounding, pii, plain
from graph.policy.evidence import to_source
from graph.policy.threats import assess
from graph.state import Citation, Evidence, Sentence, State
from nodes.repair import TRIES


def validate(state: State) -> dict[str, Any]:
    value = state["draft"]["value"]
    flags = list(state["flags"])
    if value is None:
        return {"sentences": [], "citations": [], "flags": [*flags, "malformed_output"]}
    claims = value["basis"] if "basis" in value else value["sentences"]
    guarded = state["verdict"]["action"] == "ALLOW_WITH_GUARDRAILS"
    sentences: list[Sentence] = []
    citations: list[Citation] = []
    dropped = 0
    for claim in claims if value.get("answered", True) else []:
        text = plain.text(pii.mask(claim["text"]).text)
        cited = _supported(text, claim["sources"], state["evidence"])
        if not cited or (guarded and assess(text, source="question").scores["evasion"] >= 0.5):
            dropped += 1
            continue
        numbers = [_number(citations, _citation(item, found)) for item, found in cited]
        sentences.append({"text": text, "citations": numbers, "support": round(cited[0][1].score, 3)})
    errors = [] if sentences or not dropped else ["No sentence was supported by the source it names."]
    if dropped:
        flags.append("unsupported_removed")
    return {
        "sentences": sentences,
        "citations": citations,
        "assessment": _assessment(value) if "basis" in value else {},
        "flags": list(dict.fromkeys(flags)),
        "draft": {**state["draft"], "errors": errors},
    }


def grounded(state: State) -> Literal["repair", "respond"]:
    """Back to the model when it answered and nothing of it held, as long as there are tries left."""
    draft = state["draft"]
    return "repair" if draft["errors"] and draft["value"] is not None and state["repairs"] < TRIES else "respond"


def _supported(text: str, sources: list[int], evidence: list[Evidence]) -> list[tuple[Evidence, grounding.Support]]:
    """The cited sources that support the text, strongest first; when none does, another that does so clearly."""

    def good(items: list[Evidence]) -> list[tuple[Evidence, grounding.Support]]:
        scored = [(item, grounding.support(text, item["text"])) for item in items]
        held = [(i, s) for i, s in scored if s.score >= grounding.SUPPORTED_FROM and not _gapped(i, s)]
        return sorted(held, key=lambda pair: -pair[1].score)

    cited = good([item for item in evidence if item["n"] in sources])
    return cited or good([item for item in evidence if item["n"] not in sources])[:1]


def _gapped(item: Evidence, found: grounding.Support) -> bool:
    """Whether a withheld sentence stood inside the span: it would be no verbatim quote."""
    return any(not length and found.start < at < found.end for at, length, *_ in item["edits"])


def _citation(item: Evidence, found: grounding.Support) -> Citation:
    start, end = to_source(item["edits"], found.start, found.end)
    return {
        "n": 0,
        "doc_id": item["doc_id"],
        "filename": item["filename"],
        "tenant_id": item["tenant_id"],
        "visibility": item["visibility"],
        "page": item["page"],
        "sheet": item["sheet"],
        "section": item["section"],
        "chunk_id": item["chunk_id"],
        "score": item["score"],
        "quote": item["text"][found.start : found.end],
        "start": item["start"] + start,
        "end": item["start"] + end,
        "sha256": item["sha256"],
    }


def _number(citations: list[Citation], new: Citation) -> int:
    """The number of an equal citation made before, or of this one, now added."""
    for old in citations:
        if {**old, "n": 0} == new:
            return old["n"]
    citations.append({**new, "n": len(citations) + 1})
    return len(citations)


def _assessment(value: dict[str, Any]) -> dict[str, Any]:
    """The design without live links or markup, its weights made to sum to the weighting."""
    from graph.models.assessment import apportion

    clean = {key: _plain(item) for key, item in value.items() if key != "basis"}
    weights = [row["weight"] for row in clean["rubric"]]
    if sum(weights) != clean["weighting"]:
        fitted = apportion([max(w, 1) for w in weights], clean["weighting"])
        clean["rubric"] = [{**row, "weight": w} for row, w in zip(clean["rubric"], fitted, strict=True)]
    return clean


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return plain.text(pii.mask(value).text)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
