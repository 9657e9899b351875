"""The schema of a repair: what it may be, and that it makes nobody read anything."""

import json
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from graph.errors import BadInput
from graph.policy.filters import repair


@pytest.mark.parametrize("place", ["root", "property", "unused", "through"])
def test_no_reference_leads_out(tmp_path: Path, place: str) -> None:
    asked: list[str] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    (tmp_path / "s.json").write_text('{"type": "object"}')
    server = HTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        for out in (f"http://127.0.0.1:{server.server_port}/s.json", (tmp_path / "s.json").as_uri(), "#/none", "s"):
            ref: dict[str, Any] = {"$ref": out}
            schema: dict[str, Any] = {
                "root": ref,
                "property": {"properties": {"a": ref}},
                "unused": {"properties": {"b": {"anyOf": [{"type": "null"}, ref]}}},
                "through": {"$ref": "#/x/y", "x": {"y": ref}},
            }[place]
            with pytest.raises(BadInput, match="the schema refers to") as caught:
                repair('{"a": 1}', schema)
            assert out in str(caught.value)
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []


@pytest.mark.parametrize(
    "schema",
    [5, [], True, "object", {"type": "foo"}, {"properties": 5}, {"properties": {"a": {"minimum": "x"}}}, {"pattern": "("}, {"$ref": 5}, {"$ref": "#/x", "x": {"type": "foo"}}],
    ids=str,
)  # fmt: skip
def test_what_is_no_schema_is_said_to_be_none(schema: Any) -> None:
    with pytest.raises(BadInput, match=r"^the schema "):
        repair("no json at all", schema)


def test_references_within_the_schema_are_followed() -> None:
    tree = {"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "properties": {"next": {"$ref": "#/$defs/t"}}}}}
    assert repair('{"next": {"next": {}}}', tree)["ok"]
    assert not repair('{"next": {"next": 5}}', tree)["ok"]


HARD = "^(a|a)*$"
WORD = "a" * 60 + "b"


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({"a": WORD}, {"properties": {"a": {"type": "string", "pattern": HARD}}}),
        ({WORD: 1}, {"patternProperties": {HARD: {"type": "integer"}}}),
        ({WORD: 1}, {"patternProperties": {HARD: {}}, "additionalProperties": False}),
        ({WORD: 1}, {"propertyNames": {"pattern": HARD}}),
    ],
)
def test_a_pattern_that_takes_ages_is_given_up(value: Any, schema: Any) -> None:
    begun = time.process_time()
    with pytest.raises(BadInput, match="takes too long"):
        repair(json.dumps(value), schema)
    assert time.process_time() - begun < 3  # it would be for ever


def test_patterns_hold_as_before() -> None:
    slug = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[a-z]+(?:-[a-z]+)*$"}}}
    assert repair('{"a": "one-two"}', slug)["ok"]
    assert not repair('{"a": "one--two"}', slug)["ok"]
    named = {"patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": False}
    assert repair('{"n_a": 1}', named)["ok"]
    assert not repair('{"n_a": "x"}', named)["ok"]
    assert not repair('{"n_a": 1, "other": 2}', named)["ok"]
    rest = {"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}
    assert repair('{"a": "x", "b": 1}', rest)["ok"]
    assert not repair('{"a": "x", "b": "x"}', rest)["ok"]


@pytest.mark.parametrize("schema", [{"$id": 5}, {"allOf": [{}], "$ref": "#/allOf/x"}, {"$ref": 5}, {"$ref": "#/a/%"}])
def test_odd_references_are_the_schemas_fault(schema: Any) -> None:
    with pytest.raises(BadInput, match="schema"):
        repair('{"a": 1}', schema)
