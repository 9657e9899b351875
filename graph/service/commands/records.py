"""`cordon audit` and `cordon verify`."""

import json
from dataclasses import asdict
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from graph.service.shell import AsJson, Tenant, errors, home_stores, opened_agent, print_json, settings

ReportKind = StrEnum("ReportKind", ["csv", "json", "pdf"])

app = typer.Typer()
audit = typer.Typer(help="Read and prove the journal.", no_args_is_help=True)
app.add_typer(audit, name="audit")


@audit.command("tail", epilog="Example: cordon audit tail -n 5")
def audit_tail(
    n: Annotated[int, typer.Option("-n", min=1, max=100_000, help="How many.")] = 10, as_json: AsJson = False
) -> None:
    """The last runs."""
    from graph.audit.chain import is_run

    with errors():
        entries = list(islice(filter(is_run, home_stores().journal.newest()), n))[::-1]
        if as_json:
            for entry in entries:
                print_json(entry, compact=True)
        else:
            from graph.service.render import show_journal

            show_journal(entries)


@audit.command("show", epilog="Example: cordon audit show 3f0c…")
def audit_show(run_id: str) -> None:
    """One run, whole; with what a reviewer decided of it."""
    with errors():
        from graph.audit.mistakes import one_run

        journal = home_stores().journal
        run = one_run(journal, run_id)
        later = list(journal.entries("run", run["run_id"]))
        print_json({**run, **({"reviewed": later} if later else {})})


@audit.command("flag", epilog="Example: cordon audit flag 3f0c2a --false-positive --note 'a question about the policy'")
def audit_flag(
    run_id: Annotated[str, typer.Argument(help="The run, or the first characters of it.", show_default=False)],
    false_positive: Annotated[
        bool, typer.Option("--false-positive", help="The guards stopped an innocent question.")
    ] = False,
    note: Annotated[str, typer.Option(help="Why, in a few words.")] = "",
    as_json: AsJson = False,
) -> None:
    """Log a run that the guards judged wrongly; `cordon eval guardrails` asks them again."""
    from graph.errors import BadInput

    with errors():
        if not false_positive:
            raise BadInput("say what was wrong with it.", hint="`--false-positive` is what can be flagged.")
        from graph.audit.mistakes import flag

        opened = home_stores()
        row = flag(opened.journal, opened.rows("false_positives"), run_id, note)
        if as_json:
            print_json(row)
        else:
            typer.echo(f"flagged {row['run_id'][:8]}: {row['action']} at risk {row['risk_score']}")


@audit.command("verify", epilog="Example: cordon audit verify")
def audit_verify(
    lines: Annotated[
        Path | None,
        typer.Option(help="A tenant's own lines, as `cordon audit export` wrote them; no home.", show_default=False),
    ] = None,
    head: Annotated[
        Path | None, typer.Option(help="A file of heads that `cordon audit head` gave.", show_default=False)
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="The key that signed them, public or private.", show_default=False)
    ] = None,
) -> None:
    """Prove that no line of the journal was changed, added or removed; exit 1 when one was, or when nothing is proven:
    there is no journal, it is empty, or the file beside it that says where it ends is missing.

    Who may write in the home may make the whole journal anew: heads that are kept elsewhere show that."""
    from graph.errors import BadInput

    with errors():
        if key and not head:
            raise BadInput("--key is of the heads in a file.", hint="Give --head FILE, too.")
        from graph.audit import signed_heads, tenant_chain

        heads = signed_heads.read(head) if head else []
        signer = signed_heads.public_key(key) if key else None
        if lines is not None:
            followed = tenant_chain.follow(tenant_chain.read(lines))
            says, holds, tenant, hashes = followed.says, followed.broken is None, followed.tenant, followed.hashes
            heads = [one for one in heads if one.link.seq >= followed.first]
        else:
            proof = home_stores().journal.prove([one.link.seq for one in heads])
            says, holds, tenant = proof.says, proof.holds, ""
            hashes = {link.seq: link.hash for link in proof.asked}
        if holds and head:
            if foreign := next((one for one in heads if one.tenant != tenant), None):
                what = f"of {foreign.tenant}'s own lines" if foreign.tenant else "of the whole journal"
                raise BadInput(
                    f"the head of {foreign.at} is {what}.", hint="--lines FILE is what a tenant's head is of."
                )
            comparison, holds = _compared(heads, hashes, signer)
            says = f"{says}\n{comparison}" if holds else comparison
        typer.echo(says, err=not holds)
    raise typer.Exit(0 if holds else 1)


def _compared(heads: list[Any], hashes: dict[int, str], signer: Any) -> tuple[str, bool]:
    """(what the heads say of the lines with these hashes, whether they hold)."""
    from graph.audit import signed_heads

    if not heads:
        return "no head was kept of these lines", False
    if signer and (unsigned := signed_heads.unsigned(heads, signer)):
        return f"the head of {unsigned.at}, line {unsigned.link.seq}, was not signed by this key", False
    if (changed := signed_heads.differing(heads, hashes)) is not None:
        return f"broken: line {changed.link.seq} is not the one whose head was kept at {changed.at}", False
    which = f"{len(heads)} heads" if len(heads) > 1 else "the head"
    signed = "and signed by this key" if signer else "signatures not checked (give --key)"
    return f"{which} kept till {heads[-1].at}: of this journal, {signed}", True


@audit.command("head", epilog="Example: cordon audit head >> /mnt/elsewhere/heads.jsonl")
def audit_head(
    tenant: Annotated[str, typer.Option(help="Of this tenant's own lines instead.", show_default=False)] = "",
) -> None:
    """The journal's head on a line, to be kept elsewhere; signed where CORDON_HEAD_KEY names a key. Exit 1 when the
    journal does not hold."""
    with errors():
        from graph.audit import signed_heads
        from graph.audit.chain import canonical
        from graph.stores.journal import Link

        chosen = settings()
        signer = signed_heads.private_key(chosen.head_key.get_secret_value(), chosen.home)
        journal = home_stores().journal
        proof = journal.prove()
        if proof.holds:
            at = journal.tenant_head(tenant) if tenant else Link(proof.entries, proof.head)
            typer.echo(canonical(signed_heads.head(at, signer, tenant)))
            if signer is None:
                typer.echo(f"not signed: CORDON_HEAD_KEY is not set. {signed_heads.MAKE_ONE}", err=True)
        else:
            typer.echo(proof.says, err=True)
    raise typer.Exit(0 if proof.holds else 1)


@audit.command("export", epilog="Example: cordon audit export --tenant U1 > U1.jsonl")
def audit_export(tenant: Tenant) -> None:
    """A tenant's own lines, one a line, without what hangs on other tenants: `cordon audit verify --lines FILE` proves
    them anywhere."""
    with errors():
        from graph.context import valid_tenant
        from graph.stores.journal import shown

        for entry in home_stores().journal.entries("tenant_id", valid_tenant(tenant)):
            if entry["tenant_id"] == tenant:
                print_json(shown(entry), compact=True)


@audit.command("replay", epilog="Example: cordon audit replay 3f0c2a1b")
def audit_replay(
    run_id: Annotated[
        str | None, typer.Argument(help="The run, or the first characters of it.", show_default=False)
    ] = None,
    last: Annotated[int, typer.Option(min=0, max=100_000, help="The last runs instead of one.")] = 0,
    policy: Annotated[
        Path | None,
        typer.Option(help="Other borders or detector, as in cordon.toml: its verdicts.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge and answer a run on record again, on the passages it had found, and say what comes out otherwise; exit 1
    when something does. Nothing is searched for, recorded or sent."""
    from graph.errors import BadInput

    with errors():
        if bool(run_id) == bool(last):
            raise BadInput("name a run, or --last N.", hint="`cordon audit tail --json` lists runs.")
        from graph.audit.chain import is_run
        from graph.audit.mistakes import one_run

        with opened_agent() as agent:
            from graph.administration import replay as again
            from graph.service.render import show_replayed

            instead = again.policy(policy, agent.settings) if policy else None
            journal = agent.deps.journal
            entries = [one_run(journal, run_id)] if run_id else islice(filter(is_run, journal.newest()), last)
            runs = [again.replay(entry, agent.deps, instead) for entry in entries if run_id or "query" in entry]
        if as_json:
            for run in runs:
                print_json(asdict(run), compact=True)
        else:
            show_replayed(runs)
    raise typer.Exit(1 if any(run.differs for run in runs) else 0)


@audit.command("dossier", epilog="Example: cordon audit dossier 3f0c2a1b --out answer.pdf")
def audit_dossier(
    run_id: Annotated[str, typer.Argument(help="The run, or the first characters of it.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="Where to; dossier_RUN.pdf here otherwise.", show_default=False)
    ] = None,
) -> None:
    """One answer as a PDF for somebody who has to judge it: question, verdict, evidence, checks, versions, place in the
    journal. Exit 1 when the journal does not hold."""
    with errors():
        from graph.audit.mistakes import one_run

        with opened_agent() as agent:
            from graph.administration.dossier import dossier

            entry = one_run(agent.deps.journal, run_id)
            text, proof = dossier(entry, agent.deps)
        run = entry["run_id"][:8]
        _pdf(text, out or Path(f"dossier_{run}.pdf"), f"Dossier of run {run}", entry["timestamp"])
        if not proof.holds:
            typer.echo(proof.says, err=True)
    raise typer.Exit(0 if proof.holds else 1)


@audit.command("report", epilog="Example: cordon audit report --day 2026-01-31 --format csv")
def audit_report(
    day: Annotated[str, typer.Option(help="YYYY-MM-DD, UTC.", show_default=False)],
    form: Annotated[
        ReportKind, typer.Option("--format", help="A table for a spreadsheet, JSON, or a PDF with charts.")
    ] = ReportKind.json,
    out: Annotated[Path | None, typer.Option(help="Of the PDF; DAY.pdf here otherwise.", show_default=False)] = None,
) -> None:
    """The day in figures, a row per tenant."""
    from graph.errors import BadInput

    with errors():
        if out and form is not ReportKind.pdf:
            raise BadInput("--out is of a PDF.", hint="Add --format pdf, or send the output to a file.")
        from graph.audit import report
        from graph.audit.chain import is_run

        runs = filter(is_run, home_stores().journal.entries("timestamp", day))
        if form is ReportKind.pdf:
            text, file = report.as_markdown(runs, day), out or Path(f"{day}.pdf")
            _pdf(text, file, f"Runs of {day}", f"{day}T00:00:00Z")
            return
        rows = report.report(runs, day)
        if form is ReportKind.csv:
            typer.echo(report.as_csv(rows), nl=False)
        else:
            print_json(rows)


@app.command(epilog="Example: cordon verify out/3f0c…/answer.json")
def verify(
    file: Annotated[
        Path, typer.Argument(help="An answer.json, or what `cordon ask --json` printed.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Check an answer again: every quote verbatim, every hash right; exit 1 otherwise."""
    from graph.errors import BadInput

    with errors():
        try:
            reply = json.loads(file.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"{file} is no answer that can be read.", hint="Give an answer.json.") from error
        with opened_agent() as agent:
            from graph.audit.verify import verify as check_again

            report = check_again(
                reply, agent.deps.index, agent.deps.detector, agent.deps.public, encoder=agent.deps.support_encoder
            )
        if as_json:
            print_json(report.as_json())
        else:
            for c in report.citations:
                place = f" {c.start}-{c.end}" if c.start is not None else ""
                typer.echo(f"[{c.n}] {c.status:<8} {c.doc_id}{place}{f': {c.why}' if c.why else ''}")
            for line in report.sentences:
                typer.echo(f"wrong: {line}")
            typer.echo("verified" if report.ok else "not verified")
    raise typer.Exit(0 if report.ok else 1)


def _pdf(text: str, file: Path, title: str, created: str) -> None:
    """Write a PDF and print where. Raises BadInput where it cannot be written, or the file exists already."""
    from graph.audit.pdf import write_pdf
    from graph.errors import BadInput

    try:
        write_pdf(text, file, title=title, created=created)
    except OSError as error:
        raise BadInput(f"{file} cannot be written ({error.strerror}).", hint="Name another with --out.") from error
    typer.echo(str(file))
