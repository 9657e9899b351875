"""The doors of the leak matrix that are processes of their own: the command line, and LangGraph Server for Studio."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from evals.security.leaks_plants import faults
from evals.security.leaks_world import QUESTION, World

ROOT = Path(__file__).resolve().parents[2]
MODES = ("values", "updates", "messages-tuple", "custom", "debug", "tasks", "checkpoints", "events")
_BOOT = """
import sys
from pathlib import Path
from evals.security.leaks_plants import child
child(sys.argv[4:], planted=sys.argv[1] == "1", crash=sys.argv[2] == "1", home=Path(sys.argv[3]))
"""
_LEAKING_SERVER = """
import os
from pathlib import Path
from evals.security.leaks_plants import leaking
held = leaking(Path(os.environ["CORDON_HOME"]))
held.__enter__()
from graph.build import build_graph
cordon = build_graph().compile(name="cordon")
"""


def tracing_to(world: World) -> dict[str, str]:
    """What an operator has set who wants traces."""
    return {
        "LANGSMITH_ENDPOINT": world.outside.url,
        "LANGSMITH_API_KEY": "k",
        "LANGSMITH_DISABLE_RUN_COMPRESSION": "1",
        "OTEL_EXPORTER_OTLP_ENDPOINT": world.outside.url,
    }


def _environment(world: World) -> dict[str, str]:
    """The world's settings, and LangSmith's own switch when it is to be traced there."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CORDON_", "LANG", "OPENAI_", "OTEL_"))}
    known = world.settings().model_dump(
        include={"home", "out", "model", "openai_base_url", "model_retries", "tracing", "trace_content"}
    )
    kept |= {f"CORDON_{name.upper()}": str(value) for name, value in known.items()} | tracing_to(world)
    kept |= {f"CORDON_{name.upper()}": str(value) for name, value in world.database.items()}
    kept |= {"LANGSMITH_TRACING": "true"} if world.tracing == "langsmith" else {}
    temporary = world.base / "tmp"
    temporary.mkdir(exist_ok=True)
    return kept | {
        "TMPDIR": str(temporary),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "COLUMNS": "1000",
    }


def command(arguments: list[str], stdin: str = "") -> Callable[[World], None]:
    """`cordon` with these arguments and this input."""

    def door(world: World) -> None:
        def run(*, crash: bool = False) -> "subprocess.CompletedProcess[str]":
            flags = ["1" if world.planted else "0", "1" if crash else "0", str(world.base / "home")]
            return subprocess.run(
                [sys.executable, "-c", _BOOT, *flags, *arguments],
                input=stdin, capture_output=True, text=True, check=False, timeout=120, cwd=world.base,
                env=_environment(world),
            )  # fmt: skip

        good = run()
        world.saw("reply", good.stdout)
        world.saw("stderr", good.stderr)
        for _ in faults(world):
            bad = run(crash=not world.outside.broken)
            world.saw("errors", bad.stdout + bad.stderr)

    return door


def langgraph_server(world: World) -> None:
    """All stream modes at once through the SDK, the thread's state and history, and what the server keeps on disk."""
    with _dev(world) as url:
        events, state, history = asyncio.run(_turn(url))
        world.saw("events", *events)
        world.saw("state", state)
        world.saw("history", history)
        world.outside.broken = True
        events, state, _ = asyncio.run(_turn(url))
        world.outside.broken = False
        world.saw("errors", *events, state)
    files = [p for p in (world.base / ".langgraph_api").rglob("*") if p.is_file()]
    world.saw("checkpoints", *(p.read_bytes().decode("utf-8", "replace") for p in files))
    world.saw("log", (world.base / "server.log").read_text(errors="replace"))


async def _turn(url: str) -> tuple[list[str], str, str]:
    from langgraph_sdk import get_client

    client: Any = get_client(url=url, api_key=None)
    try:
        thread = (await client.threads.create())["thread_id"]
        asked = {"question": QUESTION, "options": {"memory": "buffer", "stream": True}}
        parts = client.runs.stream(thread, "cordon", input=asked, stream_mode=list(MODES))
        events = [json.dumps([part.event, part.data], ensure_ascii=False) async for part in parts]
        state = json.dumps((await client.threads.get_state(thread))["values"], ensure_ascii=False)
        return events, state, json.dumps(await client.threads.get_history(thread, limit=50), ensure_ascii=False)
    finally:
        await client.http.client.aclose()


@contextmanager
def _dev(world: World) -> Iterator[str]:
    """`langgraph dev` in the world's folder; its address."""
    config: dict[str, Any] = json.loads((ROOT / "langgraph.json").read_text())
    config["dependencies"] = [str(ROOT)]
    for group, key in (("graphs", "cordon"), ("auth", "path"), ("http", "app")):
        config[group][key] = str(ROOT / config[group][key])
    if world.planted:
        (world.base / "leaking_server.py").write_text(_LEAKING_SERVER)
        config["graphs"]["cordon"] = f"{world.base / 'leaking_server.py'}:cordon"
    (world.base / "langgraph.json").write_text(json.dumps(config))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with (world.base / "server.log").open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)],
            cwd=world.base, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            env=_environment(world) | {"CORDON_STUDIO_TENANT": "U1"},
        )  # fmt: skip
        try:
            _up(url, child)
            yield url
        finally:
            os.killpg(child.pid, signal.SIGINT)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait(20)


def _up(url: str, child: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and child.poll() is None:
        try:
            if httpx.get(f"{url}/ok", timeout=1, trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise RuntimeError("LangGraph Server did not start")
