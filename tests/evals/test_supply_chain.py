"""What is installed with Cordon: none of it unasked for, unlisted or under a licence that nobody looked at."""

import json
import re
from pathlib import Path
from urllib.error import URLError

import pytest

from evals import supply_chain
from evals.supply_chain import Pin, audit, bill, licence, listed, main, pins, unsettled

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
    def unreachable(pin: Pin) -> list[str]:
        if pin == PINS[7]:
            raise URLError("no way")
        return []

    assert audit(PINS, unreachable) == (7, [])
    assert audit(PINS, lambda pin: []) == (len(PINS), [])
    monkeypatch.setattr(supply_chain, "audit", lambda of: audit(of, unreachable))
    assert main(["audit"]) == supply_chain.UNREAD
    told = capsys.readouterr()
    assert f"7 of {len(PINS)} pins audited" in told.out and "could not be read" in told.err
    for ask, code in ((lambda pin: ["PYSEC-1"], 1), (lambda pin: [], 0)):
        monkeypatch.setattr(supply_chain, "audit", lambda of, ask=ask: audit(of, ask))
        assert main(["audit"]) == code


def test_an_answer_without_the_field_is_not_read_as_clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    monkeypatch.setattr(supply_chain, "SERVICE", answer.as_uri())
    for told, expected in (({"info": {}}, 0), ({"vulnerabilities": []}, 1)):
        answer.write_text(json.dumps(told))
        assert audit(PINS[:1])[0] == expected
    answer.write_text(
        json.dumps({"vulnerabilities": [{"id": "GHSA-1", "aliases": ["CVE-1"]}, {"id": "b", "withdrawn": "x"}]})
    )
    ((line,),) = [audit(PINS[:1])[1]]
    assert line.endswith("GHSA-1 CVE-1") and PINS[0].name in line
