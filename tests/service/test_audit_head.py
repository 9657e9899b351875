"""Heads kept elsewhere: a journal that its owner wrote anew does not have them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from graph.stores.embedded.journal import FileJournal
from tests.support.command import Run


def written(home: Path, runs: int, say: str = "why?") -> None:
    """A journal of so many runs, whole in itself."""
    journal = FileJournal(home / "audit" / "journal.jsonl")
    for n in range(runs):
        journal.append({"kind": "run", "run_id": f"{n:04d}", "tenant_id": "U1", "query": f"{say} {n}"})


def key(path: Path) -> tuple[Path, Path]:
    private, public = path / "head.key", path / "head.pub"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    return private, public


@pytest.fixture
def home(tmp_path: Path) -> Path:
    written(tmp_path / "home", 3)
    return tmp_path / "home"


def test_a_journal_written_anew_by_its_owner_is_caught_by_the_kept_head(
    home: Path, tmp_path: Path, inside: Run
) -> None:
    private, public = key(tmp_path)
    kept, verify = tmp_path / "heads.jsonl", ("audit", "verify", "--head", str(tmp_path / "heads.jsonl"))
    for runs in (0, 2):
        written(home, runs)
        done = inside("audit", "head", home=home, head_key=str(private))
        assert done.returncode == 0
        kept.write_text(kept.read_text() + done.stdout if kept.exists() else done.stdout)
    written(home, 1)
    done = inside(*verify, "--key", str(public), home=home)
    assert (done.returncode, "2 heads kept till" in done.stdout, "signed by this key" in done.stdout) == (0, True, True)
    assert "give --key" in inside(*verify, home=home).stdout

    for runs in (6, 4):  # as many lines, or fewer than were kept
        shutil.rmtree(home / "audit")
        written(home, runs, "what?")
        assert inside("audit", "verify", home=home).returncode == 0  # a whole chain all the same
        done = inside(*verify, "--key", str(public), home=home)
        assert (done.returncode, "line 3 is not the one" in done.stderr) == (1, True)

    anew = inside("audit", "head", home=home)  # and its own head is not signed by the key
    kept.write_text(anew.stdout)
    assert inside(*verify, home=home).returncode == 0
    done = inside(*verify, "--key", str(public), home=home)
    assert (done.returncode, "was not signed by this key" in done.stderr) == (1, True)


def test_a_signature_binds_time_place_and_hash(home: Path, tmp_path: Path, inside: Run) -> None:
    private, public = key(tmp_path)
    line = inside("audit", "head", home=home, head_key=private.read_text()).stdout
    kept = tmp_path / "heads.jsonl"
    kept.write_text(line.replace('"at":"2', '"at":"1'))
    done = inside("audit", "verify", "--head", str(kept), "--key", str(public), home=home)
    assert (done.returncode, "was not signed" in done.stderr) == (1, True)


def test_no_head_is_given_of_a_broken_journal(home: Path, inside: Run) -> None:
    journal = home / "audit" / "journal.jsonl"
    journal.write_text(journal.read_text().replace("why? 1", "why? 7"))
    done = inside("audit", "head", home=home)
    assert (done.returncode, done.stdout) == (1, "")
    assert "broken at line 2" in done.stderr


def test_what_is_no_head_and_no_key_is_said(home: Path, tmp_path: Path, inside: Run) -> None:
    private, _ = key(tmp_path)
    odd = tmp_path / "odd"
    odd.write_text('{"at": "2026", "seq": 0, "hash": "x"}\n')
    verify = ("audit", "verify", "--head")
    (home / "head.key").write_bytes(private.read_bytes())
    for said, done in (
        ("holds no heads", inside(*verify, str(odd), home=home)),
        ("holds no heads", inside(*verify, str(tmp_path / "none"), home=home)),
        ("Give --head FILE", inside("audit", "verify", "--key", str(private), home=home)),
        ("no Ed25519 private key", inside("audit", "head", home=home, head_key=str(odd))),
        ("lies in the home", inside("audit", "head", home=home, head_key=str(home / "head.key"))),
    ):
        assert (done.returncode, said in done.stderr) == (2, True), (said, done.stderr)
    (tmp_path / "heads.jsonl").write_text(inside("audit", "head", home=home).stdout)
    done = inside(*verify, str(tmp_path / "heads.jsonl"), "--key", str(odd), home=home)
    assert (done.returncode, "no key that can be read" in done.stderr) == (2, True)
