"""`cordon feedback`: whether an answer was right, and what was said so far as samples for the evaluation."""

import json
from typing import Annotated

import typer

from graph.service.shell import Tenant, errors, opened_agent

app = typer.Typer()
feedback = typer.Typer(help="Whether answers were right, as those say who asked.", no_args_is_help=True)
app.add_typer(feedback, name="feedback")


@feedback.command("add", epilog="Example: cordon feedback add 3f0c2a1b wrong --tenant U1 --why 'It is room 12.'")
def add(
    run_id: Annotated[str, typer.Argument(help="The run, or the first characters of its id.", show_default=False)],
    rating: Annotated[str, typer.Argument(help="right or wrong", show_default=False)],
    tenant: Tenant,
    user: Annotated[str, typer.Option("--user", help="Who asked.")] = "local",
    why: Annotated[str, typer.Option(help="What should have stood there.")] = "",
) -> None:
    """Say whether the answer of one's own run was right. It goes on record."""
    with errors(), opened_agent() as agent:
        agent.feedback(run_id, rating, tenant_id=tenant, user_id=user, why=why)
        typer.echo(f"{run_id[:8]}: {rating}, on record")


@feedback.command("samples", epilog="Example: cordon feedback samples --tenant U1 > questions.jsonl")
def samples(tenant: Tenant) -> None:
    """What was rated, a JSON object a line: what `cordon eval own --questions` reads."""
    with errors(), opened_agent() as agent:
        for sample in agent.feedback_samples(tenant_id=tenant):
            typer.echo(json.dumps(sample, ensure_ascii=False))
