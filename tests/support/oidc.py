"""OpenID providers on loopback: `oidc-provider-mock` as it is, and a small one of our own that can also give bad tokens.
And a browser that signs in at either, as far as HTTP goes."""

import base64
import hashlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.servers import running

CLIENT, SECRET = "cordon-page", "the secret of the client"


# -- the mock ---------------------------------------------------------------------------------------------------------


@contextmanager
def mock_provider(port: int) -> Iterator[str]:
    """Its issuer. People are made with `set_person`."""
    command = [sys.executable, "-m", "oidc_provider_mock", "-p", str(port), "-n", "true"]
    issuer = f"http://127.0.0.1:{port}"
    with running(command, f"{issuer}/jwks"):
        yield issuer


def set_person(issuer: str, sub: str, **claims: Any) -> None:
    httpx.put(f"{issuer}/users/{sub}", json=claims, trust_env=False).raise_for_status()


# -- our own ----------------------------------------------------------------------------------------------------------


@dataclass
class Signer:
    kid: str
    private: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def public(self) -> dict[str, Any]:
        known: dict[str, Any] = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key()))
        return {**known, "kid": self.kid, "use": "sig", "alg": "RS256"}


@dataclass
class OwnProvider:
    """`person` is who signs in; `about` changes the discovery document, `claims` the ID token's claims (None takes one
    out), `sign` the way from claims to token, `answers` whole answers by path. `asked` counts requests by path."""

    issuer: str = ""
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "ann", "tenant": "U1", "name": "Ann Ames"})
    about: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    signers: list[Signer] = field(default_factory=lambda: [Signer("one")])
    sign: Callable[[dict[str, Any]], str] | None = None
    answers: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    forms: list[dict[str, str]] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def discovery(self) -> dict[str, Any]:
        places = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/jwks"}
        places |= {"end_session_endpoint": "/logout"}
        return {"issuer": self.issuer, **{k: self.issuer + v for k, v in places.items()}, **self.about}

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser goes back to. Nobody is asked for a password."""
        assert query["response_type"] == "code" and query["code_challenge_method"] == "S256"
        assert query["client_id"] == CLIENT and "openid" in query["scope"].split()
        code = f"code-{len(self._codes)}"
        self._codes[code] = query
        return query["redirect_uri"] + "?" + urlencode({"code": code, "state": query["state"]})

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        self.forms.append(form)
        begun = self._codes.pop(form.get("code", ""), None)
        known = base64.b64decode(authorization.removeprefix("Basic ")).decode() if authorization else ""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        right = begun is not None and challenge.rstrip(b"=").decode() == begun["code_challenge"]
        if begun is None or not right or known != f"{CLIENT}:{SECRET}" or form["redirect_uri"] != begun["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": begun["nonce"]}
        claims = {k: v for k, v in {**claims, **self.person, **self.claims}.items() if v is not None}
        return 200, {"access_token": "a", "token_type": "Bearer", "id_token": (self.sign or self.signed)(claims)}

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self.signers[0].private, algorithm="RS256", headers={"kid": self.signers[0].kid})


@contextmanager
def own_provider() -> Iterator[OwnProvider]:
    provider = OwnProvider()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *told: Any) -> None: ...

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            provider.asked[parts.path] = provider.asked.get(parts.path, 0) + 1
            if parts.path in provider.answers:
                provider.answers[parts.path](self)
            elif parts.path.endswith("/openid-configuration"):
                self.tell(200, provider.discovery())
            elif parts.path == "/jwks":
                self.tell(200, {"keys": [signer.public() for signer in provider.signers]})
            elif parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(dict(parse_qsl(parts.query))))
                self.end_headers()
            else:
                self.tell(404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.path in provider.answers:
                provider.answers[self.path](self)
            else:
                self.tell(*provider.token(dict(parse_qsl(body)), self.headers.get("Authorization", "")))

        def tell(self, status: int, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# -- a browser --------------------------------------------------------------------------------------------------------


class Browser:
    """Keeps cookies, and says of what it changes which page asked for it, as a browser does."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, timeout=60, trust_env=False)

    def begin(self, to: str = "/") -> httpx.Response:
        return self.http.get("/sign-in", params={"to": to})

    def at_provider(self, url: str, sub: str = "") -> str:
        """Where the provider sends the browser back to. With `sub` its form is filled in."""
        with httpx.Client(trust_env=False) as there:
            answer = there.post(url, data={"sub": sub}) if sub else there.get(url)
        assert answer.status_code in (302, 303), answer.text
        return str(answer.headers["location"])

    def sign_in(self, sub: str = "", to: str = "/") -> httpx.Response:
        """The answer to the way back."""
        begun = self.begin(to)
        assert begun.status_code == 303, begun.text
        return self.http.get(self.at_provider(begun.headers["location"], sub))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.http.get(path, **options)

    def post(self, path: str, body: Any, origin: str | None = None) -> httpx.Response:
        return self.http.post(path, json=body, headers={"Origin": origin or self.url})

    def close(self) -> None:
        self.http.close()
