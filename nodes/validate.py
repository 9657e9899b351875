"""validate: lets out only sentences that this turn's evidence supports, each with the verbatim quote that does."""

from functools import partial
from typing import Any

from graph.answering import completing
from graph.answering.verified import Verified, shown
from graph.knowledge import standing
from graph.models import wording
from graph.models.chat import Generator
from graph.models.support_opinion import SupportOpinion
from graph.policy.answer import refusals
from graph.policy.grounding.entailment import Encoder, margins
from graph.policy.question import mentioning
from graph.settings import Settings
from graph.state import Draft, KeptDraft, State, Usage
from nodes.generate import considered, task_of


def validate(state: State, *, generator: Generator, settings: Settings, support_encoder: Encoder = margins) -> State:
    """Quotes of the embedded answerer replace a draft of which nothing may leave, or that misses the point."""
    draft, released = state["draft"], state["released"]
    value, flags = draft["value"], list(state["flags"])
    guarded = state["verdict"]["action"] == "ALLOW_WITH_GUARDRAILS"
    opinion = SupportOpinion(generator, state["turn"]) if settings.support_opinion == "auto" else None
    # A stream's sentences left already: the whole draft is judged, and they do not count twice.
    before, question = (released["sentences"], released["citations"]), state["query"]
    judged = partial(
        Verified, guarded=guarded, before=before, opinion=opinion, question=question, encoder=support_encoder
    )
    by_question = completing.judging(state, generator, settings) if draft["text"] else None
    verified = judged(considered(state, generator), marked=settings.support == "marked", reader=by_question)
    claims = _claims(value)
    relevant = completing.relevant(state, claims, generator, settings)
    verified.add_all(relevant)
    silent = value is not None and not verified.sentences and _silent(value, verified.dropped)
    flags += ["unsupported_removed"] if verified.dropped and not silent else []
    flags += ["malformed_output"] if value is None and not verified.sentences else []
    draft = {**draft, "errors": [], "outcome": "", "why": ""}
    source = value  # of what leaves
    quoted = partial(_quoted, state, generator)
    beside = completing.beside(state, verified, generator, settings, quoted)
    if beside and (instead := judged(state["evidence"])).add_all(_claims(beside)):
        within = completing.within([one["text"] for one in verified.sentences], instead)
        draft["outcome"], draft["why"] = ("verified", "") if within else ("dropped", "beside")
        verified, source = instead, beside
        flags.append("extractive_fallback")
    elif verified.sentences:
        draft["outcome"] = "partly dropped" if verified.dropped or len(relevant) < len(claims) else "verified"
        flags += ["completed"] if completing.complete(state, verified, generator, settings, quoted) else []
    else:
        draft["outcome"], draft["why"] = ("", "") if silent else ("dropped", _why(draft, verified.dropped))
        quotes = quoted(completing.least_chance(silent, draft["why"]))
        verified = judged(state["evidence"])
        if verified.add_all(_claims(quotes)):
            if draft["why"] == "unreadable" and completing.within([draft["text"]], verified):
                draft["outcome"], draft["why"] = "verified", ""
                flags = [flag for flag in flags if flag != "malformed_output"]
            else:
                draft["why"] = draft["why"] or "silent"
            flags.append("extractive_fallback")
            value, source = value or quotes, quotes
    flags += ["partial"] if verified.sentences and (source or {}).get("sure") is False else []
    flags += ["not_in_force"] if _with_standing(state, verified) else []
    flags += ["weakly_supported"] if any(one.get("doubted") for one in verified.sentences) else []
    designed = bool(verified.sentences) and value is not None and "basis" in value
    return {
        "sentences": verified.sentences,
        "citations": verified.citations,
        "assessment": _assessment(value) if value is not None and designed else {},
        "flags": list(dict.fromkeys(flags)),
        "draft": draft,
        "drafts": _with_opinions(state["drafts"], opinion),
        "usage": _spent(state["usage"], opinion),
        "prompts": state["prompts"] | (opinion.prompts if opinion else {}),
    }


def _with_standing(state: State, verified: Verified) -> bool:
    """Let what says that a cited document is no longer in force follow the answer; whether there was any. Not where
    the answer is which these are."""
    if mentioning.no_longer_in_force(state["query"]) is not None:
        return False
    gone, cited = standing.lapsed(state["evidence"]), {citation["chunk_id"] for citation in verified.citations}
    lapses = {gone[item["n"]] for item in state["evidence"] if item["chunk_id"] in cited and item["n"] in gone}
    named = standing.lapsed_codes(state["evidence"])
    lapses |= {lapse for one in verified.sentences if (lapse := standing.lapse_named(one["text"], named))}
    for n, sentence in sorted(lapses):
        verified.add({"text": sentence, "sources": [n]})
    return bool(lapses)


def _with_opinions(drafts: list[KeptDraft], opinion: SupportOpinion | None) -> list[KeptDraft]:
    if not drafts or opinion is None or not opinion.log_odds:
        return drafts
    return [*drafts[:-1], {**drafts[-1], "opinions": opinion.log_odds}]


def _spent(usage: Usage, opinion: SupportOpinion | None) -> Usage:
    """With what the model's opinions cost."""
    if opinion is None:
        return usage
    return {
        "model": usage["model"],
        "model_calls": usage["model_calls"] + opinion.calls,
        "prompt_tokens": usage["prompt_tokens"] + opinion.prompt_tokens,
        "completion_tokens": usage["completion_tokens"] + opinion.completion_tokens,
    }


def _claims(value: dict[str, Any] | None) -> list[dict[str, Any]]:
    if not value or not value.get("answered", True):
        return []
    claims: list[dict[str, Any]] = value["basis"] if "basis" in value else value["sentences"]
    return claims


def _silent(value: dict[str, Any], dropped: list[str]) -> bool:
    """Whether the model itself says that it has no answer: in the field, or in words."""
    return not value.get("answered", True) or any(map(wording.unknown, dropped))


def _why(draft: Draft, dropped: list[str]) -> refusals.Why:
    """Why nothing of the draft may leave."""
    if any(map(wording.declined, [*dropped, draft["text"]] if draft["value"] is None else dropped)):
        return "declined"
    if draft["cut"]:
        return "cut"
    return "unreadable" if draft["value"] is None else "unsupported"


def _quoted(state: State, generator: Generator, least: float) -> dict[str, Any]:
    """What the embedded answerer makes of the same evidence, where the chance that it answers is at least `least`."""
    return {} if generator.extractive else generator.quoted(task_of(state, state["evidence"]).messages, least)


def _assessment(value: dict[str, Any]) -> dict[str, Any]:
    """The design without live links or markup, its weights made to sum to the weighting."""
    from graph.extractive.assessment import apportion

    clean = {key: _defanged(item) for key, item in value.items() if key != "basis"}
    weights = [row["weight"] for row in clean["rubric"]]
    if sum(weights) != clean["weighting"]:
        fitted = apportion([max(w, 1) for w in weights], clean["weighting"])
        clean["rubric"] = [{**row, "weight": w} for row, w in zip(clean["rubric"], fitted, strict=True)]
    return clean


def _defanged(value: Any) -> Any:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, list):
        return [_defanged(item) for item in value]
    return {key: _defanged(item) for key, item in value.items()} if isinstance(value, dict) else value
