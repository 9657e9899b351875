"""`cordon regulation`: what was found of an act, and its provisions with what bears on them."""

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from graph.context import PUBLIC, whose
from graph.errors import BadInput
from graph.service.shell import AsJson, Public, Tenant, errors, opened_agent, print_json

app = typer.Typer()
regulation = typer.Typer(help="Acts of the Union: what was found of them, and their provisions.", no_args_is_help=True)
app.add_typer(regulation, name="regulation")
FormatKind = StrEnum("FormatKind", ["text", "mermaid", "png"])


@regulation.command("status", epilog="Example: cordon regulation status --json")
def status(tenant: Tenant = "", public: Public = False, as_json: AsJson = False) -> None:
    """Articles and recitals found, what is missing, cross references, of every act, or of those a tenant can read.

    Exit code 1 when an act is not whole.
    """
    with errors(), opened_agent() as agent:
        from graph.regulation import report

        statuses = [
            report.status(act) | {"tenant_id": owner, "visibility": PUBLIC if owner == PUBLIC else "private"}
            for owner, act in _acts(agent, tenant, public)
        ]
        if as_json:
            print_json(statuses)
        else:
            from graph.service.acts import show_status

            show_status([(act, report.problems(act)) for act in statuses])
    raise typer.Exit(0 if all(act["complete"] for act in statuses) else 1)


@regulation.command("show", epilog='Example: cordon regulation show "Article 17(3)"')
def show(
    provision: Annotated[str, typer.Argument(help="Article 17(3), Recital 26, Chapter III …", show_default=False)],
    tenant: Tenant = "",
    public: Public = False,
    act: Annotated[str, typer.Option("--act", help="Which act: its document id.", show_default=False)] = "",
    form: Annotated[
        FormatKind, typer.Option("--format", help="Text, or a picture of the neighbourhood.")
    ] = FormatKind.text,
    as_json: AsJson = False,
) -> None:
    """A provision, what it refers to and what refers to it."""
    with errors(), opened_agent() as agent:
        from graph.regulation import neighbourhood, picture

        acts = [entry for entry in _acts(agent, tenant, public) if not act or entry[1].doc_id == act]
        if not acts:
            raise BadInput(
                "there is no such act here." if act else "no act was ingested.",
                hint="`cordon ingest --regulation FILE` adds one.",
            )
        owner, chosen, node = _find(acts, provision)
        if form is FormatKind.mermaid:
            typer.echo(picture.mermaid(picture.of_provision(chosen, node)), nl=False)
        elif form is FormatKind.png:
            if sys.stdout.isatty():
                raise BadInput("a PNG is no text.", hint="Redirect it: > neighbourhood.png")
            sys.stdout.buffer.write(picture.png(picture.of_provision(chosen, node)))
        else:
            shown = agent.provision(chosen.doc_id, node, **_named(owner))
            shown["neighbours"] = [
                {
                    "name": chosen.nodes[n.node].name,
                    "how": n.how,
                    "deadline": n.deadline,
                    "page": chosen.nodes[n.node].page,
                }
                for n in neighbourhood.around(chosen, node)
            ]
            if as_json:
                print_json(shown)
            else:
                from graph.service.acts import show_provision

                show_provision(shown)


def _acts(agent: Any, tenant: str, public: bool) -> list[tuple[str, Any]]:
    """(owner, act): a tenant's and the public ones, the public ones alone, or every one that was ingested."""
    if tenant and public:
        raise BadInput("whose?", hint="Give --tenant T or --public, or neither for all.")
    everybody = dict.fromkeys(whose(name)[0] for name in agent.deps.index.spaces.names())
    owners = [tenant, PUBLIC] if tenant else [PUBLIC] if public else everybody
    return [(owner, act) for owner in owners for act in agent.regulations(**_named(owner))]


def _named(owner: str) -> dict[str, Any]:
    return {"public": True} if owner == PUBLIC else {"tenant_id": owner}


def _find(acts: list[tuple[str, Any]], provision: str) -> tuple[str, Any, int]:
    """(owner, act, node) of the first act that has the provision. Raises BadInput when none has."""
    from graph.regulation import neighbourhood

    for at, (owner, act) in enumerate(acts):
        try:
            return owner, act, neighbourhood.find(act, provision)
        except BadInput:
            if at == len(acts) - 1:
                raise
    raise AssertionError
