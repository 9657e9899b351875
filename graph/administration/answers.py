"""The answer of a run to keep, or to show to a colleague: made of what is kept of the run, when it is asked for."""

from collections.abc import Collection
from typing import Any, Literal

from graph import memory
from graph.administration.past_answers import as_they_stand
from graph.administration.runs import last_of, reply_in_folder, run_of
from graph.audit import markdown
from graph.audit.pdf import pdf_of
from graph.audit.record import review_line
from graph.context import Principal, ReadScope, valid_groups, valid_id, valid_tenant, whose
from graph.deps import Deps
from graph.errors import Conflict, NotFound
from graph.runner import Turns

SHARED = (
    "run_id", "timestamp", "question", "decision", "answer", "sentences", "citations", "confidence", "verdict",
    "safety_flags",
)  # fmt: skip


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
        reply = self._reply(asker, run_id)
        text = markdown.of_reply(reply)
        return text.encode() if form == "md" else pdf_of(text, title="Answer", created=reply["timestamp"])

    def share(self, run_id: str, *, tenant_id: str, user_id: str, groups: Collection[str] = ()) -> None:
        """Let everybody of the tenant who is in the groups that its documents are for read the answer of a run of one's
        own, until `unshare`. Raises as `answer_file` does, and Conflict for a run without an answer."""
        asker = Principal(valid_tenant(tenant_id), valid_id(user_id, "user"), groups=valid_groups(groups))
        reply = self._reply(asker, run_id)
        if reply["decision"] != "answer":
            raise Conflict("there is no answer to share.", hint="Share a run that was answered.")
        self._record_link(asker, reply["run_id"], "shared")

    def unshare(self, run_id: str, *, tenant_id: str, user_id: str) -> None:
        """Stop sharing it. Raises NotFound for a run that is not the asker's."""
        asker = Principal(valid_tenant(tenant_id), valid_id(user_id, "user"))
        run = run_of(self.deps.journal, asker.tenant_id, run_id, asker.user_id)
        self._record_link(asker, run["run_id"], "unshared")

    def shared(self, run_id: str, *, tenant_id: str, groups: Collection[str] = ()) -> dict[str, Any]:
        """A shared answer as a colleague reads it: the fields of SHARED, and `asked_by`; without the text of documents
        that were removed or replaced since.

        Raises NotFound for a run that is not shared, was erased, or tells of documents for groups that the reader is
        not in: the same words for all of them.
        """
        reader = ReadScope(valid_tenant(tenant_id), valid_groups(groups))
        links = [
            line
            for line in self.deps.journal.entries("run", run_id)  # the id may be cut short here; in a link it may not
            if (line["kind"], line["run"], line["tenant_id"]) == ("link", run_id, reader.tenant)
        ]
        unknown = NotFound("there is no such answer, or it is not shared with you.", hint="Ask who sent the link.")
        if not links or links[-1]["says"] != "shared" or "user_id" not in links[-1]:
            raise unknown
        owner = Principal(reader.tenant, links[-1]["user_id"], groups=reader.groups)
        try:
            (turn,) = as_they_stand(self.deps.index, reader, [self._reply(owner, run_id)])
        except (NotFound, Conflict):
            raise unknown from None
        return {key: turn[key] for key in SHARED} | {"asked_by": owner.user_id}

    def _record_link(self, asker: Principal, run_id: str, says: str) -> None:
        self.deps.journal.append(review_line(asker.tenant_id, run_id, says, asker.user_id, kind="link"))

    def _reply(self, asker: Principal, run_id: str) -> dict[str, Any]:
        """What a reviewer decided, else the remembered turn, else what lies in the run's folder."""
        entry = run_of(self.deps.journal, asker.tenant_id, run_id, asker.user_id)
        last = last_of(self.deps.journal, entry)
        audiences = [whose(one["where"])[1] for one in last["retrieved"] if "where" in one]
        if not memory.open_to([sorted(audience) for audience in audiences if audience], asker.groups):
            raise NotFound(f"there is no run {run_id[:40]!r}.", hint="A reply names its run_id.")
        decided = self.turns.waiting(asker.tenant_id, entry["run_id"]).get("reply")
        if decided:
            return dict(decided)
        thread = asker.tenant_id, asker.user_id, entry["thread_id"]
        turns = self.deps.conversations.turns(*thread, asker.groups)
        reply = next((turn for turn in turns if turn["run_id"] == entry["run_id"]), None) or reply_in_folder(last)
        if reply is None:
            raise Conflict(
                "the text of this answer was not kept.",
                hint="Ask with memory buffer or summary, or with CORDON_ARTIFACTS, to have it again.",
            )
        return reply
