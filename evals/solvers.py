"""What runs samples, and how their outputs are scored, wherever several suites do it alike."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from evals.task import Output, Sample
from graph.agent import Agent, Reply
from graph.knowledge.manifest import sources
from graph.policy.threats import assess
from graph.settings import load

CORPUS = Path(__file__).parents[1] / "corpus"


@contextmanager
def shipped(model: BaseChatModel | None = None) -> Iterator[Agent]:
    """An agent over the shipped corpus, whose home goes with it."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = load(environ={}, home=Path(folder), artifacts=False, model="stub" if model else "embedded")
        with Agent(chosen, model=model) as agent:
            agent.ingest_sources(sources(CORPUS / "manifest.csv", CORPUS / "tenant_acl.csv"))
            yield agent


def output(reply: Reply) -> Output:
    told = {"decision": reply["decision"], "confidence": reply["confidence"]}
    cited = [citation["doc_id"] for citation in reply["citations"]]
    return Output(reply["answer"], cited, reply["verdict"]["action"], told, reply)


def asked(agent: Agent, sample: Sample, **who: Any) -> Output:
    """The reply to its question, in the name of its tenant."""
    return output(agent.ask(sample.input, tenant_id=sample.metadata["tenant"], **who))


def triage(sample: Sample, **options: Any) -> Output:
    """What the guards make of its text; `raw` is their assessment. Options as of `assess`."""
    found = assess(sample.input, **options)
    return Output(verdict=found.action, metadata={"risk_score": found.risk_score}, raw=found)


def replied(sample: Sample, out: Output) -> dict[str, bool]:
    """What can be said of any reply; `told` that it is an answer, `stopped` that it was guarded or blocked."""
    told = out.metadata["decision"] == "answer"
    return {"told": told, "silent": not told, "stopped": out.verdict != "ALLOW"}


def judged(sample: Sample, out: Output) -> dict[str, bool]:
    """What can be said of any verdict, against the one that is wanted."""
    return {"blocked": out.verdict == "BLOCK", "stopped": out.verdict != "ALLOW", "right": out.verdict == sample.target}


def candidates(out: Output) -> set[str]:
    return {candidate["doc_id"] for candidate in out.raw["retrieval"]["candidates"]}


def said(out: Output) -> str:
    """The sentences of an answer, without its list of sources."""
    return " ".join(sentence["text"] for sentence in out.raw["sentences"])


def normalised(text: str) -> str:
    """Text as the wanted words are looked for: no case, one kind of dash and blank, no commas."""
    for dash in "\u2010\u2011\u2013\u2014":
        text = text.replace(dash, "-")
    return " ".join(text.casefold().replace("’", "'").replace(",", "").split())


def absent(words: list[str], text: str) -> list[str]:
    """Those that do not stand in the text."""
    return [word for word in words if normalised(word) not in normalised(text)]
