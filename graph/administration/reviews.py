"""Answers that wait for a person, as an Agent gives them: listed, shown, decided, fetched; and appeals of refusals.

A reviewer is somebody else than the asker, of the same tenant. A decision is on record before anybody is told.
"""

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any, Literal, cast, get_args

from graph import memory
from graph.administration.runs import run_of
from graph.audit.record import reply_of, review_line
from graph.context import Context, Principal, key_of, valid_groups, valid_id, valid_tenant
from graph.deps import Deps
from graph.errors import BadInput, Conflict, Forbidden, ModelUnavailable, NotFound, Unavailable
from graph.policy import pii
from graph.policy.answer import refusals
from graph.policy.evidence.redaction import public_values
from graph.policy.rubric import grantable
from graph.policy.text import defang
from graph.runner import Runner, Turn, Turns
from graph.settings import Settings
from graph.state import Reply, Said, State, fresh_turn
from graph.stores.journal import Entry
from graph.timestamps import timestamp
from graph.waiting import Waits, thread_of

Decided = Literal["approve", "edit", "refuse"]
_SHOWN = ("question", "intent", "verdict", "rewrite", "understood", "answer", "sentences", "citations", "assessment")
_LOST_S = 600  # a run whose draft is not there after so long was cut off before the asker was told that it waits


class Reviews:
    """Each call names a tenant, and who acts in it."""

    settings: Settings
    deps: Deps
    turns: Turns
    _runner: Runner

    def reviews(self, *, tenant_id: str, user_id: str = "reviewer") -> list[dict[str, Any]]:
        """What waits for a reviewer, the longest first: run_id, kind (answer | appeal), why, question (masked, cut
        short), user_id of the asker, since, expires (UTC), own (the reviewer asked it, and so may not decide)."""
        tenant, user = valid_tenant(tenant_id), valid_id(user_id, "user")
        self._sweep(tenant)
        return [_row(one, user) for one in self.deps.waiting.all(tenant)]

    def under_review(
        self, run_id: str, *, tenant_id: str, user_id: str = "reviewer", groups: Collection[str] = ()
    ) -> dict[str, Any]:
        """One of them whole: question, verdict, and of an answer its draft and the evidence as it was shown to the
        model, all masked.

        Raises NotFound for a run that does not wait, Forbidden where the reviewer may not read the evidence.
        """
        tenant, user = valid_tenant(tenant_id), valid_id(user_id, "user")
        self._sweep(tenant)
        case = self._waits(tenant, run_id)
        if case["kind"] == "appeal":
            return _row(case, user) | self._appealed(self._run(tenant, case["run_id"]))
        state = self.turns.waiting(tenant, case["run_id"])
        if not state:
            raise Unavailable("the draft is not there: the run was cut off.", hint="It will be taken off the list.")
        self._readable(valid_groups(groups), state)
        shown = {key: state[key] for key in _SHOWN}  # type: ignore[literal-required]
        evidence = [{k: v for k, v in item.items() if k not in ("edits", "public")} for item in state["evidence"]]
        return _row(case, user) | {**shown, "flags": state["flags"], "evidence": evidence}

    def review(
        self,
        run_id: str,
        decision: Decided,
        *,
        tenant_id: str,
        user_id: str = "reviewer",
        groups: Collection[str] = (),
        text: str = "",
        reason: str = "",
    ) -> Reply:
        """Decide of a run that waits; its reply as the asker gets it. Of an appeal `approve` grants it: the question is
        answered under guardrails; `refuse` upholds the refusal.

        Raises NotFound for a run that does not wait, Forbidden for the reviewer's own, Conflict when somebody else was
        first, or what it rests on has changed, BadInput for an edit that the evidence does not support.
        """
        tenant, user = valid_tenant(tenant_id), valid_id(user_id, "user")
        if decision not in get_args(Decided):
            raise BadInput(f"{str(decision)[:40]!r} is no decision.", hint="approve, edit or refuse.")
        self._sweep(tenant)
        case = self._waits(tenant, run_id)
        if case["asker"]["user_id"] == user:
            raise Forbidden("nobody reviews what they asked themselves: somebody else has to decide.")
        reason = _masked(reason)
        if decision == "refuse" and not reason:
            raise BadInput("a refusal has a reason, which the asker reads.", hint="Say why, in a sentence.")
        if decision == "edit" and not text.strip():
            raise BadInput("an edit has a text.", hint="Give the answer as it should be.")
        state = self.turns.waiting(tenant, case["run_id"])
        if state and decision in ("approve", "edit"):
            self._readable(valid_groups(groups), state)
        keep = public_values(state["evidence"]) if state else pii.NOTHING
        masked = pii.mask(text, keep=keep).text
        return self._decided(case, {"act": decision, "by": user, "text": masked, "reason": reason})

    def appeal(self, run_id: str, *, tenant_id: str, user_id: str, note: str = "") -> Reply:
        """Have a person look at a refusal of one's own; the reply that says that it waits.

        Raises NotFound for a run that is not the asker's, BadInput for one that was not refused, Conflict for one that
        waits already, or when as many wait as may.
        """
        tenant, user = valid_tenant(tenant_id), valid_id(user_id, "user")
        if not self.settings.reviewed:
            raise BadInput("nobody reviews here.", hint="The operator says who: CORDON_REVIEW.")
        entry = self._run(tenant, run_id, user)
        run = entry["run_id"]
        if entry["final_decision"] != "refusal":
            raise BadInput(f"run {run[:8]} was not refused: there is nothing to appeal.")
        with self.deps.stores.thread(thread_of(tenant, run)):
            if self._lines(run):
                raise Conflict(f"run {run[:8]} was appealed before.", hint="A refusal is appealed once.")
            asker: dict[str, Any] = {key: entry[key] for key in ("tenant_id", "user_id", "thread_id")}
            why, asker = _masked(note), {**asker, "groups": entry.get("groups", []), "role": "member"}
            if not self.deps.waiting.add("appeal", run, timestamp(), entry["query"], why, asker):
                raise Conflict(f"{self.deps.waiting.most} runs wait for a reviewer already.", hint="Try again later.")
            self.deps.journal.append(review_line(tenant, run, "appealed", user, why))
            reply = _as_reply(entry, "pending_review", refusals.APPEALED)
            self.turns.keep_outcome(tenant, run, Principal(tenant, user).digest, reply)
            return reply

    def outcome(self, run_id: str, *, tenant_id: str, user_id: str, groups: Collection[str] = ()) -> Reply:
        """What became of a run that waited, for its asker: the reply, `pending_review` as long as it waits.

        Raises NotFound for a run that never waited, is somebody else's, or tells of documents for groups that the asker
        is not in any more: the same words for all of them.
        """
        tenant, user = valid_tenant(tenant_id), valid_id(user_id, "user")
        self._sweep(tenant)
        state = self.turns.waiting(tenant, run_id) if isinstance(run_id, str) else {}
        theirs = bool(state) and state["owner"] == Principal(tenant, user).digest and bool(state["reply"])
        if not theirs or not memory.open_to(state["audiences"], valid_groups(groups)):
            raise NotFound(f"no run {str(run_id)[:40]!r} of yours waits or waited for a reviewer.")
        reply = cast(Reply, state["reply"])
        if reply["run_id"] != run_id and self.turns.waiting(tenant, reply["run_id"]):  # granted, and it waits itself
            return self.outcome(reply["run_id"], tenant_id=tenant, user_id=user, groups=groups)
        return reply

    def withdraw(self, tenant_id: str, gone: list[Waits]) -> int:
        """Take runs off the list and erase what is kept of them. Returns how many."""
        runs = [one["run_id"] for one in gone]
        self.deps.waiting.drop(tenant_id, runs)
        self.deps.checkpoints.forget([thread_of(tenant_id, run) for run in runs])
        return len(runs)

    def _waits(self, tenant: str, run_id: str) -> Waits:
        try:
            return self.deps.waiting.one(tenant, run_id)
        except NotFound:
            for line in self._lines(run_id if isinstance(run_id, str) and len(run_id) >= 4 else "-"):
                if line["tenant_id"] == tenant and line["says"] != "appealed":
                    by = f" by {line['user_id']}" if line.get("user_id") else ""
                    raise Conflict(f"run {line['run'][:8]} was {line['says']}{by} already.") from None
            raise

    # -- deciding -----------------------------------------------------------------------------------------

    def _decided(self, case: Waits, decision: Said) -> Reply:
        """Claim the case, then carry the decision out: if that is cut short, the next try repeats this decision."""
        tenant, run = case["asker"]["tenant_id"], case["run_id"]
        waiting = self.deps.waiting
        with self._alone(case):
            waiting.claim(tenant, run, decision)
            waiting.busy.add(run)
            try:
                reply = self._granted(case, decision) if case["kind"] == "appeal" else self._resolved(case, decision)
                waiting.drop(tenant, [run])
                return reply
            except (BadInput, ModelUnavailable):
                waiting.free(tenant, run)
                raise
            finally:
                waiting.busy.discard(run)

    def _resolved(self, case: Waits, decision: Said) -> Reply:
        tenant, run = case["asker"]["tenant_id"], case["run_id"]
        state = self.turns.waiting(tenant, run)
        if not state:
            raise Conflict("the draft is not there: the run was cut off.", hint="It will be taken off the list.")
        if not state["turn"]:
            return cast(Reply, state["reply"])  # it was carried out, and stayed on the list
        return self.turns.resolve(Context(**case["asker"]), run, decision)

    def _granted(self, case: Waits, decision: Said) -> Reply:
        """An appeal: upheld, or the question asked once more in the asker's name, under guardrails."""
        tenant, run = case["asker"]["tenant_id"], case["run_id"]
        entry, owner = self._run(tenant, run), Principal(tenant, case["asker"]["user_id"]).digest
        says = {"approve": "granted", "refuse": "upheld", "expire": "expired"}
        if decision["act"] not in says:
            raise BadInput("an appeal is granted (approve) or upheld (refuse): there is no text to edit.")
        if decision["act"] == "approve":
            if entry["refusal_reason"] == "AccessDenied" or not grantable(entry["guard_events"]):
                why = "it asks for what belongs to another tenant, or for what the asker may not read"
                raise Conflict(f"this refusal cannot be granted: {why}.", hint="Uphold it (refuse).")
            context = Context(**{**case["asker"], "granted": run})
            remembered = bool(self.deps.checkpoints.latest(key_of(tenant, context.user_id, context.thread_id)))
            options: Any = {**entry["options"], "stream": False}
            reply = self._runner.run(Turn({"question": entry["query"], "options": options}, context, remembered))
            if reply["decision"] == "unavailable":
                raise ModelUnavailable(f"it cannot be answered now: {reply['answer']}", hint="Grant it again later.")
        else:
            explanation = f"{refusals.UPHELD} {decision['reason'] or 'nobody looked at the appeal in time.'}"
            reply = _as_reply(entry, "refusal", f"{refusals.TEXTS[entry['refusal_reason']]} {explanation}")
        word = says[decision["act"]]
        if not any(line["says"] == word for line in self._lines(run)):
            self.deps.journal.append(review_line(tenant, run, word, decision["by"], decision["reason"]))
        # Its sources are not known here, so it is for whoever is in all of the groups that it was asked with.
        self.turns.keep_outcome(tenant, run, owner, reply, [[group] for group in case["asker"].get("groups", [])])
        return reply

    def _sweep(self, tenant: str) -> None:
        """Refuse what waited too long, finish decisions that were cut short, take off runs that were lost."""
        now = timestamp()
        for case in self.deps.waiting.all(tenant):
            expired: Said = {"act": "expire", "by": "", "text": "", "reason": ""}
            idle = "said" not in case and case["expires"] > now and not self._lost(case, now)
            if idle or case["run_id"] in self.deps.waiting.busy:
                continue
            try:
                if self._lost(case, now):
                    with self._alone(case):
                        self.deps.journal.append(review_line(tenant, case["run_id"], "lost", ""))
                        self.deps.waiting.drop(tenant, [case["run_id"]])
                else:
                    self._decided(case, case.get("said", expired))
            except (BadInput, ModelUnavailable):
                pass  # somebody else did it, or it waits on: whoever decides is told what is in the way

    def _lost(self, case: Waits, now: str) -> bool:
        old = datetime.fromisoformat(now).timestamp() - datetime.fromisoformat(case["since"]).timestamp() > _LOST_S
        name = thread_of(case["asker"]["tenant_id"], case["run_id"])
        return old and case["kind"] == "answer" and not self.deps.checkpoints.latest(name)

    @contextmanager
    def _alone(self, case: Waits) -> Iterator[None]:
        """Lock the run and its conversation: nobody else decides, and no turn goes on meanwhile."""
        asker = case["asker"]
        with ExitStack() as locks:
            locks.enter_context(self.deps.stores.thread(thread_of(asker["tenant_id"], case["run_id"])))
            talk = key_of(asker["tenant_id"], asker["user_id"], asker["thread_id"])
            locks.enter_context(self.deps.stores.thread(talk))
            yield

    # -- what is read -------------------------------------------------------------------------------------

    def _readable(self, groups: Collection[str], state: State) -> None:
        """Nobody sees as a reviewer what they may not read themselves."""
        if not memory.open_to(state["audiences"], groups):
            raise Forbidden("this answer rests on documents that the reviewer may not read.")

    def _run(self, tenant: str, run_id: str, user: str | None = None) -> Entry:
        return run_of(self.deps.journal, tenant, run_id, user)

    def _lines(self, run: str) -> list[Entry]:
        return [line for line in self.deps.journal.entries("run", run) if line["kind"] == "review"]

    def _appealed(self, entry: Entry) -> dict[str, Any]:
        """What a reviewer judges an appeal by."""
        why = "; ".join(dict.fromkeys(event["pattern"] for event in entry["guard_events"]))
        verdict = {"action": entry["action"], "risk_score": entry["risk_score"], "risk_rationale": why}
        return {
            "question": entry["query"],
            "verdict": {**verdict, "threats": entry["guard_events"]},
            "refusal": {"code": entry["refusal_reason"], "text": refusals.TEXTS[entry["refusal_reason"]]},
            "grantable": entry["refusal_reason"] != "AccessDenied" and grantable(entry["guard_events"]),
        }


def _row(case: Waits, reviewer: str) -> dict[str, Any]:
    keys = ("run_id", "kind", "why", "question", "since", "expires")
    user = case["asker"]["user_id"]
    return {**{key: case[key] for key in keys}, "user_id": user, "own": user == reviewer}  # type: ignore[literal-required]


def _as_reply(entry: Entry, decision: Literal["pending_review", "refusal"], text: str) -> Reply:
    """The reply of a refused run, made from its line in the journal, with another decision and text."""
    state: State = {
        **fresh_turn(entry["run_id"], entry["timestamp"]),
        "question": entry["query"],
        "options": entry["options"],
        "decision": decision,
        "refusal": {"code": entry["refusal_reason"], "text": text} if decision == "refusal" else None,
        "answer": text,
        "reasoning": "The asker appealed the refusal.",
        "verdict": {
            **fresh_turn("", "")["verdict"],
            "turn": entry["run_id"],
            "action": entry["action"],
            "risk_score": entry["risk_score"],
            "risk_rationale": "; ".join(dict.fromkeys(event["pattern"] for event in entry["guard_events"])),
        },
    }
    return reply_of(state, Principal(entry["tenant_id"], entry["user_id"]), entry["thread_id"])


def _masked(text: str) -> str:
    if len(text) > 1_000:
        raise BadInput(f"a reason has at most 1,000 characters, not {len(text):,}.")
    return defang.line(pii.mask(text).text).strip()
