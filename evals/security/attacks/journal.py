"""A journal of 100,000 lines, and one that somebody edits, cuts or takes away."""

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evals.security import Row
from evals.serving import QUESTIONS, Served, serving, small_home
from graph.agent import Agent
from graph.audit.chain import chained, is_run, line_of
from graph.audit.report import report
from graph.settings import Settings, load
from graph.stores.embedded.journal import FileJournal
from graph.stores.journal import Link

LINES = 100_000
TENANTS = tuple(f"T{n}" for n in range(20))  # of whom one is erased
EMPTY = "U2"  # has asked nothing


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as made:
        base = Path(made)
        small_home(base)
        short, long = (_settings(base / name) for name in ("short", "long"))
        for settings in (short, long):
            shutil.copytree(base / "home", settings.home)
        with Agent(short) as agent:
            agent.ask(QUESTIONS["U1"], tenant_id="U1")
        journal = FileJournal(long.home / "audit" / "journal.jsonl")
        _fill(FileJournal(short.home / "audit" / "journal.jsonl"), journal)
        size = f"{LINES:,} lines, {journal.path.stat().st_size / 1e6:.0f} MB"
        yield from _asked(short, long, size)
        yield from _read(journal)
        yield from _pages(long)
        yield from _erased(long, journal)
        yield from _edited(FileJournal(short.home / "audit" / "journal.jsonl"))


def _settings(place: Path) -> Settings:
    return load(environ={}, home=place / "home", out=place / "out", artifacts=False)


def _fill(model: FileJournal, journal: FileJournal) -> None:
    """Lines as they are written, copies of a real run's, without waiting for the disk at each."""
    run = {key: value for key, value in next(model.entries()).items() if key != "salt"}
    last, lines, owns = None, [], dict[str, Link]()
    for n in range(LINES):
        tenant = TENANTS[n % len(TENANTS)]
        entry = chained({**run, "run_id": _run_id(n), "tenant_id": tenant}, last, owns.get(tenant))
        last, owns[tenant] = Link(entry["seq"], entry["hash"]), Link(entry["tenant_seq"], entry["tenant_hash"])
        lines.append(line_of(entry))
    journal.path.parent.mkdir(mode=0o700)
    journal.path.write_bytes(b"".join(lines))
    assert last is not None
    journal.head.write(last)


def _run_id(n: int) -> str:
    return hashlib.md5(str(n).encode(), usedforsecurity=False).hexdigest()


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _asked(short: Settings, long: Settings, size: str) -> Iterator[Row]:
    def opened_and_asked(settings: Settings) -> None:
        with Agent(settings) as agent:
            agent.ask(QUESTIONS["U1"], tenant_id="U1")

    first = _seconds(lambda: opened_and_asked(long))
    few, many = (min(_seconds(partial(opened_and_asked, s)) for _ in range(5)) for s in (short, long))
    yield Row(
        f"open a home and ask, with some lines and with {size}",
        f"{few:.2f} s, {many:.2f} s (best of 5; the first {first:.2f} s)",
        "no more than 0.2 s apart",
        many - few < 0.2,
    )


def _read(journal: FileJournal) -> Iterator[Row]:
    held = []
    begun = time.process_time()
    spent = _seconds(lambda: held.append(journal.prove().holds))
    cpu = time.process_time() - begun
    yield Row(
        "audit verify", f"{spent:.1f} s, {cpu:.1f} s of one core", "true, at most 5 s of one core", held[0] and cpu <= 5
    )
    spent = _seconds(lambda: next(journal.newest()))
    yield Row("audit tail", f"{spent * 1000:.1f} ms", "at most 50 ms", spent < 0.05)
    spent = _seconds(lambda: list(filter(is_run, journal.entries("run_id", _run_id(LINES // 2)))))
    yield Row("audit show, a run in the middle", f"{spent:.2f} s", "at most 1 s", spent < 1)
    for what, day, most in (("another day", "1999-01-01", 1), ("the day of all", _day(journal), 10)):
        began = time.perf_counter()
        rows: list[dict[str, Any]] = list(report(filter(is_run, journal.entries("timestamp", day)), day))
        spent = time.perf_counter() - began
        runs = sum(row["runs"] for row in rows)
        yield Row(f"audit report of {what}", f"{runs:,} runs, {spent:.2f} s", f"at most {most} s", spent < most)


def _day(journal: FileJournal) -> str:
    return str(next(journal.newest())["timestamp"])[:10]


def _pages(settings: Settings) -> Iterator[Row]:
    with serving(settings) as served:
        first, then = _page(served, EMPTY), min(_page(served, EMPTY) for _ in range(5))
    yield Row(
        "an auditor's page without a line, the first after the start, then the next",
        f"{first:.2f} s, {then * 1000:.0f} ms",
        "at most 1 s, at most 50 ms",
        first < 1 and then < 0.05,
    )


def _page(served: Served, tenant: str) -> float:
    with served.client(tenant, "auditor") as auditor:
        auditor.get("/livez")
        return _seconds(lambda: auditor.get("/v1/audit").raise_for_status())


def _erased(settings: Settings, journal: FileJournal) -> Iterator[Row]:
    with Agent(settings) as agent:
        receipts = []
        spent = _seconds(lambda: receipts.append(agent.forget(tenant_id=TENANTS[0], everything=True)))
    held = receipts[0]["runs"] == LINES // len(TENANTS) and journal.prove().holds
    yield Row(
        f"erase one of {len(TENANTS)} tenants", f"{spent:.1f} s", "proven afterwards, at most 10 s", held and spent < 10
    )


def _edited(journal: FileJournal) -> Iterator[Row]:
    """What reads the same or is not there, each on a journal that proved before."""
    kept, head = journal.path.read_bytes(), journal.head.path.read_bytes()
    first, *others = kept.splitlines(keepends=True)
    entry = json.loads(first)
    same = {
        "a key twice": first.replace(b',"query":', b',"query":"","query":'),
        "white space": first.replace(b',"run_id":', b', "run_id":'),
        "white space at the end": first[:-1] + b" \n",
        "a carriage return": first[:-1] + b"\r\n",
        "an escape": first.replace(b'"U1"', b'"\\u00551"', 1),
        "NaN": first.replace(b'"risk_score":%d' % entry["risk_score"], b'"risk_score":NaN'),
        "another number of the same value": first.replace(
            b'"risk_score":%d' % entry["risk_score"], b'"risk_score":%d.0' % entry["risk_score"]
        ),
        "another order": json.dumps(dict(reversed(entry.items())), separators=(",", ":")).encode() + b"\n",
        "a line removed": b"",
        "an empty line": b"\n" + first,
    }
    told = sum(kept != (now := line + b"".join(others)) and _tells(journal, now, head) for line in same.values())
    yield Row("edits that read the same", f"{told} of {len(same)} told", "all", told == len(same))
    steps = range(1, len(kept), max(1, len(kept) // 500))
    told = sum(_tells(journal, kept[:-cut], head) for cut in steps if cut > 1)
    tried = sum(cut > 1 for cut in steps)
    yield Row("the end cut off, by any number of bytes", f"{told} of {tried} told", "all", told == tried)
    whole = not _tells(journal, kept[:-1], head)
    yield Row("only the last newline cut off", "proven" if whole else "told", "proven: nothing is lost", whole)
    gone = {"the journal": (None, head), "its head": (kept, None), "both": (None, None), "all in it": (b"", head)}
    told = sum(_tells(journal, *there) for there in gone.values())
    yield Row(f"taken away: {', '.join(gone)}", f"{told} of {len(gone)} told", "all", told == len(gone))


def _tells(journal: FileJournal, text: bytes | None, head: bytes | None) -> bool:
    for path, data in ((journal.path, text), (journal.head.path, head)):
        path.unlink(missing_ok=True)
        if data is not None:
            path.write_bytes(data)
    proof = journal.prove()
    return not proof.holds and "unbroken" not in proof.says
