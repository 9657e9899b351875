"""`cordon public`: what is meant to be public, and stays readable in passages and answers."""

import getpass
from typing import Annotated, Any

import typer

from graph.service.shell import AsJson, Public, Tenant, errors, home_stores, print_json

app = typer.Typer()
public = typer.Typer(help="E-mail addresses and phone numbers that are not masked.", no_args_is_help=True)
app.add_typer(public, name="public")

Value = Annotated[str, typer.Argument(help="An address, a number, or @example.org for a domain's role addresses.")]


@public.command("add", epilog="Example: cordon public add '+44 20 7946 0958' --tenant U1 --note switchboard")
def add(
    value: Value,
    tenant: Tenant = "",
    everybody: Public = False,
    note: Annotated[str, typer.Option(help="Why, in a few words.")] = "",
    as_json: AsJson = False,
) -> None:
    """Let a value be shown: to one tenant, or to all with --public. Give a number with its country: then every spelling
    of it counts."""
    with errors():
        lists, whose, journal = _lists(tenant, everybody)
        entry = lists.add(whose, value, journal, by=getpass.getuser(), note=note)
        if as_json:
            print_json(entry)
        else:
            typer.echo(f"public now: {entry['value']} ({entry['kind']})")


@public.command("list", epilog="Example: cordon public list --tenant U1 --json")
def show(tenant: Tenant = "", everybody: Public = False, as_json: AsJson = False) -> None:
    """What is public, since when, and by whom."""
    with errors():
        lists, whose, _ = _lists(tenant, everybody)
        entries = lists.entries(whose)
        if as_json:
            print_json(entries)
        else:
            for entry in entries:
                typer.echo(
                    f"{entry['value']}  {entry['kind']}  {entry['added']}  {entry['by']}  {entry['note']}".rstrip()
                )


@public.command("rm", epilog="Example: cordon public rm '+44 20 7946 0958' --tenant U1")
def remove(value: Value, tenant: Tenant = "", everybody: Public = False) -> None:
    """Have a value masked again. Answers that showed it still verify."""
    with errors():
        lists, whose, journal = _lists(tenant, everybody)
        lists.remove(whose, value, journal, by=getpass.getuser())
        typer.echo("masked again")


def _lists(tenant: str, everybody: bool) -> tuple[Any, str, Any]:
    """(the lists, whose list is meant, the journal)."""
    from graph.context import owner
    from graph.public import PublicValues

    opened = home_stores()
    return PublicValues(opened.lists), owner(tenant, everybody), opened.journal
