"""Heads kept elsewhere: a journal that its owner wrote anew does not have them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from graph.deps import stores
from graph.settings import Settings
from tests.support.command import Run
from tests.support.postgres import of_files

Written = Callable[..., None]


@pytest.fixture
def written(settings_of: Callable[..., Settings]) -> Written:
    """More runs of a tenant in a home's journal, which stays whole in itself."""

    def write(home: Path, runs: int, say: str = "why?", tenant: str = "U1") -> None:
        kept = stores(settings_of(home=home))
        for n in range(runs):
            kept.journal.append({"kind": "run", "run_id": f"{n:04d}", "tenant_id": tenant, "query": f"{say} {n}"})
        kept.close()

    return write


def key(path: Path) -> tuple[Path, Path]:
    private, public = path / "head.key", path / "head.pub"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    return private, public


@pytest.fixture
def home(tmp_path: Path, written: Written) -> Path:
    written(tmp_path / "home", 3)
    return tmp_path / "home"


def test_a_journal_written_anew_by_its_owner_is_caught_by_the_kept_head(
    home: Path, tmp_path: Path, inside: Run, written: Written
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
        home = tmp_path / f"anew{runs}"
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


@of_files
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
    home.mkdir(exist_ok=True)  # a home whose journal lies in a database has no folder yet
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


def test_a_tenants_own_lines_are_proven_without_the_journal(
    home: Path, tmp_path: Path, inside: Run, written: Written
) -> None:
    private, public = key(tmp_path)
    written(home, 4, "of another", "U2")
    lines, heads = tmp_path / "U1.jsonl", tmp_path / "heads.jsonl"
    heads.write_text(inside("audit", "head", "--tenant", "U1", home=home, head_key=str(private)).stdout)
    written(home, 2, "later")
    lines.write_text(inside("audit", "export", "--tenant", "U1", home=home).stdout)
    verify = ("audit", "verify", "--lines", str(lines), "--head", str(heads), "--key", str(public))
    done = inside(*verify, home=tmp_path / "elsewhere")
    assert (done.returncode, "5 entries of U1, 1 to 5, unbroken" in done.stdout) == (0, True)
    assert "signed by this key" in done.stdout and "U2" not in lines.read_text()

    whole = lines.read_text().splitlines(keepends=True)
    for changed, why in (
        ([whole[0], whole[2]], "missing, added or out of order"),
        ([whole[0].replace('"run"', '"ran"'), *whole[1:]], "changed after it was written"),
        ([*whole[:2], whole[2].replace("U1", "U2")], "changed after it was written"),
        ([*whole[:2], whole[2].replace('"kind"', '"erased":"e","kind"')], "no receipt for it"),
        (whole[:2], "is not the one whose head was kept"),  # the end was cut
    ):
        lines.write_text("".join(changed))
        done = inside(*verify, home=tmp_path / "elsewhere")
        assert (done.returncode, why in done.stderr) == (1, True), done.stderr
    lines.write_text("".join(whole[3:]))  # a later part follows on itself; the head is of before
    assert inside(*verify[:4], home=home).returncode == 0
    assert "no head was kept" in inside(*verify, home=home).stderr


def test_a_tenants_lines_written_anew_by_the_operator_are_caught(
    home: Path, tmp_path: Path, inside: Run, written: Written
) -> None:
    lines, heads = tmp_path / "U1.jsonl", tmp_path / "heads.jsonl"
    heads.write_text(inside("audit", "head", "--tenant", "U1", home=home).stdout)
    home = tmp_path / "anew"
    written(home, 3, "what?")
    lines.write_text(inside("audit", "export", "--tenant", "U1", home=home).stdout)
    assert inside("audit", "verify", "--lines", str(lines), home=home).returncode == 0
    done = inside("audit", "verify", "--lines", str(lines), "--head", str(heads), home=home)
    assert (done.returncode, "line 3 is not the one" in done.stderr) == (1, True)
    done = inside("audit", "verify", "--head", str(heads), home=home)
    assert (done.returncode, "U1's own lines" in done.stderr) == (2, True)
