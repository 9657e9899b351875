"""A process that answers: it runs the turns that the service hands it (graph/service/processes.py), and leaves when the
service does, after the turns under way."""

import json
import logging
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from graph.errors import CordonError
from graph.settings import Settings

log = logging.getLogger("cordon.process")


def main(line: int, *lease: int) -> None:
    """`line` and `lease` are open files: the socket to the service, and what holds the stores."""
    for asked_to_stop in (signal.SIGINT, signal.SIGTERM):  # a terminal tells the whole group; the service decides
        signal.signal(asked_to_stop, signal.SIG_IGN)
    connection = Connection(line)
    settings = Settings(**json.loads(connection.recv_bytes()))

    from graph.service.http.observe import log_to_stderr
    from graph.service.warm import start

    start(settings)
    log_to_stderr()
    from graph.context import Context
    from graph.deps import Deps
    from graph.runner import Turn, Turns

    deps = Deps(settings, lease=lease, serves=True)
    deps.open()
    turns = Turns(deps)
    turns.open()
    sending = threading.Lock()

    def tell(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        with suppress(OSError), sending:  # nobody listens any more: the turn is on record all the same
            connection.send_bytes(data)

    def answer(asked: dict[str, Any]) -> None:
        number = asked["id"]
        try:
            turn = Turn(asked["asked"], Context(**asked["context"]), asked["kept"])
            if asked["do"] == "search":
                tell({"id": number, "done": turns.search(turn)})
                return
            release = (lambda sentence: tell({"id": number, "sentence": sentence})) if asked["stream"] else None
            tell({"id": number, "done": turns.run(turn, release)})
        except CordonError as error:
            told = {"type": type(error).__name__, "message": str(error), "hint": error.hint}
            tell({"id": number, "error": told})
        except BaseException as error:  # whatever it is: somebody waits for an answer
            log.error("a turn failed", extra={"told": {"error": type(error).__name__}})
            tell({"id": number, "error": {"type": type(error).__name__, "message": "", "hint": ""}})

    pool = ThreadPoolExecutor(settings.serve_threads, thread_name_prefix="cordon-turn")
    tell({"ready": True})
    with suppress(EOFError, OSError):
        while True:
            pool.submit(answer, json.loads(connection.recv_bytes()))
    pool.shutdown(wait=True, cancel_futures=True)
    turns.close()
    deps.close()
    sys.stderr.flush()
    os._exit(0)  # a model's client may still wait for an answer that nobody wants
