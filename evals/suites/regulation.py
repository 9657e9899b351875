"""regulation: the parser on an invented act and on the GDPR, references, evidence by mode, guards, times.

What needs the GDPR is measured where its official PDF lies in the evaluation data, and left out elsewhere.
"""

import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from evals import acts, oracle
from evals.material import data_directory, own_set
from evals.solvers import judged, output, replied
from evals.task import Metric, Output, Rows, Sample, Scores, Task
from graph.agent import Agent
from graph.knowledge.loaders.build import Builder
from graph.options import Mode
from graph.policy.evidence import withholding
from graph.regulation import from_html, from_pdf, from_text, links, loader, reading, report, structure
from graph.regulation.act import Act
from graph.regulation.unit import Unit
from graph.settings import load

PDF = "CELEX_32016R0679_EN_TXT.pdf"
TENANT = "eval"
COUNTS = {"articles": 99, "recitals": 173, "chapters": 11, "sections": 15}
MODES: tuple[Mode, ...] = get_args(Mode)


def tasks() -> Iterator[Task]:
    wanted = acts.invented()
    yield parsed("invented act,", forms(wanted), wanted)
    data = data_directory() / "regulation"
    units = structure.parse(from_pdf.read((data / PDF).read_bytes(), Builder(max_text=10**7)))[1]
    rows = oracle.rows(data)
    yield second_copy(units, rows)
    yield parsed("GDPR", forms(units, pdf=False), units)
    with tempfile.TemporaryDirectory() as home, Agent(load(environ={}, home=Path(home), artifacts=False)) as agent:
        pdf = [Sample("gdpr", PDF, COUNTS)]
        yield Task("ingestion", pdf, partial(ingested, agent, data / PDF), counted, ingestion)
        (act,) = agent.regulations(tenant_id=TENANT)
        yield references(units, act)
        yield article_edges(oracle.edges(rows), act)
        yield questions(agent, act)
        yield guards(agent, act)


# ---- the parser -----------------------------------------------------------------------------------------------------


def parsed(name: str, found: dict[str, list[Unit]], wanted: list[Unit]) -> Task:
    """The units that are parsed from other forms of an act, against its own."""
    samples = [Sample(f"{name}, {form}", form, len(wanted)) for form in found]

    def solve(sample: Sample) -> Output:
        wrong = acts.differences(found[sample.input], wanted)
        return Output("\n".join(wrong), raw=len(wrong))

    def metrics(rows: Rows) -> Iterator[Metric]:
        for row in rows:
            yield Metric(f"{name} units not exact, {row.sample.input}", float(row["wrong"]), row.sample.target)

    return Task(name, samples, solve, lambda sample, out: {"wrong": out.raw}, metrics)


def forms(units: list[Unit], *, pdf: bool = True) -> dict[str, list[Unit]]:
    """What is parsed from other forms of an act."""
    read = {
        "text": from_text.read(acts.as_text(units).encode()),
        "text, marks alone": from_text.read(acts.as_text(units, marks_alone=True, blank=False).encode()),
        "text of pages": from_text.read(acts.as_pages(units).encode()),
        "EUR-Lex HTML": from_html.read(acts.as_eurlex(units).encode(), Builder(max_text=10**7)),
        "simple HTML": from_html.read(acts.as_html(units).encode(), Builder(max_text=10**7)),
    }
    if pdf:
        read["PDF"] = from_pdf.read(acts.as_pdf(units), Builder(max_text=10**7))
    return {form: structure.parse(lines)[1] for form, lines in read.items()}


def second_copy(units: list[Unit], rows: list[dict[str, Any]]) -> Task:
    """The GDPR's PDF against another copy of its text: what became of each unit."""
    became = {name: kind for kind, names in oracle.compare(units, rows).items() if kind != "extra" for name in names}
    samples = [Sample(name, name, "equal") for name in became]

    def scored(sample: Sample, out: Output) -> Scores:
        return {"equal": out.text in ("equal", "footnote"), "absent": out.text == "absent"}

    def metrics(told: Rows) -> Iterator[Metric]:
        yield told.rate("GDPR units equal to the oracle", "equal")
        yield Metric("GDPR units absent", sum(told.values("absent")), len(told), most=0)

    return Task("second copy", samples, lambda sample: Output(became[sample.id]), scored, metrics)


def ingested(agent: Agent, file: Path, sample: Sample) -> Output:
    begun = time.perf_counter()
    agent.ingest(file, tenant_id=TENANT, regulation=True)
    took = time.perf_counter() - begun
    (act,) = agent.regulations(tenant_id=TENANT)
    return Output(metadata=report.status(act), raw=took)


def counted(sample: Sample, out: Output) -> Scores:
    return {"seconds": out.raw, **{key: out.metadata[key] for key in COUNTS}}


def ingestion(rows: Rows) -> Iterator[Metric]:
    yield rows.figure("GDPR ingested, seconds", "seconds", max)
    for key, count in COUNTS.items():
        yield replace(rows.figure(f"GDPR {key}", key, max), least=count, most=count)


# ---- the references -------------------------------------------------------------------------------------------------


def references(units: list[Unit], act: Act) -> Task:
    """Against a sample read by hand: each reference's targets, "another act" where it leads out of this one."""
    out = Builder(max_text=10**7)
    loader.write("", units, out)
    placed = reading.units(out.finish("gdpr.txt", "text/plain"))
    found: dict[tuple[str, str], set[str]] = {}
    for at, reference, targets, _ in links.references(placed, act.names):
        said = placed[at].unit.text[reference.start : reference.end]
        names = {act.nodes[t].name for t in targets} or ({"another act"} if reference.elsewhere else set())
        found.setdefault((placed[at].unit.name, said), set()).update(names)
    samples = [
        Sample("", row["says"], sorted({*row["targets"]} or {"another act"}), {"in": row["in"]})
        for row in own_set("regulation_references")
    ]

    def scored(sample: Sample, out: Output) -> Scores:
        right = len({*out.sources} & {*sample.target})
        return {"right": right, "given": len(out.sources), "wanted": len(sample.target)}

    def metrics(rows: Rows) -> Iterator[Metric]:
        yield rows.ratio("references, precision on the sample", "right", "given")
        yield rows.ratio("references, recall on the sample", "right", "wanted")

    def solve(sample: Sample) -> Output:
        return Output(sources=sorted(found.get((sample.metadata["in"], sample.input), ())))

    return Task("references", samples, solve, scored, metrics)


def article_edges(naive: set[tuple[int, int]], act: Act) -> Task:
    """Against every pair of articles that a plain pattern finds in the second copy."""
    mine = {
        (a, b)
        for edge in act.edges
        if edge.kind in ("refers", "condition", "exception")
        and (a := _article(act, edge.source)) and (b := _article(act, edge.target)) and a != b
    }  # fmt: skip
    samples = [Sample(f"{a}-{b}", f"Article {a}", f"Article {b}", {"edge": (a, b)}) for a, b in sorted(naive)]
    beyond = {"article edges beyond the oracle's": sorted(mine - naive)}
    name = "article to article edges of the oracle found"
    return Task(
        "article edges",
        samples,
        lambda sample: Output(),
        lambda sample, out: {"found": sample.metadata["edge"] in mine},
        {name: "found"},
        lambda rows, out: beyond,
    )


def _article(act: Act, node: int) -> int:
    match = re.match(r"Article (\d+)", act.nodes[node].name)
    return int(match[1]) if match else 0


# ---- questions ------------------------------------------------------------------------------------------------------


def questions(agent: Agent, act: Act) -> Task:
    """Share of the paragraphs a lawyer would cite that are in the evidence, by mode; the tokens shown; the time."""
    asked = own_set("regulation")
    names = {p.chunk_id: act.nodes[p.node].name for p in act.passages}
    tokens = {p.chunk_id: p.tokens for p in act.passages}
    agent.ask(asked[0]["question"], tenant_id=TENANT, mode="graph")  # what is opened on first use is no question's time
    samples = [
        Sample.from_row(
            row | {"id": f"{row['id']}-{mode}", "mode": mode, "multi": len(row["needed"]) > 1}, "question", "needed"
        )
        for row in asked
        for mode in MODES
    ]

    def solve(sample: Sample) -> Output:
        begun = time.perf_counter()
        out = output(agent.ask(sample.input, tenant_id=TENANT, mode=sample.metadata["mode"], thread_id=sample.id))
        shown = [c["chunk_id"] for c in out.raw["retrieval"]["candidates"]]
        took = {"seconds": time.perf_counter() - begun, "tokens": sum(tokens[c] for c in shown)}
        return replace(out, sources=[names[c] for c in shown], metadata={**out.metadata, **took})

    return Task("questions", samples, solve, scored, by_mode)


def scored(sample: Sample, out: Output) -> Scores:
    wanted, took = {*sample.target}, {key: out.metadata[key] for key in ("tokens", "seconds")}
    share = len({*out.sources} & wanted) / len(wanted)
    return {**replied(sample, out), **took, "needed": share, "all needed": share == 1}


def by_mode(rows: Rows) -> Iterator[Metric]:
    searched = rows.where(lambda row: row["kind"] != "reference")
    for split in ("held", "dev"):
        for multi, kind in ((True, "several paragraphs"), (False, "one paragraph")):
            for mode in MODES:
                part = searched.where(split=split, multi=multi, mode=mode)
                yield part.mean(f"needed paragraphs found, {kind}, {split}, {mode}", "needed")
    for mode in MODES:
        part = rows.where(mode=mode)
        yield searched.where(mode=mode).mean(f"tokens of evidence, {mode}", "tokens")
        yield part.figure(f"seconds a question (median), {mode}", "seconds", statistics.median)
        yield part.rate(f"answered, {mode}", "told")
    yield rows.where(kind="reference").rate("provisions asked for by name, found, every mode", "all needed")
    yield rows.rate("questions guarded or blocked", "stopped")


def guards(agent: Agent, act: Act) -> Task:
    """What the guards take a law for: its passages scanned as documents, sentences withheld from evidence."""
    space = agent.deps.index.space(TENANT)
    assert space is not None
    document = space.text(act.doc_id)
    places = [space.chunk(p.chunk_id) for p in act.passages]
    samples = [Sample("", document[place.start : place.end], "ALLOW") for place in places if place is not None]

    def solve(sample: Sample) -> Output:
        withheld = "\n".join(sample.input[a:b] for a, b in withholding.ranges(sample.input))
        return Output(withheld, verdict=agent.scan(sample.input, source="document")["action"])

    figures = {
        "provisions flagged when scanned as documents": "stopped",
        "provisions of which a sentence is withheld": "withheld",
    }
    return Task("guards", samples, solve, lambda s, out: {**judged(s, out), "withheld": bool(out.text)}, figures)
