"""`cordon demo`, `graph`, `doctor`, `eval`."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graph.service.shell import AsJson, errors, print_json, settings

DiagramKind = StrEnum("DiagramKind", ["mermaid", "png"])

app = typer.Typer()


@app.command(epilog="Example: cordon demo")
def demo() -> None:
    """Index the shipped documents and ask questions of several tenants."""
    with errors():
        from graph.service.demo import main

        status = main()
    raise typer.Exit(status)


@app.command(epilog="Example: cordon graph > graph.mmd")
def graph(
    form: Annotated[
        DiagramKind, typer.Option("--format", help="Mermaid text, or a PNG on stdout.")
    ] = DiagramKind.mermaid,
) -> None:
    """The compiled graph as a diagram."""
    with errors():
        from graph.service import diagram

        if form is DiagramKind.png:
            sys.stdout.buffer.write(diagram.png())
        else:
            typer.echo(diagram.mermaid())


@app.command(epilog="Example: cordon doctor --json")
def doctor(as_json: AsJson = False) -> None:
    """What is configured, what is missing, what to do."""
    with errors():
        from graph.service import doctor as checks

        findings = checks.examine(settings())
        if as_json:
            print_json(findings)
        else:
            from graph.service.render import show_findings

            show_findings(findings)
    raise typer.Exit(0 if findings["ok"] else 4)


# Its options are those of `python -m evals`, defined there.
@app.command("eval", context_settings={"allow_extra_args": True, "ignore_unknown_options": True}, add_help_option=False)
def evaluate(context: typer.Context) -> None:
    """Measure: run evaluation suites and write a report."""
    from graph.errors import BadInput

    with errors():
        checkout = str(Path(__file__).resolve().parents[3])  # where the suites lie, when this is a checkout
        if checkout not in sys.path:
            sys.path.append(checkout)
        try:
            from evals.__main__ import main as run
        except ImportError as error:
            raise BadInput(
                "the evaluation suites are part of the source checkout, and this is an installed copy.",
                hint="Clone the repository and run `make install`, or `python -m evals` there.",
            ) from error
        raise typer.Exit(run(context.args))
