"""`cordon sync`."""

import sys
from typing import Annotated, Any

import typer

from graph.service.shell import AsJson, Groups, Public, Tenant, errors, named, opened_agent

app = typer.Typer()


@app.command(epilog="Example: cordon sync notes/ --tenant U1 --watch")
def sync(
    source: Annotated[str, typer.Argument(help="A folder or an address (docs/documents.md).", metavar="DIR|URL")],
    tenant: Tenant = "",
    public: Public = False,
    groups: Groups = None,
    watch: Annotated[bool, typer.Option("--watch", help="Wait for changes and run again, until Ctrl-C.")] = False,
    every: Annotated[
        float,
        typer.Option(help="Run again after so many seconds, until Ctrl-C.", metavar="SECONDS", show_default=False),
    ] = 0,
    allow_removal: Annotated[
        bool, typer.Option("--allow-removal", help="Remove, too, where more than half of the documents would go.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Keep the documents of a folder or an address in step with it: new, changed, moved and removed files."""
    from graph.errors import BadInput
    from graph.service import watching

    with errors():
        if public == bool(tenant):
            raise BadInput("whose are they?", hint="Give --tenant T or --public, one of the two.")
        if (shared := named(groups)) == frozenset():
            raise BadInput("--groups names none.", hint="Leave it out where the files are for all of the tenant.")
        if every and not watching.SHORTEST <= every <= watching.LONGEST:
            raise BadInput(f"--every is from {watching.SHORTEST} to {watching.LONGEST:,} seconds.")
        whose = {"tenant_id": tenant, "public": public, "groups": shared or ()}

        def run(quiet: bool = False) -> int:
            return _once(source, whose, allow_removal, as_json, quiet)

        failed = watching.keep(run, source, every) if watch or every else run()
    raise typer.Exit(1 if failed else 0)


def _once(source: str, whose: dict[str, Any], allow_removal: bool, as_json: bool, quiet: bool) -> int:
    """Returns how many files failed. With `quiet` unchanged files are not listed."""
    import json

    from graph.service.render import IngestReport

    with opened_agent() as agent, IngestReport(None, as_json) as report:
        progress = report.tally if quiet else report.add
        agent.sync(source, **whose, allow_removal=allow_removal, progress=progress)
        if as_json:
            sys.stdout.write(json.dumps({"counts": dict(sorted(report.counts.items()))}) + "\n")
            sys.stdout.flush()
    return report.failed
