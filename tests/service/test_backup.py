"""A home in one file, and back."""

import io
import os
import random
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from graph.agent import Agent
from graph.settings import load
from graph.stores.embedded.home import RESTORING, HomeLock
from tests.support.command import Run, cordon, environment
from tests.support.postgres import of_files

pytestmark = of_files
KILLS = int(os.environ.get("TEST_KILLS", "8"))
QUESTION = "Who is the laboratory safety officer?"


@pytest.fixture(scope="module")
def kept(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a turn in it, which no test changes. Its backup lies beside it."""
    home = Path(shutil.copytree(pristine, tmp_path_factory.mktemp("kept") / "home"))
    with Agent(load(environ={}, home=home, artifacts=False)) as agent:
        agent.ask(QUESTION, tenant_id="U1", thread_id="t", memory="buffer")
    done = cordon("backup", str(home.with_name("home.tar.gz")), home=home)
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def archive(kept: Path) -> Path:
    return kept.with_name("home.tar.gz")


def test_a_restored_home_is_the_same(inside: Run, kept: Path, archive: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "elsewhere" / "home"
    assert inside("restore", str(archive), home=fresh).returncode == 0
    before = {p.relative_to(kept): p.read_bytes() for p in kept.rglob("*") if p.is_file() and p.name != "lock"}
    assert before == {p.relative_to(fresh): p.read_bytes() for p in fresh.rglob("*") if p.is_file()}
    assert {oct(p.stat().st_mode & 0o077) for p in (fresh, *fresh.rglob("*"))} == {"0o0"}
    assert "unbroken" in inside("audit", "verify", home=fresh).stdout
    assert "safety officer is" in inside("ask", QUESTION, "--tenant", "U1", home=fresh).stdout
    assert archive.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("where", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("how", ["cut", "turned"])
def test_a_damaged_backup_leaves_nothing(inside: Run, archive: Path, tmp_path: Path, where: float, how: str) -> None:
    data = bytearray(archive.read_bytes())
    at = int(len(data) * where)
    if how == "cut":
        del data[at:]
    else:
        data[at] ^= 0xFF
    (tmp_path / "bad.gz").write_bytes(data)
    done = inside("restore", str(tmp_path / "bad.gz"), home=tmp_path / "new")
    assert done.returncode == 2
    assert "no whole backup" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir() if "new" in p.name) == []


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "a/../../out"])
def test_an_archive_writes_nowhere_else(inside: Run, tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "evil.gz", "w:gz") as evil:
        entry = tarfile.TarInfo(name)
        entry.size = 1
        evil.addfile(entry, io.BytesIO(b"x"))
    assert inside("restore", str(tmp_path / "evil.gz"), home=tmp_path / "deep" / "new").returncode == 2
    assert not list(tmp_path.rglob("out"))


def test_nothing_is_overwritten(inside: Run, home: Path, archive: Path) -> None:
    before = archive.read_bytes()
    assert inside("backup", str(archive), home=home).returncode == 2
    assert inside("backup", str(home / "x.gz"), home=home).returncode == 2
    assert inside("restore", str(archive), home=home).returncode == 2
    assert archive.read_bytes() == before


def test_a_home_in_use_is_not_kept(inside: Run, home: Path, tmp_path: Path) -> None:
    lock = HomeLock(home, 0.5).acquire()
    try:
        done = inside("backup", str(tmp_path / "y.gz"), home=home)
    finally:
        lock.release()
    assert done.returncode == 4
    assert not (tmp_path / "y.gz").exists()


def test_what_is_linked_is_not_left_out_without_a_word(inside: Run, home: Path, tmp_path: Path) -> None:
    (home / "elsewhere").symlink_to(tmp_path)
    done = inside("backup", str(tmp_path / "z.gz"), home=home)
    assert done.returncode == 2
    assert "is a link" in done.stderr


def test_an_empty_directory_is_filled_not_replaced(inside: Run, archive: Path, tmp_path: Path) -> None:
    mount = tmp_path / "mount"
    mount.mkdir()
    before = mount.stat().st_ino
    assert inside("restore", str(archive), home=mount).returncode == 0
    assert mount.stat().st_ino == before
    assert sorted(p.name for p in mount.iterdir()) == ["audit", "checkpoints.db", "conversations", "index"]


def test_a_restore_that_was_cut_short_is_not_served_and_goes_on(inside: Run, archive: Path, tmp_path: Path) -> None:
    mount = tmp_path / "mount"
    (mount / RESTORING / "index").mkdir(parents=True)
    (mount / "audit").mkdir()  # as it stands between two of its renames
    (mount / "audit" / "journal.jsonl").write_text("")
    asked = inside("ask", QUESTION, "--tenant", "U1", home=mount)
    assert asked.returncode == 4 and "was cut short" in asked.stderr and "cordon restore" in asked.stderr
    assert inside("restore", str(archive), home=mount).returncode == 0
    assert "safety officer is" in inside("ask", QUESTION, "--tenant", "U1", home=mount).stdout


@pytest.mark.parametrize("there", [False, True], ids=["where nothing is", "into an empty directory"])
def test_a_restore_killed_at_any_moment_leaves_a_whole_home_or_none(
    inside: Run, archive: Path, tmp_path: Path, there: bool
) -> None:
    dice, new = random.Random(7), tmp_path / "beside" / "new"
    (new if there else new.parent).mkdir(parents=True)
    for _ in range(KILLS):
        code = "import sys; from pathlib import Path; from graph.stores.embedded import backup; print(flush=True); backup.read(Path(sys.argv[1]), open(sys.argv[2], 'rb'))"
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(new), str(archive)], env=environment(new), stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(dice.uniform(0, 0.15))
        child.kill()
        child.communicate()
        if (new / "audit").exists() and not (new / RESTORING).exists():  # it was quicker
            assert "unbroken" in inside("audit", "verify", home=new).stdout
            shutil.rmtree(new)
            (new if there else new.parent).mkdir(parents=True, exist_ok=True)
    assert inside("restore", str(archive), home=new).returncode == 0
    assert "safety officer is" in inside("ask", QUESTION, "--tenant", "U1", home=new).stdout
    assert [path.name for path in new.parent.iterdir()] == ["new"]
