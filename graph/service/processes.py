"""Several processes that answer for one service: Python runs on one core, and a home may have more to do.

The service keeps the doors, the keys, the limits and the uploads; these processes (graph/service/process.py) run turns,
several at a time each. All share the home's lock and none outlives the service for longer than its turns take. A
process that dies fails the turns it was at, and another takes its place. A fork server makes them: it has loaded the
libraries and models, whose memory the processes share.

Messages are JSON objects on socket pairs. To the fork server: the settings, then {"fork"} with the process's end of a
new pair, or {"ended": pid}, each of which is answered. To a process: {"id", "do", "asked", "context", "kept",
"stream"}. From it: {"ready"}, then for an id any number of {"stage"} and {"sentence"} and one {"done"} or {"error"}.
"""

import json
import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph import errors
from graph.errors import CordonError, Unavailable
from graph.settings import SECRETS, Settings

if TYPE_CHECKING:
    from graph.runner import SearchResult, SentenceSink, StageSink, Turn
    from graph.state import Reply

_ROOT = Path(__file__).parents[2]
START_S = 60.0
PAUSE_S, LIVED_S = 1.0, 30.0  # before a dead process is replaced; doubled while they live for less than LIVED_S
# -P: no module is taken from the folder that the service was started in.
_BOOT = (
    "import sys; sys.path.append(sys.argv[1]); from graph.service.process import main; main(*map(int, sys.argv[2:]))"
)
log = logging.getLogger("cordon.processes")


class Processes:
    """A graph.runner.Runner. `lease` holds the stores (graph/stores/leases.py); `server` was started with the same
    settings and lease. Raises Unavailable when no process can be started."""

    def __init__(
        self, settings: Settings, lease: tuple[int, ...], count: int, server: "ForkServer | None" = None
    ) -> None:
        self._settings, self._lease = settings, lease
        self._lock = threading.Lock()
        self._closing = False
        self._at: list[_Process] = []
        self.server = server or ForkServer(settings, lease)
        try:
            for _ in range(count):
                self._at.append(_Process(self.server))
            for process in self._at:
                process.wait_ready()
        except CordonError:
            self.finish()
            raise
        for place in range(count):
            threading.Thread(target=self._keep, args=[place], daemon=True).start()

    @property
    def alive(self) -> int:
        return sum(process.alive for process in self._at)

    @property
    def pids(self) -> list[int]:
        """Process ids, in the order of their places."""
        return [process.pid for process in self._at]

    def run(self, turn: "Turn", release: "SentenceSink | None" = None, reached: "StageSink | None" = None) -> "Reply":
        reply: Reply = self._least_busy().call("run", turn, release, reached)
        return reply

    def search(self, turn: "Turn") -> "SearchResult":
        result: SearchResult = self._least_busy().call("search", turn)
        return result

    def _least_busy(self) -> "_Process":
        running = [process for process in self._at if process.alive]
        if not running or self._closing:
            raise Unavailable("no process is there to answer.", hint="The service starts another one. Try again.")
        return min(running, key=lambda process: process.busy)

    def _keep(self, place: int) -> None:
        """Wait for the process to end and put another in its place, after a pause that grows while they die young."""
        pause = PAUSE_S
        while True:
            begun = time.monotonic()
            self._at[place].wait()
            if self._closing:
                return
            log.error("process ended", extra={"told": {"exit": self._at[place].end(0)}})
            if time.monotonic() - begun > LIVED_S:
                pause = PAUSE_S
            else:
                time.sleep(pause)
                pause = min(2 * pause, LIVED_S)
            while not self._replaced(place):
                time.sleep(pause)

    def _replaced(self, place: int) -> bool:
        with self._lock:
            try:
                if not self._closing:
                    if not self.server.alive:
                        self.server.close()
                        self.server = ForkServer(self._settings, self._lease)
                    self._at[place] = _Process(self.server)
            except Unavailable as error:
                log.error("no process could be started", extra={"told": {"error": type(error.__cause__).__name__}})
                return False
            return True

    def finish(self) -> None:
        """No new turns. Those under way are on record when this returns, or have had the time of a request."""
        with self._lock:
            self._closing = True
        deadline = time.monotonic() + self._settings.request_s
        for process in self._at:
            process.leave()
        for process in self._at:
            process.end(max(0.0, deadline - time.monotonic()))
        self.server.close()


class ForkServer:
    """A process that has everything loaded and forks those that run turns."""

    def __init__(self, settings: Settings, lease: tuple[int, ...]) -> None:
        """Raises Unavailable when it cannot be started. Returns at once, while the process still loads."""
        # Threads of libraries would not outlive the fork.
        environment = {"OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        self._child, self._line = start_child(_BOOT, settings, lease, environment)
        self._lock, self._ready = threading.Lock(), False

    @property
    def alive(self) -> bool:
        """Whether it still runs; what it forked may outlive it."""
        return self._child.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    def fork(self, line: int) -> int:
        """The id of a new process, which has the open file `line`. Raises Unavailable."""
        answer = self._request({"fork": True}, line)
        if "error" in answer:
            raise _no_process(answer["error"])
        pid: int = answer["pid"]
        return pid

    def ended(self, pid: int) -> int | None:
        """The exit code of a process that has ended, below 0 by a signal; None where nobody knows."""
        with suppress(Unavailable):
            code: int | None = self._request({"ended": pid})["exit"]
            return code
        return None

    def _request(self, message: dict[str, Any], line: int | None = None) -> dict[str, Any]:
        try:
            with self._lock:
                if not self._ready:
                    if not self._line.poll(START_S):
                        raise TimeoutError
                    self._line.recv_bytes()
                    self._ready = True
                self._line.send_bytes(json.dumps(message).encode())
                if line is not None:
                    send_handle(self._line, line, None)
                answer: dict[str, Any] = json.loads(self._line.recv_bytes())
                return answer
        except (OSError, EOFError) as error:
            raise _not_started() from error

    def close(self) -> None:
        """End the fork server; the processes that it made go on."""
        self._line.close()
        try:
            self._child.wait(1)
        except subprocess.TimeoutExpired:  # it is still loading
            self._child.kill()
            self._child.wait()


class _Process:
    def __init__(self, server: ForkServer) -> None:
        self._server = server
        self._socket, theirs = socket.socketpair()
        self._events: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._next = 0
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._ready = threading.Event()
        try:
            self.pid = server.fork(theirs.fileno())
        except Unavailable:
            self._socket.close()
            raise
        finally:
            theirs.close()
        self._line = Connection(os.dup(self._socket.fileno()))
        self.alive = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def busy(self) -> int:
        return len(self._events) + (0 if self._ready.is_set() else 1_000)

    def wait_ready(self) -> None:
        if not self._ready.wait(START_S) or not self.alive:
            raise _not_started()

    def call(
        self, do: str, turn: "Turn", release: "SentenceSink | None" = None, reached: "StageSink | None" = None
    ) -> Any:
        """Have the turn run there, handing on the sentences that may leave and its stages. Raises what it raised."""
        events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        with self._lock:
            if not self.alive:
                raise _gone()
            self._next += 1
            number = self._next
            self._events[number] = events
        message = {"id": number, "do": do, "asked": turn.asked, "context": asdict(turn.context), "kept": turn.kept}
        try:
            self._send(message | {"stream": release is not None, "stages": reached is not None})
            while True:
                event = events.get()
                if "sentence" in event and release is not None:
                    release(event["sentence"])
                elif "stage" in event and reached is not None:
                    reached(event["stage"])
                elif "done" in event:
                    return event["done"]
                elif "error" in event:
                    raise raised(event["error"])
        finally:
            self._events.pop(number, None)

    def _send(self, message: dict[str, Any]) -> None:
        try:
            with self._sending:
                self._line.send_bytes(json.dumps(message).encode())
        except (OSError, ValueError) as error:
            raise _gone() from error

    def _read(self) -> None:
        try:
            with suppress(EOFError, OSError):
                while True:
                    event = json.loads(self._line.recv_bytes())
                    if "ready" in event:
                        self._ready.set()
                    elif (events := self._events.get(event["id"])) is not None:
                        events.put(event)
        finally:
            gone = failure(_gone())
            with self._lock:
                self.alive = False
                waiting = list(self._events.values())
            self._ready.set()
            for events in waiting:
                events.put(gone)

    def wait(self) -> None:
        """Until it has ended: its end of the line closes with it."""
        self._reader.join()

    def leave(self) -> None:
        """Tell it that nothing more will come."""
        with suppress(OSError), self._sending:
            self._socket.shutdown(socket.SHUT_WR)

    def end(self, patience_s: float) -> int | None:
        """How it ended, by force when the time is over."""
        self._reader.join(patience_s)
        if self._reader.is_alive():  # so is it, and no other process can have its id
            os.kill(self.pid, signal.SIGKILL)
            self._reader.join()
        self._line.close()
        self._socket.close()
        return self._server.ended(self.pid)


def _no_process(why: str | None) -> Unavailable:
    return Unavailable(f"no process can be started ({why}).", hint="Is there memory left? Then try again.")


def _not_started() -> Unavailable:
    return Unavailable(
        "a process that answers did not start.", hint="What it said is above. CORDON_SERVE_PROCESSES=1 does without."
    )


def _gone() -> Unavailable:
    return Unavailable("the process that was answering ended.", hint="Ask again.")


def raised(error: dict[str, str]) -> Exception:
    """The error of a `failure`, to raise; RuntimeError for one that is not Cordon's own."""
    kind = getattr(errors, error["type"], None)
    if isinstance(kind, type) and issubclass(kind, CordonError) and not issubclass(kind, errors.DocumentError):
        return kind(error["message"], hint=error["hint"])
    return RuntimeError(f"a turn failed with {error['type']}")


def failure(error: BaseException) -> dict[str, Any]:
    """The message that `raised` reads. The text of an error that is not ours may quote a document: only its type
    is in it."""
    message, hint = (str(error), error.hint) if isinstance(error, CordonError) else ("", "")
    return {"error": {"type": type(error).__name__, "message": message, "hint": hint}}


def start_child(
    boot: str, settings: Settings, lease: tuple[int, ...], environment: Mapping[str, str] | None = None
) -> tuple[subprocess.Popen[bytes], Connection]:
    """A process that runs this code with the lease and the other end of the connection as its open files. The settings
    are the first message, secrets included: the line is theirs alone. Raises Unavailable when it cannot be started."""
    ours, theirs = socket.socketpair()
    line = Connection(ours.detach())
    try:
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", boot, str(_ROOT), str(theirs.fileno()), *map(str, lease)],
            pass_fds=[theirs.fileno(), *lease],
            stdin=subprocess.DEVNULL,
            env={**(environment or {}), **os.environ},
        )
    except OSError as error:
        line.close()
        raise _no_process(error.strerror) from error
    finally:
        theirs.close()
    with suppress(OSError):  # it is gone already, as the next message will show
        secrets = {name: getattr(settings, name).get_secret_value() for name in SECRETS}
        line.send_bytes(json.dumps(settings.model_dump(mode="json") | secrets).encode())
    return child, line
