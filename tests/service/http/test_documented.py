"""docs/service.md says what is so: its curl lines run, its roles and routes are the service's; and what is optional may be missing."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.security.doors import routes
from evals.serving import CANARIES, Served
from graph.service.http.caller import PERMISSIONS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "service.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    found = re.findall(r"^\$ (curl(?:.*\\\n)*.*)$", PAGE, re.M)
    assert len(found) >= 3
    return found


def test_the_curl_lines_run_as_they_stand(another: Callable[..., Any], tmp_path: Path) -> None:
    """On a service of its own: they upload documents, which other tests would find among theirs."""
    with another() as served:
        said = _run(served, tmp_path)
    assert CANARIES["U1"] in said[0]["answer"]
    assert [f["name"] for f in said[1]["files"]] == ["report.pdf", "notes.md"] == [f["name"] for f in said[2]["files"]]


def _run(served: Served, tmp_path: Path) -> list[Any]:
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.4 nothing")
    (tmp_path / "notes.md").write_text("# Curlew\n\nThe curlew valve is open.\n")
    variables = {"KEY": served.keys["U1", "admin"], "JOB": ""}
    said = []
    for line in blocks():
        command = line.replace("localhost:8000", served.url.removeprefix("http://"))
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", **variables},
            capture_output=True,
            check=True,
        )
        said.append(json.loads(done.stdout))
        variables["JOB"] = said[-1].get("job_id", variables["JOB"])
    return said


def test_every_route_and_role_is_on_the_page(served: Served) -> None:
    rows = dict(re.findall(r"^\| (member|uploader|admin|reviewer|auditor|operator) \| (.*) \|$", PAGE, re.M))
    assert set(rows) == set(PERMISSIONS)
    for route in routes(served.inner):
        stem = re.sub(r"/\{.*", "", route.path) or "/"
        if stem not in ("/", "/page", "/docs", "/openapi.json"):
            assert ("/agent/" if stem.startswith("/agent/") else stem) in PAGE, route


def test_without_the_optional_packages_the_doors_say_what_to_install(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("langserve", "mcp.server", "mcp_types", "mcp.server.streamable_http_manager"):
        monkeypatch.setitem(sys.modules, name, None)
    with another() as served, served.client("U1", "member") as client:
        for path, package in (("/agent/invoke", "langserve"), ("/mcp", "mcp")):
            absent = client.post(path, json={"input": {"question": "x"}})
            assert (absent.status_code, absent.json()["error"]["code"]) == (501, "not_installed")
            assert f"cordon[{package}]" in absent.json()["error"]["message"]
        assert client.get("/v1/models").status_code == 200


def test_a_page_of_a_listed_origin_may_call_and_no_other(another: Callable[..., Any]) -> None:
    ask = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    with another(cors_origins="https://a.example, https://b.example") as served, served.client() as client:
        good = client.options("/v1/ask", headers={"Origin": "https://b.example", **ask})
        bad = client.options("/v1/ask", headers={"Origin": "https://c.example", **ask})
    assert good.headers["access-control-allow-origin"] == "https://b.example"
    assert "access-control-allow-origin" not in bad.headers
