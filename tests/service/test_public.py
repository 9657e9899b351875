"""`cordon public`: what an operator says is public stays readable, for that tenant, and what showed it still verifies."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.settings import load
from tests.support.command import Run
from tests.support.postgres import of_files

NOTICE = """\
# Access cards

A lost access card is reported to the card office on 020 7946 0958 or to it-helpdesk@example.org at once.
A damaged access card is replaced by Ann, whose own number is 020 7946 0123 and whose address is ann.lee@example.org.
"""
ASKED = "To whom is a lost access card reported?"
NUMBER, ADDRESS = "020 7946 0958", "it-helpdesk@example.org"


@pytest.fixture(scope="module")
def shared(base: Path, tmp_path_factory: pytest.TempPathFactory, database_of: Callable[..., dict[str, Any]]) -> Path:
    """Two tenants and everybody have the same notice."""
    home = Path(shutil.copytree(base, tmp_path_factory.mktemp("public") / "home"))
    notice = home.with_name("cards.md")
    notice.write_text(NOTICE)
    with Agent(load(environ={}, home=home, artifacts=False, **database_of(home))) as agent:
        for tenant in ("U1", "U2"):
            agent.ingest([notice], tenant_id=tenant)
        agent.ingest([notice], public=True)
    return home


@pytest.fixture
def home(shared: Path, tmp_path: Path, database_of: Callable[..., dict[str, Any]]) -> Path:
    database_of(tmp_path / "home", shared)
    return Path(shutil.copytree(shared, tmp_path / "home"))


@pytest.fixture
def ask(inside: Run, home: Path) -> Callable[..., dict[str, Any]]:
    def asked(tenant: str, **settings: Any) -> dict[str, Any]:
        told = inside("ask", ASKED, "--tenant", tenant, "--style", "detailed", "--json", home=home, **settings)
        reply: dict[str, Any] = json.loads(told.stdout)
        assert "card" in reply["answer"], reply["answer"]
        return reply

    return asked


def _verified(inside: Run, home: Path, reply: dict[str, Any]) -> bool:
    file = home.with_name("answer.json")
    file.write_text(json.dumps(reply))
    return inside("verify", str(file), home=home).returncode == 0


def test_what_is_public_for_one_tenant_is_masked_for_the_other(
    inside: Run, home: Path, ask: Callable[..., dict[str, Any]]
) -> None:
    before = ask("U1")
    assert NUMBER not in json.dumps(before)
    for value in ("+44 20 7946 0958", ADDRESS):
        assert inside("public", "add", value, "--tenant", "U1", "--note", "cards", home=home).returncode == 0
    mine, other = ask("U1"), ask("U2")
    assert NUMBER in mine["answer"] and ADDRESS in mine["answer"]
    assert NUMBER in mine["citations"][0]["quote"]
    assert not any(value in json.dumps(other) for value in (NUMBER, ADDRESS))
    assert not any(value in json.dumps(mine) for value in ("0123", "ann.lee"))
    assert all(_verified(inside, home, reply) for reply in (before, mine, other))
    forged = json.loads(json.dumps(other).replace("[REDACTED]", NUMBER, 1))
    assert not _verified(inside, home, forged)

    assert inside("public", "rm", "0044 (0)20 79460958", "--tenant", "U1", home=home).returncode == 0
    after = ask("U1")
    assert NUMBER not in json.dumps(after) and ADDRESS in after["answer"]
    assert all(_verified(inside, home, reply) for reply in (mine, after)), "an answer stands as it was given"
    assert inside("audit", "verify", home=home).returncode == 0


def test_a_list_for_everybody_counts_for_both(inside: Run, home: Path, ask: Callable[..., dict[str, Any]]) -> None:
    inside("public", "add", "@example.org", "--public", home=home)
    for tenant in ("U1", "U2"):
        reply = ask(tenant)
        assert ADDRESS in reply["answer"] and "ann.lee" not in json.dumps(reply) and NUMBER not in reply["answer"]


def test_role_addresses_of_public_documents_may_be_left_without_a_list(
    inside: Run, home: Path, ask: Callable[..., dict[str, Any]]
) -> None:
    assert ADDRESS not in json.dumps(ask("U3"))
    reply = ask("U3", role_addresses="show")  # a tenant that has the public notice alone
    assert ADDRESS in reply["answer"] and not any(value in json.dumps(reply) for value in (NUMBER, "ann.lee"))
    assert _verified(inside, home, reply), "also when the setting is off again"


def test_role_addresses_of_private_documents_are_masked_all_the_same(opened: Callable[..., Agent]) -> None:
    with opened(role_addresses="show") as agent:
        found = agent.search(ASKED, tenant_id="U1", top_k=10)
    cards = {item["visibility"]: item["text"] for item in found if "card office" in item["text"]}
    assert ADDRESS in cards["public"] and ADDRESS not in cards["private"]


def test_a_document_is_shown_by_the_list_of_its_tenant(inside: Run, home: Path, opened: Callable[..., Agent]) -> None:
    inside("public", "add", ADDRESS, "--tenant", "U1", home=home)
    with opened() as agent:
        texts = {}
        for tenant in ("U1", "U2"):
            (doc,) = [d["doc_id"] for d in agent.documents(tenant_id=tenant) if d["filename"] == "cards.md"]
            texts[tenant] = agent.document(doc, tenant_id=tenant)["text"]
        found = agent.search(ASKED, tenant_id="U1")
    assert ADDRESS in texts["U1"] and "ann.lee" not in texts["U1"]
    assert ADDRESS not in texts["U2"]
    assert ADDRESS in found[0]["text"] and "public" not in found[0]


def test_changes_are_on_record_without_the_value(inside: Run, home: Path) -> None:
    inside("public", "add", NUMBER, "--tenant", "U1", home=home)
    inside("public", "rm", NUMBER, "--tenant", "U1", home=home)
    lines = [json.loads(line) for line in inside("audit", "export", "--tenant", "U1", home=home).stdout.splitlines()]
    said = [
        (line["says"], line["tenant_id"], line["what"], bool(line["by"])) for line in lines if line["kind"] == "public"
    ]
    assert said == [("added", "U1", "PHONE", True), ("removed", "U1", "PHONE", True)]
    # Four digits alone stand in a random digest now and then.
    assert not re.search(r"7946\W{0,2}0958|(?<![\da-f])7946(?![\da-f])", json.dumps(lines))
    assert json.loads(inside("public", "list", "--tenant", "U1", "--json", home=home).stdout) == []


@pytest.mark.parametrize(
    "value",
    ["4111 1111 1111 1111", "GB82 WEST 1234 5698 7654 32", "35202-1234567-1", "sk-abcdefghijklmnopqrstuv12",
     "078-05-1120", "*@example.org", "example.net", "+44*", "Ann Lee", "", "info@example.org, a@example.org", "112",
     "password=hunter2", "10.0.0.1"],
)  # fmt: skip
def test_nothing_else_can_be_public(inside: Run, home: Path, value: str) -> None:
    refused = inside("public", "add", "--tenant", "U1", "--", value, home=home)
    assert refused.returncode == 2 and "the value" in refused.stderr
    assert not value or value not in refused.stderr
    assert json.loads(inside("public", "list", "--tenant", "U1", "--json", home=home).stdout) == []


def test_the_list_can_be_read_and_holds_no_value_twice(inside: Run, home: Path) -> None:
    inside("public", "add", "+44 20 7946 0958", "--tenant", "U1", "--note", "cards", home=home)
    again = inside("public", "add", "020 79460958", "--tenant", "U1", home=home)
    assert again.returncode == 2 and "already" in again.stderr
    (one,) = json.loads(inside("public", "list", "--tenant", "U1", "--json", home=home).stdout)
    assert (one["value"], one["kind"], one["note"]) == ("+44 20 7946 0958", "PHONE", "cards")
    assert json.loads(inside("public", "list", "--tenant", "U2", "--json", home=home).stdout) == []
    assert inside("public", "rm", "a@example.org", "--tenant", "U1", home=home).returncode != 0


@of_files
def test_a_list_has_an_end(home: Path) -> None:
    from graph import public
    from graph.errors import BadInput
    from graph.stores.embedded import Embedded

    stores = Embedded(home)
    journal, lists = stores.journal, public.PublicValues(stores.lists)
    lists.add("U1", "a@example.org", journal, by="op")
    file = next((home / "public").glob("*.json"))
    known = json.loads(file.read_text())
    file.write_text(json.dumps(known | {"entries": known["entries"] * public.MOST}))
    with pytest.raises(BadInput, match="1,000"):
        lists.add("U1", "b@example.org", journal, by="op")


def test_an_agent_at_work_goes_by_the_list_with_its_next_question(
    inside: Run, home: Path, opened: Callable[..., Agent]
) -> None:
    with opened() as agent:

        def shown() -> bool:
            return any(ADDRESS in item["text"] for item in agent.search(ASKED, tenant_id="U1"))

        assert not shown()
        assert inside("public", "add", ADDRESS, "--tenant", "U1", home=home).returncode == 0
        assert shown()
        assert inside("public", "rm", ADDRESS, "--tenant", "U1", home=home).returncode == 0
        assert not shown()
