"""A run that is on record, once more: the same question, on the passages that it had found, judged and answered as
Cordon stands now; what came out then beside what comes out now.

What a model server wrote is not asked for again: its texts, masked, lie in the run's folder where CORDON_KEEP_DRAFTS
was set. Nothing is recorded, remembered or written.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from graph import memory
from graph.audit.artifacts import DRAFTS
from graph.audit.record import entry_of, reply_of
from graph.build import build_replay
from graph.context import Context, Principal
from graph.deps import Deps
from graph.errors import BadInput, Unavailable
from graph.models.chat import EMBEDDED, Completion, Generator, Odds
from graph.options import Options
from graph.policy.question import intent
from graph.settings import Settings
from graph.state import Handle, State, fresh_turn
from graph.stores.journal import Entry

# Flags that a replay cannot find again: of the raw question, which is masked on record; of a search that has no
# document to look in; of more documents than a list names.
_GIVEN = ("pii_in_question", "placeholder_in_question", "empty_knowledge_base", "listing_cut")
_VERDICT = ("action", "risk_score", "guard_events", "rewrite")
_ANSWER = ("final_decision", "refusal_reason", "confidence", "cited", "answer_sha256", "draft")
_MADE_BY = ("policy", "guard_weights", "guard_detector", "guard_borders", "prompts")


@dataclass(frozen=True)
class Replayed:
    """`then` and `now` are actions. `differs`: what came out differently, as (then, now); `changed`: what the answer
    was made by or from that is another now; `left`: why not all of it was replayed, "" where it was."""

    run_id: str
    then: str
    now: str
    differs: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    changed: Sequence[str] = ()
    left: str = ""

    @property
    def equal(self) -> bool:
        """Whether all was replayed and nothing differs."""
        return not self.differs and not self.left


class _Recorded:
    """A generator that gives again what the model wrote then, in that order."""

    extractive = False

    def __init__(self, generator: Generator, drafts: list[tuple[str, bool]], opinions: list[float | None]) -> None:
        self._generator, self._drafts, self._opinions = generator, iter(drafts), iter(opinions)
        self.budget = generator.budget
        self.quoted = generator.quoted

    def complete(self, messages: Any, **limits: Any) -> Completion:
        draft = next(self._drafts, None)
        if draft is None:
            raise Unavailable("the model would be asked once more than it was then.")
        return Completion(draft[0], "", 0, 0, cut=draft[1])

    def odds(self, messages: Any) -> Odds | None:
        odds = next(self._opinions, None)
        return None if odds is None else Odds(odds, 0, 0)


class _Instead:
    """The dependencies of the stages, with some of them replaced."""

    def __init__(self, deps: Deps, **replaced: Any) -> None:
        self._deps, self._replaced = deps, replaced

    def __getattr__(self, name: str) -> Any:
        return self._replaced[name] if name in self._replaced else getattr(self._deps, name)


def policy(file: Path, settings: Settings) -> dict[str, Any]:
    """The guards' thresholds and the operator's detector as a file sets them (the lines of a cordon.toml).

    Raises BadInput for a file that sets anything else, BadSettings for what is not usable.
    """
    import tomllib

    allowed = [name for name in Settings.model_fields if name.startswith(("guard_", "detector"))]
    try:
        values = tomllib.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{file} is no policy that can be read.", hint='Lines such as guard_borders = "harm=0.5"'
        ) from error
    if other := sorted(values.keys() - set(allowed)):
        raise BadInput(f"{file} sets {other[0]!r}, which is not of the guards.", hint=f"{', '.join(allowed)}.")
    known = {name: getattr(settings, name) for name in Settings.model_fields}
    deps = Deps(Settings(**{**known, **values}))
    return {"detector": deps.detector, "thresholds": deps.thresholds}


def replay(entry: Entry, deps: Deps, instead: dict[str, Any] | None = None) -> Replayed:
    """Replay one run; with `instead` (from `policy`) its verdict alone.

    Raises BadInput for a run whose question was erased, IndexUnavailable when the passages cannot be read.
    """
    run, then, stages = entry["run_id"], entry["action"], entry["tools_called"]
    if "query" not in entry:
        raise BadInput(f"run {run[:8]} was erased: its question is gone.")
    if "triage" not in stages:
        return Replayed(run, then, then, left="it did not pass the first checks, so nothing was judged")
    if entry["final_decision"] == "unavailable":
        return Replayed(run, then, then, left="a part of Cordon, or the model, was away")
    if "policy" not in entry:
        return Replayed(run, then, then, left="an earlier version recorded it, without all that is needed")
    own, left = dict(instead or {}), ""
    answered = instead is None and "present" not in stages  # a search ends with its passages
    if answered and entry["final_decision"] == "pending_review":
        answered, left = False, "a reviewer decides of its answer; its verdict alone"
    if answered and "generate" in stages:
        generator = _generator(entry, deps)
        own["generator"], answered = generator, generator is not None
        left = "" if answered else "what the model wrote was not kept (CORDON_KEEP_DRAFTS); its verdict alone"
    handles = [{k: one[k] for k in Handle.__annotations__ if k in one} for one in entry["retrieved"]]
    shown = cast(list[Handle], handles) if answered else []
    begun = _before_triage(entry)
    recalled: State = {
        "retrieved": shown,
        "query": entry["plan"]["retrieval_query"],
        "understood": entry["understood"],
        "retrieval": {**begun["retrieval"], "whole": True},  # all of it was shown
    }
    guarded = answered and (shown or entry["refusal_reason"] == "AccessDenied")
    graph = build_replay(_Instead(deps, **own), recalled, "guard" if guarded else "respond").compile()
    who = Principal(entry["tenant_id"], entry["user_id"], groups=frozenset(entry.get("groups", [])))
    context = Context(who.tenant_id, who.user_id, "replay", groups=who.groups, granted=entry.get("granted", ""))
    final: Any = graph.invoke(begun, context=context)
    again = json.loads(json.dumps(entry_of(final, reply_of(final, who, ""))))
    again["guard_detector"] = deps.detector.digest[:16] if deps.detector else ""
    again["guard_borders"] = deps.thresholds.as_set(who.tenant_id)
    differs = {
        name: (entry[name], again[name])
        for name in (*_VERDICT, *(_ANSWER if answered else ()))
        if entry[name] != again[name]
    }
    changed = [name for name in _MADE_BY if entry[name] != again[name] and (answered or name != "prompts")]
    if answered and not final["error"]:
        now = {(one["where"], one["chunk_id"]): one["sha256"] for one in again["retrieved"]}
        moved = [
            one["chunk_id"] for one in entry["retrieved"] if now.get((one["where"], one["chunk_id"])) != one["sha256"]
        ]
        changed += [f"passage {name}" for name in moved]
    return Replayed(run, then, again["action"], differs, changed, left)


def _generator(entry: Entry, deps: Deps) -> Any:
    """A generator that writes as the model did then; None where its texts were not kept."""
    if entry["model"] == EMBEDDED:
        return Generator(deps.settings.model_copy(update={"model": "embedded"}), deps.embedder)
    if not entry["model_calls"]:
        return _Recorded(deps.generator, [], [])  # a list was counted, or a section quoted
    try:
        drafts = json.loads((Path(entry["artifacts"]) / DRAFTS).read_bytes())
        opinions = [None if o is None else float(o) for one in drafts for o in one.get("opinions", ())]
        return _Recorded(deps.generator, [(str(one["text"]), bool(one["cut"])) for one in drafts], opinions)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _before_triage(entry: Entry) -> State:
    """The state before triage, as it was."""
    question = entry["query"]
    return {
        **fresh_turn(entry["run_id"], entry["timestamp"]),
        "memory": memory.EMPTY,
        "question": question,
        "options": cast(Options, {**entry["options"], "stream": False}),
        "flags": [flag for flag in entry["flags"] if flag in _GIVEN],
        "intent": intent.classify(question),
        "listing": entry["listing"],
        "query": entry["plan"]["retrieval_query"] if entry["follow_up"] else " ".join(question.split()),
        "follow_up": entry["follow_up"],
        "timings": {"turn": entry["run_id"]},
    }
