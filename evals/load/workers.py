"""Several workers on one database while people ask and upload, and things die: what is lost, doubled or shown wrongly.

    python -m evals.load.workers                            four workers of two homes, killed with SIGKILL at random
    python -m evals.load.workers --database-kills 5         the database killed and started again, too
    python -m evals.load.workers --cut 0.002                connections to it cut in the middle of what is said on them
    python -m evals.load.workers --full                     the disk under it full for a while (a tmpfs: as root)
    python -m evals.load.workers --workers 2 --tenants 3 --threads 12 --kills 1         in half a minute

Every tenant has a document that differs from the others' in one word, and everybody asks the same question. Whoever is
answered with anything but an answer or a clear 503, or not at all, asks again, at any worker. Afterwards every
acknowledged turn is looked for in the journal, in the conversations and in what its thread remembers, and every
acknowledged upload among the jobs and the documents. Exit code 1 unless all of it is there once, and nothing else.
Needs a checkout: the server is the tests' own.
"""

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx

from evals.load.proxy import Proxy
from evals.process import served
from evals.serving import WIDE
from graph.agent import Agent
from graph.checkpoints import MaskingSerializer
from graph.context import key_of
from graph.service.keys import Keys
from graph.settings import load
from graph.stores.postgres import Postgres
from graph.stores.postgres.migrate import migrate
from tests.support.postgres import OWNER, Server, server

QUESTION = "Which freezer holds the whole blood samples?"
USER = "ann"
PATIENCE_S = 300.0  # for one question to be answered, and for the jobs to be done
_SYLLABLES = "ba de fi go ku la me ni po ru sa te vi zo".split()


@dataclass(frozen=True)
class Plan:
    workers: int = 4
    tenants: int = 50
    threads: int = 1_000
    turns: int = 2  # of each thread
    clients: int = 16
    uploads: int = 100
    kills: int = 30  # of workers
    database_kills: int = 0
    cut: float = 0.0  # of the messages of workers to the database
    full: bool = False
    pause_s: float = 0.0  # of a client between two questions
    seed: int = 21


@dataclass
class Tally:
    """What came of it. Those of `wrong` and after must be 0."""

    turns: int = 0  # acknowledged
    uploads: int = 0
    unavailable: int = 0  # a clear 503, or a reply that says so; asked again
    cut_off: int = 0  # connections of clients that broke with a worker
    kills: int = 0
    database_kills: int = 0
    cut: int = 0  # connections to the database
    journal_lines: int = 0
    not_acknowledged: int = 0  # turns on record whose answer did not arrive
    wrong: list[str] = field(default_factory=list)  # answers
    other_tenants: int = 0
    turns_lost: int = 0
    turns_doubled: int = 0
    forgotten: int = 0  # turns that their thread does not remember
    jobs_lost: int = 0
    jobs_doubled: int = 0
    unaccounted: int = 0  # lines of the journal beyond the turns that were tried
    chain: str = ""  # what does not hold

    @property
    def good(self) -> bool:
        return not any(
            (self.wrong, self.other_tenants, self.turns_lost, self.turns_doubled, self.forgotten, self.jobs_lost,
             self.jobs_doubled, self.unaccounted, self.chain)
        )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in asdict(Plan()).items():
        option = "--" + name.replace("_", "-")
        if isinstance(default, bool):
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=type(default), default=default)
    plan = Plan(**vars(parser.parse_args()))
    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="cordon-w-", dir="/tmp") as folder,
        _disk(plan.full) as disk,
        server(disk, options="-c max_wal_size=64MB") as running,  # every commit on disk, as an operator has it
    ):
        tally = measure(plan, Path(folder), running, say=lambda told: print(told, file=sys.stderr, flush=True))
    told = {"plan": asdict(plan), "tally": asdict(tally), "took_s": round(time.monotonic() - begun)}
    print(json.dumps(told, indent=1))
    return 0 if tally.good else 1


@contextmanager
def _disk(full: bool) -> Iterator[Path | None]:
    """A small disk for the server, where it is to be filled."""
    if not full:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="cordon-d-", dir="/tmp", ignore_cleanup_errors=True) as place:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m,mode=0777", "tmpfs", place], check=True)
        try:
            (below := Path(place) / "pg").mkdir()
            yield below
        finally:
            subprocess.run(["umount", "-l", place], check=True)


def measure(plan: Plan, folder: Path, running: Server, say: Callable[[str], None] = lambda told: None) -> Tally:
    migrate(running.url("prepared", OWNER), running.url("prepared"))
    whose = {f"T{n}": _word(n) for n in range(plan.tenants)}
    keys = _filled(running.url("prepared"), folder, whose)
    say(f"{len(whose)} tenants filled")
    proxy = Proxy(Path(tempfile.mkdtemp(dir=folder)), running.folder, plan.seed) if plan.cut else None
    url = running.url("prepared") if proxy is None else running.url("prepared").replace(str(running.folder), proxy.host)
    with ExitStack() as done:
        if proxy is not None:
            done.enter_context(proxy)
        workers = [done.enter_context(_Worker(folder, n, plan.workers, url)) for n in range(plan.workers)]
        say("workers listen")
        if proxy is not None:
            proxy.rate = plan.cut
        run = _Run(plan, whose, keys, workers, say)
        run.line_up()
        over = threading.Event()
        breaking = [threading.Thread(target=run.kill, args=[over])] if plan.kills else []
        if plan.database_kills:
            breaking.append(threading.Thread(target=run.kill_database, args=[over, running]))
        if plan.full:
            breaking.append(threading.Thread(target=run.fill, args=[over, running]))
        for one in breaking:
            one.start()
        try:
            run.ask_all()
        finally:
            over.set()
            for one in breaking:
                one.join()
        if proxy is not None:
            proxy.rate = 0
            run.tally.cut = proxy.cut
        say("all asked")
        run.await_jobs()
    _compare(run, running.url("prepared"))
    return run.tally


def _word(number: int) -> str:
    """A name that no other tenant's holds, and that is part of no other."""
    first, second = divmod(number, len(_SYLLABLES))
    return f"x{_SYLLABLES[first]}r{_SYLLABLES[second]}k"


def _filled(url: str, folder: Path, whose: Mapping[str, str]) -> dict[str, str]:
    """The documents of every tenant; their keys."""
    settings = load(environ={}, home=folder / "first", out=folder / "out", artifacts=False, database_url=url)
    with Agent(settings) as agent:
        for n, (tenant, word) in enumerate(whose.items()):
            path = folder / "freezers.md"
            text = f"# Freezers\n\nThe {word} freezer holds the whole blood samples. It stands in room {100 + n}.\n"
            path.write_text(text, encoding="utf-8")
            [outcome] = agent.ingest([path], tenant_id=tenant)
            assert outcome.status == "indexed", outcome
        held = Keys(agent.deps.stores.keys)
        return {tenant: held.add(tenant, USER, "admin")[1] for tenant in whose}


class _Worker:
    """`cordon serve` on a free port; the first half of them have one home, the others another. Those of the second home
    answer in processes of their own."""

    def __init__(self, folder: Path, number: int, of: int, url: str) -> None:
        home = "first" if number < (of + 1) // 2 else "second"
        self._folder, self._log = folder, f"log{number}"
        self._settings = {f"CORDON_{name.upper()}": str(value) for name, value in WIDE.items()} | {
            "CORDON_HOME": str(folder / home),
            "CORDON_DATABASE_URL": url,
            "CORDON_DATABASE_CONNECTIONS": "6",
            "CORDON_DATABASE_WAIT_S": "3",
            "CORDON_ARTIFACTS": "0",
            "CORDON_SERVE_THREADS": "8",
            "CORDON_SERVE_PROCESSES": "1" if home == "first" else "2",
        }
        self._open = ExitStack()
        self.url, self._pid = "", 0

    def __enter__(self) -> "_Worker":
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.close()

    def start(self) -> None:
        self.url, self._pid = self._open.enter_context(served(self._folder, self._settings, self._log))

    def kill(self) -> None:
        self.url = ""
        os.kill(self._pid, signal.SIGKILL)
        self._open.close()


class _Run:
    def __init__(
        self,
        plan: Plan,
        whose: Mapping[str, str],
        keys: Mapping[str, str],
        workers: list[_Worker],
        say: Callable[[str], None],
    ) -> None:
        self.plan, self.whose, self.say = plan, whose, say
        self.tally, self.acknowledged = Tally(), dict[str, tuple[str, str]]()  # run: tenant and thread
        self.tries = 0  # questions that may have become a turn without an answer
        self.jobs: dict[str, tuple[str, str]] = {}  # job: tenant and file
        self._keys, self._workers, self._own = keys, workers, threading.Lock()
        self._left: queue.SimpleQueue[tuple[str, str] | tuple[str, str, str]] = queue.SimpleQueue()

    # -- what people do --------------------------------------------------------------------------------------

    def line_up(self) -> None:
        dice = Random(self.plan.seed)
        tenants = list(self.whose)
        asked: list[Any] = [
            (tenants[n % len(tenants)], f"t{n}") for n in range(self.plan.threads) for _ in range(self.plan.turns)
        ]
        asked += [(tenants[n % len(tenants)], f"valve{n}.txt", "upload") for n in range(self.plan.uploads)]
        dice.shuffle(asked)
        for one in asked:
            self._left.put(one)

    def ask_all(self) -> None:
        several = [threading.Thread(target=self._client, args=[Random(n)]) for n in range(self.plan.clients)]
        for client in several:
            client.start()
        for client in several:
            client.join()

    def _client(self, dice: Random) -> None:
        with self.http() as http:
            while True:
                try:
                    task = self._left.get_nowait()
                except queue.Empty:
                    return
                if len(task) == 3:
                    self._upload(http, dice, task[0], task[1])
                else:
                    self._ask(http, dice, *task)
                if (left := self._left.qsize()) % 200 == 0:
                    self.say(f"{left} left, {self.tally}")
                time.sleep(self.plan.pause_s)

    def http(self) -> httpx.Client:
        return httpx.Client(timeout=120, trust_env=False)

    def _ask(self, http: httpx.Client, dice: Random, tenant: str, thread: str) -> None:
        body = {"question": QUESTION, "thread_id": thread, "memory": "buffer"}
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            sent = self._sent(http, dice, tenant, "/v1/ask", json=body)
            if sent is None:
                time.sleep(0.3)
                continue
            if sent.status_code == 200 and (reply := sent.json())["decision"] != "unavailable":
                wrong = self._wrong(tenant, sent.text, reply)
                with self._own:
                    self.tally.turns += 1
                    self.acknowledged[reply["run_id"]] = tenant, thread
                    self.tally.wrong += wrong
                return
            with self._own:
                self.tries += 1
                self.tally.unavailable += 1
                if sent.status_code not in (200, 503):
                    self.tally.wrong.append(f"{sent.status_code} {sent.text[:200]}")
            time.sleep(0.3)
        with self._own:
            self.tally.wrong.append(f"{tenant} {thread}: no answer in {PATIENCE_S:g} s")

    def _sent(self, http: httpx.Client, dice: Random, tenant: str, path: str, **more: Any) -> httpx.Response | None:
        """What a worker said, or nothing, where it died meanwhile."""
        if not (there := [worker.url for worker in self._workers if worker.url]):
            return None
        try:
            return http.post(
                dice.choice(there) + path, headers={"Authorization": f"Bearer {self._keys[tenant]}"}, **more
            )
        except httpx.ConnectError:
            return None  # nothing was sent
        except httpx.HTTPError:
            with self._own:
                self.tries += 1
                self.tally.cut_off += 1
            return None

    def _wrong(self, tenant: str, text: str, reply: Mapping[str, Any]) -> list[str]:
        if [word for other, word in self.whose.items() if other != tenant and word in text]:
            with self._own:
                self.tally.other_tenants += 1
        cited = {one["tenant_id"] for one in reply["citations"]}
        if reply["tenant_id"] != tenant or cited != {tenant} or self.whose[tenant] not in reply["answer"]:
            return [f"{tenant}: {reply['decision']} {reply['answer'][:200]!r} of {sorted(cited)}"]
        return []

    def _upload(self, http: httpx.Client, dice: Random, tenant: str, name: str) -> None:
        text = f"The {self.whose[tenant]} valve {name} opens at noon. " * dice.randint(1, 200)
        sent = self._sent(http, dice, tenant, "/v1/documents", files={"files": (name, text.encode())})
        with self._own:
            if sent is not None and sent.status_code == 202:
                self.tally.uploads += 1
                self.jobs[sent.json()["job_id"]] = tenant, name
            elif sent is not None and sent.status_code != 503:
                self.tally.wrong.append(f"upload: {sent.status_code} {sent.text[:200]}")

    # -- what dies -------------------------------------------------------------------------------------------

    def kill(self, over: threading.Event) -> None:
        dice = Random(self.plan.seed + 1)
        for _ in self._now_and_then(over, self.plan.kills, dice):
            worker = dice.choice(self._workers)
            worker.kill()
            self.tally.kills += 1
            self._start(worker)

    def _now_and_then(self, over: threading.Event, times: int, dice: Random) -> Iterator[None]:
        """So many times while the line of questions grows shorter."""
        most = self._left.qsize()
        for left in sorted((dice.randint(1, max(1, most * 9 // 10)) for _ in range(times)), reverse=True):
            while self._left.qsize() > left:
                if over.wait(0.05):
                    return
            if over.is_set():
                return
            yield

    def _start(self, worker: _Worker) -> None:
        """One that starts while the database is away stops again, and says so."""
        until = time.monotonic() + PATIENCE_S
        while not worker.url and time.monotonic() < until:
            with suppress(RuntimeError):
                worker.start()

    def kill_database(self, over: threading.Event, running: Server) -> None:
        dice = Random(self.plan.seed + 2)
        for _ in self._now_and_then(over, self.plan.database_kills, dice):
            running.stop("immediate")
            time.sleep(dice.uniform(0, 4))
            running.start()
            self.tally.database_kills += 1

    def fill(self, over: threading.Event, running: Server) -> None:
        """Nothing can be written for a while; then there is room again. A server that stopped over it is started."""
        next(self._now_and_then(over, 1, Random(self.plan.seed + 3)), None)
        ballast = running.folder / "ballast"
        with ballast.open("wb", buffering=0) as out, suppress(OSError):
            while out.write(bytes(65_536)):
                pass
        self.say("the disk is full")
        over.wait(20)
        self.say(f"there was said: {running.said()}")
        ballast.unlink()
        with suppress(AssertionError):
            running.start()
        self.tally.database_kills += 1

    # -- what came of it -------------------------------------------------------------------------------------

    def await_jobs(self) -> None:
        """All jobs are done, or counted as lost."""
        until = time.monotonic() + PATIENCE_S
        with self.http() as http:
            for n, (job_id, (tenant, name)) in enumerate(self.jobs.items()):
                state = self._state(http, n, tenant, job_id, until)
                if state.get("state") != "done" or [f["status"] for f in state["files"]] not in (
                    ["indexed"],
                    ["unchanged"],
                ):
                    self.tally.jobs_lost += 1
                    self.say(f"{name}: {state}")
                elif state["files"][0]["replaced"]:
                    self.tally.jobs_doubled += 1
                    self.say(f"{name} twice: {state}")

    def _state(self, http: httpx.Client, n: int, tenant: str, job_id: str, until: float) -> dict[str, Any]:
        found: dict[str, Any] = {}
        headers = {"Authorization": f"Bearer {self._keys[tenant]}"}
        while found.get("state") not in ("done", "failed", "cancelled") and time.monotonic() < until:
            url = self._workers[n % len(self._workers)].url
            found = http.get(f"{url}/v1/jobs/{job_id}", headers=headers).json()
            time.sleep(0 if found.get("state") == "done" else 0.5)
        return found


def _compare(run: _Run, url: str) -> None:
    """What people were told against what is kept."""
    stores, tally = Postgres(url), run.tally
    proof = stores.journal.prove()
    tally.chain = "" if proof.holds else proof.says
    lines = Counter(entry["run_id"] for entry in stores.journal.entries() if entry.get("kind") == "run")
    tally.journal_lines = lines.total()
    kept: Counter[str] = Counter()
    for tenant in run.whose:
        for turn in stores.conversations.all(tenant):
            kept[turn.shown["run_id"]] += 1
            if any(word in json.dumps(turn.shown) for other, word in run.whose.items() if other != tenant):
                tally.other_tenants += 1
    acknowledged = set(run.acknowledged)
    tally.turns_lost = len(acknowledged - lines.keys() | acknowledged - kept.keys())
    tally.turns_doubled = sum(many > 1 for many in lines.values()) + sum(many > 1 for many in kept.values())
    tally.not_acknowledged = len(lines.keys() - acknowledged)
    tally.unaccounted = max(0, tally.not_acknowledged - run.tries)
    told = Counter(run.acknowledged.values())
    saver = stores.checkpoints(MaskingSerializer()).saver
    for (tenant, thread), many in told.items():
        found = saver.get_tuple({"configurable": {"thread_id": key_of(tenant, USER, thread), "checkpoint_ns": ""}})
        memory = found.checkpoint["channel_values"]["memory"]["turns"] if found else []
        tally.forgotten += max(0, many - len(memory))
    documents: Counter[tuple[str, str]] = Counter()
    for tenant in run.whose:
        space = stores.spaces(_embeddings()).space(tenant)
        documents.update((tenant, record.filename) for record in (space.records() if space else []))
    tally.jobs_lost += len(set(run.jobs.values()) - documents.keys())
    tally.jobs_doubled += sum(many > 1 for many in documents.values())
    stores.close()


def _embeddings() -> str:
    from graph.knowledge.embeddings import shared

    return shared().name


if __name__ == "__main__":
    raise SystemExit(main())
