"""`cordon ask` and `cordon chat`."""

from typing import Annotated

import typer

from graph.options import DEFAULTS, MOST_TOP_K, MemoryType, Mode, Style
from graph.service.shell import AsJson, Groups, Tenant, errors, named, opened_agent, print_json

EXIT_BY_DECISION = {"answer": 0, "no_answer": 0, "pending_review": 1, "refusal": 3, "unavailable": 4}

app = typer.Typer()


@app.command(epilog='Example: cordon ask "Which freezer holds the blood samples?" --tenant U1')
def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotation marks.", show_default=False)],
    tenant: Tenant,
    user: Annotated[str, typer.Option(help="Who asks.")] = "local",
    groups: Groups = None,
    thread: Annotated[str, typer.Option(help="The conversation it belongs to.")] = "default",
    memory: Annotated[MemoryType, typer.Option(help="What the conversation remembers.")] = DEFAULTS["memory"],
    mode: Annotated[
        Mode, typer.Option(help="One pass, a second pass when evidence is thin, or the regulation graph.")
    ] = DEFAULTS["mode"],
    style: Annotated[Style, typer.Option(help="How long, and in what form.")] = DEFAULTS["style"],
    top_k: Annotated[
        int | None, typer.Option("--top-k", min=1, max=MOST_TOP_K, help="Passages given to the generator.")
    ] = None,
    capstone: Annotated[
        bool, typer.Option("--capstone", help="Add the research requirement to an assessment.")
    ] = False,
    out: Annotated[str | None, typer.Option(metavar="PATH", help="Where the artefacts go.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Answer one question."""
    with errors(), opened_agent(out=out) as agent:
        reply = agent.ask(
            question,
            tenant_id=tenant,
            user_id=user,
            groups=named(groups) or (),
            thread_id=thread,
            memory=memory,
            mode=mode,
            style=style,
            top_k=top_k,
            capstone=capstone,
        )
        if as_json:
            print_json(reply)
        else:
            from graph.service.render import show_reply

            show_reply(reply)
    raise typer.Exit(EXIT_BY_DECISION[reply["decision"]])


@app.command(epilog="Example: cordon chat --tenant U1 --memory summary")
def chat(
    tenant: Tenant,
    user: Annotated[str, typer.Option(help="Who asks.")] = "local",
    groups: Groups = None,
    thread: Annotated[str, typer.Option(help="The conversation to go on with.")] = "chat",
    memory: Annotated[MemoryType, typer.Option(help="What the conversation remembers.")] = "buffer",
    mode: Annotated[Mode, typer.Option(help="How evidence is looked for.")] = DEFAULTS["mode"],
    style: Annotated[Style, typer.Option(help="How long, and in what form.")] = DEFAULTS["style"],
) -> None:
    """Converse: /clear, /mode buffer|summary|none, /sources, /why, /help, /exit."""
    from graph.service.repl import Repl

    with errors(), opened_agent() as agent:
        Repl(agent, tenant, user, thread, memory, mode, style, named(groups) or ()).run()
