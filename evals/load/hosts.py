"""Several hosts, and silence between them: packets that vanish, as of a host that lost its power or its network.

    python -m evals.load.hosts                      each break in turn, on hosts that are made anew for it
    python -m evals.load.hosts worker gone          those only

As root, with `ip`, `iptables`, `caddy` (and libfaketime for clocks): every host is a network namespace of this machine
with an address of its own. A database, two workers with a home each, a model (evals/load/stub.py), and Caddy with TLS
and the file of deploy/compose; people ask and upload through it and ask again until they are answered, as in
evals/load/workers.py, whose checks decide. Exit code 1 unless every acknowledged turn and upload is there once.

    worker      a worker's host is silent for a minute, then back
    gone        a worker's host is silent for good
    database    the database's host is silent for half a minute
    frozen      the database's processes stand still for half a minute; its host answers
    partition   the database and one of the workers do not hear each other for half a minute
    model       the model's host is silent for a minute and a half
    clocks      one worker's clock is five minutes ahead, the other's five behind
"""

import argparse
import json
import os
import queue
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import httpx
import yaml

from evals.load import stub
from evals.load.workers import Plan, Tally, _compare, _filled, _Run, _word
from evals.process import ROOT, family, served
from evals.serving import WIDE
from graph.stores.postgres.migrate import migrate
from tests.support.postgres import OWNER, WORKER, Server, server

HOSTS = {"database": 10, "worker1": 11, "worker2": 12, "proxy": 20, "model": 30}
SILENT_S = {
    "worker": 60.0,
    "gone": 0.0,
    "database": 30.0,
    "frozen": 30.0,
    "partition": 30.0,
    "model": 90.0,
    "clocks": 0.0,
}
PLAN = Plan(workers=2, tenants=10, threads=100, turns=6, clients=12, uploads=20, kills=0, pause_s=0.7)
SMALL = Plan(workers=2, tenants=3, threads=9, turns=5, clients=6, uploads=3, kills=0, pause_s=0.3)
BEFORE_S = 10.0  # people ask before anything breaks
LOOK_S = 300.0  # behind the beginning of the silence, at most, for what must come of it
MOST_S = 240.0  # then nobody begins anything new
COMPOSE = ROOT / "compose.postgres.yaml"
_THERE = "SELECT count(*) FROM pg_stat_activity WHERE client_addr = %s::inet"
_WAITING = "SELECT count(*) FROM cordon.jobs WHERE job::json ->> 'state' IN ('queued', 'running')"
CADDYFILE = ROOT / "deploy/compose/Caddyfile"


@dataclass
class Told(Tally):
    """And what people saw of it. `let_go_s`: from the silence until the database has no connection of that worker."""

    replies: dict[str, int] = field(default_factory=dict)  # by status; "none" where the connection broke
    slowest_s: dict[str, float] = field(default_factory=dict)  # of those
    answered_s: float = 0.0  # the longest from the first time of asking to the answer, with all that were asked again
    let_go_s: float = 0.0
    back_s: float = 0.0  # from the end of the silence until a question that began behind it was answered
    jobs_done_s: float = 0.0  # from there until no upload waited to be read, of whichever worker
    places: int = 0  # in the limits, that nobody uses any more


def missing(*, clocks: bool = True) -> str:
    """Why it cannot run here; "" when it can."""
    if os.geteuid() != 0:
        return "only root may make hosts (network namespaces)"
    programs = ("ip", "iptables", "caddy", *(["faketime"] if clocks else []))
    if absent := [name for name in programs if shutil.which(name) is None]:
        return f"not installed: {', '.join(absent)}"
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "the kernel makes no network namespaces here"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("breaks", nargs="*", choices=[*SILENT_S, []], default=[])
    parser.add_argument("--small", action="store_true", help="few people, as the test has it")
    options = parser.parse_args()
    chosen, plan = options.breaks or list(SILENT_S), SMALL if options.small else PLAN
    if why := missing(clocks="clocks" in chosen):
        print(f"cannot run here: {why}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # take the hosts down first
    good = True
    for broken in chosen:
        with tempfile.TemporaryDirectory(prefix="cordon-h-") as folder:
            told = measure(broken, plan, Path(folder), say=lambda line: print(line, file=sys.stderr, flush=True))
        print(json.dumps({"broken": broken, "silent_s": SILENT_S[broken], **asdict(told)}), flush=True)
        good = good and told.good
    return 0 if good else 1


def measure(
    broken: str,
    plan: Plan,
    folder: Path,
    silent_s: float | None = None,
    say: Callable[[str], None] = lambda told: None,
) -> Told:
    silent_s = SILENT_S[broken] if silent_s is None else silent_s
    with ExitStack() as done:
        net = done.enter_context(_Net())
        options = f"-c max_wal_size=64MB -c listen_addresses={net.at('database')}"
        running = done.enter_context(server(options=options, within=net.on("database")))
        migrate(running.url("prepared", OWNER), running.url("prepared"))
        whose = {f"T{n}": _word(n) for n in range(plan.tenants)}
        keys = _filled(running.url("prepared"), folder, whose)
        model = done.enter_context(stub.running(0.3, host=net.at("model"), within=net.on("model")))
        for n in (1, 2):
            done.enter_context(_worker(net, folder, n, model, broken == "clocks"))
        proxy, trusted = done.enter_context(_proxy(net, folder))
        say(f"{broken}: all hosts are up")
        run = _People(plan, whose, keys, proxy, trusted, say)
        run.line_up()
        breaks = _Breaks(broken, silent_s, net, running, run)
        breaking = threading.Thread(target=breaks.run)
        breaking.start()
        enough = threading.Timer(MOST_S, run.enough)
        enough.start()
        try:
            run.ask_all()
        finally:
            enough.cancel()
            breaking.join()
        say(f"{broken}: all asked")
        run.await_jobs()
        run.told(breaks, running)
        _compare(run, running.url("prepared"))
    assert isinstance(run.tally, Told)
    return run.tally


class _Net:
    """Hosts on a bridge. This process stands on it, too: it is where people ask from."""

    def __init__(self) -> None:
        self._mark, self._net = f"c{os.getpid() % 100_000}", f"10.213.{os.getpid() % 256}"
        self._cleared: list[Sequence[str]] = []

    def at(self, host: str) -> str:
        return f"{self._net}.{HOSTS[host]}"

    def on(self, host: str) -> list[str]:
        return ["ip", "netns", "exec", self._name(host)]

    def _name(self, host: str) -> str:
        return f"{self._mark}-{host}"

    def __enter__(self) -> "_Net":
        try:
            _do("ip", "link", "add", self._mark, "type", "bridge")
            self._cleared.append(("ip", "link", "del", self._mark))
            _do("ip", "addr", "add", f"{self._net}.1/24", "dev", self._mark)
            _do("ip", "link", "set", self._mark, "up")
            for host, number in HOSTS.items():
                self._host(host, f"{self._mark}v{number}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _host(self, host: str, link: str) -> None:
        name, hosts = self._name(host), Path("/etc/netns") / self._name(host)
        _do("ip", "netns", "add", name)
        self._cleared.append(("ip", "netns", "del", name))
        _do("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
        _do("ip", "link", "set", link, "master", self._mark, "up")
        _do(*self.on(host), "ip", "addr", "add", f"{self.at(host)}/24", "dev", "eth0")
        for one in ("eth0", "lo"):
            _do(*self.on(host), "ip", "link", "set", one, "up")
        self._cleared.append(("rm", "-r", str(hosts)))
        hosts.mkdir(parents=True)  # the names that a host knows: `ip netns exec` lays it over /etc
        (hosts / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{self.at(one)} {one}\n" for one in HOSTS))

    def __exit__(self, *exc: object) -> None:
        for command in reversed(self._cleared):
            subprocess.run(command, check=False, capture_output=True)

    @contextmanager
    def silent(self, host: str, other: str = "") -> Iterator[None]:
        """Every packet from and to the host vanishes, or those from and to the other one."""
        rules = [("INPUT", "-i", "-s"), ("OUTPUT", "-o", "-d")]
        for does in ("-A", "-D"):
            for chain, through, to in rules:
                which = [to, self.at(other)] if other else [through, "eth0"]
                _do(*self.on(host), "iptables", does, chain, *which, "-j", "DROP")
            if does == "-A":
                yield


def _do(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


@contextmanager
def _worker(net: _Net, folder: Path, number: int, model: dict[str, str], skewed: bool) -> Iterator[None]:
    """The second one answers in processes of its own, but for a wrong clock: a fork server does not start under it."""
    settings = {f"CORDON_{name.upper()}": str(value) for name, value in WIDE.items()} | {
        "CORDON_HOME": str(folder / f"home{number}"),
        "CORDON_DATABASE_URL": f"postgresql://{WORKER}@{net.at('database')}/prepared",
        "CORDON_ARTIFACTS": "0",
        "CORDON_SERVE_HOST": "0.0.0.0",
        "CORDON_SERVE_PROCESSES": "1" if skewed else str(number),
        **model,
    }
    within = net.on(f"worker{number}")
    if skewed:
        # Not by the command, which stays between the service and the signals that end it.
        settings["LD_PRELOAD"] = next(map(str, Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")))
        settings["FAKETIME"] = "+300s" if number == 1 else "-300s"
        settings["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"  # what a wrong clock leaves alone as well
    with served(folder, settings, f"log{number}", within, 8000):
        yield


@contextmanager
def _proxy(net: _Net, folder: Path) -> Iterator[tuple[str, ssl.SSLContext]]:
    """Its address, and whom to trust for it: Caddy makes a certificate of its own for an address."""
    kept = folder / "caddy"
    environ = {
        "PATH": os.environ["PATH"],
        "XDG_DATA_HOME": str(kept),
        "HOME": str(kept),
        "CORDON_SITE": net.at("proxy"),
    }
    kept.mkdir()
    for name, value in yaml.safe_load(COMPOSE.read_text())["services"]["proxy"].get("sysctls", {}).items():
        _do(*net.on("proxy"), "sysctl", "-w", f"{name}={value}")
    command = [*net.on("proxy"), "caddy", "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, env=environ, stdout=log, stderr=log)
    url, root = f"https://{net.at('proxy')}", kept / "caddy/pki/authorities/local/root.crt"
    try:
        until = time.monotonic() + 60
        while True:
            with suppress(OSError, httpx.HTTPError):
                trusted = ssl.create_default_context(cafile=str(root))
                if httpx.get(f"{url}/readyz", verify=trusted, trust_env=False).status_code == 200:
                    break
            assert process.poll() is None and time.monotonic() < until, (folder / "caddy.log").read_text()
            time.sleep(0.5)
        yield url, trusted
    finally:
        process.terminate()
        process.wait(30)


class _People(_Run):
    """They know the proxy alone, and how long they waited."""

    def __init__(self, plan: Plan, whose: Any, keys: Any, proxy: str, trusted: ssl.SSLContext, say: Any) -> None:
        super().__init__(plan, whose, keys, [SimpleNamespace(url=proxy)], say)  # type: ignore[list-item]
        self.tally: Told = Told()
        self._trusted = trusted
        self._replies: Counter[str] = Counter()
        self.back = 0.0  # since when all hosts hear each other again

    def http(self) -> httpx.Client:
        return httpx.Client(timeout=400, trust_env=False, verify=self._trusted)

    def _ask(self, http: httpx.Client, dice: Random, tenant: str, thread: str) -> None:
        begun = time.monotonic()
        super()._ask(http, dice, tenant, thread)
        with self._own:
            self.tally.answered_s = max(self.tally.answered_s, round(time.monotonic() - begun, 1))

    def _sent(self, http: httpx.Client, dice: Random, tenant: str, path: str, **more: Any) -> httpx.Response | None:
        begun = time.monotonic()
        sent = super()._sent(http, dice, tenant, path, **more)
        took, status = round(time.monotonic() - begun, 1), str(sent.status_code if sent is not None else "none")
        with self._own:
            self._replies[status] += 1
            self.tally.slowest_s[status] = max(self.tally.slowest_s.get(status, 0), took)
            if self.back and begun > self.back and status == "200" and not self.tally.back_s:
                self.tally.back_s = round(time.monotonic() - self.back, 1)
            if sent is not None and sent.status_code in (502, 504):  # the proxy, of a worker that it cannot hear
                self.tries += 1
                self.tally.cut_off += 1
                return None
        return sent

    def enough(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._left.get_nowait()

    def upload(self, many: int) -> None:
        """So many at once."""
        with self.http() as http:
            for n in range(many):
                tenant = list(self.whose)[n % len(self.whose)]
                self._upload(http, Random(n), tenant, f"pump{n}.txt")

    def told(self, breaks: "_Breaks", running: Server) -> None:
        self.tally.replies = dict(self._replies)
        self.tally.let_go_s, self.tally.jobs_done_s = breaks.let_go_s, breaks.jobs_done_s
        with running.admin("prepared") as admin:
            sql = "SELECT coalesce(sum(taken), 0) FROM cordon.places WHERE cordon.lives(session)"
            [(places,)] = admin.execute(sql).fetchall()
        self.tally.places = int(places)


class _Breaks:
    """What goes wrong, once, while people ask."""

    def __init__(self, broken: str, silent_s: float, net: _Net, running: Server, run: _People) -> None:
        self._broken, self._silent_s, self._net, self._server, self._run = broken, silent_s, net, running, run
        self.since = self.let_go_s = self.jobs_done_s = 0.0

    def run(self) -> None:
        time.sleep(BEFORE_S)
        self._run.upload(6)
        if self._broken == "clocks":
            return
        self.since = time.monotonic()
        if self._broken == "gone":
            self._silence("worker1").__enter__()
            self.let_go_s = self._until_none(_THERE, LOOK_S, self._net.at("worker1"))
        else:
            with self._silence({"partition": "worker1", "worker": "worker1"}.get(self._broken, self._broken)):
                if self._broken in ("worker", "partition"):
                    self.let_go_s = self._until_none(_THERE, self._silent_s, self._net.at("worker1"))
                time.sleep(max(0.0, self._silent_s - (time.monotonic() - self.since)))
            self._run.back = time.monotonic()
            self._run.say(f"{self._broken}: back")
        self.jobs_done_s = self._until_none(_WAITING, LOOK_S)

    def _silence(self, host: str) -> Any:
        if self._broken == "frozen":
            return _frozen(self._server.pid)
        return self._net.silent(host, "database" if self._broken == "partition" else "")

    def _until_none(self, sql: str, most_s: float, *values: str) -> float:
        """Seconds from the silence until the database counts none; 0 when it still counted some in the end."""
        while time.monotonic() < self.since + most_s:
            with self._server.admin("prepared") as admin:
                if not admin.execute(sql, values).fetchall()[0][0]:
                    return round(time.monotonic() - self.since, 1)
            time.sleep(0.5)
        return 0.0


@contextmanager
def _frozen(pid: int) -> Iterator[None]:
    still = family(pid)
    for one in still:
        os.kill(one, signal.SIGSTOP)
    try:
        yield
    finally:
        for one in still:
            os.kill(one, signal.SIGCONT)


if __name__ == "__main__":
    raise SystemExit(main())
