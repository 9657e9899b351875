"""One answer on paper, for somebody who has to judge it: question, verdict, evidence, answer, what checking it again
found, what it was made by, and its place in the journal. All of it masked, as it is on record.
"""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from graph.administration.replay import Replayed, replay
from graph.administration.runs import reply_in_folder
from graph.audit import markdown
from graph.audit.record import PersonKind
from graph.audit.verify import Report, verify
from graph.deps import Deps
from graph.policy.answer import layout
from graph.policy.text import defang
from graph.stores.journal import Entry, Proof

_line = defang.line
_BREAK = "\u200b"  # where a line may end: ids are long


def dossier(entry: Entry, deps: Deps) -> tuple[str, Proof]:
    """As Markdown, and what the journal proves.

    Raises BadInput for a run whose question was erased, IndexUnavailable when the documents cannot be read.
    """
    again = replay(entry, deps)
    proof = deps.journal.prove()
    lines = list(deps.journal.entries("run", entry["run_id"]))
    outcome = next((line for line in lines if line["kind"] == "outcome"), entry)
    reply = reply_in_folder(outcome)
    checked = (
        verify(reply, deps.index, deps.detector, deps.public, encoder=deps.support_encoder)
        if reply and reply["citations"]
        else None
    )
    parts = (
        _head(entry),
        _verdict(entry),
        _evidence(entry),
        _reviewed([line for line in lines if line["kind"] in get_args(PersonKind)]),
        _answer(outcome, reply),
        _checks(checked, again),
        _made_by(entry),
        _place(entry, proof),
    )
    return "\n".join(line for part in parts for line in [*part, ""]), proof


def _table(head: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    """`head` names the columns, divided by "|"."""
    yield f"| {head.replace('|', ' | ')} |"
    yield "|" + "---|" * (head.count("|") + 1)
    for row in rows:
        cells = (_line(str(cell)).replace("|", "/").replace("_", f"_{_BREAK}") or "-" for cell in row)
        yield f"| {' | '.join(cells)} |"


def _head(entry: Entry) -> Iterator[str]:
    yield f"# {_line(entry['query'])}\n"
    yield from _table(
        "Asked|",
        (
            ("when (UTC)", entry["timestamp"]),
            ("tenant", entry["tenant_id"]),
            ("user, thread", f"{entry['user_id']}, {entry['thread_id']}"),
            ("read as", f"{entry['intent']}; searched for: {entry['plan']['retrieval_query']}"),
            ("options", ", ".join(f"{name} {value}" for name, value in sorted(entry.get("options", {}).items()))),
            ("decision", " ".join(filter(None, (entry["final_decision"], entry["refusal_reason"])))),
            ("run", entry["run_id"]),
        ),
    )


def _verdict(entry: Entry) -> Iterator[str]:
    yield "## Verdict\n"
    yield f"{entry['action']}, risk {entry['risk_score']} of 100. Stages: {', '.join(entry['tools_called'])}."
    if entry["rewrite"]:
        yield f"\nPut to the documents as: {_line(entry['rewrite'])}"
    if entry["guard_events"]:
        yield ""
        events = ((e["type"], e["severity"], e["score"], e["pattern"]) for e in entry["guard_events"])
        yield from _table("Found|Severity|Score|Why", events)
    if entry["flags"] or entry["filters_applied"]:
        yield f"\nFlags: {', '.join(entry['flags']) or 'none'}. Filters: {_line(', '.join(entry['filters_applied']))}."


def _evidence(entry: Entry) -> Iterator[str]:
    yield "## Passages shown to the model\n"
    if not entry["retrieved"]:
        yield "None."
        return
    rows = (
        (n, one["doc_id"], one["chunk_id"].removeprefix(one["doc_id"]), one.get("where", ""), one["score"],
         one.get("withheld", 0), one.get("masked", 0), one.get("sha256", "")[:12])
        for n, one in enumerate(entry["retrieved"], 1)
    )  # fmt: skip
    yield from _table("n|Document|Passage|Whose|Score|Withheld|Masked|SHA-256", rows)
    yield "\nWithheld: sentences left out because they give instructions. The hash is of the passage as it was shown."


def _reviewed(lines: list[Entry]) -> Iterator[str]:
    if lines:
        yield "## People\n"
        rows = (
            (line["timestamp"], line.get("user_id", "-"), line["says"], line.get("note", ""), line["seq"])
            for line in lines
        )
        yield from _table("When (UTC)|Who|Did|Why|Line", rows)


def _answer(entry: Entry, reply: dict[str, Any] | None) -> Iterator[str]:
    yield "## Answer\n"
    if reply is None:
        yield f"Its text is not kept here, or not as it is on record. SHA-256: {entry['answer_sha256']}"
        return
    yield markdown.drawn(layout.blocks(reply["answer"].replace("\n# ", "\n### ").removeprefix("# ")))
    yield f"\nConfidence: {reply['confidence']}. {_line(reply['reasoning'])}"
    if reply["citations"]:
        yield "\n### Sources\n"
        for c in reply["citations"]:
            where = f"characters {c['start']} to {c['end']}, file {c['sha256'][:12]}"
            yield f"{c['n']}. **{_line(c['filename'])}**, {where}: “{_line(c['quote'])}”"


def _checks(checked: Report | None, again: Replayed) -> Iterator[str]:
    yield "## Checked again, now\n"
    if checked is not None:
        for citation in checked.citations:
            yield f"- Source {citation.n}: {citation.status}{f', {_line(citation.why)}' if citation.why else ''}"
        yield from (f"- Wrong: {_line(wrong)}" for wrong in checked.sentences)
        yield f"- The answer as a whole: {'verified' if checked.ok else 'not verified'}"
    for name, (then, now) in again.differs.items():
        yield f"- Replayed, {name} differs: {_line(str(then))[:200]}, now {_line(str(now))[:200]}"
    if again.left:
        yield f"- Not replayed whole: {again.left}"
    elif again.equal:
        yield "- Replayed: the same verdict, decision, quotes and text"
    if again.changed:
        yield f"- Another now: {', '.join(again.changed)}"


def _made_by(entry: Entry) -> Iterator[str]:
    yield "## What it was made by\n"
    named = ("model", "policy", "guard_weights", "guard_detector", "guard_borders", "confidence")
    rows = [(name, entry[name] if entry.get(name) else "-") for name in named]
    rows += [(f"prompt {name}", digest) for name, digest in sorted(entry["prompts"].items())]
    rows.append(("tokens", f"{entry['tokens_prompt']} read, {entry['tokens_completion']} written"))
    yield from _table("Part|Version", rows)


def _place(entry: Entry, proof: Proof) -> Iterator[str]:
    yield "## Place in the journal\n"
    rows = (("line", entry["seq"]), ("hash", entry["hash"]), ("hash before", entry["prev"]))
    yield from _table("Place|", rows)
    yield f"\nThe journal {'holds' if proof.holds else 'DOES NOT HOLD'}: {proof.says}."
