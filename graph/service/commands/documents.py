"""`cordon ingest` and `cordon docs`."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from graph.service.shell import AsJson, Groups, Public, Tenant, errors, named, opened_agent, print_json

app = typer.Typer()
docs = typer.Typer(help="List, show and remove documents; release what the guard withholds.", no_args_is_help=True)
app.add_typer(docs, name="docs")


@app.command(epilog="Example: cordon ingest notes/ report.pdf --tenant U1")
def ingest(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files, directories, http(s) addresses.", show_default=False)
    ] = None,
    tenant: Tenant = "",
    public: Public = False,
    groups: Groups = None,
    manifest: Annotated[
        Path | None, typer.Option(help="A manifest.csv: doc_id,tenant,path.", show_default=False)
    ] = None,
    acl: Annotated[Path | None, typer.Option(help="Its tenant_acl.csv.", show_default=False)] = None,
    kind: Annotated[
        str, typer.Option(help="Of which kind the files are: regulation.", metavar="NAME", show_default=False)
    ] = "",
    regulation: Annotated[
        str | None,
        typer.Option(help="An act of the Union: PDF, web page or text. Its structure is read.", show_default=False),
    ] = None,
    sync: Annotated[
        bool, typer.Option("--sync", help="Remove documents of these directories whose files are gone.")
    ] = False,
    workers: Annotated[int, typer.Option(help="Processes that read, on this machine.", metavar="N")] = 1,
    scheduler: Annotated[
        str,
        typer.Option(help="A Dask cluster that reads: tcp://HOST:8786.", metavar="ADDRESS", show_default=False),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Parse, check, chunk, embed and index documents. Doing it twice changes nothing."""
    from graph.errors import BadInput

    with errors():
        shared = _whose(paths, manifest, acl, regulation, tenant, public, groups)
        if kind and not paths:
            raise BadInput("--kind is of the files that are named.", hint="Name files and --kind, or leave it out.")
        if sync and not paths:
            raise BadInput("--sync is of directories that are named.", hint="Name them, or leave it out.")
        if scheduler and workers != 1:
            raise BadInput("a cluster has workers of its own.", hint="Give --workers or --scheduler, one of the two.")
        with opened_agent() as agent, ExitStack() as done:
            from graph.service.render import IngestReport

            with IngestReport(None, as_json) as report:
                readers = None
                if scheduler or workers != 1:
                    from graph.service import spread

                    readers = (
                        done.enter_context(spread.cluster(agent.settings, scheduler, report.expect))
                        if scheduler
                        else spread.processes(agent.settings, agent.deps.lock.files, workers, report.expect)
                    )
                known: Any = {"progress": report.add, "readers": readers}
                if manifest and acl:
                    from graph.knowledge.manifest import sources

                    todo = sources(manifest, acl)
                    report.expect(len(todo))
                    agent.ingest_sources(todo, **known)
                else:
                    named_paths, kind = ([regulation], "regulation") if regulation else (list(paths or []), kind)
                    whose = {"tenant_id": tenant, "public": public, "groups": shared or ()}
                    agent.ingest(named_paths, **whose, kind=kind, sync=sync, **known)
    raise typer.Exit(1 if report.failed else 0)


def _whose(
    paths: list[str] | None,
    manifest: Path | None,
    acl: Path | None,
    regulation: str | None,
    tenant: str,
    public: bool,
    groups: str | None,
) -> Any:
    """The groups that the documents are for; None for all of the tenant. Raises BadInput where it is not clear which
    files are meant, or whose they are."""
    from graph.errors import BadInput

    if bool(manifest) != bool(acl) or bool(manifest) + bool(paths) + bool(regulation) != 1:
        raise BadInput(
            "name files, or --manifest together with --acl, or --regulation and one file.",
            hint="See `cordon ingest --help`.",
        )
    if manifest and (public or tenant or groups is not None):
        raise BadInput("the access list says whose they are.", hint="Leave out --tenant, --public and --groups.")
    shared = named(groups)
    if shared == frozenset():
        raise BadInput("--groups names none.", hint="Leave it out where the files are for all of the tenant.")
    if not manifest and public == bool(tenant):
        raise BadInput("whose are they?", hint="Give --tenant T or --public, one of the two.")
    return shared


@docs.command("list", epilog="Example: cordon docs list --tenant U1")
def docs_list(tenant: Tenant = "", public: Public = False, groups: Groups = None, as_json: AsJson = False) -> None:
    """The documents of a tenant, all of them or those that some of its groups may read, or the public ones."""
    with errors(), opened_agent() as agent:
        records = agent.documents(tenant_id=tenant, public=public, groups=named(groups))
        if as_json:
            print_json(records)
        else:
            from graph.service.render import show_documents

            show_documents(records)


@docs.command("show", epilog="Example: cordon docs show U1_sop_cryostorage --tenant U1")
def docs_show(
    doc_id: str,
    tenant: Tenant = "",
    public: Public = False,
    groups: Groups = None,
    withheld: Annotated[bool, typer.Option("--withheld", help="The sentences that no answer shows, and why.")] = False,
    as_json: AsJson = False,
) -> None:
    """One document: what is known of it, and its text, masked."""
    from graph.service import render

    with errors(), opened_agent() as agent:
        show: Any = agent.withheld if withheld else agent.document
        shown = show(doc_id, tenant_id=tenant, public=public, groups=named(groups))
        if as_json:
            print_json(shown)
        else:
            (render.show_withheld if withheld else render.show_document)(shown)


def _deciding(what: str, help: str) -> None:
    """Makes `docs release` and `docs confirm`, which take the same options."""

    @docs.command(what, help=help, epilog=f"Example: cordon docs {what} handbook 2 --tenant U1 --note 'our own words'")
    def decide(
        doc_id: str,
        numbers: Annotated[
            list[int] | None, typer.Argument(help="Of `cordon docs show ID --withheld`.", show_default=False)
        ] = None,
        every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
        note: Annotated[str, typer.Option(help="Why, in a few words.")] = "",
        user: Annotated[str, typer.Option(help="Who says so.")] = "local",
        tenant: Tenant = "",
        public: Public = False,
        groups: Groups = None,
        as_json: AsJson = False,
    ) -> None:
        from graph.errors import BadInput
        from graph.service.render import show_withheld

        with errors(), opened_agent() as agent:
            if bool(numbers) == every:
                raise BadInput("which sentences?", hint="Give their numbers, or --all.")
            where = {"tenant_id": tenant, "public": public, "groups": named(groups)}
            chosen = numbers or [row["n"] for row in agent.withheld(doc_id, **where)]
            rows = agent.decide(doc_id, **{what: chosen}, note=note, user_id=user, **where)
            print_json(rows) if as_json else show_withheld(rows)


_deciding("release", "Say that withheld sentences are honest: from now on they are shown. `confirm` takes it back.")
_deciding("confirm", "Say that sentences are rightly withheld; released ones are withheld again.")


@docs.command("rm", epilog="Example: cordon docs rm U1_sop_cryostorage --tenant U1")
def docs_rm(doc_id: str, tenant: Tenant = "", public: Public = False, groups: Groups = None) -> None:
    """Remove a document from the index. Where several have the id, --groups says which."""
    with errors(), opened_agent() as agent:
        agent.remove(doc_id, tenant_id=tenant, public=public, groups=named(groups))
        typer.echo(f"removed {doc_id}")
