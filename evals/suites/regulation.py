"""regulation: the parser on an invented act and on the GDPR, references, evidence by mode, guards, times.

What needs the GDPR is measured where its official PDF lies in the evaluation data, and left out elsewhere.
"""

import json
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, get_args

from evals import acts, oracle, stats
from evals.stats import Rate
from evals.suites.retrieval import data_directory
from graph.agent import Agent
from graph.errors import BadInput
from graph.knowledge.loaders.build import Builder
from graph.options import Mode
from graph.policy.evidence import withholding
from graph.regulation import from_html, from_pdf, from_text, links, loader, reading, report, structure
from graph.regulation.act import Act
from graph.regulation.unit import Unit
from graph.settings import load

DATASETS = Path(__file__).parents[1] / "datasets"
PDF = "CELEX_32016R0679_EN_TXT.pdf"
TENANT = "eval"
MODES: tuple[Mode, ...] = get_args(Mode)


def run(out: Path) -> dict[str, Any]:
    wanted = acts.invented()
    figures: dict[str, Any] = {}
    details: dict[str, Any] = {"invented": {}}
    for form, found in forms(wanted).items():
        wrong = acts.differences(found, wanted)
        details["invented"][form] = wrong
        figures[f"invented act, units not exact, {form}"] = {"value": float(len(wrong)), "n": len(wanted)}
    try:
        data = data_directory() / "regulation"
    except BadInput:
        return {"figures": figures, "details": details, "left out": "the GDPR is not in the evaluation data"}
    more, told = gdpr(data)
    return {"figures": figures | more, "details": details | told}


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


def gdpr(data: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    units = structure.parse(from_pdf.read((data / PDF).read_bytes(), Builder(max_text=10**7)))[1]
    rows = oracle.rows(data)
    against = oracle.compare(units, rows)
    same = len(against["equal"]) + len(against["footnote"])
    figures: dict[str, Any] = {
        "GDPR units equal to the oracle": Rate(same, len(rows)).as_json(),
        "GDPR units absent": {"value": float(len(against["absent"])), "n": len(rows)},
    }
    details: dict[str, Any] = {"oracle": {key: names for key, names in against.items() if key != "equal"}}
    for form, found in forms(units, pdf=False).items():
        wrong = acts.differences(found, units)
        details[f"GDPR, {form}"] = wrong
        figures[f"GDPR units not exact, {form}"] = {"value": float(len(wrong)), "n": len(units)}
    with tempfile.TemporaryDirectory() as home:
        settings = load(environ={}, home=Path(home), artifacts=False)
        with Agent(settings) as agent:
            begun = time.perf_counter()
            agent.ingest(data / PDF, tenant_id=TENANT, regulation=True)
            figures["GDPR ingested, seconds"] = {"value": time.perf_counter() - begun, "n": 1}
            (act,) = agent.regulations(tenant_id=TENANT)
            details["status"] = report.status(act)
            for key in ("articles", "recitals", "chapters", "sections"):
                figures[f"GDPR {key}"] = {"value": float(details["status"][key]), "n": 1}
            figures |= references(units, rows, act, details)
            figures |= questions(agent, act, details)
            figures |= guards(agent, act)
    return figures, details


def references(units: list[Unit], rows: list[dict[str, Any]], act: Act, details: dict[str, Any]) -> dict[str, Any]:
    """Against a sample read by hand, and against every pair of articles a plain pattern finds in the oracle."""
    out = Builder(max_text=10**7)
    loader.write("", units, out)
    placed = reading.units(out.finish("gdpr.txt", "text/plain"))
    found: dict[tuple[str, str], list[tuple[set[str], bool]]] = {}
    for at, reference, targets, _ in links.references(placed, act.names):
        said = placed[at].unit.text[reference.start : reference.end]
        names = {act.nodes[t].name for t in targets}
        found.setdefault((placed[at].unit.name, said), []).append((names, reference.elsewhere))
    sample = [json.loads(line) for line in (DATASETS / "regulation_references.jsonl").read_text().splitlines()]
    right, given, asked, hit = 0, 0, 0, 0
    for row in sample:
        wanted = {*row["targets"]} or {"another act"}
        got = {
            n
            for names, other in found.get((row["in"], row["says"]), [])
            for n in (names or ({"another act"} if other else set()))
        }
        right += len(got & wanted)
        given += len(got)
        hit += len(got & wanted)
        asked += len(wanted)
    mine = {
        (a, b)
        for edge in act.edges
        if edge.kind in ("refers", "condition", "exception")
        and (a := _article(act, edge.source)) and (b := _article(act, edge.target)) and a != b
    }  # fmt: skip
    naive = oracle.edges(rows)
    details["article edges not found"] = sorted(naive - mine)
    details["article edges beyond the oracle's"] = sorted(mine - naive)
    return {
        "references, precision on the sample": Rate(right, given).as_json(),
        "references, recall on the sample": Rate(hit, asked).as_json(),
        "article to article edges of the oracle found": Rate(len(naive & mine), len(naive)).as_json(),
    }


def _article(act: Act, node: int) -> int:
    match = re.match(r"Article (\d+)", act.nodes[node].name)
    return int(match[1]) if match else 0


def questions(agent: Agent, act: Act, details: dict[str, Any]) -> dict[str, Any]:
    """Share of the paragraphs a lawyer would cite that are in the evidence, by mode; the tokens shown; the time."""
    asked = [json.loads(line) for line in (DATASETS / "regulation.jsonl").read_text().splitlines()]
    name = {p.chunk_id: act.nodes[p.node].name for p in act.passages}
    tokens = {p.chunk_id: p.tokens for p in act.passages}
    table: list[dict[str, Any]] = []
    agent.ask(asked[0]["question"], tenant_id=TENANT, mode="graph")  # what is opened on first use is no question's time
    for q in asked:
        row: dict[str, Any] = {"id": q["id"], "kind": q["kind"], "split": q["split"], "multi": len(q["needed"]) > 1}
        for mode in MODES:
            begun = time.perf_counter()
            reply = agent.ask(q["question"], tenant_id=TENANT, mode=mode, thread_id=f"{q['id']}-{mode}")
            shown = [c["chunk_id"] for c in reply["retrieval"]["candidates"]]
            row[f"{mode} s"] = time.perf_counter() - begun
            row[mode] = len({name[c] for c in shown} & set(q["needed"])) / len(q["needed"])
            row[f"{mode} tokens"] = sum(tokens[c] for c in shown)
            row[f"{mode} answered"] = reply["decision"] == "answer"
            row[f"{mode} action"] = reply["verdict"]["action"]
        table.append(row)
    details["questions"] = table
    figures: dict[str, Any] = {}
    for split in ("held", "dev"):
        for multi in (True, False):
            part = [r for r in table if r["split"] == split and r["multi"] is multi and r["kind"] != "reference"]
            kind = "several paragraphs" if multi else "one paragraph"
            for mode in MODES:
                figures[f"needed paragraphs found, {kind}, {split}, {mode}"] = stats.mean([r[mode] for r in part])
    searched = [r for r in table if r["kind"] != "reference"]
    for mode in MODES:
        figures[f"tokens of evidence, {mode}"] = stats.mean([float(r[f"{mode} tokens"]) for r in searched])
        figures[f"seconds a question (median), {mode}"] = {
            "value": statistics.median(r[f"{mode} s"] for r in table),
            "n": len(table),
        }
        figures[f"answered, {mode}"] = Rate(sum(r[f"{mode} answered"] for r in table), len(table)).as_json()
    named = [r for r in table if r["kind"] == "reference"]
    figures["provisions asked for by name, found, every mode"] = Rate(
        sum(r[m] == 1 for r in named for m in MODES), 3 * len(named)
    ).as_json()
    figures["questions guarded or blocked"] = Rate(
        sum(r[f"{m} action"] != "ALLOW" for r in table for m in MODES), 3 * len(table)
    ).as_json()
    return figures


def guards(agent: Agent, act: Act) -> dict[str, Any]:
    """What the guards take a law for: its passages scanned as documents, sentences withheld from evidence."""
    space = agent.deps.index.space(TENANT)
    assert space is not None
    document = space.text(act.doc_id)
    places = [space.chunk(p.chunk_id) for p in act.passages]
    texts = [document[place.start : place.end] for place in places if place is not None]
    flagged = sum(agent.scan(text, source="document")["action"] != "ALLOW" for text in texts)
    withheld = sum(bool(withholding.ranges(text)) for text in texts)
    return {
        "provisions flagged when scanned as documents": Rate(flagged, len(texts)).as_json(),
        "provisions of which a sentence is withheld": Rate(withheld, len(texts)).as_json(),
    }
