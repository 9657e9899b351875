"""answers: questions of all tenants over the shipped corpus, with the sources a reader would cite.

`answers.jsonl` is what the embedded answerer's weights were fitted on. `blind_answers.jsonl` was written later by
somebody who had seen the corpus and nothing of the system.
"""

import csv
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from evals.material import own_set
from evals.solvers import CORPUS, absent, asked, candidates, replied, said, shipped
from evals.task import Metric, Output, Rows, Sample, Score, Scores, Task
from graph.agent import Agent
from graph.audit.verify import verify


def tasks(limit: int | None = None) -> Iterator[Task]:
    """Right source cited, expected words in the answer, and honesty about what is not there."""
    with shipped() as agent:
        for name, metrics in (("answers", own), ("blind_answers", blind)):
            yield Task(name, samples(name)[:limit], partial(asked, agent), partial(scored, agent), metrics)


def samples(name: str) -> list[Sample]:
    with (CORPUS / "manifest.csv").open(encoding="utf-8", newline="") as lines:
        forms = {row["doc_id"]: Path(row["path"]).suffix[1:] for row in csv.DictReader(lines)}
    return [
        Sample.from_row(
            row, "question", "doc_ids", "contains", format=forms[row["doc_ids"][0]] if row["doc_ids"] else ""
        )
        for row in own_set(name)
    ]


def scored(agent: Agent, sample: Sample, out: Output) -> Scores:
    wanted, words, reply = {*sample.target["doc_ids"]}, sample.target["contains"], out.raw
    missing, source = absent(words, said(out)), bool(wanted & {*out.sources})
    checked = verify(reply, agent.deps.index, agent.deps.detector, agent.deps.public).citations
    return {
        **replied(sample, out),
        "retrieved": bool(wanted & candidates(out)),
        "source": source,
        "first": bool(wanted & {*out.sources[:1]}),
        "contains": Score(len(missing) < len(words), f"not there: {missing}" if missing else ""),
        "contains_all": bool(words) and not missing,
        "right": source and len(missing) < len(words),
        "quotes": len(out.sources),
        "verbatim": sum(citation.status == "verified" for citation in checked),
        "sentences": len(reply["sentences"]),
        "covered": sum(bool(sentence["citations"]) for sentence in reply["sentences"]),
        "foreign": sum(c["tenant_id"] not in (sample.metadata["tenant"], "public") for c in reply["citations"]),
        "top": max((c["score"] for c in reply["retrieval"]["candidates"][:1]), default=0.0),
    }


def own(rows: Rows) -> Iterator[Metric]:
    asked, nothing = rows.where(answerable=True), rows.where(answerable=False)
    answered, answers = asked.where(told=True), rows.where(told=True)
    yield asked.rate("retrieved the right document", "retrieved")
    yield asked.rate("answered", "told")
    yield asked.rate("right source, of all answerable", "source")
    yield answered.rate("right source, of answered", "source")
    yield asked.rate("first sentence from the right source", "first")
    yield asked.rate("expected words in the answer", "contains")
    yield asked.rate("all expected words in the answer", "contains_all")
    yield rows.ratio("quotes found in their documents", "verbatim", "quotes", least=1)
    yield rows.ratio("sentences that cite", "covered", "sentences", least=1)
    yield rows.ratio("citations of a foreign tenant", "foreign", "quotes", most=0)
    yield nothing.rate("silent when nothing is there", "silent")
    yield rows.rate("wrongly refused or guarded", "stopped")
    for key in ("kind", "format"):
        for value, part in asked.by(key):
            yield part.rate(f"right source and words, {key} {value}", "right")
    yield from by_confidence(answers)
    correlation = np.corrcoef(answers.values("top"), answers.values("right"))[0, 1]
    yield Metric("correlation of the best candidate's score with being right", float(correlation), len(answers))


def blind(rows: Rows) -> Iterator[Metric]:
    asked = rows.where(answerable=True)
    yield asked.rate("blind: answered", "told")
    yield asked.rate("blind: right source, of all answerable", "source")
    yield asked.rate("blind: right source and words", "right")
    yield rows.where(answerable=False).rate("blind: silent when nothing is there", "silent")
    yield rows.ratio("blind: citations of a foreign tenant", "foreign", "quotes", most=0)
    yield rows.rate("blind: wrongly refused or guarded", "stopped")
    for kind, part in asked.by("kind"):
        yield part.rate(f"blind: right source and words, {kind}", "right")
    yield from by_confidence(rows.where(told=True), "blind: ")


def by_confidence(answers: Rows, prefix: str = "") -> Iterator[Metric]:
    for level in ("high", "medium", "low"):
        yield answers.where(confidence=level).rate(f"{prefix}right source and words, confidence {level}", "right")
