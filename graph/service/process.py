"""The processes that answer, forks of one that has loaded what turns need: its memory is theirs, too. They run turns
that the service hands them (graph/service/processes.py), and leave when the service does, after those under way."""

import gc
import importlib
import json
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Any

from graph.errors import CordonError
from graph.settings import Settings

log = logging.getLogger("cordon.process")


def main(control: int, *lease: int) -> None:
    """The fork server. `control` and `lease` are open files: the socket to the service, and what holds the stores.

    It has one thread, and makes a process for each open file that it is sent, the socket to it. It leaves when the
    service does.
    """
    for asked_to_stop in (signal.SIGINT, signal.SIGTERM):  # a terminal tells the whole group; the service decides
        signal.signal(asked_to_stop, signal.SIG_IGN)
    line = Connection(control)
    settings = Settings(**json.loads(line.recv_bytes()))

    from graph.service.warm import load, start

    start(settings, models=False)
    if sys.platform == "linux":  # elsewhere the system's own libraries may not outlive a fork
        models = threading.Thread(target=load, args=[settings])
        models.start()
        importlib.import_module("graph.build")
        if not settings.embedded:
            importlib.import_module("langchain_openai")
        models.join()  # a thread would not outlive the fork
        gc.collect()
        gc.freeze()  # so that no fork's collection touches these pages, and copies them
    line.send_bytes(b"ready")
    with suppress(EOFError, OSError):
        while True:
            request = json.loads(line.recv_bytes())
            result = (
                _ended(request["ended"]) if "ended" in request else _forked(line, recv_handle(line), settings, lease)
            )
            line.send_bytes(json.dumps(result).encode())
    os._exit(0)


def _forked(control: Connection, line: int, settings: Settings, lease: Sequence[int]) -> dict[str, Any]:
    """The new process's id, or why there is none. Does not return in that process."""
    try:
        pid = os.fork()
    except OSError as error:
        os.close(line)
        return {"error": error.strerror}
    if pid:
        os.close(line)
        return {"pid": pid}
    try:
        control.close()
        answer(line, settings, lease)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def _ended(pid: int) -> dict[str, Any]:
    """{"exit": how a process that has ended did so}."""
    try:
        return {"exit": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}
    except ChildProcessError:
        return {"exit": None}


def answer(line: int, settings: Settings, lease: Sequence[int]) -> None:
    """Run turns until the other end of `line` is closed. Does not return."""
    from graph.service.http.observe import log_to_stderr

    connection = Connection(line)
    log_to_stderr()
    from graph.context import Context
    from graph.deps import Deps
    from graph.runner import Turn, Turns
    from graph.service.processes import failure

    deps = Deps(settings, lease=tuple(lease), serves=True)
    deps.open()
    turns = Turns(deps)
    turns.open()
    sending = threading.Lock()

    def tell(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        with suppress(OSError), sending:  # nobody listens any more: the turn is on record all the same
            connection.send_bytes(data)

    def run(request: dict[str, Any]) -> None:
        number = request["id"]
        try:
            turn = Turn(request["asked"], Context(**request["context"]), request["kept"])
            if request["do"] == "search":
                tell({"id": number, "done": turns.search(turn)})
                return
            release = (lambda sentence: tell({"id": number, "sentence": sentence})) if request["stream"] else None
            reached = (lambda stage: tell({"id": number, "stage": stage})) if request["stages"] else None
            tell({"id": number, "done": turns.run(turn, release, reached)})
        except BaseException as error:  # whatever it is: somebody waits for an answer
            if not isinstance(error, CordonError):
                log.error("a turn failed", extra={"told": {"error": type(error).__name__}})
            tell({"id": number, **failure(error)})

    pool = ThreadPoolExecutor(settings.serve_threads, thread_name_prefix="cordon-turn")
    tell({"ready": True})
    with suppress(EOFError, OSError):
        while True:
            pool.submit(run, json.loads(connection.recv_bytes()))
    pool.shutdown(wait=True, cancel_futures=True)
    turns.close()
    deps.close()
    sys.stderr.flush()
    os._exit(0)  # a model's client may still wait for an answer that nobody wants
