"""What is installed with Cordon: none of it unasked for, unlisted or under a licence that nobody looked at."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from evals.security import supply_chain
from evals.security.supply_chain import Pin, audit, bill, licence, listed, main, pins, unsettled

ROOT = Path(__file__).resolve().parents[2]
PINS = pins()


def test_every_pin_is_read() -> None:
    written = {
        line.split("==")[0].partition("[")[0] + "==" + line.split("==")[1].split()[0]
        for path in (ROOT / "requirements").glob("*.txt")
        for line in path.read_text().splitlines()
        if re.match(r"[a-z0-9]", line, re.I)
    }
    assert {f"{p.name}=={p.version}" for p in PINS} == {pin.lower() for pin in written}
    assert len(PINS) == len(written) > 150


def test_no_licence_is_unknown_or_forbidden() -> None:
    assert [(p.name, licence(p.name)) for p in PINS if unsettled(p.name, licence(p.name))] == []
    assert supply_chain.SETTLED.keys() <= {p.name for p in PINS}


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("MIT", False),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", False),
        ("GNU General Public License v3 or later (GPLv3+) OR MIT License", False),
        ("", True),
        ("AGPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", True),
        ("Other/Proprietary License", True),
    ],
)
def test_what_is_allowed(said: str, wrong: bool) -> None:
    assert unsettled("x", said) is wrong


def test_the_list_is_the_one_of_the_pins() -> None:
    assert (ROOT / "docs" / "licences.md").read_text(encoding="utf-8") == listed(PINS), "run `make licences`"


def test_the_bill_is_valid_and_whole() -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    made = bill(PINS)
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(json.dumps(made)) is None
    assert len(made["components"]) == len(PINS) and all(part["licenses"] for part in made["components"])
    assert validator.validate_str(json.dumps({**made, "bomFormat": "x"})) is not None


def test_a_database_that_cannot_be_read_is_no_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clean: dict[Pin, list[str]] = {pin: [] for pin in PINS}
    short: dict[Pin, list[str]] = {pin: [] for pin in PINS[:7]}
    assert audit(PINS, lambda of: short) == (7, [])
    for answers, code in ((short, supply_chain.UNREAD), (clean, 0), (clean | {PINS[3]: ["PYSEC-1 CVE-1"]}, 1)):
        monkeypatch.setattr(supply_chain, "audit", lambda of, answers=answers: audit(of, lambda _: answers))
        assert main(["audit"]) == code
        told = capsys.readouterr()
        assert f"{len(answers)} of {len(PINS)} pins audited" in told.out
        assert ("could not be read" in told.err) == (code == supply_chain.UNREAD)
    assert f"{PINS[3].name} {PINS[3].version}" in told.out and "CVE-1" in told.out


def test_what_pip_audit_passes_over_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, again = Pin("one", "1", ("default",)), Pin("two", "2", ("dev",)), Pin("one", "2", ("dev",))
    calls: list[list[str]] = []

    def told(of: Iterable[Pin]) -> list[dict[str, Any]]:
        calls.append([f"{pin.name} {pin.version}" for pin in of])
        known: dict[str, Any] = {
            "one": {"vulns": [{"id": "GHSA-1", "aliases": ["CVE-1"]}]},
            "two": {"skip_reason": "not found"},
        }
        return [{"name": line.split()[0], "version": line.split()[1], **known[line.split()[0]]} for line in calls[-1]]

    monkeypatch.setattr(supply_chain, "_pip_audit", told)
    assert supply_chain.asked([one, two, again]) == {one: ["GHSA-1 CVE-1"], again: ["GHSA-1 CVE-1"]}
    assert sorted(map(sorted, calls)) == [["one 1", "two 2"], ["one 2"]]
