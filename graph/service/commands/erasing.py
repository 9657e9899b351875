"""`cordon forget`: erasure, with a receipt."""

from typing import Annotated

import typer

from graph.service.shell import AsJson, Tenant, errors, opened_agent, print_json

app = typer.Typer()


@app.command(epilog="Example: cordon forget --tenant U1 --user ann")
def forget(
    tenant: Tenant,
    thread: Annotated[str, typer.Option(help="One conversation.", show_default=False)] = "",
    user: Annotated[str, typer.Option(help="Everything of one person.", show_default=False)] = "",
    everything: Annotated[bool, typer.Option("--all", help="The tenant: documents, memory, records, keys.")] = False,
    older_than: Annotated[
        int | None, typer.Option("--older-than", min=0, help="Runs of more than so many days ago.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Erase from index, memory, checkpoints, artefacts, uploads, keys, traces and log; prints a receipt."""
    with errors(), opened_agent() as agent:
        receipt = agent.forget(
            tenant_id=tenant,
            user_id=user or None,
            thread_id=thread or None,
            everything=everything,
            older_than_days=older_than,
        )
        if as_json:
            print_json(receipt)
        else:
            for name, value in receipt.items():
                if name not in ("seq", "prev", "hash", "lines", "kind"):
                    typer.echo(f"{name:<16}{value}")
