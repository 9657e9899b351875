"""The matrix of doors: nobody gets what the key does not give, and the matrix sees it when a guard is broken."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.security.doors import PLACES, REVIEW, Cell, Matrix, Route, routes, table, untouched


def wrong(cells: list[Cell]) -> list[str]:
    return [f"{c.route} | {c.credential} | {c.place}: {c.why}" for c in cells if c.why]


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")  # both of LangServe's own calls
@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")
def test_every_route_and_nobody_gets_in_who_should_not(another: Callable[..., Any]) -> None:
    """On a service of its own: the deletes among the routes would take other tests' documents away."""
    with another(review=REVIEW) as served:
        cells, known = list(Matrix(served).run()), set(routes(served.inner))
    assert wrong(cells) == []
    tried = {c.route for c in cells}
    assert tried == known and len(cells) > 1_000
    assert {c.place for c in cells} == set(PLACES)
    for path in (
        "/v1/ask",
        "/v1/chat/completions",
        "/v1/responses",
        "/agent/batch",
        "/agent/playground/{file_path:path}",
        "/mcp",
    ):
        assert any(r.path == path for r in tried), path
    print(table(cells))


def test_another_tenants_deletes_remove_nothing(another: Callable[..., Any]) -> None:
    with another() as served:
        matrix = Matrix(served)
        deletes = [r for r in routes(served.inner) if r.method == "DELETE"]
        with served.client("U2", "admin") as client:
            for route in deletes:
                for place in PLACES:
                    assert matrix._send(client, route, served.keys["U2", "admin"], place).status_code in (404, 422)
        assert untouched(served, matrix.names) == []


def test_it_sees_a_revoked_key_that_opens(another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from graph.context import Principal
    from graph.service.keys import Keys

    genuine = Keys.principal
    monkeypatch.setattr(
        Keys, "principal", lambda self, presented: genuine(self, presented) or ("broken", Principal("U1", "x", "admin"))
    )
    with another() as served:
        found = wrong(list(Matrix(served).run("GET /v1/documents")))
    assert any("revoked" in line for line in found) and any("forged" in line for line in found)


def test_it_sees_a_role_that_is_not_asked_for(another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from graph.service.http.caller import Caller

    monkeypatch.setattr(Caller, "may", lambda self, permission: True)
    with another() as served:
        found = wrong(list(Matrix(served).run("/v1/audit")))
    assert found and all("wrong role" in line for line in found)


def test_it_sees_a_tenant_that_is_taken_from_a_header(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from graph.service.http.credentials import Credentials

    genuine = Credentials.principal

    def gullible(self: Any, headers: Any, *, basic: bool) -> Any:
        found = genuine(self, headers, basic=basic)
        named = headers.get(b"x-tenant", [b""])[0].decode()
        return (found[0], replace(found[1], tenant_id=named)) if found and named else found

    monkeypatch.setattr(Credentials, "principal", gullible)
    with another() as served:
        found = wrong(list(Matrix(served).run("POST /v1/ask")))
    assert found and all("other tenant | header" in line for line in found)


def test_a_route_that_asks_for_nothing_is_behind_the_gate_all_the_same(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with another() as served:

        async def forgetful() -> str:
            return "hello"

        served.inner.add_api_route("/v1/forgetful", forgetful, methods=["GET"])

        matrix = Matrix(served)
        assert wrong(list(matrix.run("forgetful"))) == []
        monkeypatch.setattr("graph.service.http.authentication.is_open", lambda method, path: True)
        assert any("no key" in line for line in wrong(list(matrix.run("forgetful"))))


def test_a_route_without_a_sample_request_is_told(another: Callable[..., Any]) -> None:
    with another() as served:

        async def brand_new(body: dict[str, int]) -> dict[str, int]:
            return {"needed": body["needed"]}

        served.inner.add_api_route("/v1/brand-new", brand_new, methods=["POST"])

        assert Route("POST", "/v1/brand-new") in routes(served.inner)
        found = wrong(list(Matrix(served).run("brand-new")))
    assert any("its own" in line for line in found)
