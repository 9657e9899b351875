"""What an operator keeps public: a short list for each tenant, and one for all, each change on record.

The lists lie in the home, one file each. Nothing here takes the home's lock, so they change while the service runs,
and the next question goes by them. Of what was taken off a list its digest stays: what was shown before still verifies.
"""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graph.context import PUBLIC, key_of
from graph.errors import BadInput, NotFound, Unavailable
from graph.files import alone_in
from graph.policy import pii
from graph.policy.pii.public import Public, digest, form, spellings
from graph.policy.text.canonical import canonicalise
from graph.stores.journal import Journal

MOST = 1_000  # entries of a list, and as many digests of former ones
_DOMAIN = re.compile(r"@(?:[^\W_][\w-]{0,62}\.){1,8}[^\W\d_][\w-]{1,23}")
_HINT = "An e-mail address, a phone number, or @example.org for the role addresses of a domain can be public."


def entry(value: str) -> tuple[str, frozenset[str]]:
    """The kind (EMAIL, PHONE or ROLES) and the forms of a value that may be public.

    Raises BadInput, without the value, for anything else: a pattern, a card, an account, a key, an id.
    """
    written = canonicalise(value).text.strip().lower()
    if _DOMAIN.fullmatch(written):
        return "ROLES", frozenset((written,))
    found = [*pii.find(written), *pii.find(f"phone: {written}")]
    kinds = {span.type for span in found}
    if len(kinds) == 1 and kinds <= {"EMAIL", "PHONE"} and (kind := kinds.pop()):
        shape = r"[^\s@]+@[^\s@]+" if kind == "EMAIL" else r"[+(]*\d[\d ().\-/]{5,24}"
        if re.fullmatch(shape, written):
            known = form(kind, written)
            return kind, spellings(known) if kind == "PHONE" else frozenset((known,))
    other = sorted(kinds - {"EMAIL", "PHONE"})
    what = f"reads as {other[0]}, which is never public" if other else "is not something that can be public"
    raise BadInput(f"the value {what}.", hint=_HINT)


class Lists:
    """The lists of a home. With `roles` the role addresses of public documents are public, too."""

    def __init__(self, home: Path, *, roles: bool = False) -> None:
        self._folder, self._roles = home / "public", roles
        self._read: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {}

    def of(self, tenant: str, visibility: str = "private", *, ever: bool = False) -> Public:
        """What masking leaves for this tenant in documents of this visibility; with `ever` what it once left, too."""
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
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        new = {"value": " ".join(value.split()), "kind": kind, "note": note[:200], "added": now, "by": by}
        with alone_in(self._folder):
            known = self._known(tenant)
            if any(forms & set(one["forms"]) for one in known["entries"]):
                raise BadInput("the value is on the list already.")
            if len(known["entries"]) >= MOST:
                raise BadInput(f"the list holds {MOST:,} values, and no more.", hint="Take one off.")
            journal.append(_line("added", tenant, kind, value, by, now))
            self._write(tenant, known | {"entries": [*known["entries"], {**new, "forms": sorted(forms)}]})
        return new

    def remove(self, tenant: str, value: str, journal: Journal, *, by: str) -> None:
        """Raises NotFound for what is not on the list."""
        kind, forms = entry(value)
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with alone_in(self._folder):
            known = self._known(tenant)
            gone = [one for one in known["entries"] if forms & set(one["forms"])]
            if not gone:
                raise NotFound("the value is not on the list.", hint="`cordon public list` shows what is.")
            journal.append(_line("removed", tenant, kind, value, by, now))
            former = [*known["gone"], *(digest(form) for one in gone for form in one["forms"])]
            left = [one for one in known["entries"] if one not in gone]
            self._write(tenant, {"entries": left, "gone": list(dict.fromkeys(former))[-4 * MOST :]})

    def forget(self, tenant: str) -> int:
        """Erase a tenant's list; how many values were on it."""
        count = len(self._known(tenant)["entries"])
        self._path(tenant).unlink(missing_ok=True)
        return count

    def _path(self, tenant: str) -> Path:
        return self._folder / f"{key_of('public', tenant)}.json"

    def _known(self, tenant: str) -> dict[str, Any]:
        path = self._path(tenant)
        try:
            stat = path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            kept = self._read.get(tenant)
            if kept is None or kept[0] != stamp:
                kept = self._read[tenant] = stamp, json.loads(path.read_bytes())
            return kept[1]
        except FileNotFoundError:
            return {"entries": [], "gone": []}
        except (OSError, ValueError) as error:
            raise Unavailable(f"the list {path.name} cannot be read ({error}).", hint="Mend or remove it.") from error

    def _write(self, tenant: str, known: dict[str, Any]) -> None:
        fresh = self._path(tenant).with_suffix(".writing")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(json.dumps(known, ensure_ascii=False, indent=1).encode())
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self._path(tenant))


def _line(says: str, tenant: str, kind: str, value: str, by: str, now: str) -> dict[str, Any]:
    """Of the journal: who changed what for whom, the value by its digest."""
    name = digest(form(kind, value))
    return {
        "kind": "public", "timestamp": now, "tenant_id": tenant, "says": says, "what": kind, "value_sha256": name,
        "by": by,
    }  # fmt: skip
