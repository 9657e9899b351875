"""What an operator keeps public: a short list for each tenant, and one for all, each change on record.

They change while the service runs, and the next question goes by them. The digest of a value that was taken off stays,
so that what was shown before still verifies.
"""

import re
from typing import Any

from graph.context import PUBLIC
from graph.errors import BadInput, NotFound
from graph.policy import pii
from graph.policy.pii.public import Public, digest, form, spellings
from graph.policy.text.canonical import canonicalise
from graph.stores.journal import Journal
from graph.stores.lists import ListStore, Loaded
from graph.timestamps import timestamp

MOST = 1_000  # entries of a list, and as many digests of former ones
_DOMAIN = re.compile(r"@(?:[^\W_][\w-]{0,62}\.){1,8}[^\W\d_][\w-]{1,23}")
_NONE: dict[str, Any] = {"entries": [], "gone": []}
_HINT = "An e-mail address, a phone number, or @example.org for the role addresses of a domain can be public."


def entry(value: str) -> tuple[str, frozenset[str]]:
    """The kind (EMAIL, PHONE or ROLES) and the forms of a value that may be public.

    Raises BadInput, without the value, for anything else: a pattern, a card, an account, a key, an id.
    """
    written = canonicalise(value).text.strip().lower()
    if _DOMAIN.fullmatch(written):
        return "ROLES", frozenset((written,))
    spans = [*pii.find(written), *pii.find(f"phone: {written}")]
    kinds = {span.type for span in spans}
    if len(kinds) == 1 and kinds <= {"EMAIL", "PHONE"} and (kind := kinds.pop()):
        shape = r"[^\s@]+@[^\s@]+" if kind == "EMAIL" else r"[+(]*\d[\d ().\-/]{5,24}"
        if re.fullmatch(shape, written):
            known = form(kind, written)
            return kind, spellings(known) if kind == "PHONE" else frozenset((known,))
    other = sorted(kinds - {"EMAIL", "PHONE"})
    what = f"reads as {other[0]}, which is never public" if other else "is not something that can be public"
    raise BadInput(f"the value {what}.", hint=_HINT)


class PublicValues:
    """The lists in a store. With `roles` the role addresses of public documents are public, too."""

    def __init__(self, lists: ListStore, *, roles: bool = False) -> None:
        self._lists, self._roles = lists, roles
        self._read: dict[str, Loaded] = {}

    def for_tenant(self, tenant: str, visibility: str = "private", *, ever: bool = False) -> Public:
        """What masking leaves for this tenant in documents of this visibility; with `ever` also what it once left."""
        both = [self._known(tenant), self._known(PUBLIC)]
        values = frozenset(form for known in both for one in known["entries"] for form in one["forms"])
        gone = frozenset(name for known in both for name in known["gone"]) if ever else frozenset()
        return Public(values, gone, roles=visibility == "public" and (self._roles or ever))

    def entries(self, tenant: str) -> list[dict[str, Any]]:
        """value, kind, note, added (UTC) and by whom, in the order in which they were added."""
        return [{k: v for k, v in one.items() if k != "forms"} for one in self._known(tenant)["entries"]]

    def add(self, tenant: str, value: str, journal: Journal, *, by: str, note: str = "") -> dict[str, Any]:
        """Raises BadInput for what cannot be public, is so already, or is one too many."""
        kind, forms = entry(value)
        now = timestamp()
        new = {"value": " ".join(value.split()), "kind": kind, "note": note[:200], "added": now, "by": by}

        def longer(known: dict[str, Any]) -> dict[str, Any]:
            known = _NONE | known
            if any(forms & set(one["forms"]) for one in known["entries"]):
                raise BadInput("the value is on the list already.")
            if len(known["entries"]) >= MOST:
                raise BadInput(f"the list holds {MOST:,} values, and no more.", hint="Take one off.")
            journal.append(_line("added", tenant, kind, value, by, now))
            return known | {"entries": [*known["entries"], {**new, "forms": sorted(forms)}]}

        self._lists.change(tenant, longer)
        return new

    def remove(self, tenant: str, value: str, journal: Journal, *, by: str) -> None:
        """Raises NotFound for what is not on the list."""
        kind, forms = entry(value)
        now = timestamp()

        def shorter(known: dict[str, Any]) -> dict[str, Any]:
            known = _NONE | known
            gone = [one for one in known["entries"] if forms & set(one["forms"])]
            if not gone:
                raise NotFound("the value is not on the list.", hint="`cordon public list` shows what is.")
            journal.append(_line("removed", tenant, kind, value, by, now))
            former = [*known["gone"], *(digest(form) for one in gone for form in one["forms"])]
            left = [one for one in known["entries"] if one not in gone]
            return known | {"entries": left, "gone": list(dict.fromkeys(former))[-4 * MOST :]}

        self._lists.change(tenant, shorter)

    def forget(self, tenant: str) -> int:
        """Erase a tenant's list. Returns how many values were on it."""
        count = len(self._known(tenant)["entries"])
        self._lists.forget(tenant)
        self._read.pop(tenant, None)
        return count

    def _known(self, tenant: str) -> dict[str, Any]:
        loaded = self._read[tenant] = self._lists.load(tenant, self._read.get(tenant))
        return _NONE | loaded.value


def _line(says: str, tenant: str, kind: str, value: str, by: str, now: str) -> dict[str, Any]:
    """The journal's line: who changed what for whom, the value by its digest."""
    name = digest(form(kind, value))
    return {
        "kind": "public", "timestamp": now, "tenant_id": tenant, "says": says, "what": kind, "value_sha256": name,
        "by": by, "note": "",
    }  # fmt: skip
