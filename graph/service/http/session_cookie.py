"""The cookie of a person who signed in: where it is taken, and from which page.

It opens what the page uses, /v1/ and /sign-out, and no door for programs. What changes something must come from a page
of this service (Origin), although SameSite keeps the cookie from others already: old browsers, and sites beside it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from graph.context import Principal
from graph.service.http.problems import Problem
from graph.service.sessions import Sessions, principal_of
from graph.settings import Settings, is_loopback
from graph.stores.sessions import Session

SESSION, SIGNING_IN = "cordon-session", "cordon-sign-in"
_OPENS = ("/v1/", "/sign-out")
_SAFE = ("GET", "HEAD")


@dataclass(frozen=True)
class RequestHead:
    """What of a request decides about its credential; names of headers in lower case."""

    method: str
    path: str
    scheme: str
    headers: Mapping[bytes, list[bytes]]

    def only(self, name: bytes) -> str:
        """The value of a header that is given exactly once, else ""."""
        values = self.headers.get(name, [])
        return values[0].decode("latin-1") if len(values) == 1 else ""


class SessionCookie:
    """Finds the session of a request's cookie."""

    def __init__(self, settings: Settings, sessions: Sessions) -> None:
        self._settings, self._sessions = settings, sessions

    def session(self, head: RequestHead) -> Session | None:
        """None without a cookie. Raises Problem for one that has ended, and for a change from a foreign page."""
        if not head.path.startswith(_OPENS) or not any(name.endswith(SESSION) for name, _ in _cookies(head)):
            return None
        home = home_of(head, self._settings)
        value = cookie(head, home, SESSION)
        if head.method not in _SAFE and head.only(b"origin") != home:
            raise Problem(403, "This was not asked for by a page of this service.", code="foreign_page")
        session = self._sessions.find(value)
        if session is None:
            raise Problem(401, "Your session has ended. Sign in again.", code="session_ended")
        return session


def person(session: Session) -> tuple[str, Principal]:
    """(an id for limits and logs, who it speaks for). All sessions of one person count as one key."""
    who = principal_of(session)
    return "session-" + hashlib.sha256(who.digest.encode()).hexdigest()[:16], who


def home_of(head: RequestHead, settings: Settings) -> str:
    """The origin at which people open the page, `https://HOST`. Raises Problem where nothing says it: a Host header is
    believed only when it names this machine itself."""
    if settings.oidc_public_url:
        return settings.oidc_public_url
    host = head.only(b"host")
    try:
        near = is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        near = False
    if not near:
        raise Problem(403, "People cannot sign in at this address. The operator sets CORDON_OIDC_PUBLIC_URL to it.")
    return f"{head.scheme}://{host}"


def cookie(head: RequestHead, home: str, name: str) -> str:
    """The cookie's value, if it is there exactly once; else ""."""
    values = [value for known, value in _cookies(head) if known == named(home, name)]
    return values[0] if len(values) == 1 else ""


def named(home: str, name: str) -> str:
    """The cookie's name. Over TLS it has a prefix that no other host, and no page without TLS, can set."""
    return f"__Host-{name}" if home.startswith("https://") else name


def set_cookie(home: str, name: str, value: str, seconds: int, same_site: str) -> str:
    """The header Set-Cookie. Without a value the cookie goes."""
    secure = "; Secure" if home.startswith("https://") else ""
    lasts = f"; Max-Age={seconds}" if value else "; Max-Age=0"
    return f"{named(home, name)}={value}; Path=/; HttpOnly; SameSite={same_site}{lasts}{secure}"


def _cookies(head: RequestHead) -> list[tuple[str, str]]:
    pairs = [pair for line in head.headers.get(b"cookie", []) for pair in line.decode("latin-1").split(";")]
    return [(name.strip(), value.strip()) for name, _, value in (pair.partition("=") for pair in pairs)]
