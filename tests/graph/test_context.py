"""Ids: which are taken, that no two meet, and that the rest are refused in words that help."""

import unicodedata
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.context import (
    Context,
    groups_of,
    key_of,
    principal,
    space_key,
    space_name,
    valid_groups,
    valid_id,
    valid_tenant,
    whose,
)
from graph.errors import BadInput, Forbidden

GOOD = ("U1", "U10", "u1", "U1:0", "U-1", "a.b", "x@y", "Lab_7", "0", "a" * 64)
BAD = (
    "",
    " ",
    "../U2",
    "U1/../U2",
    "U1..U2",
    "U1/x",
    "a" * 65,
    "a" * 300,
    "😀",
    "U1\n",
    "\nU1",
    "U1\x00",
    "U 1",
    "-U1",
    ".U1",
    "_U1",
    "Ü1",
    "U１",
    "U1\u200b",
    "%2e%2e",
    "U1;DROP",
    None,
    3,
    b"U1",
    ["U1"],
)


@pytest.mark.parametrize("name", GOOD)
def test_usable_ids_stay_as_they_are(name: str) -> None:
    assert valid_tenant(name) == name


def test_ids_that_look_alike_have_keys_of_their_own() -> None:
    names = [*GOOD, "U1:00", "U1.0", "U1:0:0"]
    assert len({key_of(n) for n in names}) == len(names)
    pairs = [("U1", "0"), ("U1:0", ""), ("U1", ":0"), ("U", "1:0"), ("", "U1:0")]
    assert len({key_of(*p) for p in pairs}) == len(pairs)


@pytest.mark.parametrize("name", BAD, ids=lambda n: ascii(n)[:20])
def test_an_unusable_id_is_refused_in_one_clear_line(name: Any) -> None:
    with pytest.raises(BadInput, match="is not usable: 1 to 64 letters, digits") as caught:
        valid_id(name, "tenant")
    message = str(caught.value)
    assert "\n" not in message
    assert "\x00" not in message
    assert len(message) < 200
    assert caught.value.hint


@pytest.mark.parametrize("name", ["public", "PUBLIC", "Public"])
def test_the_shared_space_is_no_tenant(name: str) -> None:
    with pytest.raises(BadInput, match="shared space"):
        valid_tenant(name)


def test_a_user_may_be_called_public() -> None:
    assert valid_id("public", "user") == "public"


TUPLES = st.lists(st.text(max_size=6), min_size=1, max_size=4)


@given(TUPLES, TUPLES)
def test_keys_are_injective(a: list[str], b: list[str]) -> None:
    same = [unicodedata.normalize("NFC", p) for p in a] == [unicodedata.normalize("NFC", p) for p in b]
    assert (key_of(*a) == key_of(*b)) is same


@given(
    st.lists(st.sampled_from(["U", "1", ":", "0", "U1", "\x00", "|", ""]), min_size=1, max_size=5), st.integers(0, 5)
)
def test_moving_a_border_changes_the_key(parts: list[str], at: int) -> None:
    """ "U1"+":0" and "U1:"+"0" are different tuples, though the same characters."""
    joined = "".join(parts)
    at = min(at, len(joined))
    assert key_of(joined) != key_of(joined[:at], joined[at:])


@given(st.text(max_size=50))
def test_any_id_is_either_taken_unchanged_or_refused(text: str) -> None:
    try:
        assert valid_id(text, "thread") == text
    except BadInput:
        return
    assert text.isascii()
    assert text.isprintable()
    assert "/" not in text
    assert ".." not in text


def _runtime(**values: Any) -> Any:
    return SimpleNamespace(**{"server_info": None, "context": None, **values})


def test_in_process_the_context_speaks() -> None:
    assert principal(_runtime(context=Context("U1", "ada"))).tenant_id == "U1"


@pytest.mark.parametrize("context", [None, Context(""), Context(None)])  # type: ignore[arg-type]
def test_nobody_is_forbidden(context: Any) -> None:
    with pytest.raises(Forbidden):
        principal(_runtime(context=context))


class _User(dict[str, Any]):
    identity = "key-7"


def test_on_a_server_the_credential_speaks_and_the_context_is_not_heard() -> None:
    server = SimpleNamespace(user=_User(tenant_id="U1"))
    assert principal(_runtime(server_info=server, context=Context("U2"))).tenant_id == "U1"


@pytest.mark.parametrize("user", [None, _User()])
def test_a_server_without_a_tenant_in_the_credential_refuses(user: Any) -> None:
    with pytest.raises((Forbidden, BadInput)):
        principal(_runtime(server_info=SimpleNamespace(user=user), context=Context("U2")))


def test_a_space_is_named_by_its_tenant_and_its_groups_whatever_their_order() -> None:
    assert space_name("U1") == "U1" and space_name("U1", ("b", "a")) == space_name("U1", ("a", "b")) == "U1/a,b"
    assert whose("U1/a,b") == ("U1", frozenset("ab")) and whose("U1") == ("U1", frozenset())
    names = ["U1", "U1/a", "U1/a,b", "U1/ab", "U1:a", "U10", "U", "public", "public/a", "a/U1"]
    assert len({space_key(name) for name in names}) == len(names)


def test_a_text_names_groups_between_commas() -> None:
    assert groups_of(" staff, board,staff ") == {"staff", "board"} and groups_of("a;b", ";") == {"a", "b"}
    assert groups_of("") == groups_of("  ") == frozenset()


@pytest.mark.parametrize("wrong", ["staff", b"staff", 5, None, {"staff": 1}, ["a/b"], ["a,b"], [None], [["a"]], [""]])
def test_what_names_no_groups_is_told(wrong: Any) -> None:
    with pytest.raises(BadInput, match="group"):
        valid_groups(wrong)


def test_groups_on_a_server_are_the_authenticated_users_alone() -> None:
    class User(dict[str, Any]):
        identity = "ann"

    for claims, groups in (({"groups": ["staff"]}, {"staff"}), ({}, set())):
        info = SimpleNamespace(user=User({"tenant_id": "U1", **claims}))
        runtime = SimpleNamespace(server_info=info, context=Context("U2", "eve", groups=("board",)))
        assert principal(runtime).groups == groups
    assert principal(SimpleNamespace(context=Context("U1", groups=["board"]))).reader.groups == {"board"}
    with pytest.raises(BadInput):
        principal(SimpleNamespace(context=Context("U1", groups="board")))
