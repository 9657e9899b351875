"""A run as Markdown: the answer with its sources; for an assessment also brief, rubric and checklist."""

from graph.policy import plain
from graph.state import Citation, State

_line = plain.line


def documents(state: State) -> dict[str, str]:
    """File stem → Markdown."""
    found = {"answer": _answer(state)}
    design = state["assessment"]
    if design:
        found["assessment_brief"] = state["answer"] + "\n\n" + _sources(state["citations"])
        found["rubric"] = _rubric(state)
        found["submission_checklist"] = _checklist(state)
    return found


def _answer(state: State) -> str:
    verdict = state["verdict"]
    lines = [f"# {_line(state['question'])}", ""]
    if verdict["safe_response"]:
        lines += [f"> {_line(verdict['safe_response'])}", ""]
    body = state["answer"]
    lines += [body.replace("\n# ", "\n## ").removeprefix("# ") if state["assessment"] else body, ""]
    if state["citations"]:
        lines += [_sources(state["citations"]), ""]
    lines += [
        "## About this answer",
        "",
        f"- Verdict: {verdict['action']}, risk {verdict['risk_score']} of 100",
        f"- Confidence: {state['confidence']}",
        f"- {state['reasoning']}",
        f"- Run {state['turn']}, {state['started']}",
    ]
    return "\n".join(lines) + "\n"


def _sources(citations: list[Citation]) -> str:
    lines = ["## Sources", ""]
    for c in citations:
        quote = _line(c["quote"])
        lines.append(f"{c['n']}. **{_line(c['filename'])}**{place(c)}, score {c['score']:.3f}: “{quote}”")
    return "\n".join(lines)


def place(citation: Citation) -> str:
    """Where in the document: ", page 2, section Storage"."""
    parts = []
    if citation["page"]:
        parts.append(f"page {citation['page']}")
    if citation["sheet"]:
        parts.append(f"sheet {_line(citation['sheet'])}")
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
