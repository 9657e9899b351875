"""Cordon's service beside the plain LangChain chain behind LangServe: questions a second, and what each takes.

    python -m evals.load.services DIRECTORY                 16 and 64 clients that never pause, a stub model of 300 ms
    python -m evals.load.services DIRECTORY --repeat 3
    python -m evals.load.services DIRECTORY --plot F.png    drawn, where matplotlib is (make dev)

Both have the same documents, questions and stub (evals/load/peers.py), and as many processes: `cordon serve` with its
own number of them, LangServe with as many uvicorn workers. They take turns, so that all meet the same machine. Cordon
is measured with artefacts, as it is shipped, and without. Medians over the repeats.
"""

import argparse
import asyncio
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx

from evals import figures
from evals.load import peers, stub
from evals.load.__main__ import MODEL_S, WIDE, Sent, asked, told
from evals.process import ROOT, environment, served
from evals.serving import keys_of


class Service(NamedTuple):
    url: str
    pid: int
    path: str
    field: str  # of the body, for the question
    headers: dict[str, str]


CHROMA = "LOAD_CHROMA"  # the environment of a worker of LangServe: where its vectors are


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--kept", type=Path, help="a folder for what is made of the documents, used again when there")
    parser.add_argument("--model", type=float, default=MODEL_S, metavar="SECONDS", help="how long the stub model takes")
    parser.add_argument("--clients", default="16,64", help="comma separated")
    parser.add_argument("--seconds", type=float, default=10, help="of each round")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="of each service")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, stub.running(given.model) as model:
        rows = _measured(Path(folder), given, model)
    for (_, name), found in sorted(rows.items()):
        print(f"{name:<22} {told(_median(found))}")
    if given.plot:
        _draw(given.plot, {of: _median(found) for of, found in rows.items()})
    return 1 if any(row["failed"] for found in rows.values() for row in found) else 0


def _measured(
    folder: Path, given: argparse.Namespace, model: dict[str, str]
) -> dict[tuple[int, str], list[dict[str, Any]]]:
    indexed = peers.indexed_home(given.kept or folder, given.directory)
    questions = peers.fill_chroma(indexed, folder / "chroma")
    rows: dict[tuple[int, str], list[dict[str, Any]]] = {}
    with ExitStack() as opened:
        services: dict[str, Service] = {}
        url, pid = opened.enter_context(_langserve(folder / "chroma", model, given.processes))
        services["LangServe, plain chain"] = Service(url, pid, "/chain/invoke", "input", {})
        for name, artifacts in (("Cordon, no artefacts", "0"), ("Cordon", "1")):
            home = folder / artifacts
            shutil.copytree(indexed, home / "home")
            held = keys_of(home / "home")
            key = held.add(peers.TENANT, "load")[1]
            held.close()
            settings = {**model, **WIDE, "CORDON_ARTIFACTS": artifacts, "CORDON_SERVE_PROCESSES": str(given.processes)}
            url, pid = opened.enter_context(served(home, settings))
            services[name] = Service(url, pid, "/v1/ask", "question", {"Authorization": f"Bearer {key}"})
        counts = [int(n) for n in given.clients.split(",")]
        for repeat in range(given.repeat + 1):
            for count in counts if repeat else [4]:  # the first warms up
                for name, service in services.items():

                    def question(_: int, chance: Random, to: Service = service) -> Sent:
                        return to.path, to.headers, {to.field: chance.choice(questions)}

                    found = asyncio.run(asked(service.url, service.pid, count, given.seconds, question))
                    if repeat:
                        rows.setdefault((count, name), []).append(found)
    return rows


def _median(found: list[dict[str, Any]]) -> dict[str, Any]:
    middle = {name: statistics.median(row[name] for row in found) for name in found[0]}
    return {
        **middle,
        **{name: sum(row[name] for row in found) for name in ("n", "failed")},
        "clients": found[0]["clients"],
    }


def _draw(file: Path, rows: dict[tuple[int, str], dict[str, Any]]) -> None:
    counts = list(dict.fromkeys(count for count, _ in rows))
    names = list(dict.fromkeys(name for _, name in rows))
    panels = {"questions a second": "rps", "p95, ms": "p95_ms", "processor a question, ms": "cpu_ms", "MB": "memory_mb"}
    drawn = {
        title: {f"{count} clients": [rows[count, name][key] for name in names] for count in counts}
        for title, key in panels.items()
    }
    figures.bars(file, drawn, names)


@contextmanager
def _langserve(chroma: Path, model: dict[str, str], workers: int) -> Iterator[tuple[str, int]]:
    """(address, process id) of the peer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--factory", "evals.load.services:langserve_app"]
    command += ["--port", str(port), "--workers", str(workers), "--log-level", "warning"]
    environ = {**environment(chroma), **model, CHROMA: str(chroma)}
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, cwd=ROOT)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process)
        yield url, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            httpx.get(f"{url}/chain/input_schema", trust_env=False, timeout=60)
            return
        except httpx.TransportError:
            time.sleep(0.2)
    raise RuntimeError("LangServe did not start")


def langserve_app() -> Any:
    """What a worker of LangServe serves."""
    from fastapi import FastAPI
    from langserve import add_routes

    app = FastAPI()
    chain = peers.plain_chain(Path(os.environ[CHROMA]), os.environ["OPENAI_BASE_URL"])
    add_routes(app, chain.with_types(input_type=str, output_type=str), path="/chain")
    return app


if __name__ == "__main__":
    sys.exit(main())
