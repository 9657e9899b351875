"""The journal: chained, whole, on disk before anything leaves, for many writers at once."""

import json
import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.audit.journal import GENESIS, Journal, digest
from graph.errors import Unavailable


def filled(folder: Path, n: int = 4) -> Journal:
    journal = Journal(folder / "audit" / "journal.jsonl")
    for i in range(n):
        journal.append({"run_id": f"r{i}", "query": f"Frage {i} – سوال", "tenant_id": "U1"})
    return journal


def test_each_line_is_bound_to_the_one_before(tmp_path: Path) -> None:
    entries = list(filled(tmp_path).entries())
    assert [e["seq"] for e in entries] == [1, 2, 3, 4]
    assert [e["prev"] for e in entries] == [GENESIS, *(e["hash"] for e in entries[:-1])]
    assert all(e["hash"] == digest(e) for e in entries)


def test_an_untouched_journal_verifies(tmp_path: Path) -> None:
    assert Journal(tmp_path / "none.jsonl").verify() is None
    assert filled(tmp_path).verify() is None


def test_file_and_folder_are_private(tmp_path: Path) -> None:
    path = filled(tmp_path).path
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@given(st.data())
@settings(max_examples=60)
def test_any_changed_byte_is_found(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    journal = filled(tmp_path_factory.mktemp("j"))
    raw = bytearray(journal.path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 2))  # all but the last line's end: without it the line is a torn tail
    raw[at] = data.draw(st.integers(0, 255).filter(lambda b: b != raw[at]))
    journal.path.write_bytes(bytes(raw))
    assert journal.verify() is not None


def _tampered(kind: str, lines: list[bytes]) -> list[bytes]:
    entry = json.loads(lines[1])
    match kind:
        case "a line removed":
            return lines[:1] + lines[2:]
        case "the first line removed":
            return lines[1:]
        case "two lines swapped":
            return [lines[0], lines[2], lines[1], lines[3]]
        case "a line doubled":
            return [lines[0], lines[0], *lines[1:]]
        case "a value changed":
            return [lines[0], lines[1].replace(b"U1", b"U2"), *lines[2:]]
        case "a value changed and hashed again":
            entry["tenant_id"] = "U2"
            entry["hash"] = digest(entry)
            return [lines[0], json.dumps(entry).encode() + b"\n", *lines[2:]]
        case "a line from another journal":
            other = {**entry, "prev": "f" * 64}
            other["hash"] = digest(other)
            return [lines[0], json.dumps(other).encode() + b"\n", *lines[2:]]
        case "an empty line":
            return [lines[0], b"\n", *lines[1:]]
        case "no JSON":
            return [lines[0], b"{}\n", *lines[1:]]
        case "a list":
            return [lines[0], b"[]\n", *lines[1:]]
        case "a key added":
            return [lines[0], json.dumps({**entry, "note": "x"}).encode() + b"\n", *lines[2:]]
    raise AssertionError(kind)


KINDS = (
    "a line removed",
    "the first line removed",
    "two lines swapped",
    "a line doubled",
    "a value changed",
    "a value changed and hashed again",
    "a line from another journal",
    "an empty line",
    "no JSON",
    "a list",
    "a key added",
)


@pytest.mark.parametrize("kind", KINDS)
def test_tampering_is_found_and_located(tmp_path: Path, kind: str) -> None:
    journal = filled(tmp_path)
    journal.path.write_bytes(b"".join(_tampered(kind, journal.path.read_bytes().splitlines(keepends=True))))
    broken = journal.verify()
    assert broken is not None
    assert 1 <= broken.line <= 3
    assert broken.why


@pytest.mark.parametrize("tail", [b"{", b'{"run_id": "half', b"\xff\xfe", b" "])
def test_a_torn_tail_is_cut_by_the_next_append(tmp_path: Path, tail: bytes) -> None:
    journal = filled(tmp_path)
    with journal.path.open("ab") as file:
        file.write(tail)
    assert journal.verify() is None, "a line that was never acknowledged is no break"
    assert len(list(journal.entries())) == 4
    journal.append({"run_id": "r5"})
    assert journal.verify() is None
    assert [e["seq"] for e in journal.entries()] == [1, 2, 3, 4, 5]
    assert tail not in journal.path.read_bytes().splitlines()


def test_a_tail_longer_than_the_next_line_leaves_no_rest(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    with journal.path.open("ab") as file:
        file.write(b"x" * 200_000)
    journal.append({"run_id": "r5"})
    assert journal.path.read_bytes().endswith(b"}\n")
    assert journal.verify() is None


def test_a_long_last_line_is_read_whole(tmp_path: Path) -> None:
    journal = filled(tmp_path, 1)
    journal.append({"run_id": "long", "query": "y" * 300_000})
    assert journal.append({"run_id": "after"})["seq"] == 3
    assert journal.verify() is None


def test_many_threads(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    threads = [
        threading.Thread(target=lambda n=n: [journal.append({"run_id": f"{n}-{i}"}) for i in range(10)])
        for n in range(6)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert journal.verify() is None
    assert len({e["run_id"] for e in journal.entries()}) == 60


def _append(path: Path, name: int) -> None:
    for i in range(10):
        Journal(path).append({"run_id": f"{name}-{i}"})


def test_many_processes(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=_append, args=(tmp_path / "j.jsonl", n)) for n in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0, 0]
    journal = Journal(tmp_path / "j.jsonl")
    assert journal.verify() is None
    assert len({e["run_id"] for e in journal.entries()}) == 30


@pytest.mark.parametrize("how", ["no space", "half a line", "no sync", "read-only"])
def test_a_disk_that_does_not_take_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    journal = filled(tmp_path)
    before = journal.path.read_bytes()

    def fails(*args: Any) -> int:
        raise OSError(28, "No space left on device")

    def half(file: int, line: bytes, at: int) -> int:
        return written(file, line[: len(line) // 2], at)

    written = os.pwrite
    with monkeypatch.context() as broken:
        match how:
            case "no space":
                broken.setattr(os, "pwrite", fails)
            case "half a line":
                broken.setattr(os, "pwrite", half)
            case "no sync":
                broken.setattr(os, "fsync", fails)
            case "read-only":
                broken.setattr(os, "open", fails)
        with pytest.raises(Unavailable, match="could not be recorded") as caught:
            journal.append({"run_id": "lost"})
    assert caught.value.exit_code == 4
    assert caught.value.hint
    if how != "no sync":
        assert journal.path.read_bytes() == before
    assert journal.verify() is None
    journal.append({"run_id": "next"})
    assert journal.verify() is None


def _limited(path: Path, out: Any) -> None:
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 60, resource.RLIM_INFINITY))
    try:
        Journal(path).append({"run_id": "too much"})
        out.put("written")
    except Unavailable as error:
        out.put(str(error))


def test_a_full_disk_in_truth(tmp_path: Path) -> None:
    """A child that may only write 60 more bytes: the kernel takes half a line, and the journal gives it back."""
    journal = filled(tmp_path)
    before = journal.path.read_bytes()
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    child = context.Process(target=_limited, args=(journal.path, out))
    child.start()
    said = out.get(timeout=60)
    child.join(60)
    out.close()
    out.join_thread()
    assert "could not be recorded" in said
    assert journal.path.read_bytes() == before


def test_an_entry_that_cannot_be_written_fails_alone(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    entries: list[dict[str, Any]] = [{"run_id": str(n)} for n in range(20)]
    entries[7] = {"run_id": object()}

    def append(entry: dict[str, Any]) -> bool:
        try:
            journal.append(entry)
        except TypeError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert [n for n, good in enumerate(pool.map(append, entries)) if not good] == [7]
    assert journal.verify() is None and len(list(journal.entries())) == 19


def test_threads_that_wait_are_written_together_in_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, waits = Journal(tmp_path / "journal.jsonl"), []
    genuine = os.fsync
    monkeypatch.setattr("graph.audit.journal.os.fsync", lambda file: (waits.append(1), time.sleep(0.05), genuine(file)))
    with ThreadPoolExecutor(10) as pool:
        seqs = list(pool.map(lambda n: journal.append({"run_id": str(n)})["seq"], range(30)))
    assert sorted(seqs) == list(range(1, 31)) and journal.verify() is None
    assert len(waits) < 15
