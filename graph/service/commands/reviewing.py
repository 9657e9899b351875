"""`cordon review`: answers that wait for a person, and appeals of refusals."""

from pathlib import Path
from typing import Annotated, Any

import typer

from graph.service.commands.asking import EXIT_BY_DECISION
from graph.service.shell import AsJson, Groups, Tenant, errors, named, opened_agent, print_json

app = typer.Typer()
review = typer.Typer(help="Answers that wait for a reviewer, and appeals of refusals.", no_args_is_help=True)
app.add_typer(review, name="review")

Run = Annotated[str, typer.Argument(help="The run, or the first characters of its id.", show_default=False)]
Reviewer = Annotated[str, typer.Option("--user", help="Who reviews: somebody else than who asked.")]
Asker = Annotated[str, typer.Option("--user", help="Who asked.")]


@review.command("list", epilog="Example: cordon review list --tenant U1")
def listed(tenant: Tenant, user: Reviewer = "reviewer", as_json: AsJson = False) -> None:
    """What waits, the longest first."""
    with errors(), opened_agent() as agent:
        rows = agent.reviews(tenant_id=tenant, user_id=user)
        if as_json:
            print_json(rows)
        else:
            from graph.service.render import show_reviews

            show_reviews(rows)


@review.command("show", epilog="Example: cordon review show 3f0c2a1b --tenant U1")
def show(
    run_id: Run, tenant: Tenant, user: Reviewer = "reviewer", groups: Groups = None, as_json: AsJson = False
) -> None:
    """One of them: question, verdict, the draft and its evidence."""
    with errors(), opened_agent() as agent:
        case = agent.under_review(run_id, tenant_id=tenant, user_id=user, groups=named(groups) or ())
        if as_json:
            print_json(case)
        else:
            from graph.service.render import show_review

            show_review(case)


@review.command("approve", epilog="Example: cordon review approve 3f0c2a1b --tenant U1 --user rita")
def approve(
    run_id: Run, tenant: Tenant, user: Reviewer = "reviewer", groups: Groups = None, as_json: AsJson = False
) -> None:
    """Let the answer out as it stands; of an appeal: have the question answered, under guardrails."""
    _decide(as_json, run_id, "approve", groups, tenant_id=tenant, user_id=user)


@review.command("edit", epilog="Example: cordon review edit 3f0c2a1b answer.txt --tenant U1 --user rita")
def edit(
    run_id: Run,
    file: Annotated[Path, typer.Argument(help="The text, - for stdin.", show_default=False)],
    tenant: Tenant,
    user: Reviewer = "reviewer",
    groups: Groups = None,
    as_json: AsJson = False,
) -> None:
    """Let the answer out in other words. Each sentence must be supported by the evidence. Of an assessment the text is
    what the documents say."""
    with errors():
        from graph.errors import BadInput

        try:
            text = typer.get_text_stream("stdin").read() if str(file) == "-" else file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{file} cannot be read.", hint="Give a text file, or - for stdin.") from error
    _decide(as_json, run_id, "edit", groups, tenant_id=tenant, user_id=user, text=text)


@review.command("refuse", epilog="Example: cordon review refuse 3f0c2a1b --tenant U1 --user rita --reason 'too vague'")
def refuse(
    run_id: Run,
    tenant: Tenant,
    reason: Annotated[str, typer.Option(help="Why; the asker reads it.", show_default=False)],
    user: Reviewer = "reviewer",
    as_json: AsJson = False,
) -> None:
    """Keep the answer back; of an appeal: uphold the refusal."""
    _decide(as_json, run_id, "refuse", None, tenant_id=tenant, user_id=user, reason=reason)


@review.command("appeal", epilog="Example: cordon review appeal 3f0c2a1b --tenant U1 --user ann --note 'I teach this'")
def appeal(
    run_id: Run,
    tenant: Tenant,
    user: Asker = "local",
    note: Annotated[str, typer.Option(help="Why it should be answered.")] = "",
    as_json: AsJson = False,
) -> None:
    """Have a person look at a refusal of one's own question."""
    with errors(), opened_agent() as agent:
        reply = agent.appeal(run_id, tenant_id=tenant, user_id=user, note=note)
        print_json(reply) if as_json else typer.echo(f"{reply['run_id'][:8]}: {reply['answer']}")


@review.command("outcome", epilog="Example: cordon review outcome 3f0c2a1b… --tenant U1 --user ann")
def outcome(run_id: Run, tenant: Tenant, user: Asker = "local", groups: Groups = None, as_json: AsJson = False) -> None:
    """What became of one's own run that waited. Exits as `cordon ask` does."""
    with errors(), opened_agent() as agent:
        reply = agent.outcome(run_id, tenant_id=tenant, user_id=user, groups=named(groups) or ())
        _shown(reply, as_json)
    raise typer.Exit(EXIT_BY_DECISION[reply["decision"]])


def _decide(as_json: bool, run_id: str, decision: str, groups: str | None, **how: Any) -> None:
    with errors(), opened_agent() as agent:
        _shown(agent.review(run_id, decision, groups=named(groups) or (), **how), as_json)


def _shown(reply: Any, as_json: bool) -> None:
    if as_json:
        print_json(reply)
    else:
        from graph.service.render import show_reply

        show_reply(reply)
