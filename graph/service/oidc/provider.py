"""The provider: where it is, which keys it signs with, and what it says of a person.

Its addresses and keys are fetched when somebody signs in and cached for an hour. For a token that names an unknown key
the keys are fetched once more.
"""

import base64
import json
import secrets
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from graph.errors import Forbidden, Unavailable
from graph.service.oidc.fetching import Bounded, Unfetched
from graph.settings import Settings, is_sealed

# Asymmetric ones only: `none` and HMAC, whose key would be the client's secret, are not on the list.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_KINDS = ("RSA", "EC", "OKP")
_NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
KEPT_S, AGAIN_S = 3_600.0, 5.0  # how long an object is cached; how long an outage is reported without a new request
LEEWAY_S = 60  # between the clocks
MOST_HINT = 4_096  # characters of a token in an address
_AGAIN = "Sign in again."


class _CachedObject:
    """A JSON object from an address, kept for an hour. One thread fetches it, the others wait for that one."""

    def __init__(self, fetch: Callable[[], dict[str, Any]]) -> None:
        self._fetch, self._lock = fetch, threading.Lock()
        self._value: dict[str, Any] | None = None
        self._at = self._failed_at = -KEPT_S
        self._error = ""

    def get(self, unlike: dict[str, Any] | None = None) -> dict[str, Any]:
        """The cached object; fetched again when it is too old, or is `unlike`. Raises Unavailable."""
        with self._lock:
            now = time.monotonic()
            if self._value is not None and self._value is not unlike and now - self._at < KEPT_S:
                return self._value
            if now - self._failed_at < AGAIN_S:
                raise _away(self._error)
            try:
                self._value, self._at = self._fetch(), now
            except Unfetched as error:
                self._failed_at, self._error = time.monotonic(), str(error)
                raise _away(self._error) from error
            return self._value


class Provider:
    """Threads may share it. Every method may fetch from the provider, and raises Unavailable when it is not there."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._trusted = ssl.create_default_context()
        self._about = _CachedObject(self._discover)
        self._keys = _CachedObject(lambda: self._get(self._about.get()["jwks_uri"]))

    def sign_in_url(self, back: str, state: str, nonce: str, verifier: str) -> str:
        """Where a browser goes to sign in. It comes back to `back` with the state."""
        with self._client(back) as client:
            url, _ = client.create_authorization_url(
                self._about.get()["authorization_endpoint"], state=state, code_verifier=verifier, nonce=nonce
            )
        return str(url)

    def claims(self, back: str, code: str, verifier: str, nonce: str) -> tuple[dict[str, Any], str]:
        """What the ID token says, and the token. Raises Forbidden when it, or the code, will not do."""
        about = self._about.get()
        try:
            with self._client(back, _method(about)) as client:
                tokens = client.fetch_token(about["token_endpoint"], code=code, code_verifier=verifier)
        except Unfetched as error:
            raise _away(str(error)) from error
        except httpx2.HTTPError as error:
            raise _away(f"{about['token_endpoint']} failed") from error
        except AuthlibBaseError as error:
            raise Forbidden(f"the provider did not accept the sign-in ({_short(error.error)}).", hint=_AGAIN) from error
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise _away(f"{about['token_endpoint']} did not answer as a provider does") from error
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise Forbidden("the provider gave no ID token.", hint="Ask the operator: is this an OpenID client there?")
        return self._checked(token, nonce, tokens.get("access_token")), token

    def sign_out_url(self, back: str, id_token: str) -> str:
        """Where a browser goes to sign out at the provider too; "" when the provider names no such place."""
        place = self._about.get().get("end_session_endpoint")
        if not isinstance(place, str) or not is_sealed(place):
            return ""
        hint = {"id_token_hint": id_token} if 0 < len(id_token) <= MOST_HINT else {}
        query = {"client_id": self._settings.oidc_client_id, "post_logout_redirect_uri": back, **hint}
        return str(httpx2.URL(place).copy_merge_params(query))

    def _checked(self, token: str, nonce: str, access_token: Any) -> dict[str, Any]:
        to = self._settings
        try:
            decoded = jwt.decode(token, self._signers(token), algorithms=ALGORITHMS)
            required: dict[str, Any] = {
                "iss": {"essential": True, "value": to.oidc_issuer},
                "aud": {"essential": True, "value": to.oidc_client_id},
            }
            known = {"client_id": to.oidc_client_id, "nonce": nonce, "access_token": access_token}
            claims = CodeIDToken(decoded.claims, decoded.header, required, known)
            claims.validate(leeway=LEEWAY_S)
        except JoseError as error:
            raise Forbidden(f"the provider's token will not do ({_short(error)}).", hint=_AGAIN) from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise Forbidden("the provider's token will not do.", hint=_AGAIN) from error
        return dict(claims)

    def _signers(self, token: str) -> KeySet:
        named = _key_id(token)
        keys = self._keys.get()
        if named and named not in [key.get("kid") for key in _usable(keys)]:
            keys = self._keys.get(unlike=keys)
        return KeySet.import_key_set({"keys": _usable(keys)})

    def _discover(self) -> dict[str, Any]:
        issuer = self._settings.oidc_issuer
        about = self._get(issuer.rstrip("/") + "/.well-known/openid-configuration")
        if about.get("issuer") != issuer:
            raise Unfetched(
                f"the provider calls itself {_short(about.get('issuer'))}, and CORDON_OIDC_ISSUER otherwise"
            )
        for name in _NEEDED:
            if not isinstance(about.get(name), str) or not is_sealed(about[name].partition("?")[0]):
                raise Unfetched(f"the provider's {name} is missing or not https")
        return about

    def _get(self, address: str) -> dict[str, Any]:
        with httpx2.Client(transport=Bounded(self._trusted), trust_env=False) as client:
            response = client.get(address)
        try:
            value = response.json() if response.status_code == 200 else None
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Unfetched(f"{address} did not answer as a provider does ({response.status_code})")
        return value

    def _client(self, back: str, method: str | None = None) -> OAuth2Client:
        to = self._settings
        return OAuth2Client(
            client_id=to.oidc_client_id,
            client_secret=to.oidc_client_secret.get_secret_value() or None,
            token_endpoint_auth_method=method if to.oidc_client_secret.get_secret_value() else "none",
            scope=to.oidc_scopes,
            redirect_uri=back,
            code_challenge_method="S256",
            transport=Bounded(self._trusted),
            trust_env=False,
        )


def fresh() -> str:
    """A state, a nonce or a verifier: 256 random bits."""
    return secrets.token_urlsafe(32)


def _method(about: dict[str, Any]) -> str:
    known = about.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    return "client_secret_basic" if "client_secret_basic" in known else "client_secret_post"


def _usable(keys: dict[str, Any]) -> list[dict[str, Any]]:
    listed = keys.get("keys")
    usable = [key for key in listed if isinstance(key, dict)] if isinstance(listed, list) else []
    return [key for key in usable if key.get("kty") in _KINDS and key.get("use", "sig") == "sig"]


def _key_id(token: str) -> str:
    """The key that a token names; "" when it names none."""
    head = token.partition(".")[0]
    named = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))).get("kid")
    return named if isinstance(named, str) else ""


def _away(why: str) -> Unavailable:
    return Unavailable(f"the sign-in provider is not there: {why}.", hint="Try again later. Keys work meanwhile.")


def _short(value: object) -> str:
    """At most 120 printable characters of it."""
    return "".join(c for c in str(value)[:120] if c.isprintable())
