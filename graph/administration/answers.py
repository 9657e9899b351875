"""The answer of a run to keep: made of what is kept of the run, when somebody asks for it."""

from collections.abc import Collection
from typing import Any, Literal

from graph import memory
from graph.administration.runs import last_of, reply_in_folder, run_of
from graph.audit import markdown
from graph.audit.pdf import pdf_of
from graph.context import Principal, valid_groups, valid_id, valid_tenant, whose
from graph.deps import Deps
from graph.errors import Conflict, NotFound
from graph.runner import Turns


class Answers:
    """Each call names who asks."""

    deps: Deps
    turns: Turns

    def answer_file(
        self, run_id: str, form: Literal["pdf", "md"], *, tenant_id: str, user_id: str, groups: Collection[str] = ()
    ) -> bytes:
        """The answer of a run of one's own with its sources, as PDF or Markdown (UTF-8), masked as it was given.

        Raises NotFound for a run that is not the asker's, or tells of documents for groups that the asker is not in;
        Conflict where its text was not kept.
        """
        asker = Principal(valid_tenant(tenant_id), valid_id(user_id, "user"), groups=valid_groups(groups))
        reply = self._kept_reply(asker, run_id)
        text = markdown.of_reply(reply)
        return text.encode() if form == "md" else pdf_of(text, title="Answer", created=reply["timestamp"])

    def _kept_reply(self, asker: Principal, run_id: str) -> dict[str, Any]:
        """What a reviewer decided, else the remembered turn, else what lies in the run's folder."""
        entry = run_of(self.deps.journal, asker.tenant_id, run_id, asker.user_id)
        last = last_of(self.deps.journal, entry)
        told = [whose(one["where"])[1] for one in last["retrieved"] if "where" in one]
        if not memory.open_to([sorted(audience) for audience in told if audience], asker.groups):
            raise NotFound(f"there is no run {run_id[:40]!r}.", hint="A reply names its run_id.")
        decided = self.turns.waiting(asker.tenant_id, entry["run_id"]).get("reply")
        if decided:
            return dict(decided)
        thread = asker.tenant_id, asker.user_id, entry["thread_id"]
        turns = self.deps.conversations.turns(*thread, asker.groups)
        found = next((turn for turn in turns if turn["run_id"] == entry["run_id"]), None) or reply_in_folder(last)
        if found is None:
            raise Conflict(
                "the text of this answer was not kept.",
                hint="Ask with memory buffer or summary, or with CORDON_ARTIFACTS, to have it again.",
            )
        return found
