"""Documents for some groups of a tenant, on the command line: whatever the operator says."""

import json
from pathlib import Path

import pytest

from tests.support.command import Run
from tests.support.postgres import of_files

ASKED = "How much is the heron bonus?"


@pytest.fixture
def home(tmp_path: Path, inside: Run) -> Path:
    for name, text in (
        ("pay.md", "# Pay\n\nThe heron bonus is 300 rupees.\n"),
        ("room.md", "# Rooms\n\nRoom 7 is blue.\n"),
    ):
        (tmp_path / name).write_text(text)
    for options in (("pay.md", "--groups", "staff,board"), ("room.md",)):
        done = inside("ingest", str(tmp_path / options[0]), "--tenant", "T", *options[1:], home=tmp_path / "home")
        assert done.returncode == 0, done.stderr
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("groups", "told"), [((), False), (("--groups", "board"), True), (("--groups", "other"), False)]
)
def test_a_question_is_answered_for_the_groups_named(
    home: Path, inside: Run, groups: tuple[str, ...], told: bool
) -> None:
    done = inside("ask", ASKED, "--tenant", "T", *groups, "--json", home=home)
    assert done.returncode == 0 and ("300" in json.loads(done.stdout)["answer"]) is told
    chat = inside("chat", "--tenant", "T", *groups, home=home, stdin=f"{ASKED}\n/sources\n/exit\n")
    assert ("300" in chat.stdout) is told


def test_documents_are_listed_shown_and_removed(home: Path, inside: Run) -> None:
    def ids(*groups: str) -> list[str]:
        rows = json.loads(inside("docs", "list", "--tenant", "T", *groups, "--json", home=home).stdout)
        return [row["doc_id"] for row in rows]

    assert (ids(), ids("--groups", "staff"), ids("--groups", "")) == (["pay", "room"], ["pay", "room"], ["room"])
    assert "pay.md, 1 chunk, for board, staff" in inside("docs", "list", "--tenant", "T", home=home).stdout
    assert "300 rupees" in inside("docs", "show", "pay", "--tenant", "T", home=home).stdout
    hidden, unknown = (
        inside("docs", "show", name, "--tenant", "T", "--groups", "other", home=home) for name in ("pay", "nay")
    )
    assert hidden.returncode == unknown.returncode == 2 and hidden.stderr.replace("pay", "nay") == unknown.stderr
    assert inside("docs", "rm", "pay", "--tenant", "T", "--groups", "other", home=home).returncode == 2
    assert inside("docs", "rm", "pay", "--tenant", "T", home=home).returncode == 0 and ids() == ["room"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--tenant", "T", "--groups", ""), "--groups names none"),
        (("--public", "--groups", "staff"), "what is public is for everybody"),
        (("--tenant", "T", "--groups", "a/b"), "group 'a/b' is not usable"),
    ],
)
def test_groups_that_will_not_do_are_told(
    home: Path, inside: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = inside("ingest", str(tmp_path / "room.md"), *arguments, home=home)
    assert done.returncode == 2 and said in done.stderr


@of_files
def test_an_answer_is_verified_by_the_operator_and_the_home_goes_on_after_a_restore(
    home: Path, inside: Run, tmp_path: Path
) -> None:
    answer = tmp_path / "answer.json"
    answer.write_text(inside("ask", ASKED, "--tenant", "T", "--groups", "staff", "--json", home=home).stdout)
    assert inside("verify", str(answer), home=home).returncode == 0
    assert inside("backup", str(tmp_path / "kept"), home=home).returncode == 0
    assert inside("restore", str(tmp_path / "kept"), home=tmp_path / "again").returncode == 0
    for groups, told in (((), False), (("--groups", "board"), True)):
        done = inside("ask", ASKED, "--tenant", "T", *groups, "--json", home=tmp_path / "again")
        assert ("300" in json.loads(done.stdout)["answer"]) is told
