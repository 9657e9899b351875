import os
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

from graph.errors import BadInput, DocumentError, Quarantined
from graph.knowledge import sandbox
from graph.knowledge.sandbox import Limits, Parser, parse, parse_bytes

# What a file that has taken over the child might do, run in its place.
ANSWER = "import os, sys, time; head = sys.stdin.buffer.readline(); "


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.md"
    path.write_text("# Note\n\nSome text.\n")
    return path


def hijacked(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(sandbox, "_BOOT", ANSWER + code)


def reason(*args: object, **options: object) -> str:
    with pytest.raises(DocumentError) as caught:
        parse_bytes(*args, **options)  # type: ignore[arg-type]
    assert str(caught.value) and caught.value.hint
    return caught.value.reason


def test_a_file_is_read_in_another_process(note: Path) -> None:
    document = parse(note)
    assert (document.title, document.text) == ("Note", "# Note\n\nSome text.")


def test_the_name_given_by_the_sender_decides_the_format(note: Path) -> None:
    assert parse(note, filename="x.txt").text == "# Note\n\nSome text."


def test_a_refusal_comes_through_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"%PDF-1.7")
    with pytest.raises(Quarantined) as caught:
        parse(path)
    assert caught.value.reason == "mislabelled" and "a PDF" in str(caught.value) and caught.value.hint


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_what_is_no_file_is_bad_input(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(BadInput, match=r"cannot read 'x\.md'"):
        parse(path)


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 2000)
    with pytest.raises(Quarantined) as caught:
        parse(path, limits=Limits(max_bytes=1000))
    assert caught.value.reason == "oversize"
    assert reason(b"x" * 2000, "a.txt", limits=Limits(max_bytes=1000)) == "oversize"
    assert reason(b"word " * 2000, "a.txt", limits=Limits(max_text=1000)) == "oversize"


def test_a_hundred_small_files_take_one_start(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"{number}.md").write_text(f"# Note {number}\n\n" + "Some text. " * 100)
    with Parser() as parser:
        read = [(parser.parse(tmp_path / f"{number}.md").title, parser._child) for number in range(100)]
        assert parser._child is not None and parser._child.poll() is None
    assert [title for title, _ in read] == [f"Note {number}" for number in range(100)]
    assert len({id(child) for _, child in read}) == 1


def test_a_parser_goes_on_after_a_refusal_and_after_a_crash(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Parser() as parser:
        parser.parse(note)
        child = parser._child
        with pytest.raises(Quarantined):
            parser.parse_bytes(b"", "a.txt")
        parser.parse(note)
        assert parser._child is child, "a refusal needs no new child"
        assert child is not None
        os.kill(child.pid, signal.SIGSEGV)
        with pytest.raises(DocumentError) as caught:
            parser.parse(note)
        assert caught.value.reason == "broken"
        assert parser.parse(note).title == "Note"
        assert parser._child is not child


def test_a_parser_ends_its_child(note: Path) -> None:
    with Parser() as parser:
        parser.parse(note)
        child = parser._child
    assert child is not None and child.returncode is not None


def test_a_file_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    hijacked(monkeypatch, "time.sleep(60)")
    started = time.perf_counter()
    assert reason(b"text", "a.txt", limits=Limits(seconds=0.3)) == "timeout"
    assert time.perf_counter() - started < 2


def test_a_child_that_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    hijacked(monkeypatch, "time.sleep(60)")
    assert reason(b"x" * 5_000_000, "a.txt", limits=Limits(seconds=0.3)) == "timeout"


def test_processor_time_is_limited_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    hijacked(monkeypatch, "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass")
    assert reason(b"text", "a.txt", limits=Limits(seconds=30)) in ("timeout", "memory")


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="the limits of a process are read from /proc")
def test_the_child_runs_under_its_limits_in_a_session_of_its_own(note: Path) -> None:
    own = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (own[1], own[1]))  # what the child would have without a limit
    with Parser(Limits(seconds=7, memory=2**30)) as parser:
        try:
            parser.parse(note)
        finally:
            resource.setrlimit(resource.RLIMIT_CORE, own)
        assert parser._child is not None
        pid = parser._child.pid
        table = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
        soft = {line[:25].strip(): line[25:45].strip() for line in table}
        assert os.getsid(pid) == pid != os.getsid(0)
    assert soft["Max address space"] == str(2**30)
    assert soft["Max file size"] == soft["Max core file size"] == soft["Max processes"] == "0"
    assert 7 <= int(soft["Max cpu time"]) <= 30


def test_a_file_that_takes_too_much_memory_is_refused() -> None:
    data = b"<p>" + b"<b>x</b>" * 2_000_000
    assert reason(data, "a.html", limits=Limits(memory=300 * 2**20)) in ("memory", "broken")


@pytest.mark.parametrize(
    "code",
    [
        "os.write(1, (5).to_bytes(8, 'big') + b'Djunk')",
        "os.write(1, (3).to_bytes(8, 'big') + b'D{}')",
        "os.write(1, (4).to_bytes(8, 'big') + b'D\\xff\\xff\\xff')",
        "os.write(1, (1).to_bytes(8, 'big') + b'E')",
        """os.write(1, bytes(7) + b'E' + b'E{"reason":"odd","quarantined":true,"message":"12345","hint":"12345"}')""",
        "os.abort()",
        "sys.exit(0)",
        "os.close(1); time.sleep(60)",
    ],
)
def test_an_answer_that_is_no_document_is_not_believed(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(sandbox, "GRACE", 0.2)
    hijacked(monkeypatch, code)
    assert reason(b"text", "a.txt") == "broken"


def test_an_endless_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    hijacked(monkeypatch, "os.write(1, (2 ** 62).to_bytes(8, 'big'))\nwhile True: os.write(1, b'x' * 65536)")
    assert reason(b"text", "a.txt") == "oversize"


def test_the_child_has_no_secrets_and_writes_no_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    target = tmp_path / "written"
    seen = (
        "import json; sys.path.append(sys.argv[1]); from graph.knowledge import loaders\n"
        "def load(*_, **__):\n"
        f" try: wrote = os.write(os.open({str(target)!r}, os.O_CREAT | os.O_WRONLY), b'x') == 1\n"
        " except OSError: wrote = False\n"
        " from graph.errors import DocumentError\n"
        " raise DocumentError('broken', json.dumps([sorted(os.environ), wrote]))\n"
        "loaders.load = load\n"
        "from graph.knowledge.sandbox import _serve; _serve(*sys.argv[3:])"
    )
    monkeypatch.setattr(sandbox, "_BOOT", "import os, sys\n" + seen)
    with pytest.raises(DocumentError) as caught:
        parse_bytes(b"text", "a.txt")
    assert "OPENAI" not in str(caught.value) and "HOME" not in str(caught.value)
    assert str(caught.value).endswith("false]")
    assert not target.exists() or not target.read_bytes()


def test_a_crafted_pdf_cannot_bring_the_reader_down() -> None:
    loop = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 99999999>>"
    )
    assert reason(loop + b"endobj\ntrailer<</Root 1 0 R>>\n%%EOF", "a.pdf", limits=Limits(seconds=5))


@pytest.mark.skipif(sys.platform != "linux", reason="names the interpreter's own folder")
def test_the_child_is_started_the_same_from_anywhere(
    note: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "__init__.py").write_text("raise SystemExit('the wrong graph')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert parse(note).title == "Note"
