"""JSON out of what a model wrote: untouched when valid, mended when broken, never a crash."""

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.policy.repair import MAX_DEPTH, repair

POOL = Path(os.environ.get("CORDON_TEST_POOL", Path(__file__).resolve().parents[4] / "shared" / "data" / "pool"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(JSON, st.booleans())
@settings(max_examples=300)
def test_valid_json_comes_back_untouched(value: Any, ascii: bool) -> None:
    found = repair(json.dumps(value, ensure_ascii=ascii))
    assert (found.ok, found.value, found.steps) == (True, value, [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Sure! Here it is:\n```json\n{"a": 1}\n```\nAnything else?', {"a": 1}),
        ('As [1] says: {"a": "see [2]"} (see [2]).', {"a": "see [2]"}),
        ('The set {x} is small. {"a": 1}', {"a": 1}),
        ('<answer>{"a": 1}</answer>', {"a": 1}),
        ('```\n{"a": "```"}\n```', {"a": "```"}),
        ("{'a': 'it\\'s', 'b': True, 'c': None}", {"a": "it's", "b": True, "c": None}),
        ("{a: 1, /* why */ b: 2, // so\n c: .5, # and\n}", {"a": 1, "b": 2, "c": 0.5}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"a": [1, 2, {"b": "x', {"a": [1, 2, {"b": "x"}]}),
        ('{"a": 1, "b', {"a": 1}),
        ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ('{"a": "he said "hi" to me", "b": 1}', {"a": 'he said "hi" to me', "b": 1}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('{“a”: “b”}', {"a": "b"}),
        ("(1, 2)", [1, 2]),
        ('{&quot;a&quot;: 1}', {"a": 1}),
        ('{"a": "\\ud83d\\ude00",}', {"a": "😀"}),
        ('{"a": 1}}', {"a": 1}),
    ],
)  # fmt: skip
def test_broken_json_is_mended(text: str, value: Any) -> None:
    found = repair(text)
    assert found.ok
    assert found.value == value
    assert found.steps


@pytest.mark.parametrize("text", ["", " ", "I cannot answer that.", "True", "\x00\x01", "]", "NaN"])
def test_what_holds_no_json_is_said_to_hold_none(text: str) -> None:
    found = repair(text)
    assert (found.ok, found.value, found.steps) == (False, "", ["unreadable"])
    assert found.errors


SCHEMA = {
    "type": "object",
    "required": ["answered", "sentences"],
    "properties": {
        "answered": {"type": "boolean"},
        "level": {"enum": ["high", "low"], "type": "string"},
        "share": {"type": ["number", "null"]},
        "sentences": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["text", "sources"],
                "properties": {
                    "text": {"type": "string", "minLength": 1},
                    "sources": {"type": "array", "items": {"type": "integer"}},
                },
            },
        },
    },
    "additionalProperties": False,
}
FULL: dict[str, Any] = {"answered": True, "sentences": [{"text": "x", "sources": [1, 2]}]}


@pytest.mark.parametrize(
    "given_value",
    [
        FULL,
        [FULL],
        {"result": FULL},
        {"Answered": "yes", "Sentences": {"text": "x", "sources": "1, 2"}},
        {"answered": "True", "sentences": [{"text": "x", "sources": ["1", "[2]"]}], "extra": 3},
        {"answered": 1, "sentences": json.dumps(FULL["sentences"])},
        {"answered": True, "sentences": [{"Text": ["x"], "sources": [1.0, "Source 2"]}]},
    ],
)
def test_fields_are_fitted_to_the_schema(given_value: Any) -> None:
    found = repair(json.dumps(given_value), SCHEMA)
    assert found.ok, found.errors
    assert found.value == FULL


def test_half_an_answer_keeps_its_whole_sentences() -> None:
    text = json.dumps({"answered": True, "sentences": [FULL["sentences"][0], {"text": "cut here", "sources": [1]}]})
    assert repair(text[:-25], SCHEMA).value == FULL


def test_meaning_is_not_fitted() -> None:
    assert not repair('{"answered": "perhaps", "sentences": []}', SCHEMA).ok
    assert repair('{"answered": true, "sentences": [], "share": "12.5 %"}', SCHEMA).value["share"] == 12.5
    assert repair('{"answered": true, "sentences": [], "share": "n/a"}', SCHEMA).value["share"] is None
    assert repair('{"answered": true, "sentences": [], "level": "HIGH"}', SCHEMA).value["level"] == "high"


def test_of_several_objects_the_last_that_fits_is_taken() -> None:
    draft = {"answered": True, "sentences": [{"text": "draft", "sources": [1]}]}
    text = f"{json.dumps({'note': 1})} First: {json.dumps(draft)} Better: {json.dumps(FULL)}"
    assert repair(text, SCHEMA).value == FULL


def test_numbers_that_do_not_fit_a_float_keep_their_value() -> None:
    assert repair("1e400").value == 10**400
    assert repair('{"a": 1e99999}').value == {"a": None}
    assert json.dumps(repair('{"a": ' + "9" * 5_000 + "}").value)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000, '{"a":' * 100_000, "(" * 100_000, "[" * 100_000 + "]" * 100_000, "{[(" * 50_000,
        '"\ud800', '{"a": "\udfff', '{"a": 1, "a": 2', '{"a": ' + "1" * 100_000, "\x00" * 1_000 + "{", "{" + '"' * 20_000,
        '["a" b" ' * 5_000, "{[}]" * 5_000, "[{" * 80 + "}]" * 5_000, "/*" * 10_000 + "{", '{"a":"' + "\\" * 99_999,
    ],
)  # fmt: skip
def test_nothing_crashes_it_or_keeps_it_long(text: str) -> None:
    begun = time.process_time()
    found = repair(text, SCHEMA)
    assert not found.ok
    assert time.process_time() - begun < 4  # a second or two
    json.dumps(repair(text).value)


@pytest.mark.parametrize("piece", ['\\"', 'x\\"', '[\\"', '\\"}', '\\\\\\"'])
def test_a_string_that_is_cut_off_takes_time_by_its_length(piece: str) -> None:
    begun = time.process_time()
    for before in ('{"a":"', 'Here it is: {"a": [1, "'):
        repair(before + piece * (100_000 // len(piece)))
    assert time.process_time() - begun < 3


@given(
    st.text(alphabet="{}[]()\",':\\/*#ab1-.e \n\x00é\ud800", max_size=200)
    | st.binary(max_size=200).map(lambda b: b.decode("latin-1"))
)
@settings(max_examples=400)
def test_any_text_gives_a_result_that_can_be_printed(text: str) -> None:
    found = repair(text)
    assert json.loads(json.dumps(found.value, allow_nan=False)) == found.value


def test_ten_million_characters() -> None:
    dice = random.Random(1)
    piece = "".join(dice.choice('{}[]",:ab1 \n') for _ in range(100_000))
    begun = time.thread_time()
    assert not repair(piece * 100).ok
    assert time.thread_time() - begun < 3
    long = json.dumps([{"k": i} for i in range(100_000)])
    assert repair(long).steps == []


def test_depth_is_counted_outside_of_strings() -> None:
    assert repair(json.dumps({"a": "[" * 1_000})).steps == []
    deep: Any = 1
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    assert repair(json.dumps(deep)).ok
    for _ in range(100):
        deep = [deep]
    assert not repair(json.dumps(deep)).ok


@pytest.mark.skipif(not (POOL / "jsonrepair.jsonl.gz").is_file(), reason="the labelled pool is not part of a checkout")
def test_the_pairs_of_other_people() -> None:
    from evals.suites.json import pairs, same

    decided = [p for p in pairs(POOL) if p.metadata["decided"]]
    good = sum(same(repair(p.input).value, p.target) for p in decided)
    assert good / len(decided) >= 0.95, (good, len(decided))
