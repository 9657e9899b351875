"""What 1,000 tenants of 100 chunks cost in one process.

    python -m evals.load.tenants                    in a home
    python -m evals.load.tenants --database         on PostgreSQL, in a server of its own

Words and vectors are made up. Each tenant is asked twice, in turn, so that in a home every one of them was let go
before its question comes; memory and open files are those of the whole process, over what it held before the first. On
PostgreSQL the first tenants are asked before there are more, and again among all; then new workers ask for the first
time.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graph.knowledge.index import CANDIDATES
from graph.stores.embedded import Embedded
from graph.stores.spaces import Record, Spaces, StoredChunk

CHUNKS, WIDTH = 100, 384
_FIRST, _NEW = 10, 5  # tenants asked before there are more; workers whose first answer is timed
_WORDS = ["valve", "freezer", "policy", "sample", "door", "report", "budget", "visitor", "training", "spill"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--database", action="store_true", help="on PostgreSQL")
    given = parser.parse_args()
    dice = np.random.default_rng(0)
    (_in_database if given.database else _in_a_home)(given.tenants, dice)
    return 0


def _in_a_home(tenants: int, dice: np.random.Generator) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stores = Embedded(Path(folder))
        spaces = stores.spaces("bench")
        memory, files = resident_mb(), _open_files()
        for n in range(tenants):
            _fill(spaces, n, dice)
        most_memory, most_files, took = resident_mb(), _open_files(), []
        for n in [*range(tenants)] * 2:
            begun = time.process_time()
            _ask(spaces, n, dice)
            took.append((time.process_time() - begun) * 1_000)
            most_memory, most_files = max(most_memory, resident_mb()), max(most_files, _open_files())
        print(
            f"{tenants} tenants of {CHUNKS} chunks: {most_memory - memory:.0f} MB and {most_files - files} files "
            f"more, {most_files} files in all; a cold tenant's answer: {_told(took)} of processor"
        )
        spaces.close()


def _in_database(tenants: int, dice: np.random.Generator) -> None:
    from evals.process import cpu_s
    from graph.stores.postgres import Postgres
    from graph.stores.postgres.migrate import migrate
    from tests.support.postgres import OWNER, server

    def asked(numbers: Sequence[int]) -> str:
        took: list[float] = []
        before = time.process_time(), cpu_s(running.pid)
        for n in numbers:
            begun = time.perf_counter()
            _ask(spaces, n, dice)
            took.append((time.perf_counter() - begun) * 1_000)
        spent = time.process_time() - before[0], cpu_s(running.pid) - before[1]
        mean = [f"{of * 1_000 / len(numbers):.1f}" for of in spent]
        return f"{_told(took)} by the clock; processor, in the mean: {mean[0]} of the worker, {mean[1]} of the database"

    with server(options="") as running:
        url = running.url("prepared")
        migrate(running.url("prepared", OWNER), url)
        stores = Postgres(url, connections=4, wait_s=30)
        spaces, begun = stores.spaces("bench"), time.perf_counter()
        few = range(min(_FIRST, tenants))
        for n in few:
            _fill(spaces, n, dice)
        print(f"{len(few)} tenants of {CHUNKS} chunks: an answer {asked([*few] * 10)}", flush=True)
        size, made = _size(running), time.perf_counter()
        for n in range(len(few), tenants):
            _fill(spaces, n, dice)
            if n in (2 * len(few), tenants - 1):
                print(f"tenant {n + 1} made after {time.perf_counter() - begun:.0f} s", flush=True)
        each = (time.perf_counter() - made) * 1_000 / max(1, tenants - len(few))
        disk = (_size(running) - size) / max(1, tenants - len(few)) / 2**10
        print(f"{tenants} tenants: {each:.0f} ms to make each, {disk:.0f} KB of disk each", flush=True)
        print(f"the same {len(few)}: {asked([*few] * 10)}\nall of them: {asked([*range(tenants)] * 2)}", flush=True)
        took: list[float] = []
        for n in range(_NEW):
            worker, begun = Postgres(url, connections=4, wait_s=30), time.perf_counter()
            _ask(worker.spaces("bench"), n, dice)
            took.append((time.perf_counter() - begun) * 1_000)
            worker.close()
        print(f"the first answer of a new worker: {_told(took)} by the clock, its connection included", flush=True)
        stores.close()


def _size(running: Any) -> int:
    with running.admin("prepared") as admin:
        [(size,)] = admin.execute("SELECT pg_database_size('prepared')").fetchall()
    return int(size)


def _told(took: Sequence[float]) -> str:
    at = sorted(took)
    return f"median {statistics.median(at):.1f} ms, p95 {at[int(len(at) * 0.95)]:.1f}, worst {at[-1]:.1f} (n={len(at)})"


def _ask(spaces: Spaces, tenant: int, dice: np.random.Generator) -> None:
    space = spaces.space(f"T{tenant}")
    assert space is not None
    found = space.find(dice.normal(size=WIDTH).astype(np.float32), [*_WORDS[:4], f"t{tenant}"], CANDIDATES)
    assert found.chunks == found.holding[f"t{tenant}"] == CHUNKS


def _fill(spaces: Spaces, tenant: int, dice: np.random.Generator) -> None:
    space = spaces.space(name := f"T{tenant}", create=True)
    assert space is not None
    vectors = dice.normal(size=(CHUNKS, WIDTH)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"t{tenant} c{n} " + " ".join(dice.choice(_WORDS, 60)) for n in range(CHUNKS)]
    chunks = [StoredChunk(f"d_{n}", "d", 0, len(text), None, None, "") for n, text in enumerate(texts)]
    record = Record("d", "d.md", "d", name, name, "private", "text/markdown", 1, CHUNKS, "", "")
    space.put(record, "".join(texts), chunks, vectors, texts)


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


if __name__ == "__main__":
    sys.exit(main())
