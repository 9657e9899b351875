"""The journal: chained, whole, on disk before anything leaves, for many writers at once."""

import hashlib
import json
import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graph.audit.chain import chained, digest, follow, line_of
from graph.errors import Unavailable
from graph.stores.embedded.journal import FileJournal
from graph.stores.journal import Link


def filled(folder: Path, n: int = 4) -> FileJournal:
    journal = FileJournal(folder / "audit" / "journal.jsonl")
    for i in range(n):
        scores = {"first": 1, "second": 2.5}
        journal.append({"run_id": f"r{i}", "query": f"Frage {i} – سوال", "tenant_id": "U1", "scores": scores})
    return journal


def _loosely(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, sort_keys=True, separators=(",", ":")).encode()


def test_file_and_folder_are_private(tmp_path: Path) -> None:
    path = filled(tmp_path).path
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


_TEXTS = st.text(max_size=20) | st.text(alphabet='"\\/{}[],: \x7f\n\ud800é', max_size=12)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["action", "cited", "note", "plan", "query", "risk", "tail", "zeal"]), _VALUES))
@settings(max_examples=200)
def test_whatever_is_written_is_proven_and_erased_again(
    tmp_path_factory: pytest.TempPathFactory, entry: dict[str, Any]
) -> None:
    journal = FileJournal(tmp_path_factory.mktemp("j") / "journal.jsonl")
    try:
        journal.append({"run_id": "r", "tenant_id": "T", **entry})
    except ValueError:
        assume(False)  # deeper than is written
    assert journal.prove().holds
    journal.erase(["r"], {"receipt_id": "e", "tenant_id": "T"})
    assert journal.prove().holds and not {"cited", "note", "plan", "query"} & next(journal.entries()).keys()


@given(st.data())
@settings(max_examples=60)
def test_any_changed_byte_is_found(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    journal = filled(tmp_path_factory.mktemp("j"))
    raw = bytearray(journal.path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 2))  # all but the last line's end: without it the line is a torn tail
    raw[at] = data.draw(st.integers(0, 255).filter(lambda b: b != raw[at]))
    journal.path.write_bytes(bytes(raw))
    assert journal.prove().broken is not None


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
            return [lines[0], line_of(entry), *lines[2:]]
        case "a line from another journal":
            other = {**entry, "prev": "f" * 64}
            other["hash"] = digest(other)
            return [lines[0], line_of(other), *lines[2:]]
        case "an empty line":
            return [lines[0], b"\n", *lines[1:]]
        case "no JSON":
            return [lines[0], b"{}\n", *lines[1:]]
        case "a list":
            return [lines[0], b"[]\n", *lines[1:]]
        case "a key added":
            return [lines[0], line_of({**entry, "note": "x"}), *lines[2:]]
        case "a key given twice":
            return [lines[0], lines[1].replace(b',"query":', b',"query":"another","query":'), *lines[2:]]
        case "a key given twice, inside":
            return [lines[0], lines[1].replace(b'{"first":', b'{"first":0,"first":'), *lines[2:]]
        case "white space":
            return [lines[0], lines[1].replace(b',"run_id":', b', "run_id":'), *lines[2:]]
        case "white space at the end":
            return [lines[0], lines[1].replace(b"\n", b" \n"), *lines[2:]]
        case "a carriage return":
            return [lines[0], lines[1].replace(b"\n", b"\r\n"), *lines[2:]]
        case "an escape":
            return [lines[0], lines[1].replace(b'"U1"', b'"\\u00551"'), *lines[2:]]
        case "no escape":
            return [lines[0], lines[1].replace(b"\\u2013", "–".encode()), *lines[2:]]
        case "an escape in a hash":
            return [
                lines[0],
                lines[1].replace(
                    b'"hash":"' + entry["hash"][:1].encode(),
                    b'"hash":"\\u00' + entry["hash"][:1].encode().hex().encode(),
                ),
                *lines[2:],
            ]
        case "a number written otherwise":
            return [lines[0], lines[1].replace(b'"second":2.5', b'"second":2.50'), *lines[2:]]
        case "the keys in another order":
            return [
                lines[0],
                json.dumps(dict(reversed(entry.items())), separators=(",", ":")).encode() + b"\n",
                *lines[2:],
            ]
        case "a key moved inside":
            query = b'"query":' + json.dumps(entry["query"]).encode() + b","
            return [lines[0], lines[1].replace(query, b"").replace(b'{"first":1,', b'{"first":1,' + query), *lines[2:]]
        case "not a number, hashed again":
            entry["scores"]["second"] = float("nan")
            entry["hash"] = hashlib.sha256(
                _loosely({k: v for k, v in entry.items() if k not in ("hash", "salt", "query")})
            ).hexdigest()
            return [lines[0], _loosely(entry) + b"\n", *lines[2:]]
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
    "a key given twice",
    "a key given twice, inside",
    "white space",
    "white space at the end",
    "a carriage return",
    "an escape",
    "no escape",
    "an escape in a hash",
    "a number written otherwise",
    "the keys in another order",
    "a key moved inside",
    "not a number, hashed again",
)


@pytest.mark.parametrize("kind", KINDS)
def test_tampering_is_found_and_located(tmp_path: Path, kind: str) -> None:
    journal = filled(tmp_path)
    before = journal.path.read_bytes()
    journal.path.write_bytes(b"".join(_tampered(kind, before.splitlines(keepends=True))))
    assert journal.path.read_bytes() != before
    broken = journal.prove().broken
    assert broken is not None
    assert 1 <= broken.line <= 3
    assert broken.why


@pytest.mark.parametrize("tail", [b"{", b'{"run_id": "half', b"\xff\xfe", b" "])
def test_a_torn_tail_is_cut_by_the_next_append(tmp_path: Path, tail: bytes) -> None:
    journal = filled(tmp_path)
    with journal.path.open("ab") as file:
        file.write(tail)
    assert journal.prove().broken is None, "a line that was never acknowledged is no break"
    assert len(list(journal.entries())) == 4
    journal.append({"run_id": "r5"})
    assert journal.prove().broken is None
    assert [e["seq"] for e in journal.entries()] == [1, 2, 3, 4, 5]
    assert tail not in journal.path.read_bytes().splitlines()


def test_a_last_line_that_lacks_only_its_newline_is_kept(tmp_path: Path) -> None:
    """It was acknowledged: cutting it off would be losing a run, and calling the rest unbroken."""
    journal = filled(tmp_path)
    journal.path.write_bytes(journal.path.read_bytes()[:-1])
    assert journal.prove().says.startswith("4 entries, unbroken")
    assert [e["seq"] for e in journal.entries()] == [1, 2, 3, 4] == [e["seq"] for e in journal.newest()][::-1]
    journal.append({"run_id": "r5"})
    assert [e["run_id"] for e in journal.entries()] == ["r0", "r1", "r2", "r3", "r5"]
    assert journal.prove().says.startswith("5 entries, unbroken")


def test_an_erasure_keeps_and_erases_a_last_line_without_its_newline(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    journal.path.write_bytes(journal.path.read_bytes()[:-1])
    journal.erase(["r3"], {"receipt_id": "e1", "tenant_id": "U1"})
    assert ["query" in e for e in journal.entries()] == [True, True, True, False, False]
    assert journal.prove().says.startswith("5 entries, unbroken")


def test_a_last_line_without_its_newline_that_was_changed_is_told(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    journal.path.write_bytes(journal.path.read_bytes()[:-1].replace(b"r3", b"r4"))
    assert journal.prove().says == "broken at line 4: the journal was cut: 4 entries were written"


def _damaged(kind: str, journal: FileJournal) -> None:
    lines = journal.path.read_bytes().splitlines(keepends=True)
    match kind:
        case "deleted":
            journal.path.unlink()
        case "emptied":
            journal.path.write_bytes(b"")
        case "one line cut":
            journal.path.write_bytes(b"".join(lines[:-1]))
        case "half of a line cut":
            journal.path.write_bytes(b"".join(lines)[:-40])
        case "three lines cut":
            journal.path.write_bytes(lines[0])
        case "another chain":
            other = filled(journal.path.parent / "other")
            journal.path.write_bytes(other.path.read_bytes())
        case "a shorter head":
            journal.head.path.write_text(journal.head.path.read_text().replace(":4}", ":3}"))


DAMAGE = (
    ("deleted", "broken at line 1: the journal is gone: 4 entries were written"),
    ("emptied", "broken at line 1: the journal was emptied: 4 entries were written"),
    ("one line cut", "broken at line 4: the journal was cut: 4 entries were written"),
    ("half of a line cut", "broken at line 4: the journal was cut: 4 entries were written"),
    ("three lines cut", "broken at line 2: the journal was cut: 4 entries were written"),
    ("another chain", "broken at line 4: the line is not the one that was written there"),
    ("a shorter head", "broken at line 3: the line is not the one that was written there"),
)


@pytest.mark.parametrize(("kind", "says"), DAMAGE, ids=[kind for kind, _ in DAMAGE])
def test_what_was_cut_is_told_and_stays_told(tmp_path: Path, kind: str, says: str) -> None:
    journal = filled(tmp_path)
    _damaged(kind, journal)
    assert (journal.prove().says, journal.prove().holds) == (says, False)
    if kind != "a shorter head":  # the record goes on, and what comes next does not cover it up
        journal.append({"run_id": "next"})
        assert not journal.prove().holds and "unbroken" not in journal.prove().says


def test_without_a_journal_or_its_head_nothing_is_called_unbroken(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "audit" / "journal.jsonl")
    assert (journal.prove().says, journal.prove().holds) == ("there is no journal: nothing is proven", False)
    filled(tmp_path)
    last = list(journal.entries())[-1]["hash"]
    for damage in (journal.head.path.unlink, lambda: journal.head.path.write_bytes(b'{"seq":4')):
        damage()
        assert not journal.prove().holds
        assert journal.prove().says == (
            f"4 entries follow one another; without journal.head, a cut end would not show; last {last}"
        )
    journal.append({"run_id": "next"})
    assert journal.prove().holds
    journal.path.write_bytes(b"")
    journal.head.path.unlink()
    assert (journal.prove().says, journal.prove().holds) == ("the journal is empty: nothing is proven", False)


def test_a_head_that_stayed_behind_is_no_break(tmp_path: Path) -> None:
    """A process killed between the line and the head."""
    journal = filled(tmp_path, 2)
    behind = journal.head.path.read_bytes()
    filled(tmp_path, 1)
    journal.head.path.write_bytes(behind)
    assert journal.prove().holds and journal.append({"run_id": "next"})["seq"] == 4
    assert journal.prove().says.startswith("4 entries, unbroken")


def test_the_head_is_private_and_holds_nothing_of_a_run(tmp_path: Path) -> None:
    head = filled(tmp_path).head.path
    assert head.stat().st_mode & 0o777 == 0o600
    assert json.loads(head.read_bytes()).keys() == {"seq", "hash"}


def test_a_file_without_a_single_newline_is_looked_through_once(tmp_path: Path) -> None:
    """Block by block with the rest joined anew each time, this took minutes."""
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"x" * 2**25)
    begun = time.process_time()
    assert list(FileJournal(path).newest()) == []
    assert time.process_time() - begun < 2


def test_a_tail_longer_than_the_next_line_leaves_no_rest(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    with journal.path.open("ab") as file:
        file.write(b"x" * 200_000)
    journal.append({"run_id": "r5"})
    assert journal.path.read_bytes().endswith(b"}\n")
    assert journal.prove().broken is None


def test_a_long_last_line_is_read_whole(tmp_path: Path) -> None:
    journal = filled(tmp_path, 1)
    journal.append({"run_id": "long", "query": "y" * 300_000})
    assert journal.append({"run_id": "after"})["seq"] == 3
    assert journal.prove().broken is None


def _append(path: Path, name: int) -> None:
    for i in range(10):
        FileJournal(path).append({"run_id": f"{name}-{i}"})


def test_many_processes(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=_append, args=(tmp_path / "j.jsonl", n)) for n in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0, 0]
    journal = FileJournal(tmp_path / "j.jsonl")
    assert journal.prove().broken is None
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
    assert journal.prove().broken is None
    journal.append({"run_id": "next"})
    assert journal.prove().broken is None


def _limited(path: Path, out: Any) -> None:
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 60, resource.RLIM_INFINITY))
    try:
        FileJournal(path).append({"run_id": "too much"})
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
    journal = FileJournal(tmp_path / "journal.jsonl")
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
    assert journal.prove().broken is None and len(list(journal.entries())) == 19


def test_threads_that_wait_are_written_together_in_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, genuine = FileJournal(tmp_path / "journal.jsonl"), os.fsync
    waits: list[int] = []

    def slow(file: int) -> None:
        waits.append(file)
        time.sleep(0.05)
        genuine(file)

    monkeypatch.setattr("graph.stores.embedded.journal.os.fsync", slow)
    with ThreadPoolExecutor(10) as pool:
        seqs = list(pool.map(lambda n: journal.append({"run_id": str(n)})["seq"], range(30)))
    assert sorted(seqs) == list(range(1, 31)) and journal.prove().broken is None
    assert len(waits) < 15


def test_two_processes_go_on_in_each_tenants_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit" / "journal.jsonl"
    one, two = FileJournal(path), FileJournal(path)
    for n in range(12):
        (one, two)[n % 2].append({"run_id": f"{n}", "tenant_id": f"U{n % 3}", "note": ""})
    with path.open("rb+") as file:  # the last newline was not written
        file.truncate(path.stat().st_size - 1)
    two.append({"run_id": "x", "tenant_id": "U2", "note": ""})
    one.append({"run_id": "y", "tenant_id": "U2", "note": ""})
    assert one.prove().entries == 14 and one.prove().holds
    assert [link.seq for tenant in ("U0", "U1", "U2") if (link := two.tenant_head(tenant))] == [4, 4, 6]


def test_a_line_that_leaves_its_tenants_chain_is_told(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "audit" / "journal.jsonl")
    made = [journal.append({"run_id": f"{n}", "tenant_id": "U1", "note": ""}) for n in range(2)]
    for own in (None, Link(2, made[0]["tenant_hash"]), Link(1, made[1]["tenant_hash"])):
        line = chained({"run_id": "z", "tenant_id": "U1"}, Link(2, made[1]["hash"]), own)
        told = follow([*journal.lines(), line_of(line)[:-1]])
        assert told.broken is not None and "its tenant" in told.broken.why
    outside = {key: line[key] for key in ("run_id", "seq", "prev", "tenant_id")}
    told = follow([*journal.lines(), line_of(outside | {"hash": digest(outside)})[:-1]])
    assert told.broken is not None and "its tenant" in told.broken.why
