"""`cordon serve`, `cordon keys` and `cordon mcp`."""

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from graph.service.shell import AsJson, Groups, Tenant, errors, home_stores, named, print_json, settings

if TYPE_CHECKING:
    from graph.service.keys import Keys
    from graph.stores.keys import Key

RoleKind = StrEnum("RoleKind", ["member", "uploader", "admin", "auditor", "reviewer", "operator"])

app = typer.Typer()
keys = typer.Typer(help="API keys of the HTTP service.", no_args_is_help=True)
app.add_typer(keys, name="keys")


@app.command(epilog="Example: cordon serve --port 8000")
def serve(
    host: Annotated[str | None, typer.Option(help="Where to listen.", show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65_535, help="0 takes a free one.", show_default="8000")
    ] = None,
) -> None:
    """The HTTP service: REST, OpenAI-compatible chat, LangServe, MCP, metrics."""
    with errors():
        from graph.service.http.run import run

        run(settings(serve_host=host, serve_port=port))


@app.command(epilog="Example: cordon mcp --tenant U1")
def mcp(tenant: Tenant, user: Annotated[str, typer.Option(help="Who asks.")] = "local", groups: Groups = None) -> None:
    """An MCP server on stdin and stdout, for one tenant: ask, search, list_documents, verify."""
    with errors():
        from graph.service.mcp import run_stdio

        run_stdio(settings(), tenant, user, named(groups) or ())


@keys.command("add", epilog="Example: cordon keys add --tenant U1 --user ann --role uploader")
def add(
    tenant: Tenant,
    user: Annotated[str, typer.Option(help="Whose key it is; one of its own when left out.")] = "",
    role: Annotated[RoleKind, typer.Option(help="What it may do.")] = RoleKind.member,
    days: Annotated[int | None, typer.Option(min=1, help="How long it is valid; for ever when left out.")] = None,
    groups: Groups = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. Its secret is shown once, here."""
    with errors():
        key, secret = _keys().add(tenant, user, role.value, days, named(groups) or ())
        if as_json:
            print_json({"key": secret, **asdict(key)})
        else:
            typer.echo(secret)
            typer.echo(
                f"key {key.key_id}: tenant {key.tenant_id}, user {key.user_id}, {key.role}"
                f"{f', groups {_listed(key)}' if key.groups else ''}"
                f"{f', until {key.expires}' if key.expires else ''}. Keep it now: it is not shown again.",
                err=True,
            )


@keys.command("list", epilog="Example: cordon keys list --tenant U1")
def list_keys(tenant: Tenant = "", as_json: AsJson = False) -> None:
    """The keys there are, without their secrets."""
    with errors():
        listed = _keys().all(tenant)
        if as_json:
            print_json([asdict(key) for key in listed])
        else:
            for key in listed:
                groups = f"  groups {_listed(key)}" if key.groups else ""
                typer.echo(
                    f"{key.key_id}  {key.tenant_id}  {key.user_id}  {key.role}  {key.created}  {_state(key)}{groups}"
                )


@keys.command("revoke", epilog="Example: cordon keys revoke 9f2c…")
def revoke(key_id: str, tenant: Tenant = "", as_json: AsJson = False) -> None:
    """Shut a key out, at once, also of a service that is running."""
    with errors():
        key = _keys().revoke(key_id, tenant)
        if as_json:
            print_json(asdict(key))
        else:
            typer.echo(f"revoked {key.key_id}")


def _keys() -> "Keys":
    from graph.service.keys import Keys

    opened = home_stores()
    return Keys(opened.keys, opened.journal)


def _state(key: "Key") -> str:
    if key.revoked:
        return f"revoked {key.revoked}"
    if not key.expires:
        return "valid"
    return f"valid until {key.expires}" if key.valid else f"expired {key.expires}"


def _listed(key: "Key") -> str:
    return ",".join(key.groups)
