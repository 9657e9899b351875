"""A run as Markdown: the answer with its sources; for an assessment also brief, rubric and checklist."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from graph.policy.answer import layout
from graph.policy.answer.layout import Block, Code, Heading, Item, Listing, Paragraph, Table, Words
from graph.policy.evidence import places
from graph.policy.text import defang, structure
from graph.state import Citation, State

_line = defang.line
# What Markdown would take for a heading, a quote, an item, a rule or code; "1986. It rained", too.
_OPENS = re.compile(r"\d{1,9}(?=[.)](?:\s|$))|(?=#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|(?:=+|-+|(?:[*_] ?){3,})$|```|~~~)")


def documents(state: State) -> dict[str, str]:
    """File stem → Markdown."""
    files = {"answer": _answer(state)}
    design = state["assessment"]
    if design:
        files["assessment_brief"] = drawn(layout.blocks(state["answer"])) + "\n\n" + _sources(state["citations"])
        files["rubric"] = _rubric(state)
        files["submission_checklist"] = _checklist(state)
    return files


def of_reply(reply: Mapping[str, Any]) -> str:
    """The answer of a reply object, or of what a conversation keeps of one."""
    known = {"assessment": {}, "reasoning": "", **reply}
    return _answer(cast(State, {**known, "turn": reply["run_id"], "started": reply["timestamp"]}))


def _answer(state: State) -> str:
    verdict = state["verdict"]
    lines = [f"# {_line(state['question'])}", ""]
    if verdict["safe_response"]:
        lines += [f"> {_line(verdict['safe_response'])}", ""]
    body = state["answer"]
    body = body.replace("\n# ", "\n## ").removeprefix("# ") if state["assessment"] else body
    lines += [drawn(layout.blocks(body)), ""]
    if state["citations"]:
        lines += [_sources(state["citations"]), ""]
    lines += [
        "## About this answer",
        "",
        f"- Verdict: {verdict['action']}, risk {verdict['risk_score']} of 100",
        f"- Confidence: {state['confidence']}",
        *([f"- {state['reasoning']}"] if state["reasoning"] else []),
        f"- Run {state['turn']}, {state['started']}",
    ]
    return "\n".join(lines) + "\n"


def conversation(turns: Sequence[Mapping[str, Any]]) -> str:
    """Remembered turns (graph/stores/conversations.py), each with its sources."""
    return "\n\n".join(map(_exchange, turns)) + "\n"


def _exchange(turn: Mapping[str, Any]) -> str:
    body = turn["answer"].replace("\n# ", "\n## ").removeprefix("# ")
    parts = [f"# {_line(turn['question'])}", f"{turn['timestamp']}, confidence {turn['confidence']}"]
    parts += [drawn(layout.blocks(body))] + ([_sources(turn["citations"])] if turn["citations"] else [])
    return "\n\n".join(parts)


def drawn(blocks: Sequence[Block], apart: str = "\n\n") -> str:
    """Blocks of an answer as Markdown, the numbers in bold: "… at nine. **[1]** The next …"."""
    drawn, alternate = "", False
    for before, block in zip([None, *blocks], blocks, strict=False):
        # Markdown would join two lists and count through them, but not where their marks differ.
        alternate = isinstance(before, Listing) and isinstance(block, Listing) and not alternate
        tight = isinstance(before, Paragraph) and isinstance(block, Listing)
        drawn += ("" if before is None else apart if tight else "\n\n") + _drawn(block, alternate)
    return drawn


def _drawn(block: Block, alternate: bool) -> str:
    match block:
        case Heading(level, text, numbers):
            return f"{'#' * min(level, 6)} {_with_numbers(Words(text, numbers))}"
        case Code(text, numbers):
            return "\n\n".join(part for part in (structure.fenced(text), _numbers(numbers)) if part)
        case Table(columns, rows):
            lines = [columns, ["---"] * len(columns), *([_with_numbers(cell) for cell in row] for row in rows)]
            return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        case Listing(items):
            return "\n".join(_item(item, alternate) for item in items)
        case Paragraph(words):
            return "".join(("  \n" if w.gap == "\n" else w.gap) + _literal(_with_numbers(w)) for w in words)


def _item(item: Item, alternate: bool) -> str:
    n = layout.number(item.mark)
    mark = ("*" if alternate else "-") if n is None else f"{n}{')' if alternate else '.'}"
    own = f"{item.mark} " if item.mark and n is None else ""  # letters are no marks in Markdown
    return f"{mark} {own}" + re.sub(r"\n(?=.)", "\n" + " " * (len(mark) + 1), drawn(item.blocks, "\n"))


def _with_numbers(words: Words) -> str:
    return f"{words.text} {_numbers(words.numbers)}" if words.numbers else words.text


def _numbers(numbers: Sequence[int]) -> str:
    return f"**{''.join(f'[{n}]' for n in numbers)}**" if numbers else ""


def _literal(line: str) -> str:
    """A line that Markdown reads as words."""
    opens = _OPENS.match(line)
    return f"{line[: opens.end()]}\\{line[opens.end() :]}" if opens else line


def _sources(citations: list[Citation]) -> str:
    lines = ["## Sources", ""]
    for c in citations:
        quote = _line(c["quote"])
        quoted = f": “{quote}”" if quote else " (no longer there)"
        lines.append(f"{c['n']}. **{_line(c['filename'])}**{place(c)}, score {c['score']:.3f}{quoted}")
    return "\n".join(lines)


def place(citation: Citation) -> str:
    """Where in the document: ", page 2, section Storage"."""
    parts = [_line(part) for part in places.parts(citation)]
    if citation["section"]:
        parts.append(f"section {_line(citation['section'])}")
    return "".join(f", {part}" for part in parts)


def _rubric(state: State) -> str:
    design = state["assessment"]
    lines = [f"# Marking rubric: {_line(design['title'].removeprefix('Assessment brief: '))}", ""]
    lines += [f"Total weighting: {design['weighting']}%.", ""]
    lines += ["| Criterion | Weight | Excellent | Adequate | Insufficient |", "|---|---|---|---|---|"]
    for row in design["rubric"]:
        cells = [row["criterion"], f"{row['weight']}%", row["excellent"], row["adequate"], row["insufficient"]]
        lines.append("| " + " | ".join(_line(cell).replace("|", "/") for cell in cells) + " |")
    lines.append(f"| **Total** | **{sum(row['weight'] for row in design['rubric'])}%** | | | |")
    return "\n".join(lines) + "\n"


def _checklist(state: State) -> str:
    design = state["assessment"]
    lines = [f"# Submission checklist: {_line(design['title'].removeprefix('Assessment brief: '))}", ""]
    lines += [f"- [ ] {_line(item)}" for item in design["checklist"]]
    return "\n".join(lines) + "\n"
