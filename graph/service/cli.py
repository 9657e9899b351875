"""The command line. Nothing heavy is imported before a command runs: `cordon --help` is instant."""

import os
import sys
from contextlib import suppress
from typing import Annotated, Any

import typer

from graph.service.commands import (
    asking,
    documents,
    erasing,
    feedback,
    guards,
    keeping,
    moving,
    public,
    records,
    regulations,
    reviewing,
    serving,
    sessions,
    syncing,
    system,
)
from graph.service.shell import CommandLine, traced, unexpected

app = typer.Typer(
    name="cordon",
    help="Ask your own documents; get answers you can check, from evidence you may see.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Help with boxes imports more than all of Cordon's commands do: for people, not for a pipe.
    rich_markup_mode="rich" if sys.stdout and sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for commands in (
    asking, documents, erasing, feedback, guards, keeping, moving, public, records, regulations, reviewing, serving,
    sessions, syncing, system,
):  # fmt: skip
    app.add_typer(commands.app)


@app.callback()
def _root(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
    CommandLine.debug = debug


def main() -> None:
    """Run the command and end the process with its exit code. Does not return."""
    code: object = 1
    # With several threads for numpy's products, most wait and burn a core each: a sixth of the time of `cordon ask`.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_streams()
    if os.environ.get("NO_COLOR"):
        os.environ["_TYPER_FORCE_DISABLE_TERMINAL"] = "1"  # else its help is bold
    try:
        code = app(standalone_mode=False)
    except SystemExit as done:
        code = done.code
    except typer.Abort:
        code = 130
    except Exception as error:
        if hasattr(error, "format_message"):  # typer's usage errors have one; their class is not public
            code = _misused(error)
        else:
            traced()
            typer.echo(f"cordon: {unexpected(error)}", err=True)
    with suppress(BrokenPipeError):  # `cordon … | head` has what it wanted
        sys.stdout.flush()
        sys.stderr.flush()
    # Everything is closed and flushed: tearing the libraries down one by one would only take time.
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _open_streams() -> None:
    """Open the null device for standard streams that were closed: else the next file opened would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _misused(error: Any) -> int:
    """A usage error in one line; the help where nothing was asked for."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        message = " ".join(error.format_message().split()).rstrip(".")
        path = error.ctx.command_path if getattr(error, "ctx", None) else "cordon"
        typer.echo(f"cordon: {message}. See `{path} --help`.", err=True)
    return int(error.exit_code)


if __name__ == "__main__":
    main()
