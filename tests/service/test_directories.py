"""Where Cordon writes: what it makes, what it leaves as it was, and what happens when it may not write there."""

import json
import stat
from pathlib import Path

import pytest

from graph.agent import Agent
from graph.settings import load
from tests.support.command import Run
from tests.support.postgres import of_files

QUESTION = "How many people are in PunjabThal after the removals?"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_directory_that_was_there_keeps_its_mode_and_a_run_is_closed(inside: Run, tmp_path: Path) -> None:
    for out in (tmp_path / "mine", tmp_path / "new" / "below"):
        if out.name == "mine":
            out.mkdir(mode=0o755)
        done = inside("ask", QUESTION, "--tenant", "U1", "--out", str(out), "--json", artifacts=1)
        folder = Path(json.loads(done.stdout)["artifacts"]["dir"])
        assert (folder.parent, mode(folder)) == (out, 0o700)
        assert {mode(file) for file in folder.iterdir()} == {0o600}
    assert (mode(tmp_path / "mine"), mode(tmp_path / "new"), mode(tmp_path / "new" / "below")) == (0o755, 0o700, 0o700)


def test_an_answer_stands_when_its_artefacts_cannot_be_written(inside: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = inside("ask", QUESTION, "--tenant", "U1", "--out", str(tmp_path / "file" / "out"), "--json", artifacts=1)
    reply = json.loads(done.stdout)
    assert (done.returncode, reply["decision"], reply["artifacts"]) == (0, "answer", {})
    assert "artifacts_failed" in reply["safety_flags"]


@pytest.mark.parametrize("name", ["home", "out"])
def test_an_empty_path_is_not_the_working_directory(run: Run, inside: Run, name: str) -> None:
    done = run("ask", QUESTION, "--tenant", "U1", env={f"CORDON_{name.upper()}": ""})
    assert (done.returncode, done.stdout) == (2, "")
    assert f"setting {name} = '' is not usable" in done.stderr
    assert inside("ask", QUESTION, "--tenant", "U1", "--out", "").returncode == 2


@of_files
def test_a_home_that_may_not_be_used_ends_with_4_and_what_to_do(inside: Run, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "lock").mkdir(parents=True)
    done = inside("ask", QUESTION, "--tenant", "U1", home=home)
    assert (done.returncode, done.stdout) == (4, "")
    assert f"{home / 'lock'} cannot be used" in done.stderr and "CORDON_HOME" in done.stderr


@of_files
def test_a_journal_that_cannot_be_read_is_a_finding(inside: Run, home: Path) -> None:
    with Agent(load(environ={}, home=home, artifacts=False)) as agent:
        agent.ask(QUESTION, tenant_id="U1")
    (home / "audit" / "journal.jsonl").unlink()
    (home / "audit" / "journal.jsonl").mkdir()
    done = inside("doctor", "--json", home=home)
    (check,) = [c for c in json.loads(done.stdout)["checks"] if c["status"] == "fail"]
    assert (done.returncode, check["what"]) == (4, "journal")
    assert "cannot be read" in check["found"] and check["do"]
