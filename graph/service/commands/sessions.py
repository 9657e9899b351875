"""`cordon sessions`: who is signed in at the HTTP service, and ending that."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.service.shell import AsJson, Tenant, errors, print_json, settings

if TYPE_CHECKING:
    from graph.service.sessions import Sessions
    from graph.stores.sessions import Session

app = typer.Typer()
sessions = typer.Typer(help="Sessions of people who signed in at the HTTP service.", no_args_is_help=True)
app.add_typer(sessions, name="sessions")


@sessions.command("list", epilog="Example: cordon sessions list --tenant U1")
def list_sessions(tenant: Tenant = "", as_json: AsJson = False) -> None:
    """Who is signed in now."""
    with errors():
        rows = [_shown(session) for session in _sessions().open_sessions(tenant)]
        if as_json:
            print_json(rows)
        for row in [] if as_json else rows:
            typer.echo(
                "  ".join(str(row[part]) for part in ("tenant_id", "user_id", "role", "seen", "expires", "name"))
            )


@sessions.command("end", epilog="Example: cordon sessions end --tenant U1 --user ann")
def end(
    tenant: Tenant,
    user: Annotated[str, typer.Option(help="One person; all of the tenant when left out.")] = "",
    as_json: AsJson = False,
) -> None:
    """Sign people out, at once, also of a service that is running."""
    with errors():
        ended = _sessions().end_all(tenant, user)
        if as_json:
            print_json({"ended": ended})
        else:
            typer.echo(f"ended {ended}")


def _sessions() -> "Sessions":
    from graph.deps import stores
    from graph.service.sessions import Sessions

    chosen = settings()
    opened = stores(chosen)
    return Sessions(opened.sessions, opened.keys, chosen.oidc_idle_s, chosen.oidc_session_s)


def _shown(session: "Session") -> dict[str, Any]:
    times = {name: _time(getattr(session, name)) for name in ("created", "seen", "expires")}
    who = {name: getattr(session, name) for name in ("tenant_id", "user_id", "role", "name")}
    return {**who, "groups": list(session.groups), **times}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
