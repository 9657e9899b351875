"""A person's remembered conversations, as an Agent gives them: listed, searched, read again, named, exported."""

from collections.abc import Collection
from typing import Any

from graph import memory
from graph.administration.past_answers import as_they_stand
from graph.context import DEFAULT_USER, ReadScope, valid_groups, valid_id, valid_tenant
from graph.deps import Deps
from graph.errors import BadInput, NotFound
from graph.stores.conversations import TITLE_CHARS

MOST_WORDS, QUERY_CHARS = 12, 300


class Conversations:
    """Each call names a tenant and a user. Turns that tell of documents which none of `groups` reads are left out."""

    deps: Deps

    def threads(
        self, *, tenant_id: str, user_id: str = DEFAULT_USER, groups: Collection[str] = (), query: str = ""
    ) -> list[dict[str, Any]]:
        """A user's conversations, the latest first: thread_id, title, turns, created, updated (UTC); with a query those
        that have a turn in which all of its words stand. Raises BadInput for a query of more than 300 characters."""
        if len(query) > QUERY_CHARS:
            raise BadInput(f"a search has at most {QUERY_CHARS} characters.", hint="A few words will do.")
        who = valid_tenant(tenant_id), valid_id(user_id, "user")
        return self.deps.conversations.threads(*who, valid_groups(groups), query.split()[:MOST_WORDS])

    def thread(
        self, thread_id: str, *, tenant_id: str, user_id: str = DEFAULT_USER, groups: Collection[str] = ()
    ) -> dict[str, Any]:
        """One conversation with its turns, masked, and without the text of documents that were removed or replaced
        since. Raises NotFound, in the same words for unknown and foreign ids."""
        tenant, shared = valid_tenant(tenant_id), valid_groups(groups)
        turns = self.deps.conversations.turns(tenant, valid_id(user_id, "user"), thread_id, shared)
        if not turns:
            raise _no_thread(thread_id)
        return {"thread_id": thread_id, "turns": as_they_stand(self.deps.index, ReadScope(tenant, shared), turns)}

    def rename(
        self,
        thread_id: str,
        title: str,
        *,
        tenant_id: str,
        user_id: str = DEFAULT_USER,
        groups: Collection[str] = (),
    ) -> str:
        """Give a conversation a title, masked, or with "" that of its first question; the title as it is kept. Raises
        BadInput for one of more than 80 characters, NotFound as `thread` does."""
        from graph.policy import pii

        name = " ".join(memory.clean(title).split())
        if len(name) > TITLE_CHARS:
            raise BadInput(f"a title has at most {TITLE_CHARS} characters.", hint="Shorten it.")
        who = valid_tenant(tenant_id), valid_id(user_id, "user"), thread_id
        name = pii.mask(name).text
        if not self.deps.conversations.rename(*who, name, valid_groups(groups)):
            raise _no_thread(thread_id)
        return name

    def export(
        self, thread_id: str, *, tenant_id: str, user_id: str = DEFAULT_USER, groups: Collection[str] = ()
    ) -> str:
        """A conversation as Markdown, each answer with its sources. Raises as `thread` does."""
        from graph.audit import markdown

        thread = self.thread(thread_id, tenant_id=tenant_id, user_id=user_id, groups=groups)
        return markdown.conversation(thread["turns"])


def _no_thread(thread_id: str) -> NotFound:
    return NotFound(f"there is no thread {str(thread_id)[:80]!r}.", hint="A thread begins with its first turn.")
