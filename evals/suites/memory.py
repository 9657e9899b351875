"""memory: what a thread remembers, whether a follow-up is understood from it, what it costs in tokens (A9, A13, C11).

Three parts. Follow-ups ("the second one", "and who is its steward?") in the thread that opened the subject; questions
that reach back to another thread of the same person ("as we discussed …"), of which some reach back to nothing; and
the tokens of the prompt, turn by turn, with no memory, with a buffer and with a summary.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from evals import figures
from evals.material import own_samples, own_set
from evals.solvers import asked, output, shipped
from evals.task import Metric, Output, Rows, Sample, Scores, Task
from graph import memory
from graph.agent import Agent

KINDS = ("none", "buffer", "summary")
TURNS = 24  # of the conversation whose tokens are counted


def tasks() -> Iterator[Task]:
    back = own_samples("reach_back", "question", "doc_ids")
    with shipped() as agent:
        yield Task("follow-ups", openings(), partial(follow, agent), understood, followed)
        yield Task("reaching back", back, partial(reach, agent), found, reached)
        yield Task(
            "tokens",
            conversation(),
            partial(speak, agent),
            lambda s, out: {"tokens": out.raw["usage"]["prompt_tokens"]},
            tokens,
            plot,
        )


def openings() -> list[Sample]:
    return [
        Sample.from_row(row | {"id": f"{row['id']}-{kind}", "memory": kind}, "question", "doc_ids", "contains")
        for kind in KINDS
        for row in own_set("follow_ups")
    ]


def conversation() -> list[Sample]:
    asked = [row["question"] for row in own_set("answers") if row["tenant"] == "U1" and row["answerable"]][:TURNS]
    return [
        Sample(f"{kind}-{turn}", question, None, {"tenant": "U1", "memory": kind, "turn": turn})
        for kind in KINDS
        for turn, question in enumerate(asked, 1)
    ]


def follow(agent: Agent, sample: Sample) -> Output:
    """The question after its opening, in a thread of its own."""
    kind = sample.metadata["memory"]
    who: dict[str, Any] = {"user_id": sample.id, "thread_id": "t", "memory": kind}
    agent.ask(sample.metadata["opening"], tenant_id=sample.metadata["tenant"], **who)
    return asked(agent, sample, **who)


def reach(agent: Agent, sample: Sample) -> Output:
    """The opening in one thread, other talk after it, then the question in a new thread of the same person."""
    tenant = sample.metadata["tenant"]
    who: dict[str, Any] = {"tenant_id": tenant, "user_id": sample.id}
    opening = agent.ask(sample.metadata["opening"], thread_id="first", memory="buffer", **who)
    others = [row["opening"] for row in own_set("reach_back") if row["tenant"] == tenant and row["id"] != sample.id]
    for n, other in enumerate(others[:6]):
        agent.ask(other, thread_id=f"other-{n}", memory="buffer", **who)
    vector = agent.deps.embedder.embed([memory.without_cue(sample.input)])[0]
    found = agent.deps.conversations.search(tenant, sample.id, vector, 1)
    near = [f for f in found if f.score >= memory.RECALL_FROM]
    out = output(agent.ask(sample.input, thread_id="last", memory="buffer", **who))
    bare = output(agent.ask(sample.input, thread_id="bare", memory="none", **who))
    told = {"bare": bare.sources, "similarity": found[0].score if found else None}
    recalled = {"any": bool(near), "recalled": bool(near) and near[0].run_id == opening["run_id"]}
    return replace(out, metadata={**out.metadata, **told, **recalled})


def speak(agent: Agent, sample: Sample) -> Output:
    kind = sample.metadata["memory"]
    return asked(agent, sample, user_id=f"tokens-{kind}", thread_id="t", memory=kind)


def understood(sample: Sample, out: Output) -> Scores:
    source = bool({*sample.target["doc_ids"]} & {*out.sources})
    held = any(word.casefold() in out.text.casefold() for word in sample.target["contains"])
    return {"source": source, "words": source and held}


def found(sample: Sample, out: Output) -> Scores:
    wanted, told = {*sample.target}, out.metadata
    both = {"source": bool(wanted & {*out.sources}), "source_without": bool(wanted & {*told["bare"]})}
    return {**both, **{name: told[name] for name in ("recalled", "any", "similarity")}}


def followed(rows: Rows) -> Iterator[Metric]:
    for kind in KINDS:
        part = rows.where(memory=kind)
        yield part.rate(f"follow-up, right source, {kind}", "source")
        yield part.rate(f"follow-up, right source and words, {kind}", "words")


def reached(rows: Rows) -> Iterator[Metric]:
    there = rows.where(lambda row: row.sample.target)
    yield there.rate("reaching back, the turn meant was recalled first", "recalled")
    yield there.rate("reaching back, right source cited", "source")
    yield there.rate("reaching back, right source without memory", "source_without")
    nothing = rows.where(lambda row: not row.sample.target)
    yield nothing.rate("reaching back to nothing, something recalled", "any")


def tokens(rows: Rows) -> Iterator[Metric]:
    for kind in KINDS:
        for turn in (1, 8, TURNS):
            yield rows.where(memory=kind, turn=turn).figure(f"prompt tokens of turn {turn}, {kind}", "tokens", max)


def plot(rows: Rows, out: Path) -> dict[str, Any]:
    """Tokens that memory adds to each turn's prompt."""
    counts = {kind: rows.where(memory=kind).values("tokens") for kind in KINDS}

    def draw(pyplot: Any) -> None:
        figure, panel = pyplot.subplots(figsize=(7, 4))
        for kind in KINDS[1:]:
            both = enumerate(zip(counts[kind], counts["none"], strict=True), 1)
            pairs = [(n, a - b) for n, (a, b) in both if a and b]
            panel.plot(*zip(*pairs, strict=True), marker="o", label=kind)
        panel.set(xlabel="turn", ylabel="tokens that memory adds to the prompt", title="Buffer against summary")
        panel.set_ylim(bottom=0)
        panel.legend()
        figure.tight_layout()

    return {"plots": figures.drawn(out / "memory_tokens.png", draw)}
