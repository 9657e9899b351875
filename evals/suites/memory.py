"""memory: what a thread remembers, whether a follow-up is understood from it, what it costs in tokens (A9, A13, C11).

Three parts. Follow-ups ("the second one", "and who is its steward?") in the thread that opened the subject; questions
that reach back to another thread of the same person ("as we discussed …"), of which some reach back to nothing; and
the tokens of the prompt, turn by turn, with no memory, with a buffer and with a summary.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from evals.stats import Rate
from evals.suites.answers import CORPUS, HERE
from graph import memory
from graph.agent import Agent
from graph.knowledge.manifest import sources
from graph.settings import load

KINDS = ("none", "buffer", "summary")
TURNS = 24  # of the conversation whose tokens are counted


def run(out: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home, Agent(load(environ={}, home=Path(home), artifacts=False)) as agent:
        agent.ingest_sources(sources(CORPUS / "manifest.csv", CORPUS / "tenant_acl.csv"))
        followed = {kind: [_follow(agent, row, kind) for row in _rows("follow_ups")] for kind in KINDS}
        reached = [_reach(agent, row) for row in _rows("reach_back")]
        tokens = {kind: _tokens(agent, kind) for kind in KINDS}
    figures: dict[str, Any] = {}
    for kind, rows in followed.items():
        figures[f"follow-up, right source, {kind}"] = Rate(sum(r["source"] for r in rows), len(rows)).as_json()
        figures[f"follow-up, right source and words, {kind}"] = Rate(sum(r["words"] for r in rows), len(rows)).as_json()
    there = [r for r in reached if r["doc_ids"]]
    nothing = [r for r in reached if not r["doc_ids"]]
    figures["reaching back, the turn meant was recalled first"] = _rate(there, "recalled")
    figures["reaching back, right source cited"] = _rate(there, "source")
    figures["reaching back, right source without memory"] = _rate(there, "source_without")
    figures["reaching back to nothing, something recalled"] = _rate(nothing, "any")
    for kind, counts in tokens.items():
        for at in (1, 8, TURNS):
            figures[f"prompt tokens of turn {at}, {kind}"] = {"value": float(counts[at - 1]), "n": 1}
    plot = _plot(tokens, out / "memory_tokens.png")
    return {
        "figures": figures,
        "plots": [str(plot)] if plot else [],
        "rows": {"follow_ups": followed, "reach_back": reached},
        "tokens": tokens,
    }


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / "datasets" / f"{name}.jsonl").read_text().splitlines()]


def _rate(rows: list[dict[str, Any]], key: str) -> dict[str, Any]:
    return Rate(sum(bool(r[key]) for r in rows), len(rows)).as_json()


def _follow(agent: Agent, row: dict[str, Any], kind: str) -> dict[str, Any]:
    who: dict[str, Any] = {
        "tenant_id": row["tenant"],
        "user_id": f"{row['id']}-{kind}",
        "thread_id": "t",
        "memory": kind,
    }
    agent.ask(row["opening"], **who)
    reply = agent.ask(row["question"], **who)
    source = bool(set(row["doc_ids"]) & {c["doc_id"] for c in reply["citations"]})
    return {
        "id": row["id"],
        "kind": row["kind"],
        "source": source,
        "words": source and any(word.casefold() in reply["answer"].casefold() for word in row["contains"]),
        "answer": reply["answer"],
    }


def _reach(agent: Agent, row: dict[str, Any]) -> dict[str, Any]:
    """The opening in one thread, other talk after it, then the question in a new thread of the same person."""
    who = {"tenant_id": row["tenant"], "user_id": row["id"]}
    opening = agent.ask(row["opening"], thread_id="first", memory="buffer", **who)
    for n, other in enumerate(r for r in _rows("reach_back") if r["tenant"] == row["tenant"] and r["id"] != row["id"]):
        if n < 6:
            agent.ask(other["opening"], thread_id=f"other-{n}", memory="buffer", **who)
    vector = agent.deps.embedder.embed([memory.without_cue(row["question"])])[0]
    found = agent.deps.conversations.search(row["tenant"], row["id"], vector, 1)
    near = [f for f in found if f.score >= memory.RECALL_FROM]
    reply = agent.ask(row["question"], thread_id="last", memory="buffer", **who)
    bare = agent.ask(row["question"], thread_id="bare", memory="none", **who)
    return {
        **row,
        "any": bool(near),
        "score": round(found[0].score, 3) if found else None,
        "recalled": bool(near) and near[0].run_id == opening["run_id"],
        "source": bool(set(row["doc_ids"]) & {c["doc_id"] for c in reply["citations"]}),
        "source_without": bool(set(row["doc_ids"]) & {c["doc_id"] for c in bare["citations"]}),
    }


def _tokens(agent: Agent, kind: str) -> list[int]:
    """Prompt tokens of each turn of one conversation, as the generator counts them."""
    asked = [row["question"] for row in _rows("answers") if row["tenant"] == "U1" and row["answerable"]][:TURNS]
    who: dict[str, Any] = {"tenant_id": "U1", "user_id": f"tokens-{kind}", "thread_id": "t", "memory": kind}
    return [agent.ask(question, **who)["usage"]["prompt_tokens"] for question in asked]


def _plot(tokens: dict[str, list[int]], path: Path) -> Path | None:
    """Tokens that memory adds to each turn's prompt; None without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panel = plt.subplots(figsize=(7, 4))
    for kind in KINDS[1:]:
        pairs = [(n, a - b) for n, (a, b) in enumerate(zip(tokens[kind], tokens["none"], strict=True), 1) if a and b]
        panel.plot(*zip(*pairs, strict=True), marker="o", label=kind)
    panel.set_xlabel("turn")
    panel.set_ylabel("tokens that memory adds to the prompt")
    panel.set_ylim(bottom=0)
    panel.legend()
    panel.set_title("Buffer against summary")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path
