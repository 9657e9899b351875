"""Sessions of people who signed in: the cookie holds a secret, its keyed hash is kept.

A cookie reads `<id>.<secret>`. A session ends when its person signs out, when it was not used for `idle_s`, and at the
latest after `lasts_s`, so that groups and role are never older than that.
"""

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable
from typing import Protocol, cast

from graph.context import Principal, Role
from graph.service import sealing
from graph.stores.sessions import Session, SessionStore

_FORM = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")
MOST_NAME = 100  # characters


class Peppered(Protocol):
    """Has the secret with which cookies are hashed."""

    def pepper(self) -> bytes:
        """The same bytes each time, of this store alone."""


def principal_of(session: Session) -> Principal:
    """Who the session speaks for."""
    return Principal(session.tenant_id, session.user_id, cast(Role, session.role), frozenset(session.groups))


class Sessions:
    """The sessions of a store. Threads may share one. Raises Unavailable when the store does."""

    def __init__(
        self, store: SessionStore, keys: Peppered, idle_s: float, lasts_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._store, self._keys, self._clock = store, keys, clock
        self._idle_s, self._lasts_s = idle_s, lasts_s
        self.close = store.close

    def begin(self, who: Principal, name: str, once: str, id_token: str = "") -> str | None:
        """Begin a session. Returns its cookie's value; None when one was begun for the same `once` before."""
        session_id, secret, now = _id_of(once), secrets.token_urlsafe(32), self._clock()
        hint = sealing.seal(_hint_key(secret), id_token.encode()) if id_token else b""
        session = Session(
            session_id, who.tenant_id, who.user_id, who.role, name[:MOST_NAME], now, now, now + self._lasts_s,
            groups=tuple(sorted(who.groups)), hashed=self._hash(session_id, secret), hint=hint,
        )  # fmt: skip
        return f"{session_id}.{secret}" if self._store.add(session, now) else None

    def begun(self, once: str) -> bool:
        """Whether a session was begun for this `once`, ended or not."""
        return self._store.find(_id_of(once)) is not None

    def find(self, cookie: str) -> Session | None:
        """The session of a cookie, now marked as used; None for a forged cookie and for a session that is not open."""
        match = _FORM.fullmatch(cookie)
        session = self._store.find(match[1]) if match else None
        if match is None or session is None:
            return None
        now = self._clock()
        same = hmac.compare_digest(session.hashed, self._hash(match[1], match[2]))
        if not same or not self.open(session):
            return None
        if now - session.seen >= self._idle_s / 10:
            self._store.use(session.session_id, now)
        return session

    def open(self, session: Session) -> bool:
        """Whether it has neither ended nor run out, and was used within `idle_s`."""
        now = self._clock()
        return not session.ended and now < session.expires and now - session.seen < self._idle_s

    def open_sessions(self, tenant: str = "") -> list[Session]:
        """The open sessions of all tenants or of one, oldest first."""
        return [session for session in self._store.all(tenant) if self.open(session)]

    def end_all(self, tenant: str, user: str = "") -> int:
        """End a tenant's sessions, or one person's. Returns how many were open."""
        sessions = [session for session in self.open_sessions(tenant) if user in ("", session.user_id)]
        for session in sessions:
            self._store.end(session.session_id)
        return len(sessions)

    def end(self, session: Session, cookie: str) -> str:
        """End it. Returns the ID token that it began with; "" when there was none."""
        self._store.end(session.session_id)
        id_token = sealing.opened(_hint_key(cookie.partition(".")[2]), session.hint) if session.hint else None
        return id_token.decode() if id_token else ""

    def _hash(self, session_id: str, secret: str) -> bytes:
        return hmac.digest(self._keys.pepper(), f"session:{session_id}:{secret}".encode(), hashlib.sha256)


def _id_of(once: str) -> str:
    return hashlib.sha256(f"session {once}".encode()).hexdigest()[:32]


def _hint_key(secret: str) -> bytes:
    return sealing.derived(secret.encode(), "id token")
