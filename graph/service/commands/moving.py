"""`cordon migrate`: the tables of a database, and a home moved into it."""

from typing import Annotated

import typer

from graph.service.shell import errors, settings

app = typer.Typer()


@app.command(epilog="Example: cordon migrate --to postgresql://worker:SECRET@db/cordon")
def migrate(
    to: Annotated[
        str, typer.Option(help="Move all of CORDON_HOME into this empty database, and compare.", metavar="URL")
    ] = "",
) -> None:
    """Set up the database that CORDON_DATABASE_URL (or --to) names, or bring its tables up to date, as
    CORDON_DATABASE_OWNER_URL. Any number may do it at once. Without an owner's URL --to takes the tables as they
    are."""
    with errors():
        from pydantic import SecretStr

        from graph.administration.moving import move
        from graph.deps import set_up, stores

        home = settings()
        database = home.model_copy(update={"database_url": SecretStr(to)}) if to else home
        if database.database_owner_url.get_secret_value() or not to:
            done = set_up(database)
            typer.echo(f"applied: {', '.join(done)}" if done else "the tables are up to date")
        if to:
            from graph.knowledge.embeddings import embedder

            source = stores(home.model_copy(update={"database_url": SecretStr("")}))
            target = stores(database)
            try:
                move(source, target, embedder(home).name, typer.echo)
            finally:
                source.close()
                target.close()
            typer.echo("all of it is the same; set CORDON_DATABASE_URL, and keep the home until you trust it")
