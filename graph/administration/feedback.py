"""Whether an answer was right, as the asker says: on record, and as samples for `cordon eval own`."""

from typing import Any, Literal, get_args

from graph.administration.runs import run_of
from graph.audit.record import review_line
from graph.context import valid_id, valid_tenant
from graph.deps import Deps
from graph.errors import BadInput, NotFound
from graph.policy import pii

Rating = Literal["right", "wrong"]
WHY_CHARS = 1_000


class Feedback:
    """Each call names a tenant, and who speaks."""

    deps: Deps

    def feedback(self, run_id: str, rating: Rating, *, tenant_id: str, user_id: str, why: str = "") -> None:
        """Say of a run of one's own whether its reply was right; `why`, masked, is what should have stood there. The
        last word counts.

        Raises NotFound for a run that is not the asker's, BadInput for another rating or more than 1,000 characters.
        """
        tenant, user = valid_tenant(tenant_id), valid_id(user_id, "user")
        if rating not in get_args(Rating):
            raise BadInput(f"{str(rating)[:40]!r} is no rating.", hint="right or wrong.")
        if len(why) > WHY_CHARS:
            raise BadInput(f"a reason has at most {WHY_CHARS:,} characters.", hint="Shorten it.")
        run = run_of(self.deps.journal, tenant, run_id, user)["run_id"]
        note = pii.mask(" ".join(why.split())).text
        self.deps.journal.append(review_line(tenant, run, rating, user, note, kind="feedback"))

    def feedback_samples(self, *, tenant_id: str) -> list[dict[str, Any]]:
        """What was rated in a tenant, as lines for `cordon eval own --questions`: id (the run), question (masked),
        tenant, kind (right | wrong), right (the reason), answerable, and of a right answer docs (ids it cites)."""
        tenant = valid_tenant(tenant_id)
        lines = self.deps.journal.entries("tenant_id", tenant)
        last = {line["run"]: line for line in lines if line["kind"] == "feedback" and "note" in line}
        return [sample for run, line in last.items() if (sample := self._sample(tenant, run, line))]

    def _sample(self, tenant: str, run: str, line: dict[str, Any]) -> dict[str, Any] | None:
        try:
            entry = run_of(self.deps.journal, tenant, run)
        except NotFound:  # erased since
            return None
        right, answered = line["says"] == "right", entry["final_decision"] == "answer"
        return {
            "id": run,
            "question": entry["query"],
            "tenant": tenant,
            "kind": line["says"],
            "right": line["note"],
            "answerable": answered if right else bool(line["note"]) or not answered,
            "docs": list(dict.fromkeys(one["doc_id"] for one in entry["cited"])) if right else [],
        }
