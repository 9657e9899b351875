"""API keys: the secret is shown once, its keyed hash is kept.

A key reads `cordon_<id>_<secret>`. The id finds the row, the secret is compared in constant time with an HMAC-SHA256
whose key is the pepper of the store (graph/stores/keys.py).
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from typing import Any, cast, get_args

from graph.context import Principal, Role, valid_groups, valid_id, valid_tenant
from graph.errors import BadInput
from graph.stores.journal import Journal
from graph.stores.keys import Key, KeyStore
from graph.timestamps import timestamp

PREFIX = "cordon"
_FORM = re.compile(rf"{PREFIX}_([0-9a-f]{{16}})_([A-Za-z0-9_-]{{43}})")
_MAX_DAYS = 3_650
_NOBODY = Key("", "", "", "member", "", revoked="never made")


class Keys:
    """The keys of a store. Threads may share one. With a journal every key that comes or goes is on record."""

    def __init__(self, store: KeyStore, journal: Journal | None = None) -> None:
        self._store, self._journal = store, journal
        self.all, self.close = store.all, store.close

    def add(
        self,
        tenant_id: str,
        user_id: str = "",
        role: str = "member",
        days: int | None = None,
        groups: Collection[str] = (),
    ) -> tuple[Key, str]:
        """A new key and its secret text, which is kept nowhere; the key is valid for so many days.

        Raises BadInput for an unusable id, role, group or number of days, Unavailable when it cannot be recorded.
        """
        if days is not None and not 1 <= days <= _MAX_DAYS:
            raise BadInput(f"a key is valid for 1 to {_MAX_DAYS:,} days, not {days:,}.")
        if role not in get_args(Role):
            raise BadInput(f"role {role[:40]!r} is not one of {', '.join(get_args(Role))}.")
        key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        user = valid_id(user_id or f"key-{key_id}", "user")
        expires, named = timestamp(days=days) if days else "", tuple(sorted(valid_groups(groups)))
        key = Key(key_id, valid_tenant(tenant_id), user, role, timestamp(), expires=expires, groups=named)
        self._record("added", key)
        self._store.add(key, self._hash(key_id, secret))
        return key, f"{PREFIX}_{key_id}_{secret}"

    def revoke(self, key_id: str, tenant_id: str = "") -> Key:
        """Shut a key out from now on. Raises BadInput when there is none of that id (for that tenant), Unavailable when
        the revocation could not be recorded."""
        key = next((key for key in self.all(tenant_id) if key.key_id == key_id), None)
        if key is None:
            raise BadInput(f"there is no key {key_id[:40]!r}.", hint="`cordon keys list` shows what there is.")
        self._store.revoke(key_id, timestamp())  # first: a journal that is damaged keeps no door open
        self._record("revoked", key)
        return next(key for key in self.all(tenant_id) if key.key_id == key_id)

    def _record(self, says: str, key: Key) -> None:
        if self._journal is not None:
            entry: dict[str, Any] = {
                "kind": "key", "timestamp": timestamp(), "tenant_id": key.tenant_id, "says": says,
                "key_id": key.key_id, "role": key.role, "expires": key.expires, "note": "", "groups": list(key.groups),
            }  # fmt: skip
            self._journal.append(entry)

    def exist(self) -> bool:
        """Whether some key opens the door."""
        return any(key.valid for key in self.all())

    def principal(self, presented: str) -> tuple[str, Principal] | None:
        """(key id, who it speaks for), or None: not a key, none of ours, a wrong secret, revoked, expired."""
        match = _FORM.fullmatch(presented)
        key_id, secret = (match[1], match[2]) if match else ("", presented[:200])
        key, expected = self._store.find(key_id) or (_NOBODY, bytes(32))
        same = hmac.compare_digest(expected, self._hash(key_id, secret))
        if not same or not key.valid:
            return None
        return key_id, Principal(key.tenant_id, key.user_id, cast(Role, key.role), frozenset(key.groups))

    def _hash(self, key_id: str, secret: str) -> bytes:
        return hmac.digest(self._store.pepper(), f"{key_id}:{secret}".encode("utf-8", "replace"), hashlib.sha256)
