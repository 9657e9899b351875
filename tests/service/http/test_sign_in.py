"""People sign in with OpenID Connect, through the service's own doors, at a real provider on loopback; and at one of
ours where a provider must misbehave."""

import html
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from evals.serving import CANARIES, QUESTIONS, WIDE, Served, serving
from graph.errors import BadSettings
from graph.service.http.session_cookie import SESSION, SIGNING_IN
from graph.settings import load
from tests.support.command import Run
from tests.support.oidc import CLIENT, SECRET, Browser, OwnProvider, Signer, mock_provider, own_provider, set_person
from tests.support.postgres import Server
from tests.support.servers import free_port

KNOWN: dict[str, Any] = {"oidc_client_id": CLIENT, "oidc_client_secret": SECRET}


@pytest.fixture
def provider() -> Iterator[OwnProvider]:
    with own_provider() as running:
        yield running


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    with mock_provider(free_port()) as issuer:
        yield issuer


@pytest.fixture
def serve(another: Callable[..., Any]) -> Iterator[Callable[..., Served]]:
    with ExitStack() as done:
        yield lambda issuer, **values: done.enter_context(another(oidc_issuer=issuer, **KNOWN, **values))


@pytest.fixture
def browser() -> Iterator[Callable[[Served], Browser]]:
    with ExitStack() as done:

        def opened(served: Served) -> Browser:
            made = Browser(served.url)
            done.callback(made.close)
            return made

        yield opened


def refused(answer: httpx.Response, status: int, why: str) -> None:
    """A page that says why, and no session."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8"), answer.text
    assert why.lower() in html.unescape(answer.text).lower() and "Sign in again" in answer.text, answer.text
    assert SESSION + "=" not in str(answer.headers.get_list("set-cookie"))


# -- at a provider as others make them --------------------------------------------------------------------------------


def test_a_person_signs_in_asks_and_signs_out(mock: str, serve: Any, browser: Any) -> None:
    set_person(mock, "ann", tenant="U1", role="uploader", groups=["staff"], name="Ann Ames")
    person = browser(served := serve(mock))
    assert person.get("/sign-in/ways").json() == {"provider": True}
    assert person.get("/v1/me").status_code == 401
    back = person.sign_in("ann", to="/?x=1")
    assert (back.status_code, back.headers["location"]) == (303, "/?x=1")
    assert person.get("/v1/me").json() == {
        "tenant_id": "U1", "user_id": "ann", "role": "uploader", "groups": ["staff"], "name": "Ann Ames",
        "signed_in": True,
    }  # fmt: skip
    reply = person.post("/v1/ask", {"question": QUESTIONS["U1"]}).json()
    assert CANARIES["U1"] in reply["answer"] and (reply["tenant_id"], reply["user_id"]) == ("U1", "ann")
    kept = dict(person.http.cookies)
    out = person.post("/sign-out", {})
    to = httpx.URL(out.json()["to"])
    assert str(to).startswith(f"{mock}/oauth2/end_session?")
    assert to.params["client_id"] == CLIENT and to.params["post_logout_redirect_uri"] == served.url + "/"
    told = jwt.decode(to.params["id_token_hint"], options={"verify_signature": False})
    assert told["sub"] == "ann" and person.http.cookies.get(SESSION) is None
    with httpx.Client(base_url=served.url, cookies=kept, trust_env=False) as thief:  # the cookie as it was
        answer = thief.get("/v1/me")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "session_ended")


def test_another_tenants_person_sees_nothing_of_this_one(mock: str, serve: Any, browser: Any) -> None:
    set_person(mock, "ann", tenant="U1")
    set_person(mock, "olaf", tenant="U2", role="admin")
    served = serve(mock)
    mine, theirs = browser(served), browser(served)
    mine.sign_in("ann")
    theirs.sign_in("olaf")
    asked = {"question": QUESTIONS["U1"], "thread_id": "t-1", "memory": "buffer"}
    assert CANARIES["U1"] in mine.post("/v1/ask", asked).text
    for answer in (
        theirs.post("/v1/ask", {**asked, "thread_id": "t-2"}),
        theirs.get("/v1/documents"),
        theirs.get("/v1/threads/t-1"),
        theirs.get("/v1/documents/freezers"),
    ):
        assert CANARIES["U1"] not in answer.text.lower().replace(QUESTIONS["U1"].lower(), "")
    assert theirs.get("/v1/documents/freezers").status_code == 404


def test_changed_groups_act_at_the_next_sign_in(mock: str, serve: Any, browser: Any) -> None:
    set_person(mock, "gil", tenant="U1", groups=["staff"])
    person = browser(serve(mock))
    person.sign_in("gil")
    set_person(mock, "gil", tenant="U1", groups=["board", "staff"], role="reviewer")
    assert person.get("/v1/me").json()["groups"] == ["staff"]
    person.sign_in("gil")
    me = person.get("/v1/me").json()
    assert (me["groups"], me["role"]) == (["board", "staff"], "reviewer")


def test_who_says_no_at_the_provider_is_told(provider: OwnProvider, serve: Any, browser: Any) -> None:
    person = browser(serve(provider.issuer))
    back = httpx.URL(person.at_provider(person.begin().headers["location"])).copy_remove_param("code")
    refused(person.get(str(back.copy_set_param("error", "access_denied"))), 403, "not signed in at the provider")


# -- tokens that will not do ------------------------------------------------------------------------------------------


def hmac_with_the_public_key(provider: OwnProvider, claims: dict[str, Any]) -> str:
    import base64
    import hashlib
    import hmac

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = provider.signers[0].private.public_key().public_bytes(serialization.Encoding.PEM, form)
    head = f"{part({'alg': 'HS256', 'kid': 'one'})}.{part(claims)}"
    mac = hmac.new(public, head.encode(), hashlib.sha256).digest()
    return head + "." + base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "somebody-else"},
        {"aud": ["somebody-else"], "azp": CLIENT},
        {"aud": [CLIENT, "somebody-else"]},  # and no azp
        {"azp": "somebody-else"},
        {"aud": None},
        {"iss": "http://127.0.0.1:1"},
        {"iss": None},
        {"exp": int(time.time()) - 120},
        {"exp": None},
        {"iat": None},
        {"nbf": int(time.time()) + 86_400},
        {"nonce": "another"},
        {"nonce": None},
        {"sub": None},
    ],
)
def test_a_token_with_a_claim_that_will_not_do(
    provider: OwnProvider, serve: Any, browser: Any, claims: dict[str, Any]
) -> None:
    provider.claims = claims
    person = browser(serve(provider.issuer))
    refused(person.sign_in(), 403, "token will not do")
    provider.claims = {}
    assert person.sign_in().status_code == 303


@pytest.mark.parametrize("how", ["none", "hmac", "foreign key", "changed", "no token"])
def test_a_token_that_the_provider_did_not_sign(provider: OwnProvider, serve: Any, browser: Any, how: str) -> None:
    foreign = Signer("one")
    made: dict[str, Callable[[dict[str, Any]], Any]] = {
        "none": lambda claims: jwt.encode(claims, "", algorithm="none", headers={"kid": "one"}),
        "hmac": lambda claims: hmac_with_the_public_key(provider, claims),
        "foreign key": lambda claims: jwt.encode(claims, foreign.private, algorithm="RS256", headers={"kid": "one"}),
        "changed": lambda claims: provider.signed(claims)[:-8] + "AAAAAAAA",
        "no token": lambda claims: None,
    }
    provider.sign = made[how]
    refused(browser(serve(provider.issuer)).sign_in(), 403, "token")


def test_a_new_key_is_fetched_once_and_an_unknown_one_is_refused(
    provider: OwnProvider, serve: Any, browser: Any
) -> None:
    person = browser(serve(provider.issuer))
    assert person.sign_in().status_code == 303 and person.sign_in().status_code == 303
    assert provider.asked["/jwks"] == 1 and provider.asked["/.well-known/openid-configuration"] == 1
    provider.signers.insert(0, Signer("two"))
    assert person.sign_in().status_code == 303 and person.sign_in().status_code == 303
    assert provider.asked["/jwks"] == 2
    unknown = Signer("three")
    provider.sign = lambda claims: jwt.encode(claims, unknown.private, algorithm="RS256", headers={"kid": "three"})
    refused(person.sign_in(), 403, "token will not do")
    assert provider.asked["/jwks"] == 3


# -- who may come in --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("person", "why"),
    [
        ({"tenant": None}, "the claim 'tenant' is missing"),
        ({"tenant": "U9"}, "no tenant 'U9' here"),
        ({"tenant": "public"}, "names no tenant"),
        ({"tenant": ["U1", "U2"]}, "names no tenant"),
        ({"tenant": {"U1": 1}}, "names no tenant"),
        ({"role": "operator"}, "the claim 'role'"),
        ({"role": "root"}, "the claim 'role'"),
        ({"role": ["admin", "auditor"]}, "the claim 'role'"),
        ({"groups": ["/staff"]}, "the claim 'groups'"),
        ({"groups": "staff"}, "the claim 'groups'"),
        ({"groups": [f"g{n}" for n in range(65)]}, "the claim 'groups'"),
        ({"_claim_names": {"groups": "src1"}}, "more groups than"),
    ],
)
def test_claims_that_are_missing_or_odd_are_refused_with_a_page_that_says_so(
    provider: OwnProvider, serve: Any, browser: Any, person: dict[str, Any], why: str
) -> None:
    provider.claims = person
    refused(browser(serve(provider.issuer)).sign_in(), 403, why)


def test_claims_are_read_where_the_settings_say(provider: OwnProvider, serve: Any, browser: Any) -> None:
    provider.person = {
        "sub": "-_odd id/1", "https://x.example/org": ["U1"], "realm_access": {"roles": ["offline_access", "admin"]},
    }  # fmt: skip
    named = {"oidc_tenant_claim": "https://x.example/org", "oidc_role_claim": "realm_access.roles"}
    person = browser(serve(provider.issuer, **named))
    assert person.sign_in().status_code == 303
    me = person.get("/v1/me").json()
    assert (me["tenant_id"], me["role"], me["groups"]) == ("U1", "admin", []) and len(me["user_id"]) == 40


# -- whose sign-in it is ----------------------------------------------------------------------------------------------


def test_a_state_makes_one_session_in_the_browser_that_began_it(
    provider: OwnProvider, serve: Any, browser: Any
) -> None:
    served = serve(provider.issuer)
    person, other = browser(served), browser(served)
    begun = person.begin()
    kept = dict(person.http.cookies)
    back = person.at_provider(begun.headers["location"])
    refused(other.get(back), 400, "not begun in this browser")
    other.begin()  # a sign-in of its own does not help
    refused(other.get(back), 400, "not begun in this browser")
    assert person.get(back).status_code == 303
    refused(person.get(back), 400, "not begun in this browser")  # its cookie went
    again = person.at_provider(begun.headers["location"])  # the same state, with a code that was not used
    with httpx.Client(base_url=served.url, cookies=kept, trust_env=False) as thief:
        refused(thief.get(again), 400, "used already")
        fresh = httpx.URL(again).copy_set_param("state", "x" * 43)
        refused(thief.get(str(fresh)), 400, "not begun in this browser")
    assert all(len(form["code_verifier"]) >= 43 for form in provider.forms) and len(provider.forms) == 1


def test_a_changed_cookie_of_a_sign_in_is_none(provider: OwnProvider, serve: Any, browser: Any) -> None:
    served = serve(provider.issuer)
    person = browser(served)
    begun = person.begin()
    sealed = person.http.cookies[SIGNING_IN]
    assert provider.issuer not in sealed
    back = person.at_provider(begun.headers["location"])
    for odd in (sealed[:-8] + "AAAAAAA=", "", "x", "é", sealed + "; " + SIGNING_IN + "=" + sealed):
        answer = httpx.get(back, headers={b"Cookie": f"{SIGNING_IN}={odd}".encode()}, trust_env=False)
        refused(answer, 400, "not begun in this browser")


def test_another_provider_s_answer_is_refused(provider: OwnProvider, serve: Any, browser: Any) -> None:
    person = browser(serve(provider.issuer))
    back = person.at_provider(person.begin().headers["location"])
    refused(person.get(back + "&iss=https://elsewhere.example"), 403, "another provider")
    assert provider.forms == []


@pytest.mark.parametrize(
    "to", ["https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil", "evil", "/\t/evil.example",
           "/ /evil", "/x\r\nSet-Cookie: a=b", "/" + "a" * 600, "javascript:alert(1)"]
)  # fmt: skip
def test_nobody_is_sent_elsewhere_after_signing_in(provider: OwnProvider, serve: Any, browser: Any, to: str) -> None:
    person = browser(serve(provider.issuer))
    refused(person.begin(to), 400, "must be a path of this service")
    assert person.http.cookies.get(SIGNING_IN) is None


# -- sessions ---------------------------------------------------------------------------------------------------------


def test_a_change_must_come_from_a_page_of_this_service(provider: OwnProvider, serve: Any, browser: Any) -> None:
    served = serve(provider.issuer)
    person = browser(served)
    person.sign_in()
    asked = {"question": QUESTIONS["U1"]}
    for origin in ("http://evil.example", "null", served.url.replace("127.0.0.1", "localhost"), served.url + "0"):
        answer = person.post("/v1/ask", asked, origin=origin)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "foreign_page"), origin
        assert person.post("/sign-out", {}, origin=origin).status_code == 403
    assert person.http.post("/v1/ask", json=asked).status_code == 403
    assert person.http.delete("/v1/threads/t").status_code == 403
    assert person.post("/v1/ask", asked).status_code == 200 and person.get("/v1/me").status_code == 200


def test_a_name_pointed_at_this_machine_is_not_believed(provider: OwnProvider, serve: Any, browser: Any) -> None:
    person = browser(serve(provider.issuer))
    person.sign_in()
    rebound = {"Host": "evil.example", "Origin": "http://evil.example"}
    value = {"Cookie": f"{SESSION}={person.http.cookies[SESSION]}"}
    assert httpx.get(f"{person.url}/v1/me", headers={**rebound, **value}, trust_env=False).status_code == 403
    refused(httpx.get(f"{person.url}/sign-in", headers=rebound, trust_env=False), 403, "CORDON_OIDC_PUBLIC_URL")


def test_a_session_opens_the_pages_doors_alone_and_a_key_wins(provider: OwnProvider, serve: Any, browser: Any) -> None:
    served = serve(provider.issuer)
    person = browser(served)
    person.sign_in()
    for path in ("/agent/invoke", "/mcp"):
        assert person.post(path, {"input": {"question": "x"}}).status_code == 401
    key = {"Authorization": f"Bearer {served.keys['U2', 'admin']}"}
    me = person.get("/v1/me", headers=key).json()
    assert (me["tenant_id"], me["signed_in"], me["name"]) == ("U2", False, "")
    assert person.get("/v1/me", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert person.http.post("/v1/ask", json={"question": QUESTIONS["U2"]}, headers=key).status_code == 200


def later(served: Served, seconds: float) -> None:
    """So many seconds pass for the sessions."""
    sessions = served.service.people.sessions
    before = sessions._clock
    sessions._clock = lambda: before() + seconds


def ended(answer: httpx.Response) -> bool:
    told = answer.json()
    return (
        answer.status_code == 401 and told["error"]["code"] == "session_ended" and "again" in told["error"]["message"]
    )


def test_an_unused_session_ends_and_a_used_one_goes_on(provider: OwnProvider, serve: Any, browser: Any) -> None:
    served = serve(provider.issuer, oidc_idle_s=600)
    person = browser(served)
    person.sign_in()
    for _ in range(4):
        later(served, 400)
        assert person.get("/v1/me").status_code == 200
    later(served, 601)
    assert ended(person.get("/v1/me"))
    person.sign_in()
    assert person.get("/v1/me").status_code == 200


def test_every_session_ends_at_its_limit_however_much_it_is_used(
    provider: OwnProvider, serve: Any, browser: Any
) -> None:
    served = serve(provider.issuer, oidc_session_s=2_000)
    person = browser(served)
    assert "Max-Age=2000" in str(person.sign_in().headers.get_list("set-cookie"))
    for _ in range(3):
        later(served, 600)
        assert person.get("/v1/me").status_code == 200
    later(served, 201)
    assert ended(person.get("/v1/me"))


@pytest.mark.parametrize("odd", ["", "x", "0" * 32 + "." + "A" * 43, "é"])
def test_a_forged_cookie_opens_nothing(provider: OwnProvider, serve: Any, browser: Any, odd: str) -> None:
    person = browser(serve(provider.issuer))
    person.sign_in()
    value = person.http.cookies[SESSION]
    for cookie in (odd, value[:-1] + ("A" if value[-1] != "A" else "B"), f"{value}; {SESSION}={value}"):
        answer = httpx.get(f"{person.url}/v1/me", headers={b"Cookie": f"{SESSION}={cookie}".encode()}, trust_env=False)
        assert answer.status_code == 401, cookie


def test_a_session_outlives_a_restart(provider: OwnProvider, another: Callable[..., Any], browser: Any) -> None:
    settings = {"oidc_issuer": provider.issuer, **KNOWN}
    with another(**settings) as served:
        person = browser(served)
        person.sign_in()
    with another(**settings) as served:
        cookie = {"Cookie": f"{SESSION}={person.http.cookies[SESSION]}"}
        assert httpx.get(f"{served.url}/v1/me", headers=cookie, trust_env=False).json()["user_id"] == "ann"


def test_workers_of_one_database_know_each_others_sessions(
    provider: OwnProvider, small: Path, tmp_path: Path, postgres: Server
) -> None:
    home, name = "http://localhost:9", postgres.database(like="prepared")
    known = {**WIDE, **KNOWN, "oidc_issuer": provider.issuer, "oidc_public_url": home, "artifacts": False}
    known["database_url"] = postgres.url(name)
    with ExitStack() as done:
        done.callback(postgres.drop, name)
        one, other = (
            done.enter_context(serving(load(environ={}, home=tmp_path / w, out=tmp_path / "out", **known)))
            for w in "ab"
        )
        begun = httpx.get(f"{one.url}/sign-in", trust_env=False)
        with httpx.Client(trust_env=False) as there:
            back = httpx.URL(there.get(begun.headers["location"]).headers["location"])
        sealed = begun.headers["set-cookie"].partition(";")[0]
        came = httpx.get(other.url + back.raw_path.decode(), headers={"Cookie": sealed}, trust_env=False)
        cookie = {"Cookie": came.headers.get_list("set-cookie")[1].partition(";")[0], "Origin": home}
        assert [httpx.get(f"{w.url}/v1/me", headers=cookie, trust_env=False).status_code for w in (one, other)] == [
            200
        ] * 2
        assert httpx.post(f"{one.url}/sign-out", json={}, headers=cookie, trust_env=False).status_code == 200
        assert [httpx.get(f"{w.url}/v1/me", headers=cookie, trust_env=False).status_code for w in (one, other)] == [
            401
        ] * 2


def test_cookies_are_out_of_reach_of_scripts_other_sites_and_plain_http(
    provider: OwnProvider, serve: Any, browser: Any
) -> None:
    home = "https://cordon.example"
    served = serve(provider.issuer, oidc_public_url=home)
    person = browser(served)
    begun = person.begin()
    (sealed,) = begun.headers.get_list("set-cookie")
    assert sealed.startswith(f"__Host-{SIGNING_IN}=")
    assert sealed.endswith("; Path=/; HttpOnly; SameSite=Lax; Max-Age=600; Secure")
    back = httpx.URL(person.at_provider(begun.headers["location"]))
    assert str(back).startswith(f"{home}/sign-in/callback?")
    came = httpx.get(
        f"{served.url}{back.raw_path.decode()}", headers={"Cookie": sealed.partition(";")[0]}, trust_env=False
    )
    gone, made = came.headers.get_list("set-cookie")
    assert gone.startswith(f"__Host-{SIGNING_IN}=; ") and "Max-Age=0" in gone
    assert made.startswith(f"__Host-{SESSION}=")
    assert made.endswith("; Path=/; HttpOnly; SameSite=Strict; Max-Age=36000; Secure")
    value = made.partition(";")[0]
    sent = {"Cookie": value, "Origin": home}
    asked: dict[str, Any] = {"json": {"question": QUESTIONS["U1"]}, "trust_env": False, "timeout": 60}
    assert httpx.post(f"{served.url}/v1/ask", headers=sent, **asked).status_code == 200
    assert httpx.post(f"{served.url}/v1/ask", headers={**sent, "Origin": served.url}, **asked).status_code == 403
    plain = {"Cookie": value.removeprefix("__Host-"), "Origin": home}  # as a page without TLS could set it
    assert httpx.post(f"{served.url}/v1/ask", headers=plain, **asked).status_code == 401


# -- a provider that is away, or odd ----------------------------------------------------------------------------------


def test_without_the_provider_the_page_says_so_and_keys_still_work(serve: Any, browser: Any) -> None:
    with own_provider() as gone:
        issuer = gone.issuer
    served = serve(issuer)
    refused(browser(served).begin(), 503, "provider is not there")
    with served.client("U1") as program:
        assert CANARIES["U1"] in program.post("/v1/ask", json={"question": QUESTIONS["U1"]}).text
        assert program.get("/readyz").status_code == 200


def test_who_is_signed_in_stays_so_and_can_sign_out_without_the_provider(
    another: Callable[..., Any], browser: Any
) -> None:
    with ExitStack() as running, own_provider() as provider:
        served = running.enter_context(another(oidc_issuer=provider.issuer, **KNOWN))
        person = browser(served)
        person.sign_in()
    with another(oidc_issuer=provider.issuer, **KNOWN) as served:  # which knows nothing of the provider yet
        person.url, person.http.base_url = served.url, served.url
        assert person.get("/v1/me").status_code == 200
        assert person.post("/sign-out", {}).json() == {"to": "/"}
        assert person.get("/v1/me").status_code == 401


def large(handler: Any, value: Any) -> None:
    """What it should be, and then blanks without an end."""
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):  # nobody reads to the end
        handler.wfile.write(json.dumps(value).encode())
        for _ in range(40):
            handler.wfile.write(b" " * 65_536)


def elsewhere(handler: Any) -> None:
    handler.send_response(302)
    handler.send_header("Location", "http://127.0.0.1:1/")
    handler.end_headers()


@pytest.mark.parametrize(
    ("about", "answer"),
    [
        ({"issuer": "https://elsewhere.example"}, None),
        ({"token_endpoint": "http://cordon.example/token"}, None),
        ({"jwks_uri": "file:///etc/passwd"}, None),
        ({"authorization_endpoint": None}, None),
        ({}, elsewhere),
        ({}, lambda handler: handler.tell(200, [])),
        ({}, lambda handler: handler.tell(500, {})),
    ],
)
def test_a_provider_that_answers_oddly_is_not_gone_to(
    provider: OwnProvider, serve: Any, browser: Any, about: dict[str, Any], answer: Any
) -> None:
    provider.about = about
    if answer is not None:
        provider.answers["/.well-known/openid-configuration"] = answer
    refused(browser(serve(provider.issuer)).begin(), 503, "provider is not there")


@pytest.mark.parametrize(
    "answer",
    [
        lambda handler: handler.tell(200, []),
        lambda handler: handler.tell(500, {"error": ["x"]}),
        lambda handler: handler.tell(200, "x"),
        elsewhere,
    ],
)
def test_an_odd_answer_for_the_code_is_told(provider: OwnProvider, serve: Any, browser: Any, answer: Any) -> None:
    provider.answers["/token"] = answer
    back = browser(serve(provider.issuer)).sign_in()
    assert back.status_code in (403, 503), back.text
    refused(back, back.status_code, "provider")


@pytest.mark.parametrize("token", ["W10.e30.AA", "e30.e30.AA", "é.e30.AA", ".", "a" * 100_000])
def test_what_is_no_token_is_refused(provider: OwnProvider, serve: Any, browser: Any, token: str) -> None:
    provider.sign = lambda claims: token
    refused(browser(serve(provider.issuer)).sign_in(), 403, "token will not do")


def test_an_answer_without_an_end_is_not_read(
    provider: OwnProvider, serve: Any, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.service.oidc.provider.AGAIN_S", 0.1)
    keys = {"keys": [signer.public() for signer in provider.signers]}
    provider.answers["/.well-known/openid-configuration"] = lambda handler: large(handler, provider.discovery())
    person = browser(served := serve(provider.issuer))
    refused(person.begin(), 503, "more than 262,144 bytes")
    del provider.answers["/.well-known/openid-configuration"]
    provider.answers["/jwks"] = lambda handler: large(handler, keys)
    time.sleep(0.2)
    refused(browser(served).sign_in(), 503, "more than 262,144 bytes")


def test_a_silent_provider_holds_up_nobody_else(
    provider: OwnProvider, serve: Any, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graph.service.oidc import fetching

    monkeypatch.setattr(fetching, "_STEP_S", 1.0)
    provider.answers["/.well-known/openid-configuration"] = lambda handler: time.sleep(3)
    served = serve(provider.issuer)
    begun = time.monotonic()
    refused(browser(served).begin(), 503, "cannot be reached")
    assert time.monotonic() - begun < 2.5
    refused(browser(served).begin(), 503, "cannot be reached")  # told at once
    assert provider.asked["/.well-known/openid-configuration"] == 1


# -- what is kept and told --------------------------------------------------------------------------------------------


def test_no_secret_is_kept_or_logged(
    provider: OwnProvider, serve: Any, browser: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    served = serve(provider.issuer)
    person = browser(served)
    begun = person.begin()
    back = person.at_provider(begun.headers["location"])
    person.get(back)
    session = person.http.cookies[SESSION]
    provider.claims = {"tenant": "U9"}
    person.sign_in()
    ours = "\n".join(str(vars(r)) for r in caplog.records if r.name.startswith("cordon"))
    code = httpx.URL(back).params["code"]
    assert "/sign-in/callback" in ours
    for secret in (SECRET, session.partition(".")[2], httpx.URL(back).params["state"], f"code={code}", "Ann Ames"):
        assert secret not in ours
    if not served.settings.database_url.get_secret_value():
        kept = b"".join(path.read_bytes() for path in served.settings.home.glob("sessions.db*"))
        assert b"Ann Ames" in kept and session.partition(".")[2].encode() not in kept and b"eyJ" not in kept


def test_an_operator_ends_a_persons_sessions_beside_the_service(
    provider: OwnProvider, serve: Any, browser: Any, inside: Run
) -> None:
    served = serve(provider.issuer)
    ann, eve = browser(served), browser(served)
    ann.sign_in()
    provider.person = {"sub": "eve", "tenant": "U1"}
    eve.sign_in()
    where: dict[str, Any] = {"home": served.settings.home}
    listed = inside("sessions", "list", "--tenant", "U1", "--json", **where).stdout
    assert [(one["user_id"], one["name"]) for one in json.loads(listed)] == [("ann", "Ann Ames"), ("eve", "")]
    assert "hash" not in listed and "hint" not in listed
    assert inside("sessions", "list", "--tenant", "U2", **where).stdout == ""
    assert "ended 1" in inside("sessions", "end", "--tenant", "U1", "--user", "ann", **where).stdout
    assert (ann.get("/v1/me").status_code, eve.get("/v1/me").status_code) == (401, 200)
    assert "ended 1" in inside("sessions", "end", "--tenant", "U1", **where).stdout
    assert eve.get("/v1/me").status_code == 401
    assert "ended 0" in inside("sessions", "end", "--tenant", "U1", **where).stdout


def test_an_erasure_ends_the_sessions(provider: OwnProvider, another: Callable[..., Any], browser: Any) -> None:
    with another(oidc_issuer=provider.issuer, **KNOWN) as served:
        person = browser(served)
        person.sign_in()
        sessions = served.service.agent.deps.stores.sessions
        assert sessions.forget("U2") == 0 and person.get("/v1/me").status_code == 200
        assert sessions.forget("U1", "ann") == 1 and person.get("/v1/me").status_code == 401


# -- settings ---------------------------------------------------------------------------------------------------------


def test_without_a_provider_there_is_no_sign_in(served: Served) -> None:
    with httpx.Client(base_url=served.url, trust_env=False) as client:
        assert client.get("/sign-in/ways").json() == {"provider": False}
        assert client.get("/sign-in").status_code == client.get("/sign-in/callback").status_code == 404
        answer = client.get("/v1/me", headers={"Cookie": f"{SESSION}={'0' * 32}.{'A' * 43}"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")
    with served.client("U1", "member") as client:
        assert client.post("/sign-out", json={}).json() == {"to": "/"}
        assert client.get("/v1/me").json()["user_id"] == "member-of-U1"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"oidc_issuer": "http://idp.example", "oidc_client_id": "x"}, "https://host is expected"),
        ({"oidc_issuer": "https://a@idp.example", "oidc_client_id": "x"}, "https://host is expected"),
        ({"oidc_issuer": "https://idp.example?x=1", "oidc_client_id": "x"}, "https://host is expected"),
        ({"oidc_issuer": "https://idp.example"}, "oidc_issuer needs it"),
        ({"oidc_public_url": "https://cordon.example/below"}, "https://host is expected"),
        ({"oidc_public_url": "http://cordon.example"}, "https://host is expected"),
        ({"oidc_scopes": "profile"}, "openid"),
        ({"oidc_client_secret": ["a secret"]}, "a value that is not shown"),
    ],
)
def test_settings_that_will_not_do_are_told(tmp_path: Path, values: dict[str, Any], why: str) -> None:
    with pytest.raises(BadSettings, match=why):
        load(tmp_path, environ={}, **values)


def test_a_provider_without_what_speaks_to_it_stops_the_start(
    provider: OwnProvider, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.service.people.find_spec", lambda name: None)
    with pytest.raises(BadSettings, match="not installed") as told:
        serve(provider.issuer)
    assert "cordon[oidc]" in told.value.hint


def test_nothing_is_fetched_before_somebody_signs_in(provider: OwnProvider, serve: Any) -> None:
    served = serve(provider.issuer)
    with served.client("U1") as client:
        client.get("/v1/documents")
    assert provider.asked == {}
