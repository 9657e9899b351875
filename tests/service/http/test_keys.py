"""Keys that end by themselves."""

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from evals.serving import Served, keys_of
from graph.errors import BadInput
from graph.stores.embedded.journal import FileJournal
from graph.stores.keys import Key
from tests.support.command import Run

PAST, FUTURE = "2020-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"


@pytest.fixture
def inside(inside: Run) -> Run:
    """Over a home wherever the tests run: how it keeps them is looked at."""
    return lambda *arguments, **known: inside(*arguments, database_url="", **known)


def until(home: Path, key: Key, expires: str) -> None:
    with sqlite3.connect(home / "keys.db") as db:
        db.execute("UPDATE keys SET expires = ? WHERE id = ?", (expires, key.key_id))
    db.close()


def asked(served: Served, secret: str) -> tuple[int, dict[str, Any], str]:
    sent = httpx.get(f"{served.url}/v1/models", headers={"Authorization": f"Bearer {secret}"}, trust_env=False)
    error = {k: v for k, v in sent.json().get("error", {}).items() if k != "request_id"}
    return sent.status_code, error, sent.headers.get("www-authenticate", "")


def test_a_key_that_has_expired_is_refused_as_a_revoked_one_by_the_next_request(another: Callable[..., Any]) -> None:
    with another(database_url="") as served:
        keys = served.service.keys
        (passing, secret), (revoked, gone) = keys.add("U1", "passing", days=1), keys.add("U1", "revoked")
        assert asked(served, secret)[0] == 200
        until(served.settings.home, passing, PAST)
        keys.revoke(revoked.key_id)
        assert asked(served, secret) == asked(served, gone)
        assert asked(served, secret)[0] == 401
        until(served.settings.home, passing, FUTURE)
        assert asked(served, secret)[0] == 200


def test_the_days_are_counted_from_now_and_bounded(tmp_path: Path) -> None:
    keys = keys_of(tmp_path)
    key, _ = keys.add("U1", days=30)
    left = datetime.fromisoformat(key.expires) - datetime.now(UTC)
    assert 29.99 < left.total_seconds() / 86_400 <= 30
    assert keys.add("U1")[0].expires == ""
    for days in (0, -1, 3_651, 10**12):
        with pytest.raises(BadInput):
            keys.add("U1", days=days)
    keys.close()


def test_only_expired_keys_are_no_keys(tmp_path: Path) -> None:
    """`cordon serve` beyond loopback asks whether there is one."""
    keys = keys_of(tmp_path)
    key, secret = keys.add("U1", days=1)
    assert keys.exist() and keys.principal(secret) is not None
    until(tmp_path, key, PAST)
    assert not keys.exist() and keys.principal(secret) is None
    keys.close()


def test_the_list_tells_how_long_each_is_valid(tmp_path: Path, inside: Run) -> None:
    made = inside("keys", "add", "--tenant", "U1", "--user", "ann", "--days", "7", home=tmp_path)
    assert ", until 2" in made.stderr and made.stdout.startswith("cordon_")
    key = json.loads(inside("keys", "add", "--tenant", "U2", "--days", "7", "--json", home=tmp_path).stdout)
    inside("keys", "add", "--tenant", "U3", home=tmp_path)
    until(tmp_path, Key(key["key_id"], "", "", "", ""), PAST)
    listed = inside("keys", "list", home=tmp_path).stdout.splitlines()
    assert "  valid until 2" in listed[0]
    assert listed[1].endswith(f"  expired {PAST}") and listed[2].endswith("  valid")
    assert [bool(k["expires"]) for k in json.loads(inside("keys", "list", "--json", home=tmp_path).stdout)] == [
        True,
        True,
        False,
    ]
    assert inside("keys", "add", "--tenant", "U1", "--days", "0", home=tmp_path).returncode == 2


def test_a_key_speaks_for_the_groups_it_was_made_with(tmp_path: Path, inside: Run) -> None:
    made = inside("keys", "add", "--tenant", "U1", "--groups", "staff, board", home=tmp_path)
    assert "groups board,staff" in made.stderr
    assert inside("keys", "list", home=tmp_path).stdout.rstrip().endswith("groups board,staff")
    (shown,) = json.loads(inside("keys", "list", "--json", home=tmp_path).stdout)
    assert shown["groups"] == ["board", "staff"]
    keys = keys_of(tmp_path)
    found = keys.principal(made.stdout.strip())
    assert found is not None and found[1].groups == {"board", "staff"}
    keys.close()
    line = json.loads((tmp_path / "audit" / "journal.jsonl").read_text())
    assert line["groups"] == ["board", "staff"]
    wrong = inside("keys", "add", "--tenant", "U1", "--groups", "a/b", home=tmp_path)
    assert wrong.returncode == 2 and "group 'a/b' is not usable" in wrong.stderr


def test_keys_of_an_earlier_version_open_as_before(tmp_path: Path) -> None:
    keys = keys_of(tmp_path)
    secret = keys.add("U1")[1]
    keys.close()
    with sqlite3.connect(tmp_path / "keys.db") as db:
        db.execute("ALTER TABLE keys DROP COLUMN expires")
        db.execute("ALTER TABLE keys DROP COLUMN groups")
    db.close()
    again = keys_of(tmp_path)
    found = again.principal(secret)
    assert found is not None and found[1].tenant_id == "U1"
    assert [key.expires for key in again.all()] == [""] and again.add("U1", days=1)[0].expires
    assert [key.groups for key in again.all()] == [(), ()] and found[1].groups == frozenset()
    again.close()


def test_who_makes_or_revokes_a_key_leaves_a_line_without_its_user_and_secret(tmp_path: Path, inside: Run) -> None:
    made = json.loads(inside("keys", "add", "--tenant", "U1", "--user", "ann", "--json", home=tmp_path).stdout)
    assert inside("keys", "revoke", made["key_id"], home=tmp_path).returncode == 0
    lines = (tmp_path / "audit" / "journal.jsonl").read_text()
    told = [json.loads(line) for line in lines.splitlines()]
    assert [(line["kind"], line["tenant_id"], line["says"], line["key_id"]) for line in told] == [
        ("key", "U1", says, made["key_id"]) for says in ("added", "revoked")
    ]
    inside("public", "add", "press@example.org", "--tenant", "U1", home=tmp_path)
    shown = FileJournal(tmp_path / "audit" / "journal.jsonl").page("U1", limit=5)
    assert len({line["id"] for line in shown} - {""}) == 3  # by which a page is asked for from there on
    assert "ann" not in lines and made["key"].split("_", 2)[2] not in lines
    assert "3 entries, unbroken" in inside("audit", "verify", home=tmp_path).stdout
    assert "the journal is empty" in inside("audit", "tail", home=tmp_path).stdout  # which shows runs


def test_no_key_is_made_that_cannot_be_recorded(tmp_path: Path, inside: Run) -> None:
    (tmp_path / "audit").write_text("in the way")
    done = inside("keys", "add", "--tenant", "U1", home=tmp_path)
    assert done.returncode != 0 and "could not be recorded" in done.stderr
    assert not [key for key in keys_of(tmp_path).all() if key.valid]


def test_a_key_is_shut_out_though_that_cannot_be_recorded(tmp_path: Path, inside: Run) -> None:
    keys = keys_of(tmp_path)
    key, secret = keys.add("U1")
    (tmp_path / "audit").write_text("in the way")
    assert inside("keys", "revoke", key.key_id, home=tmp_path).returncode != 0
    assert keys.principal(secret) is None
