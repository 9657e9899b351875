"""API keys: the secret is shown once, its keyed hash is kept.

A key reads `cordon_<id>_<secret>`. The id finds the row, the secret is compared in constant time with an HMAC-SHA256
whose key, the pepper, is a file of its own: a copy of the database alone is of no use to guess against. Nothing here
takes the home's lock, so keys come and go while the service runs, and a revoked one is refused by the next request.
"""

import hashlib
import hmac
import os
import re
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast, get_args

from graph.context import Principal, Role, valid_id, valid_tenant
from graph.errors import BadInput, Unavailable
from graph.knowledge.home import private_directory

PREFIX = "cordon"
_FORM = re.compile(rf"{PREFIX}_([0-9a-f]{{16}})_([A-Za-z0-9_-]{{43}})")
_SCHEMA = """CREATE TABLE IF NOT EXISTS keys (id TEXT PRIMARY KEY, hash BLOB NOT NULL, tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL, role TEXT NOT NULL, created TEXT NOT NULL, revoked TEXT NOT NULL DEFAULT '',
    expires TEXT NOT NULL DEFAULT '') WITHOUT ROWID"""
_MAX_DAYS = 3_650


@dataclass(frozen=True)
class Key:
    """What is known of a key. Times are UTC, ISO 8601; `revoked` is "" until it is, `expires` when it never does."""

    key_id: str
    tenant_id: str
    user_id: str
    role: str
    created: str
    revoked: str = ""
    expires: str = ""

    @property
    def valid(self) -> bool:
        return not self.revoked and not _over(self.expires)


class Keys:
    """The keys of one home. Made on first use, mode 0600. Threads may share one."""

    def __init__(self, home: Path) -> None:
        self._path, self._pepper_path = home / "keys.db", home / "keys.pepper"
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._pepper = b""

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def add(self, tenant_id: str, user_id: str = "", role: str = "member", days: int | None = None) -> tuple[Key, str]:
        """A new key and its secret text, which is nowhere else; after so many days it opens nothing any more.

        Raises BadInput for an unusable id, role or number of days.
        """
        if days is not None and not 1 <= days <= _MAX_DAYS:
            raise BadInput(f"a key is valid for 1 to {_MAX_DAYS:,} days, not {days:,}.")
        if role not in get_args(Role):
            raise BadInput(f"role {role[:40]!r} is not one of {', '.join(get_args(Role))}.")
        key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        user = valid_id(user_id or f"key-{key_id}", "user")
        key = Key(key_id, valid_tenant(tenant_id), user, role, _now(), expires=_now(days) if days else "")
        with self._opened() as db:
            db.execute(
                "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, '', ?)",
                (key_id, self._hash(key_id, secret), key.tenant_id, key.user_id, role, key.created, key.expires),
            )
        return key, f"{PREFIX}_{key_id}_{secret}"

    def all(self, tenant_id: str = "") -> list[Key]:
        """Every key, or a tenant's, oldest first; revoked and expired ones too."""
        with self._opened() as db:
            rows = db.execute(
                "SELECT id, tenant_id, user_id, role, created, revoked, expires FROM keys"
                " WHERE ? IN ('', tenant_id) ORDER BY created, id",
                (tenant_id,),
            ).fetchall()
        return [Key(*row) for row in rows]

    def revoke(self, key_id: str, tenant_id: str = "") -> Key:
        """Shut a key out from now on. Raises BadInput when there is none of that id (for that tenant)."""
        found = next((key for key in self.all(tenant_id) if key.key_id == key_id), None)
        if found is None:
            raise BadInput(f"there is no key {key_id[:40]!r}.", hint="`cordon keys list` shows what there is.")
        with self._opened() as db:
            db.execute("UPDATE keys SET revoked = ? WHERE id = ? AND revoked = ''", (_now(), key_id))
        return next(key for key in self.all(tenant_id) if key.key_id == key_id)

    def exist(self) -> bool:
        """Whether some key opens the door."""
        return any(key.valid for key in self.all())

    def principal(self, presented: str) -> tuple[str, Principal] | None:
        """(key id, who it speaks for), or None: not a key, none of ours, a wrong secret, revoked, expired."""
        match = _FORM.fullmatch(presented)
        key_id, secret = (match[1], match[2]) if match else ("", presented[:200])
        with self._opened() as db:
            row = db.execute(
                "SELECT hash, tenant_id, user_id, role, revoked, expires FROM keys WHERE id = ?", (key_id,)
            ).fetchone()
        nobody = (bytes(32), "", "", "member", "never made", "")
        expected, tenant_id, user_id, role, revoked, expires = nobody if row is None else row
        same = hmac.compare_digest(bytes(expected), self._hash(key_id, secret))
        if not same or revoked or _over(expires) or row is None:
            return None
        return key_id, Principal(tenant_id, user_id, cast(Role, role))

    def _hash(self, key_id: str, secret: str) -> bytes:
        return hmac.digest(self._pepper, f"{key_id}:{secret}".encode("utf-8", "replace"), hashlib.sha256)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._db is None:
                    self._db = self._open()
                yield self._db
            except (sqlite3.Error, OSError) as error:
                raise Unavailable(
                    f"the keys in {self._path.name} cannot be used: {error}.",
                    hint="Mend the permissions of CORDON_HOME, or make room.",
                ) from error

    def _open(self) -> sqlite3.Connection:
        private_directory(self._path.parent)
        self._pepper = _pepper(self._pepper_path)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        db = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None, timeout=5)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute(_SCHEMA)
        if "expires" not in {column for _, column, *_ in db.execute("PRAGMA table_info(keys)")}:
            with suppress(sqlite3.OperationalError):  # a home of an earlier version; another process may be quicker
                db.execute("ALTER TABLE keys ADD COLUMN expires TEXT NOT NULL DEFAULT ''")
        return db


def _pepper(path: Path) -> bytes:
    """32 random bytes, written once. Two processes that make it at the same time end up with one."""
    if not path.exists():
        fresh = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
        file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(secrets.token_bytes(32))
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            os.link(fresh, path)  # atomic, and fails when another was first
        fresh.unlink()
    pepper = path.read_bytes()
    if len(pepper) != 32:
        raise OSError(f"{path.name} is damaged")
    return pepper


def _now(days: int = 0) -> str:
    then = datetime.now(UTC) + timedelta(days=days)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _over(expires: str) -> bool:
    return bool(expires) and expires <= _now()
