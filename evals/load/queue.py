"""How long people wait, by load and workers: service times as measured here, the queue in front of them computed.

    python -m evals.load.queue                              measures 120 questions first, on a database of its own
    python -m evals.load.queue --times F                    takes those times; `--keep F` writes them
    python -m evals.load.queue --workers 2,4,8,16 --cores 2 --model 0.3 --database-cores 8

Measured: the processor time of a question in a worker, each question by itself, and that of the database, in the mean.
Computed: questions come at random (Poisson), each goes to the worker with the fewest inside; there it takes half of its
processor time on one of the cores, waits for the database and for the model, and takes the rest. Cores of a worker and
of the database serve first come, first served. What a network, a disk and a proxy add is not in it.
"""

import argparse
import heapq
import json
import statistics
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

WARM, QUESTIONS = 20, 20_000


@dataclass(frozen=True)
class Times:
    """Milliseconds of processor time: `worker` of each question, `database` of one in the mean."""

    worker: tuple[float, ...]
    database: float


@dataclass(frozen=True)
class Shape:
    workers: int
    cores: int  # of each worker
    database_cores: int
    model_s: float

    def capacity(self, times: Times) -> float:
        """Questions a second at which the workers, or the database, have no moment left."""
        most = self.workers * self.cores / (statistics.fmean(times.worker) / 1_000)
        return min(most, self.database_cores / (times.database / 1_000)) if times.database else most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--questions", type=int, default=120, help="to measure")
    parser.add_argument("--workers", default="1,2,4,8,16,32")
    parser.add_argument("--cores", type=int, default=2, help="of each worker")
    parser.add_argument("--database-cores", type=int, default=8)
    parser.add_argument("--model", type=float, default=0.3, metavar="SECONDS")
    parser.add_argument("--loads", default="0.5,0.7,0.8,0.9,0.95", help="shares of the capacity")
    given = parser.parse_args()
    times = _read(given.times) if given.times else measured(given.questions)
    if given.keep:
        given.keep.write_text(json.dumps({"worker": times.worker, "database": times.database}))
    at = statistics.quantiles(times.worker, n=20)
    print(
        f"measured: a question takes {statistics.fmean(times.worker):.1f} ms of a worker's processor (median"
        f" {statistics.median(times.worker):.1f}, p95 {at[-1]:.1f}, n = {len(times.worker)}) and"
        f" {times.database:.1f} ms of the database's"
    )
    for workers in map(int, given.workers.split(",")):
        shape = Shape(workers, given.cores, given.database_cores, given.model)
        most = shape.capacity(times)
        told = []
        for load in map(float, given.loads.split(",")):
            waits = simulated(shape, times, load * most)
            p95 = statistics.quantiles(waits, n=20)[-1]
            told.append(f"{load:.0%} ({load * most:.0f}/s) {statistics.median(waits):.2f} / {p95:.2f} s")
        print(f"computed: {workers} workers of {given.cores} cores, median / p95: " + "; ".join(told), flush=True)
    return 0


def _read(path: Path) -> Times:
    raw = json.loads(path.read_text())
    return Times(tuple(raw["worker"]), raw["database"])


def measured(questions: int) -> Times:
    """One after the other over the shipped corpus, as a service answers: a thread, buffer memory, no artefacts."""
    from evals.load import stub
    from evals.load.__main__ import QUESTIONS as ROWS
    from evals.process import ROOT, cpu_s
    from graph.agent import Agent
    from graph.knowledge.manifest import sources
    from graph.settings import load
    from graph.stores.postgres.migrate import migrate
    from tests.support.postgres import OWNER, server

    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder, server(options="") as running, stub.running(0) as model:
        migrate(running.url("prepared", OWNER), running.url("prepared"))
        known: dict[str, Any] = {"artifacts": False, "database_url": running.url("prepared")}
        settings = load(environ=model, home=Path(folder) / "home", **known)
        with Agent(settings) as agent:
            agent.ingest_sources(sources(ROOT / "corpus/manifest.csv", ROOT / "corpus/tenant_acl.csv"))
            taken: list[float] = []
            server_before = 0.0
            for n in range(questions + WARM):
                row = rows[n % len(rows)]
                if n == WARM:
                    server_before = cpu_s(running.pid)
                begun = time.process_time()
                agent.ask(row["question"], tenant_id=row["tenant"], thread_id=f"t{n % 50}", memory="buffer")
                if n >= WARM:
                    taken.append((time.process_time() - begun) * 1_000)
            return Times(tuple(taken), (cpu_s(running.pid) - server_before) * 1_000 / questions)


# -- the queue -------------------------------------------------------------------------------------------------------


@dataclass
class _Cores:
    """First come, first served."""

    free: int
    waiting: deque[tuple[float, Any]] = field(default_factory=deque)


def simulated(shape: Shape, times: Times, per_second: float, questions: int = QUESTIONS, seed: int = 7) -> list[float]:
    """Seconds from asking to the answer, of each question but the first tenth."""
    dice, order = Random(seed), count()
    workers = [_Cores(shape.cores) for _ in range(shape.workers)]
    inside = [0] * shape.workers
    database = _Cores(shape.database_cores)
    events: list[tuple[float, int, Any]] = []
    took: list[float] = []

    def at(when: float, do: Any) -> None:
        heapq.heappush(events, (when, next(order), do))

    def work(cores: _Cores, now: float, seconds: float, then: Any) -> None:
        if not cores.free:
            cores.waiting.append((seconds, then))
            return
        cores.free -= 1
        at(now + seconds, lambda end: done(cores, end, then))

    def done(cores: _Cores, now: float, then: Any) -> None:
        cores.free += 1
        if cores.waiting:
            seconds, next_one = cores.waiting.popleft()
            work(cores, now, seconds, next_one)
        then(now)

    def ask(begun: float) -> None:
        place = min(range(shape.workers), key=lambda one: inside[one])
        inside[place] += 1
        half = dice.choice(times.worker) / 2_000
        stored = dice.expovariate(1_000 / times.database) if times.database else 0.0

        def over(now: float) -> None:
            inside[place] -= 1
            took.append(now - begun)

        def read(now: float) -> None:
            work(database, now, stored, lambda t: at(t + shape.model_s, last))

        def last(now: float) -> None:
            work(workers[place], now, half, over)

        work(workers[place], begun, half, read)

    now = 0.0
    for _ in range(questions):
        now += dice.expovariate(per_second)
        at(now, ask)
    while events:
        when, _, do = heapq.heappop(events)
        do(when)
    return took[len(took) // 10 :]


if __name__ == "__main__":
    sys.exit(main())
