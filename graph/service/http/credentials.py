"""From a request's Authorization header to who it speaks for: an API key, or a token signed by a known private key."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from graph.context import Principal, Role, valid_groups, valid_id, valid_tenant
from graph.errors import BadSettings, CordonError
from graph.service.keys import Keys
from graph.settings import Settings

# Asymmetric ones only: with these a public key verifies and cannot sign, and `none` and HMAC are not on the list.
ALGORITHMS = ("RS256", "ES256", "EdDSA")


class Tokens:
    """JSON Web Tokens. Claims: tenant, sub, exp, role (member when left out), groups (a list of names, none when left
    out); aud and iss when settings ask."""

    def __init__(self, settings: Settings) -> None:
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        path = Path(settings.jwt_public_key).expanduser()
        try:
            self._key: Any = load_pem_public_key(path.read_bytes())
        except (OSError, ValueError) as error:
            raise BadSettings(
                f"CORDON_JWT_PUBLIC_KEY: {path.name} is no public key in PEM.", hint="openssl … -pubout writes one."
            ) from error
        self._audience, self._issuer = settings.jwt_audience, settings.jwt_issuer

    def principal(self, token: str) -> tuple[str, Principal] | None:
        """(an id for limits and logs, who it speaks for), or None for every token that will not do."""
        import jwt

        required = ["exp", "sub", "tenant"] + ["aud"] * bool(self._audience) + ["iss"] * bool(self._issuer)
        try:
            claims = jwt.decode(
                token,
                self._key,
                algorithms=list(ALGORITHMS),
                audience=self._audience or None,
                issuer=self._issuer or None,
                options={"require": required},
            )
            role = claims.get("role", "member")
            if role not in get_args(Role) or role == "operator":
                return None  # who signs for tenants does not name who runs the service: `cordon keys add` does
            tenant, user = valid_tenant(claims["tenant"]), valid_id(claims["sub"], "user")
            who = Principal(tenant, user, role, valid_groups(claims.get("groups", [])))
        except (jwt.PyJWTError, CordonError, ValueError, TypeError, KeyError, AttributeError):
            return None
        # All tokens of one person count as one key: a new token is not a new allowance.
        return "jwt-" + hashlib.sha256(who.digest.encode()).hexdigest()[:16], who


class Credentials:
    """Keys, and tokens where CORDON_JWT_PUBLIC_KEY is set. Raises BadSettings for a file that is no public key."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self._keys = keys
        self._tokens = Tokens(settings) if settings.jwt_public_key else None

    def principal(self, headers: Mapping[bytes, list[bytes]], *, basic: bool) -> tuple[str, Principal] | None:
        """Who the one Authorization header speaks for. `basic` takes the key as a password too, for a browser."""
        values = headers.get(b"authorization", [])
        if len(values) != 1 or len(values[0]) > 8_192:
            return None
        scheme, _, value = values[0].decode("latin-1").partition(" ")
        value = value.strip()
        if scheme.lower() == "basic" and basic:
            try:
                value = base64.b64decode(value, validate=True).decode("utf-8").partition(":")[2]
            except (binascii.Error, UnicodeDecodeError):
                return None
        elif scheme.lower() != "bearer":
            return None
        if self._tokens is not None and value.count(".") == 2:
            return self._tokens.principal(value)
        return self._keys.principal(value)
