"""How a reply, a list or a report looks in a terminal. All text of documents and models is printed as text."""

import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from graph.knowledge.ingest import Outcome
from graph.policy.answer import layout
from graph.policy.answer.layout import Block, Code, Heading, Listing, Paragraph, Words
from graph.policy.evidence import places

if TYPE_CHECKING:
    from graph.administration.replay import Replayed
    from graph.agent import Reply

_COLOURS = {"ALLOW": "green", "ALLOW_WITH_GUARDRAILS": "yellow", "BLOCK": "red"}
_STATUS = {"indexed": "green", "unchanged": "dim", "quarantined": "yellow", "failed": "red"}
_STATUS |= {"removed": "green", "moved": "green", "missing": "yellow"}
_COLUMN = 9  # characters that a column of a table needs to be read
_WORDS = {
    "answer": "answered", "no_answer": "not in the documents", "refusal": "refused", "unavailable": "unavailable",
    "pending_review": "waits for a reviewer",
}  # fmt: skip


class _Terminal(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # the command line ends quietly; rich would exit with 1


def console() -> Console:
    """A terminal in colour; with NO_COLOR without bold and dim too."""
    plain = bool(os.environ.get("NO_COLOR"))
    return _Terminal(highlight=False, soft_wrap=not sys.stdout.isatty(), color_system=None if plain else "auto")


def show_reply(reply: "Reply", to: Console | None = None) -> None:
    """Verdict, answer, sources, where the artefacts lie."""
    out = to or console()
    verdict = reply["verdict"]
    line = Text()
    line.append(verdict["action"], style=f"bold {_COLOURS[verdict['action']]}")
    line.append(f"  risk {verdict['risk_score']}", style="dim")
    line.append(
        "  the model's draft was dropped" if reply.get("draft") == "dropped" else f"  {_WORDS[reply['decision']]}"
    )
    if reply["decision"] == "answer":
        line.append(f"  confidence {reply['confidence']}", style="dim")
    out.print(line)
    if reply["decision"] == "answer" and verdict["safe_response"]:
        out.print(Text(verdict["safe_response"], style="yellow"))
    if reply.get("rewrite"):
        out.print(Text(reply["rewrite"], style="yellow"))
    _show_understood(reply, out)
    out.print()
    show_answer(reply["answer"], out)
    show_sources(reply, out)
    if reply["artifacts"]:
        out.print(Text(f"\nartefacts: {reply['artifacts']['dir']}", style="dim"))


def show_answer(answer: str, to: Console | None = None) -> None:
    """Lists, tables and code as such; the numbers of the sources stand apart from the words."""
    _show(layout.blocks(answer), to or console(), "")


def _show(blocks: Sequence[Block], out: Console, lead: str) -> None:
    """Blocks below each other. `lead` stands before the first line, and as much room before the others."""
    room = " " * len(lead)
    for at, block in enumerate(blocks):
        if at and not (room and isinstance(block, Listing)):
            out.print()
        before = room if at else lead
        match block:
            case Heading(_, text, numbers):
                heading = _text([Words(text, numbers)])
                heading.stylize("bold")
                _lines(heading, out, before)
            case Paragraph(words):
                _lines(_text(words), out, before)
            case Code(text, numbers):
                for line in text.split("\n"):
                    out.print(Text(f"{before}  ") + Text(line, style="cyan"), soft_wrap=True)
                    before = room
                if numbers:
                    out.print(Text(f"{room}  ") + _text([Words("", numbers)]))
            case Listing(items):
                for item in items:
                    _show(item.blocks, out, f"{before}{item.mark or '•'} ")
                    before = room
            case _:
                _table(block, out, before)


def _table(table: layout.Table, out: Console, lead: str) -> None:
    """As a grid; where there is too little room for one, each row as lines. On a pipe no cell is wrapped."""
    grid = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for name in table.columns:
        grid.add_column(Text(name), overflow="fold")
    for row in table.rows:
        grid.add_row(*(_text([cell]) for cell in row))
    natural = out.measure(grid, options=out.options.update(width=10_000)).maximum
    if len(lead) + (natural if out.soft_wrap else len(table.columns) * _COLUMN) <= out.width:
        out.print(Padding(grid, (0, 0, 0, len(lead))), soft_wrap=False)
        return
    rows = [[(n, c) for n, c in zip(table.columns, row, strict=True) if c.text] for row in table.rows]
    _show([Paragraph([Words(f"{n}: {c.text}", c.numbers, "\n") for n, c in row]) for row in rows], out, lead)


def _text(words: Sequence[Words]) -> Text:
    """A paragraph, with two spaces behind the numbers."""
    text = Text()
    for part in words:
        text.append({" ": "  "}.get(part.gap, part.gap) if text else "").append(part.text)
        if part.numbers:
            text.append(" " if part.text else "")
            text.append("".join(f"[{n}]" for n in part.numbers), style="bold cyan")
    return text


def _lines(text: Text, out: Console, lead: str) -> None:
    """Wrapped behind the lead, so that an item keeps its indent; on a pipe as they are."""
    room = " " * len(lead)
    for at, line in enumerate(text.split("\n") if out.soft_wrap else text.wrap(out, max(20, out.width - len(lead)))):
        out.print(Text(room if at else lead) + line)


def show_sources(reply: "Reply", to: Console | None = None) -> None:
    """Two lines for each citation: where it stands, and at most 200 characters of the quote."""
    out = to or console()
    if reply["citations"]:
        out.print()
    why = {c["chunk_id"]: f", {c['why']}" for c in reply["retrieval"]["candidates"] if c.get("why")}
    for c in reply["citations"]:
        head = Text(f"[{c['n']}] ", style="bold")
        head.append(f"{c['filename']}{_place(c)}", style="cyan")
        head.append(f"  {c['visibility']}, {c['score']:.3f}{why.get(c['chunk_id'], '')}", style="dim")
        out.print(head)
        quote = " ".join(c["quote"].split())
        out.print(Text(f"    “{quote if len(quote) <= 200 else quote[:199] + '…'}”", style="dim"))


def _place(c: dict[str, Any]) -> str:
    """ ", page 5, section Safety"; a provision of an act as lawyers cite it: ", Article 33(1), p. 52"."""
    from graph.regulation.unit import provision

    if name := provision(c["section"]):
        return f", {name}" + (f", p. {c['page']}" if c["page"] else "")
    return "".join(
        f", {part}" for part in [*places.parts(c), f"section {c['section']}" if c["section"] else ""] if part
    )


def _show_understood(reply: "Reply", to: Console | None = None) -> None:
    """How the question was read, where that is not word by word."""
    if reading := reply.get("understood"):
        how = "understood as" if reading["follow_up"] else "searched for"
        (to or console()).print(Text(f"{how}: {reading['text']}", style="dim"))


def show_why(reply: "Reply") -> None:
    """The account of a turn: verdict, threats, stages."""
    out, verdict = console(), reply["verdict"]
    out.print(Text(f"{verdict['action']}, risk {verdict['risk_score']}: {verdict['risk_rationale']}"))
    for threat in verdict["threats"]:
        out.print(Text(f"  {threat['severity']} {threat['type']}: “{threat['evidence']}” ({threat['exploit_path']})"))
    _show_understood(reply, out)
    out.print(Text(reply["reasoning"]))
    out.print(Text("  ".join(f"{k} {v:.0f} ms" for k, v in reply["timings_ms"].items()), style="dim"))


class IngestReport:
    """A line per file; a progress bar on a terminal only."""

    def __init__(self, total: int | None, as_json: bool) -> None:
        self.counts: Counter[str] = Counter()
        self._json, self._total = as_json, total
        self._kinds = ""  # that are read, said once
        self._out = console()
        self._bar = Progress(
            TextColumn("indexing"), BarColumn(), MofNCompleteColumn(), console=self._out, transient=True,
            disable=as_json or not sys.stdout.isatty(),
        )  # fmt: skip
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._bar.stop()
        if not self._json and exc[0] is None:
            counts = ", ".join(f"{n} {status}" for status, n in sorted(self.counts.items())) or "nothing to do"
            if self._kinds:
                self._out.print(Text(f"Kinds that are read: {self._kinds}.", style="dim"))
            self._out.print(Text(counts, style="bold"))

    def expect(self, total: int) -> None:
        """How many files there will be."""
        self._bar.update(self._task, total=total)

    @property
    def failed(self) -> int:
        """How many files failed; those in quarantine are not among them."""
        return self.counts["failed"]

    def tally(self, outcome: Outcome) -> None:
        """As `add`, but print nothing for an unchanged file."""
        if outcome.status == "unchanged" and not outcome.reason:
            self.counts["unchanged"] += 1
            self._bar.advance(self._task)
        else:
            self.add(outcome)

    def add(self, outcome: Outcome) -> None:
        """Count the outcome and print its line: text, or JSON."""
        self.counts[outcome.status] += 1
        if self._json:
            import json
            from dataclasses import asdict

            sys.stdout.write(json.dumps(asdict(outcome)) + "\n")
            return
        line = Text(f"{outcome.status:<12}", style=_STATUS[outcome.status])
        line.append(_clean(outcome.name))
        if outcome.doc_id and outcome.status == "indexed":
            line.append(f"  {outcome.doc_id}, {outcome.chunks} chunk{'s' if outcome.chunks != 1 else ''}", style="dim")
        if outcome.reason:
            reason, _, kinds = outcome.reason.partition(". Read are ")
            self._kinds = kinds.rstrip(".") or self._kinds
            line.append(f"  {reason}", style=_STATUS[outcome.status])
        if outcome.notes:
            line.append(f"  not read: {_clean('; '.join(outcome.notes))}", style="yellow")
        if outcome.flags:
            line.append(f"  flagged: {', '.join(outcome.flags)}", style="yellow")
        self._bar.console.print(line)
        self._bar.advance(self._task)


def show_documents(records: list[dict[str, Any]]) -> None:
    """A line each: id and title, with what is unusual about it."""
    out = console()
    wide = max((len(r["doc_id"]) for r in records), default=0)
    for r in records:
        line = Text(f"{_clean(r['doc_id']):<{min(wide, 40)}}  ", style="bold")
        line.append(_clean(r["title"]))
        about = [_clean(r["filename"]), f"{r['chunks']} chunk{'s' if r['chunks'] != 1 else ''}"]
        if r["versions"] and r["doc_id"] != r["versions"][-1]:
            about.append(f"older than {_clean(r['versions'][-1])}")
        about += [f"for {_clean(', '.join(r['groups']))}"] if r["groups"] else []
        about += [f"kept until {r['expires'][:10]}"] if r["expires"] else []
        line.append(f"  {', '.join(about)}", style="dim")
        line.append(f"  {', '.join(r['flags'])}" if r["flags"] else "", style="yellow")
        out.print(line, soft_wrap=True)
    if not records:
        out.print(Text("no documents"))


def show_document(document: dict[str, Any]) -> None:
    """A line for each field that has a value, then the text."""
    out = console()
    for key, value in document.items():
        if key == "notes" and value:
            key, value = "not read", "; ".join(value)
        if key == "fields":
            value = "; ".join(f"{name}: {text}" for name, text in value)
        if key != "text" and value not in ("", [], None):
            out.print(Text(f"{key:<11}", style="bold") + Text(_clean(str(value))))
    out.print()
    out.print(Text(document["text"]))


def show_withheld(rows: list[dict[str, Any]]) -> None:
    """A sentence each: its number, score, reason and place, what was said of it, and the sentence."""
    out = console()
    for row in rows:
        line = Text(f"{row['n']:>3}  ", style="bold") + Text(f"{row['score']:.2f}  {row['why']}{_clean(_place(row))}")
        line.append(f"  {row['says'] or 'withheld'}", style="green" if row["says"] == "released" else "yellow")
        line.append(f" by {row['by'] or '(erased)'}, {row['at'][:10]}" if row["says"] else "", style="dim")
        out.print(line, soft_wrap=True)
        out.print(Text(f"     {_clean(row['text'])}"))
    if not rows:
        out.print(Text("nothing is withheld"))


def show_journal(entries: list[dict[str, Any]]) -> None:
    """A line each: when, which run, whose, what became of it, and the question."""
    out = console()
    for e in entries:
        line = Text(f"{e['timestamp'][:19]}  {e['run_id'][:8]}  {_clean(e['tenant_id'])}  ", style="dim")
        line.append(e["action"], style=_COLOURS.get(e["action"], ""))
        line.append(f"  {e['final_decision']}  {e['latency_ms']:.0f} ms  ")
        line.append(_clean(e.get("query", "(erased)"))[:120])
        out.print(line, soft_wrap=True)
    if not entries:
        out.print(Text("the journal is empty"))


def show_replayed(runs: "list[Replayed]") -> None:
    """What came out differently, run by run, and how many runs did."""
    out = console()
    for run in runs:
        if run.differs or run.changed or run.left or len(runs) == 1:
            result = "differs" if run.differs else "not replayed" if run.left else "equal"
            style = {"differs": "red", "equal": "green"}.get(result, "yellow")
            out.print(
                Text(f"{run.run_id[:8]}  ", style="dim") + Text(result, style=style) + Text(f"  {run.left or run.now}")
            )
        for name, (then, now) in run.differs.items():
            out.print(Text(f"          {name}: {_clean(str(then))[:160]} → {_clean(str(now))[:160]}"), soft_wrap=True)
        if run.changed:
            out.print(Text(f"          since then another: {', '.join(run.changed)}", style="dim"), soft_wrap=True)
    if len(runs) > 1:
        equal, differ = sum(run.equal for run in runs), sum(bool(run.differs) for run in runs)
        rest = sum(bool(run.left) and not run.differs for run in runs)
        out.print(Text(f"{len(runs)} runs: {equal} equal, {differ} differ, {rest} not replayed, or not whole"))


def show_reviews(rows: list[dict[str, Any]]) -> None:
    """A line each: run, kind, since when, who asked, and the question."""
    out = console()
    for row in rows:
        line = Text(f"{row['run_id'][:8]}  ", style="dim") + Text(f"{row['kind']:<7}", style="bold")
        line.append(
            f"since {row['since'][:16].replace('T', ' ')}  {row['user_id']}{' (yours)' if row['own'] else ''}  "
        )
        out.print(line + Text(_clean(row["question"])), soft_wrap=True)
    if not rows:
        out.print(Text("nothing waits for a reviewer"))


def show_review(case: dict[str, Any]) -> None:
    """What a reviewer judges by: question, verdict, the draft with its sources, the evidence."""
    out, verdict = console(), case["verdict"]
    action = verdict["action"]
    out.print(Text(_clean(case["question"]), style="bold"))
    out.print(Text(action, style=f"bold {_COLOURS[action]}") + Text(f"  risk {verdict['risk_score']}", style="dim"))
    out.print(Text(verdict["risk_rationale"], style="dim"))
    if case["kind"] == "appeal":
        out.print(Text(case["refusal"]["text"], style="red"))
        out.print(Text(f"asked by {case['user_id']}" + (f": {_clean(case['why'])}" if case["why"] else "")))
        if not case["grantable"]:
            out.print(Text("It cannot be granted: it asks for what the asker may not read.", style="yellow"))
        return
    out.print()
    show_answer(case["answer"], out)
    for item in case["evidence"]:
        out.print()
        out.print(Text(f"({item['n']}) {item['filename']}{_place(item)}", style="cyan"))
        out.print(Text("\n".join(map(_clean, item["text"].splitlines()))))


def _clean(text: str) -> str:
    """The text without control characters, which a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text)


def show_findings(findings: dict[str, Any]) -> None:
    """Of `doctor.examine`: a line for each check, then the settings as a table."""
    out = console()
    for check in findings["checks"]:
        style, mark = {"ok": ("green", "ok"), "warn": ("yellow", "!"), "fail": ("red", "FAIL")}[check["status"]]
        line = Text(f"{mark:<5}", style=style) + Text(f"{check['what']}: {check['found']}")
        out.print(line)
        if check["do"]:
            out.print(Text(f"     {check['do']}", style="dim"))
    out.print()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("setting", "value", "from"):
        table.add_column(name, overflow="fold")
    for name, row in findings["settings"].items():
        table.add_row(Text(name), Text(str(row["value"])), Text(row["from"], style="dim"))
    out.print(table)
