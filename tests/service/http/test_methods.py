"""What HTTP asks of every address, whatever stands there: methods, HEAD, slashes, what is announced of a body."""

import gzip
import http.client
import json
from urllib.parse import urlsplit

import httpx
import pytest

from evals.serving import QUESTIONS, Served

ASK = json.dumps({"question": QUESTIONS["U1"]}).encode()


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/v1/documents", "GET, HEAD, POST"),
        ("PUT", "/v1/documents/x", "DELETE, GET, HEAD"),
        ("PATCH", "/v1/ask", "POST"),
        ("PUT", "/v1/threads", "GET, HEAD"),
        ("OPTIONS", "/", "GET, HEAD"),
        ("HEAD", "/v1/ask", "POST"),
        ("GET", "/mcp", "POST"),
    ],
)
def test_a_method_that_an_address_does_not_take_is_405_with_those_it_takes(
    u1: httpx.Client, method: str, path: str, allow: str
) -> None:
    sent = u1.request(method, path)
    assert (sent.status_code, sent.headers["allow"]) == (405, allow)


def test_head_is_get_without_the_body(u1: httpx.Client) -> None:
    for path in ("/v1/models", "/v1/documents", "/v1/documents/freezers", "/", "/livez", "/docs", "/openapi.json"):
        got, head = u1.get(path), u1.head(path)
        assert (head.status_code, head.content) == (got.status_code, b"") == (200, b""), path
        assert head.headers["content-type"] == got.headers["content-type"]
    assert u1.head("/v1/documents/nothing").status_code == 404
    assert u1.get("/v1/models").status_code == 200  # on the same connection: nothing was left on it


def test_a_slash_at_the_end_changes_nothing(u1: httpx.Client) -> None:
    for path in ("/v1/threads", "/v1/documents", "/v1/models", "/livez", "/docs"):
        assert u1.get(path + "/").content == u1.get(path).content, path
    assert u1.post("/v1/ask/", content=ASK, headers={"Content-Type": "application/json"}).status_code == 200
    sent = u1.get("/agent/playground", headers={"Host": "evil.example"})
    assert (sent.status_code, sent.headers["location"]) == (308, "/agent/playground/")
    assert u1.get("/v1/threads/", headers={"Authorization": ""}).status_code == 401


def test_a_packed_body_is_415_and_names_the_packing(u1: httpx.Client) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    for path in ("/v1/ask", "/v1/documents"):
        sent = u1.post(path, content=gzip.compress(ASK), headers=headers)
        assert sent.status_code == 415 and "'gzip'" in sent.json()["error"]["message"]
        assert sent.headers["accept-encoding"] == "identity"


def test_two_content_types_are_400(served: Served) -> None:
    line = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=30)
    for path in ("/v1/ask", "/v1/documents"):
        line.putrequest("POST", path)
        for name, value in (
            ("Authorization", f"Bearer {served.keys['U1', 'admin']}"),
            ("Content-Type", "application/json"),
            ("Content-Type", "multipart/form-data; boundary=b"),
            ("Content-Length", str(len(ASK))),
        ):
            line.putheader(name, value)
        line.endheaders(ASK)
        answer = line.getresponse()
        assert answer.status == 400 and b"twice" in answer.read()
        line.close()
