"""Doing something again when a folder changes, or after some time, until Ctrl-C or SIGTERM."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import typer

from graph.errors import CordonError, Unavailable
from graph.knowledge.folders import is_folder
from graph.service.shell import error_text

SHORTEST, LONGEST = 1, 86_400  # seconds between two runs
UNSAID = 300.0  # seconds between two runs, unless they are given, for what cannot be watched
SETTLED = 0.5  # seconds without a change
_MOST = 30.0  # seconds to wait for SETTLED
_LOOK = 1_000  # milliseconds


def keep(run: Callable[[bool], int], source: str, every: float) -> int:
    """Run now, after every change, and every so many seconds unless that is 0. What goes wrong is printed, and tried
    again. Returns 0 once it is interrupted. Raises what the first run raises: whoever started it is still there."""
    for asked_to_stop in (signal.SIGINT, signal.SIGTERM):  # a script that starts it with "&" has Ctrl-C ignored
        signal.signal(asked_to_stop, signal.default_int_handler)
    path = Path(source)
    try:
        first = True
        for _ in _changes(path, every) if is_folder(path) else _times(every or UNSAID):
            try:
                run(not first)
            except CordonError as error:
                if first:
                    raise
                typer.echo(f"cordon: {error_text(error)}", err=True)
            first = False
    except KeyboardInterrupt:
        typer.echo("cordon: stopped.", err=True)
    return 0


def _times(every: float) -> Iterator[None]:
    while True:
        yield
        time.sleep(every)


def _changes(path: Path, every: float) -> Iterator[None]:
    """Once the folder is watched, and then after each change, when nothing has changed for a moment."""
    try:
        from watchfiles import watch
    except ImportError as error:
        raise Unavailable(
            "to watch a folder a package is needed that is not installed.", hint="pip install 'cordon[sync]'."
        ) from error

    root = path.resolve()

    def shown(_: object, changed: str) -> bool:
        return not any(part.startswith(".") for part in Path(changed).relative_to(root).parts)

    began, last = False, 0.0
    for changed in watch(root, watch_filter=shown, rust_timeout=_LOOK, yield_on_timeout=True):
        if changed or not began or (every and time.monotonic() - last >= every):
            _wait_until_stable([Path(path) for _, path in changed])
            yield
            began, last = True, time.monotonic()


def _wait_until_stable(paths: Sequence[Path]) -> None:
    """Wait until nobody writes to these files, for a while at most. A file that is read too early is read again after
    its next change."""
    until, before = time.monotonic() + _MOST, _looks(paths)
    while before and time.monotonic() < until:
        time.sleep(SETTLED)
        now = _looks(paths)
        if now == before:
            return
        before = now


def _looks(paths: Sequence[Path]) -> list[tuple[int, int]]:
    states = []
    for path in paths:
        with suppress(OSError):  # gone
            stat = path.stat()
            states.append((stat.st_size, stat.st_mtime_ns))
    return states
