"""How acts look in a terminal. All text of documents is printed as text."""

from typing import Any

from rich.text import Text

from graph.service.render import console

_NEIGHBOURS = 40


def show_status(reports: list[tuple[dict[str, Any], list[str]]]) -> None:
    """Each act's status and what is wrong with it, in words."""
    out = console()
    if not reports:
        out.print(Text("no act was ingested"))
    for act, problems in reports:
        out.print(Text(act["title"], style="bold") + Text(f"  {act['doc_id']}, {act['visibility']}", style="dim"))
        counts = ("articles", "recitals", "chapters", "sections", "annexes", "definitions", "passages")
        out.print(Text("  " + ", ".join(f"{act[key]} {key}" for key in counts)))
        references = act["references"]
        out.print(
            Text(
                f"  references: {references['resolved']} to provisions of the act, "
                f"{references['to_other_acts']} to other acts, {len(references['unresolved'])} unresolved"
            )
        )
        if act["central"]:
            out.print(Text(f"  most referred to: {', '.join(act['central'])}"))
        for reference in references["unresolved"][:10]:
            out.print(Text(f"    {reference['in']}: “{reference['says']}”", style="dim"))
        for problem in problems:
            out.print(Text(f"  {problem}", style="yellow"))
        if act["complete"]:
            out.print(Text("  complete: nothing missing, nothing twice, all in order", style="green"))


def show_provision(shown: dict[str, Any]) -> None:
    """The provision with its text, then at most 40 neighbours."""
    out = console()
    head = Text(shown["path"], style="bold")
    head.append(f", p. {shown['page']}" if shown["page"] else "")
    out.print(head)
    if shown["title"]:
        out.print(Text(shown["title"], style="cyan"))
    out.print()
    out.print(Text(shown["text"]))
    if shown["neighbours"]:
        out.print()
    for neighbour in shown["neighbours"][:_NEIGHBOURS]:
        line = Text(f"{neighbour['how']:>15}  ", style="dim") + Text(neighbour["name"])
        line.append(f", p. {neighbour['page']}" if neighbour["page"] else "", style="dim")
        line.append("  deadline" if neighbour["deadline"] else "", style="yellow")
        out.print(line)
    if (more := len(shown["neighbours"]) - _NEIGHBOURS) > 0:
        out.print(Text(f"{'':>15}  and {more} more: --json shows all", style="dim"))
