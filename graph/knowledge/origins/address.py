"""Addresses of origins: what is asked for, what may be shown, and as whom to sign in."""

import base64
import hashlib
import netrc
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from graph.errors import BadInput
from graph.settings import Settings

# Parts of the names of what in a query is a secret.
_SECRET = re.compile(r"auth|code|cred|expires|jwt|key|pass|policy|pwd|secret|session|sig|token|ticket", re.I)


@dataclass(frozen=True)
class Address:
    """`url` is what is asked for, without user and password. `private` says whether it may lie inside."""

    url: str
    shown: str  # without what is or may be secret
    place: str  # hexadecimal; that of another address is another one, with whatever token it comes
    authorization: str  # the value of the header; "" for nobody
    private: bool

    @property
    def headers(self) -> dict[str, str]:
        """What signs a request in; {} for nobody."""
        return {"Authorization": self.authorization} if self.authorization else {}


def parsed(address: str, settings: Settings) -> Address:
    """Raises BadInput for what is no address, and where a password would go over the net for everybody to read."""
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        host, port = "", None
    if not host:
        raise BadInput("the address names no host.", hint="An example: webdavs://cloud.example.org/notes")
    name = f"[{host}]" if ":" in host else host
    base = (parts.scheme, f"{name}:{port}" if port else name, parts.path or "/")
    user, password = _signed_in(host, parts.username, parts.password, settings)
    private = settings.allow_private_urls or host in {h.strip().lower() for h in settings.private_hosts.split(",")}
    if (user or password) and parts.scheme == "http" and not private:
        raise BadInput(f"a password would go to {host!r} unencrypted.", hint="Give an https or webdavs address.")
    signed = base64.b64encode(f"{user}:{password}".encode()).decode() if user or password else ""
    place = urlunsplit((*base, _harmless(parts.query), ""))
    return Address(
        url=urlunsplit((*base, parts.query, "")),
        shown=urlunsplit((*base, "", "")),
        place=hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        authorization=f"Basic {signed}" if signed else "",
        private=private,
    )


def without_secrets(url: str) -> str:
    """The address of a page without user, password, fragment and what in its query has the name of a secret."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, _harmless(parts.query), ""))


def _harmless(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    return urlencode([(name, value) for name, value in pairs if not _SECRET.search(name)])


def _signed_in(host: str, user: str | None, password: str | None, settings: Settings) -> tuple[str, str]:
    if user is not None:
        return unquote(user), unquote(password or "")
    if settings.sync_user:
        return settings.sync_user, settings.sync_password.get_secret_value()
    try:
        login = netrc.netrc().authenticators(host)
    except FileNotFoundError:
        login = None
    except (netrc.NetrcParseError, OSError, UnicodeError) as error:
        raise BadInput(f"the file .netrc cannot be read ({type(error).__name__}).", hint="Mend it.") from None
    return (login[0], login[2]) if login else ("", "")
