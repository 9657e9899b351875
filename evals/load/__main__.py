"""How the service holds up: 1, 16 and 64 clients, each asking again as soon as it is answered.

    python -m evals.load                  with a stub model that answers after 300 ms
    python -m evals.load --pause 2        people, who read for 2 s (exponentially distributed) before they ask again
    python -m evals.load --embedded       with the embedded model, whose work is this machine's

The service is a process of its own, `cordon serve` with its default settings but for the rates, over the shipped
corpus; the stub is a process too. Every client has a key of one tenant and asks that tenant's questions of
evals/datasets/answers.jsonl in an order of its own. Latency is what the client sees, from sending to the last byte;
memory is what the service's processes hold at the end of the round. Artefacts are off unless --artifacts is given.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from random import Random
from typing import Any

import httpx

from evals.load import stub
from evals.process import CORDON, ROOT, cpu_s, environment, memory_mb, served
from evals.serving import keys_of

MODEL_S = 0.3
QUESTIONS = ROOT / "evals/datasets/answers.jsonl"
KEYS = 4  # of each tenant
_LIMITS = ("key_rate", "tenant_rate", "key_concurrency", "tenant_concurrency")
WIDE = {f"CORDON_{name.upper()}": "1000000" for name in _LIMITS}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", default="1,16,64", help="comma separated")
    parser.add_argument("--seconds", type=float, default=10, help="of each round")
    parser.add_argument("--pause", type=float, default=0, help="mean seconds between an answer and the next question")
    parser.add_argument("--embedded", action="store_true")
    parser.add_argument("--artifacts", action="store_true")
    parser.add_argument("--processes", type=int, default=0, help="that answer; 0 as the service chooses")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _model(given.embedded) as model:
        settings = {**model, "CORDON_ARTIFACTS": str(int(given.artifacts))}
        settings["CORDON_SERVE_PROCESSES"] = str(given.processes)
        with _service(Path(folder), settings) as (url, keys, pid):
            questions = _questions()

            def question(number: int, chance: Random) -> Sent:
                tenant, key = keys[number % len(keys)]
                return "/v1/ask", {"Authorization": f"Bearer {key}"}, {"question": chance.choice(questions[tenant])}

            rounds = [
                asyncio.run(asked(url, pid, int(n), given.seconds, question, given.pause))
                for n in ["4", *given.clients.split(",")]
            ][1:]  # the first warms up
    for row in rounds:
        print(json.dumps(row) if given.json else told(row))
    return 1 if any(row["failed"] for row in rounds) else 0


Sent = tuple[str, dict[str, str], dict[str, Any]]  # path, headers, body


async def asked(
    url: str, pid: int, clients: int, seconds: float, question: Callable[[int, Random], Sent], pause: float = 0
) -> dict[str, Any]:
    """What `clients` see of the service whose first process is `pid`, and what it takes. `question` makes what a
    client, by its number, sends next."""
    took: list[float] = []
    failed = 0
    end = time.perf_counter() + seconds
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)

    async def client(number: int, http: httpx.AsyncClient) -> None:
        nonlocal failed
        chance = Random(number)
        while time.perf_counter() < end:
            if pause:
                await asyncio.sleep(chance.expovariate(1 / pause))
            begun = time.perf_counter()
            path, headers, body = question(number, chance)
            try:
                good = (await http.post(path, headers=headers, json=body)).status_code == 200
            except httpx.HTTPError:
                good = False
            took.append((time.perf_counter() - begun) * 1_000)
            failed += not good

    cpu, begun = cpu_s(pid), time.perf_counter()
    async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False, limits=limits) as http:
        await asyncio.gather(*(client(n, http) for n in range(clients)))
    spent = time.perf_counter() - begun
    took.sort()
    return {
        "clients": clients,
        "n": len(took),
        "failed": failed,
        "rps": len(took) / spent,
        "p50_ms": statistics.median(took),
        "p95_ms": took[min(len(took) - 1, int(len(took) * 0.95))],
        "worst_ms": took[-1],
        "memory_mb": memory_mb(pid),
        "cpu_ms": (cpu_s(pid) - cpu) * 1_000 / len(took),
    }


def told(row: dict[str, Any]) -> str:
    return (
        f"{row['clients']:>3} clients  {row['rps']:7.1f} requests/s   p50 {row['p50_ms']:6.0f} ms   "
        f"p95 {row['p95_ms']:6.0f} ms  worst {row['worst_ms']:.0f} ms  n={row['n']:<5} failed {row['failed']}  "
        f"{row['memory_mb']:.0f} MB   service {row['cpu_ms']:.1f} ms of processor a request"
    )


def _questions() -> dict[str, list[str]]:
    """By tenant. Many and different, so that no answer comes out of what the last one left behind."""
    found: dict[str, list[str]] = {}
    for row in map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines()):
        found.setdefault(row["tenant"], []).append(row["question"])
    return found


@contextmanager
def _service(folder: Path, settings: dict[str, str]) -> Iterator[tuple[str, list[tuple[str, str]], int]]:
    """(address, tenants and their keys, process id) of `cordon serve` over the shipped corpus."""
    settings = settings | WIDE
    corpus = ["--manifest", str(ROOT / "corpus/manifest.csv"), "--acl", str(ROOT / "corpus/tenant_acl.csv")]
    subprocess.run([*CORDON, "ingest", *corpus], env=environment(folder), check=True, capture_output=True, cwd=ROOT)
    held = keys_of(folder / "home")
    keys = [(tenant, held.add(tenant, f"load-{n}")[1]) for n in range(KEYS) for tenant in _questions()]
    held.close()
    with served(folder, settings) as (url, pid):
        yield url, keys, pid


def _model(embedded: bool) -> AbstractContextManager[dict[str, str]]:
    return nullcontext({}) if embedded else stub.running(MODEL_S)


if __name__ == "__main__":
    sys.exit(main())
