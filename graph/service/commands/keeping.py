"""`cordon backup` and `cordon restore`: a home in one file, and back."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from graph.service.shell import errors, settings

app = typer.Typer()


@app.command(epilog="Example: cordon backup home.tar.gz   (encrypted: cordon backup - | age -p > home.age)")
def backup(file: Annotated[str, typer.Argument(help="Where to, - for stdout. It must not exist yet.")]) -> None:
    """Write everything below CORDON_HOME into one file, while no service uses it."""
    with errors():
        from graph.deps import stores
        from graph.errors import BadInput

        chosen = settings()
        home, opened = chosen.home, stores(chosen)
        if file == "-":
            opened.backup(sys.stdout.buffer)
            return
        path = Path(file).absolute()
        if path.exists() or path.is_relative_to(home):
            what = "exists already" if path.exists() else "lies in the home itself"
            raise BadInput(f"{path} {what}.", hint="Name a new file somewhere else.")
        part = path.with_name(f".{path.name}.part")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                digests = opened.backup(out)
                out.flush()
                os.fsync(out.fileno())
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
        typer.echo(f"{len(digests)} files in {path}, {path.stat().st_size / 1e6:.1f} MB")


@app.command(epilog="Example: CORDON_HOME=/srv/cordon cordon restore home.tar.gz")
def restore(file: Annotated[str, typer.Argument(help="A backup, - for stdin.")]) -> None:
    """Put a backup where CORDON_HOME says; there must be nothing yet. Every file is checked first."""
    with errors():
        from graph.deps import stores
        from graph.errors import BadInput

        chosen = settings()
        home, opened = chosen.home, stores(chosen)
        if file == "-":
            digests = opened.restore(sys.stdin.buffer)
        else:
            if not Path(file).is_file():
                raise BadInput(f"there is no file {file}.", hint="Name a backup.")
            with Path(file).open("rb") as source:
                digests = opened.restore(source)
        typer.echo(f"{len(digests)} files in {home}; `cordon audit verify` and `cordon doctor` look them over")
