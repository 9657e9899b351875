"""The command line. Nothing heavy is imported before a command runs: `cordon --help` is instant."""

import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

from graph.service.commands import asking, documents, erasing, guards, records, regulations, serving, system
from graph.service.shell import State

app = typer.Typer(
    name="cordon",
    help="Ask your own documents; get answers you can check, from evidence you may see.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for commands in (asking, documents, erasing, guards, records, regulations, serving, system):
    app.add_typer(commands.app)


@app.callback()
def _root(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
    State.debug = debug


def main() -> None:
    try:
        app()
    except SystemExit as done:
        with suppress(BrokenPipeError):  # `cordon … | head` has what it wanted
            sys.stdout.flush()
            sys.stderr.flush()
        # Everything is closed and flushed: tearing the libraries down one by one would only take time.
        os._exit(done.code if isinstance(done.code, int) else 1)


if __name__ == "__main__":
    main()
