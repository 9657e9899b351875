"""What every command shares: options, errors in one line, an agent that is closed again, JSON on stdout."""

import errno
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Annotated, Any, BinaryIO

import typer

from graph.errors import BadInput, CordonError

Tenant = Annotated[
    str, typer.Option("--tenant", "-t", help="Whose documents, besides the public ones.", show_default=False)
]
Public = Annotated[bool, typer.Option("--public", help="The shared corpus that every tenant reads.")]
Groups = Annotated[
    str | None,
    typer.Option("--groups", metavar="A,B", help="Groups of the tenant, divided by commas.", show_default=False),
]
Row = dict[str, Any]
_GROUP = 32  # lines at once
_LONGEST = 10_000_000  # bytes of a line; one of these takes up to 1 GB while it is judged

AsJson = Annotated[bool, typer.Option("--json", help="Print data, nothing else, on stdout.")]


class CommandLine:
    """What the options before the command say."""

    debug = False


def settings(**overrides: Any) -> Any:
    """The effective settings, read anew. Raises BadSettings."""
    from graph.settings import load

    return load(**overrides)


def home_stores() -> Any:
    """The stores that the settings name. Nothing is opened."""
    from graph.deps import stores

    return stores(settings())


@contextmanager
def opened_agent(**overrides: Any) -> Iterator[Any]:
    """An agent with these settings changed, closed at the end."""
    from graph.service.warm import start

    chosen = settings(**overrides)
    start(chosen)
    from graph.agent import Agent

    with Agent(chosen) as agent:
        yield agent


def print_json(value: Any, *, compact: bool = False) -> None:
    """One JSON value; lone surrogates and the like are escaped, so any terminal and any pipe takes it."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not utf8, indent=None if compact else 2)
    sys.stdout.write(text + "\n")


def named(groups: str | None) -> Any:
    """The groups of an option; None where it was not given. Raises BadInput."""
    from graph.context import groups_of

    return None if groups is None else groups_of(groups)


def text_of(row: dict[str, Any], key: str) -> str:
    """Raises ValueError where the row has no text under that key."""
    value = row.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key} must be a string")
    return value


def stream(work: Callable[[Row], Any], together: Callable[[list[Any]], list[Row]] = lambda results: results) -> None:
    """JSONL in, JSONL out, in order. A line that cannot be used yields {"id", "error"}, and exit code 2 at the end.

    `work` makes the result of a row. With `together`, `work` makes a value, and `together` makes the results of all
    values that have arrived by then.
    """
    numbers, bad = count(1), False
    with errors():
        for lines in _arriving(sys.stdin.buffer):
            results: list[Row] = []
            read = []
            for line, number in zip(lines, numbers, strict=False):
                if line is None or line.strip():
                    row, value, error = _parsed(line, work)
                    results.append({"id": row.get("id"), **({"error": f"line {number}: {error}"} if error else {})})
                    read += [] if error else [(results[-1], value)]
            for (result, _), fields in zip(read, together([value for _, value in read]), strict=True):
                result.update(fields)
            bad = bad or len(read) < len(results)
            sys.stdout.write("".join(json.dumps(result, ensure_ascii=True) + "\n" for result in results))
            sys.stdout.flush()
    if bad:
        raise typer.Exit(2)


def _parsed(line: bytes | None, work: Callable[[Row], Any]) -> tuple[Row, Any, str]:
    """(the row of a line, what `work` makes of it, what is wrong with it: "" if nothing is)."""
    from graph.policy.repair.numbers import decode

    row: Any = None
    if line is None:
        return {}, None, f"it is longer than {_LONGEST:,} bytes; split it"
    try:
        row = decode(line.decode("utf-8-sig"))
        if not isinstance(row, dict):
            raise ValueError("expected an object")
        return row, work(row), ""
    except UnicodeDecodeError:
        error = "it is not UTF-8"
    except (ValueError, RecursionError, BadInput) as raised:
        error = str(raised)
    return row if isinstance(row, dict) else {}, None, error


def _arriving(file: BinaryIO) -> Iterator[list[bytes | None]]:
    """Whole lines, as many as have arrived but _GROUP at most; nobody waits for a line that is not there yet.

    None stands for a line that is too long, which is read past and not kept.
    """
    begun: list[bytes] = []  # pieces of a line whose end has not arrived
    while piece := file.read1(1 << 16):  # type: ignore[attr-defined]
        ready: list[bytes | None] = []
        *ended, open_ = piece.split(b"\n")
        for part in ended:
            ready.append(_joined([*begun, part]))
            begun = []
        if sum(map(len, begun)) <= _LONGEST:
            begun.append(open_)
        for at in range(0, len(ready), _GROUP):
            yield ready[at : at + _GROUP]
    if (rest := _joined(begun)) != b"":
        yield [rest]


def _joined(pieces: list[bytes]) -> bytes | None:
    return b"".join(pieces) if sum(map(len, pieces)) <= _LONGEST else None


@contextmanager
def errors() -> Iterator[None]:
    """One line on stderr and the right exit code for every error; a traceback only with --debug."""
    try:
        yield
    except CordonError as error:
        traced()
        fail(error_text(error), error.exit_code)
    except KeyboardInterrupt:
        fail("stopped.", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (typer.Exit, typer.Abort):
        raise
    except OSError as error:
        traced()
        if error.errno in (errno.ENOSPC, errno.EIO):  # the buffer cannot be written at the end either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(f"{error.strerror or type(error).__name__}{f': {error.filename}' if error.filename else ''}.", 1)
    except Exception as error:
        traced()
        fail(unexpected(error), 1)


def error_text(error: CordonError) -> str:
    """What was wrong and what to do, as sentences."""
    what = str(error)
    return f"{what}{'' if what.endswith(('.', '!', '?', ':')) or not error.hint else '.'} {error.hint}".strip()


def traced() -> None:
    """With --debug print where the error came from. It is not raised, so that what is open closes in the usual way."""
    if CommandLine.debug:
        traceback.print_exc()


def unexpected(error: Exception) -> str:
    """What to print for an error that is not Cordon's own. Its text may quote a document, so it is not in it."""
    return f"unexpected {type(error).__name__}. Run again with `cordon --debug …` to see where."


def fail(message: str, code: int) -> None:
    """Print the message on stderr and exit with this code."""
    typer.echo(f"cordon: {message}", err=True)
    raise typer.Exit(code)
