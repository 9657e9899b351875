"""`cordon docs show ID --withheld`, `cordon docs release` and `cordon docs confirm`."""

import json
from pathlib import Path

import pytest

from tests.flow.test_released import HONEST, QUESTION, TEXT
from tests.support.command import Run


@pytest.fixture
def desk(inside: Run, home: Path, tmp_path: Path) -> Path:
    """A home with a document of U1 of which two sentences are withheld."""
    (tmp_path / "desk.md").write_text(TEXT)
    assert inside("ingest", str(tmp_path / "desk.md"), "--tenant", "U1", home=home).returncode == 0
    return home


def test_list_release_ask_confirm(inside: Run, desk: Path) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        done = inside(*arguments, "--tenant", "U1", home=desk)
        assert done.returncode == code, done
        return done.stdout

    assert "badge" not in run("ask", QUESTION)
    shown = run("docs", "show", "desk", "--withheld")
    assert (
        f"1  0.90  a document addresses the machine that reads it, section Front desk  withheld\n     {HONEST}" in shown
    )
    assert "call [REDACTED]." in shown and "0300" not in shown
    said = run("docs", "release", "desk", "1", "--note", "our own words", "--user", "ann")
    assert "released by ann, 20" in said and "  withheld\n" in said
    assert "badge" in run("ask", QUESTION)
    rows = json.loads(run("docs", "confirm", "desk", "--all", "--json"))
    assert [(row["n"], row["says"], row["by"]) for row in rows] == [
        (1, "confirmed", "local"),
        (2, "confirmed", "local"),
    ]
    assert rows == json.loads(run("docs", "show", "desk", "--withheld", "--json"))
    assert "badge" not in run("ask", QUESTION)
    assert "unbroken" in inside("audit", "verify", home=desk).stdout


WRONG = (
    (["desk"], "which sentences?"),
    (["desk", "1", "--all"], "which sentences?"),
    (["desk", "9"], "there is no withheld sentence 9: there are 2"),
    (["desk", "0"], "there is no withheld sentence 0"),
    (["desk", "1", "--user", "../x"], "user '../x' is not usable"),
    (["nothing", "1"], "there is no document 'nothing'"),
    (["../desk", "1"], "there is no document '../desk'"),
)


def test_what_cannot_be_done_is_one_clear_line(inside: Run, run: Run, desk: Path) -> None:
    for arguments, said in WRONG:
        done = inside("docs", "release", *arguments, "--tenant", "U1", home=desk)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
        assert said in done.stderr
    done = run("docs", "release", "desk", "two", "--tenant", "U1", home=desk)
    assert done.returncode == 2 and "Invalid value for 'numbers': Input should be a valid integer" in done.stderr
    assert not (desk / "audit" / "withheld.jsonl").exists()


def test_a_document_of_which_nothing_is_withheld(inside: Run, base: Path) -> None:
    done = inside("docs", "show", "U1_sop_cryostorage", "--withheld", "--tenant", "U1")
    assert (done.returncode, done.stdout) == (0, "nothing is withheld\n")
