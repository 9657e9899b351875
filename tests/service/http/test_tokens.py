"""Signed tokens: what a token must have, and the tricks that must not work."""

import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from evals.serving import keys_of
from graph.errors import BadSettings
from graph.service.http.credentials import Credentials, Tokens
from graph.settings import Settings

PRIVATE: dict[str, Any] = {
    "RS256": rsa.generate_private_key(65537, 2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}


def pem(key: Any) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return bytes(key.public_key().public_bytes(serialization.Encoding.PEM, form))


def tokens(tmp_path: Path, algorithm: str = "EdDSA", **settings: Any) -> Tokens:
    path = tmp_path / "public.pem"
    path.write_bytes(pem(PRIVATE[algorithm]))
    return Tokens(Settings(jwt_public_key=str(path), **settings))


def signed(algorithm: str = "EdDSA", key: Any = None, **claims: Any) -> str:
    known = {"tenant": "U1", "sub": "ann", "role": "uploader", "exp": time.time() + 3_600, **claims}
    return jwt.encode({k: v for k, v in known.items() if v is not None}, key or PRIVATE[algorithm], algorithm=algorithm)


@pytest.mark.parametrize("algorithm", PRIVATE)
def test_a_signed_token_speaks_for_its_tenant_user_and_role(tmp_path: Path, algorithm: str) -> None:
    found = tokens(tmp_path, algorithm).principal(signed(algorithm))
    assert found is not None
    assert (found[1].tenant_id, found[1].user_id, found[1].role) == ("U1", "ann", "uploader")
    assert found[0] == tokens(tmp_path, algorithm).principal(signed(algorithm, exp=time.time() + 1_800))[0]  # type: ignore[index]


def test_a_role_left_out_is_the_least(tmp_path: Path) -> None:
    assert tokens(tmp_path).principal(signed(role=None))[1].role == "member"  # type: ignore[index]


def test_groups_are_those_of_the_claim_and_none_when_it_is_left_out(tmp_path: Path) -> None:
    for claim, groups in ((["staff", "board"], {"staff", "board"}), ([], set()), (None, set())):
        found = tokens(tmp_path).principal(signed(groups=claim))
        assert found is not None and found[1].groups == groups


@pytest.mark.parametrize(
    "groups", ["staff", ["a,b"], ["a/b"], [""], [1], 1, {"staff": {}}, [f"g{n}" for n in range(65)]]
)
def test_a_token_with_groups_that_are_none_is_none(tmp_path: Path, groups: Any) -> None:
    assert tokens(tmp_path).principal(signed(groups=groups)) is None


@pytest.mark.parametrize("claims", [{"exp": 1}, {"exp": None}, {"tenant": None}, {"sub": None}, {"role": "root"}, {"role": "operator"}, {"role": ["admin"]}, {"tenant": "public"}, {"tenant": ["U1"]}, {"tenant": "U1/.."}, {"tenant": 1}, {"sub": ""}, {"nbf": time.time() + 86_400}, {"aud": "elsewhere"}])  # fmt: skip
def test_a_token_that_lacks_or_twists_a_claim_is_none(tmp_path: Path, claims: dict[str, Any]) -> None:
    assert tokens(tmp_path).principal(signed(**claims)) is None


def test_audience_and_issuer_are_asked_for_when_set(tmp_path: Path) -> None:
    strict = tokens(tmp_path, jwt_audience="cordon", jwt_issuer="idp")
    assert strict.principal(signed(aud="cordon", iss="idp")) is not None
    for claims in ({}, {"aud": "cordon"}, {"iss": "idp"}, {"aud": "x", "iss": "idp"}, {"aud": "cordon", "iss": "x"}):
        assert strict.principal(signed(**claims)) is None


def test_no_signature_or_one_made_with_the_public_key_is_none(tmp_path: Path) -> None:
    import base64
    import hashlib
    import hmac
    import json

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    claims = part({"tenant": "U1", "sub": "ann", "exp": time.time() + 3_600})
    unsigned = f"{part({'alg': 'none', 'typ': 'JWT'})}.{claims}."
    head = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{claims}"
    mac = hmac.new(pem(PRIVATE["EdDSA"]), head.encode(), hashlib.sha256).digest()
    forged = head + "." + base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
    other = signed(key=ed25519.Ed25519PrivateKey.generate())
    whole = signed()
    for token in (unsigned, forged, other, whole[:-4] + "AAAA", whole.replace(".", "..", 1), "a.b.c"):
        assert tokens(tmp_path).principal(token) is None


def test_keys_still_open_beside_tokens_and_tokens_do_nothing_unless_asked_for(tmp_path: Path) -> None:
    (tmp_path / "public.pem").write_bytes(pem(PRIVATE["EdDSA"]))
    keys = keys_of(tmp_path / "home")
    secret = keys.add("U2")[1]
    both = Credentials(Settings(jwt_public_key=str(tmp_path / "public.pem")), keys)
    alone = Credentials(Settings(), keys)

    def asked(credentials: Credentials, value: str) -> Any:
        return credentials.principal({b"authorization": [f"Bearer {value}".encode()]}, basic=False)

    assert asked(both, signed())[1].tenant_id == "U1" and asked(both, secret)[1].tenant_id == "U2"
    assert asked(alone, signed()) is None and asked(alone, secret) is not None
    keys.close()


def test_a_key_file_that_is_none_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "x.pem").write_text("no key")
    for path in (tmp_path / "x.pem", tmp_path / "absent.pem"):
        with pytest.raises(BadSettings, match="CORDON_JWT_PUBLIC_KEY"):
            Tokens(Settings(jwt_public_key=str(path)))
