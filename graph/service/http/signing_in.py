"""People sign in at the provider, come back with a session, and sign out.

What belongs to one sign-in (state, nonce, verifier, where to go afterwards) is in a cookie of the browser that began
it, sealed and for ten minutes, so nothing is kept for somebody who never comes back. The state makes the session's id,
so it makes one session and no second.
"""

import base64
import binascii
import hmac
import html
import json
import logging
import time
from collections import defaultdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from graph.context import Role
from graph.errors import BadInput, CordonError, Forbidden, Unavailable
from graph.service import sealing
from graph.service.http.problems import Problem
from graph.service.http.service import AnyCaller, Served
from graph.service.http.session_cookie import SESSION, SIGNING_IN, RequestHead, cookie, home_of, set_cookie
from graph.service.people import People

BEGUN_S = 600
CALLBACK = "/sign-in/callback"
MOST_RETURN = 500  # characters
router = APIRouter(tags=["people"])  # of every service
at_provider = APIRouter(include_in_schema=False)  # where a provider is set
log = logging.getLogger("cordon.http")
_STATUS: tuple[tuple[type[CordonError], int], ...] = ((Forbidden, 403), (BadInput, 400), (Unavailable, 503))


class Me(BaseModel):
    """Who the credential speaks for."""

    tenant_id: str
    user_id: str
    role: Role
    groups: list[str]
    name: str = Field(description="as the provider shows the person; empty for a key")
    signed_in: bool = Field(description="by a session; else by a key or a token")


@router.get("/v1/me")
async def me(who: AnyCaller) -> Me:
    """Who the request speaks for."""
    p, session = who.principal, who.session
    name = session.name if session else ""
    return Me(
        tenant_id=p.tenant_id, user_id=p.user_id, role=p.role, groups=sorted(p.groups), name=name,
        signed_in=session is not None,
    )  # fmt: skip


@router.get("/sign-in/ways", include_in_schema=False)
async def ways(service: Served) -> dict[str, bool]:
    """What the page offers beside the field for a key."""
    return {"provider": service.people is not None}


@at_provider.get("/sign-in")
async def sign_in(request: Request, service: Served, to: str = "/") -> Response:
    """To the provider; afterwards to the path `to` of this service."""
    people, head = _people(service), _head(request)
    try:
        if not _is_path(to):
            raise BadInput("where to go after signing in must be a path of this service.", hint="Open the page itself.")
        from graph.service.oidc.provider import fresh

        home = home_of(head, service.settings)
        state, nonce, verifier = fresh(), fresh(), fresh()
        url = await people.work(lambda: people.provider.sign_in_url(home + CALLBACK, state, nonce, verifier))
    except (CordonError, Problem) as error:
        return _refused(request, error)
    pending = {
        "state": state,
        "nonce": nonce,
        "verifier": verifier,
        "to": to,
        "home": home,
        "until": time.time() + BEGUN_S,
    }
    sealed = base64.urlsafe_b64encode(sealing.seal(people.seal_key, json.dumps(pending).encode())).decode()
    # Lax: the provider's redirect comes from another site.
    return RedirectResponse(url, 303, {"Set-Cookie": set_cookie(home, SIGNING_IN, sealed, BEGUN_S, "Lax")})


@at_provider.get(CALLBACK)
async def callback(
    request: Request, service: Served, state: str = "", code: str = "", error: str = "", iss: str = ""
) -> Response:
    """From the provider. The browser gets a session, or a page that says why not."""
    people, head = _people(service), _head(request)
    home = ""
    try:
        home = home_of(head, service.settings)
        begun = _pending(people, cookie(head, home, SIGNING_IN), home, state)
        if iss and iss != service.settings.oidc_issuer:
            raise Forbidden("another provider answered than the one that was asked.", hint="Sign in again.")
        if error or not code:
            raise Forbidden("you were not signed in at the provider.", hint="Sign in again, or ask the operator.")
        session = await people.work(lambda: _session(service, people, home, code, begun))
    except (CordonError, Problem) as refused:
        return _refused(request, refused, set_cookie(home, SIGNING_IN, "", 0, "Lax") if home else "")
    answer = RedirectResponse(begun["to"], 303)
    answer.headers.append("Set-Cookie", set_cookie(home, SIGNING_IN, "", 0, "Lax"))
    lasts = int(service.settings.oidc_session_s)
    # Strict: pages of this service alone ask with it, and the page itself is open.
    answer.headers.append("Set-Cookie", set_cookie(home, SESSION, session, lasts, "Strict"))
    return answer


@router.post("/sign-out", include_in_schema=False)
async def sign_out(request: Request, who: AnyCaller, service: Served) -> Response:
    """The session ends. The answer says where the browser goes then: to the provider, to sign out there, or home."""
    people, head, session = service.people, _head(request), who.session
    if people is None or session is None:  # a key is forgotten by who has it
        return JSONResponse({"to": "/"})
    home = home_of(head, service.settings)
    value = cookie(head, home, SESSION)
    id_token = await people.work(lambda: people.sessions.end(session, value))
    try:
        to = await people.work(lambda: people.provider.sign_out_url(home + "/", id_token))
    except Unavailable:
        to = ""  # it is signed out here
    return JSONResponse({"to": to or "/"}, headers={"Set-Cookie": set_cookie(home, SESSION, "", 0, "Strict")})


def _session(service: Any, people: People, home: str, code: str, begun: dict[str, Any]) -> str:
    """The new session's cookie. Raises as the provider does, and Forbidden for who may not come in."""
    from graph.service.oidc.people import name_of, principal_of

    if people.sessions.begun(begun["state"]):
        raise _used()
    claims, id_token = people.provider.claims(home + CALLBACK, code, begun["verifier"], begun["nonce"])
    who = principal_of(claims, service.settings)
    if not service.has(who.tenant_id):
        raise Forbidden(f"there is no tenant {who.tenant_id!r} here.", hint="Ask the operator.")
    value = people.sessions.begin(who, name_of(claims), begun["state"], id_token)
    if value is None:
        raise _used()
    return value


def _pending(people: People, sealed: str, home: str, state: str) -> dict[str, Any]:
    """What this browser began. Raises BadInput when it is not the sign-in that comes back here."""
    try:
        text = sealing.opened(people.seal_key, base64.b64decode(sealed, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        text = None
    begun: dict[str, Any] = json.loads(text) if text else {}
    same = bool(begun) and hmac.compare_digest(begun["state"].encode(), state.encode())
    if not same or begun["home"] != home or time.time() > begun["until"]:
        raise BadInput(
            "this sign-in was not begun in this browser, or more than ten minutes ago.", hint="Sign in again."
        )
    return begun


def _people(service: Any) -> People:
    assert isinstance(service.people, People)  # else the route is not there
    return service.people


def _used() -> BadInput:
    return BadInput("this sign-in was used already.", hint="Sign in again.")


def _is_path(to: str) -> bool:
    """A path of this service, as browsers read it: they take // and /\\ for another host, and skip controls."""
    plain = to.isprintable() and to.isascii() and "\\" not in to and " " not in to
    return plain and to.startswith("/") and not to.startswith("//") and len(to) <= MOST_RETURN


def _head(request: Request) -> RequestHead:
    headers: dict[bytes, list[bytes]] = defaultdict(list)
    for name, value in request.scope["headers"]:
        headers[name.lower()].append(value)
    return RequestHead(request.method, request.url.path, request.scope["scheme"], headers)


def _refused(request: Request, error: CordonError | Problem, cleared: str = "") -> Response:
    """A page: who sees it came here with a browser."""
    known = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    status = error.status if isinstance(error, Problem) else known
    request_id = request.state.request_id
    why = str(error) if isinstance(error, Unavailable) else ""  # what else it says is the person's own
    log.warning("sign-in refused", extra={"told": {"request_id": request_id, "status": status, "why": why}})
    parts = [str(error), getattr(error, "hint", "")]
    text = html.escape(" ".join(part[:1].upper() + part[1:] for part in parts if part))
    page = (
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>Cordon: not signed in</title>"
        '<meta name=viewport content="width=device-width"><link rel=stylesheet href="/page/docs.css"></head>'
        f"<body><main><h1>You are not signed in</h1><p>{text}</p>"
        '<p><a href="/sign-in">Sign in again</a> or go <a href="/">to the page</a>.</p>'
        f"<p>Request {request_id}</p></main></body></html>"
    )
    return HTMLResponse(page, status, headers={"Set-Cookie": cleared} if cleared else None)
