"""Replies as small models write them, each through the whole graph over the wire: what must come out of it.

The replies are in replies/*.toml, in our own words, in the forms that people report of such models and servers. `says`
are the sentences that must leave, `cites` the file that each of them must name; where nothing may leave, `why` says what
the reply must own up to. The model's sentences are checked by the present grounding, so a row fails when its text is
lost, cut in the wrong place, left with marks in it, or named after the wrong source.
"""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent, Reply
from graph.policy.answer import refusals
from graph.settings import load
from tests.support import invariants as inv
from tests.support.openai_server import Say, Server, serving

FOLDER = Path(__file__).parent / "replies"
ROWS: list[dict[str, Any]] = [
    {"set": path.stem, **row}
    for path in sorted(FOLDER.glob("*.toml"))
    for row in tomllib.loads(path.read_text())["reply"]
]
DOCUMENTS = {
    "freezers.md": "# Freezers\n\nThe kestrel freezer holds the whole blood samples. It stands in room 114. "
    "Only the curator may open it. The samples are kept at minus 80 degrees.\n",
    "visits.md": "# Visits\n\nVisitors report to the front desk before 17:00. They wear a badge in the freezer room. "
    "A visit is announced two days ahead.\n",
    "inventory.csv": "Freezer,Room,Shelves\nkestrel,114,6\nosprey,118,4\n",
}
QUESTION = (
    "Which freezer holds the whole blood samples, who may open it, and how do visitors get into the freezer room, "
    "and when is a visit announced?"
)


class Talk:
    """One agent over DOCUMENTS whose model says what `row` holds."""

    def __init__(self, server: Server, agent: Agent) -> None:
        self.server, self.agent = server, agent
        self.numbers: dict[str, int] = {}
        self.row: dict[str, Any] = {}

    def say(self, body: dict[str, Any]) -> Say:
        if "again" in self.row and "could not be used" in str(body["messages"][-1]["content"]):
            return Say(self.row["again"])
        content = self.row.get("content", "")
        for name, n in self.numbers.items():  # the rows name their sources by file, since rank decides the numbers
            content = content.replace(f"«{name}»", str(n))
        more: dict[str, Any] = {
            key: self.row[key] for key in ("reasoning_content", "reasoning", "tool_calls", "refusal") if key in self.row
        }
        return Say(content if content or not more else None, finish=self.row.get("finish", "stop"), more=more)

    def ask(self, row: dict[str, Any], *, stream: bool = False) -> Reply:
        self.row = row
        asked = {"tenant_id": "U1", "thread_id": "t", "style": row.get("style", "concise")}
        return list(self.agent.stream(QUESTION, **asked))[-1] if stream else self.agent.ask(QUESTION, **asked)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    base = tmp_path_factory.mktemp("replies")
    say: list[Callable[[dict[str, Any]], Say]] = []
    with serving(lambda body: say[0](body)) as server:
        values: dict[str, Any] = {
            "home": base / "home",
            "out": base / "out",
            "artifacts": False,
            "relevance_floor": 0.0,
        }
        with Agent(load(environ={}, model="stub", openai_base_url=server.url, model_retries=0, **values)) as agent:
            for name, text in DOCUMENTS.items():
                (base / name).write_text(text)
            assert {o.status for o in agent.ingest([base / n for n in DOCUMENTS], tenant_id="U1")} == {"indexed"}
            one = Talk(server, agent)
            say.append(one.say)
            one.ask({"content": '{"answered": false, "sentences": []}'})
            shown = inv.state_of(agent, "U1", "t")["evidence"]
            one.numbers = {Path(e["filename"]).stem: e["n"] for e in shown}
            assert one.numbers.keys() == {Path(name).stem for name in DOCUMENTS}
            yield one


def outcome(reply: Reply) -> str:
    """What the reply owns up to: `said`, or why there is none of a draft in it."""
    dropped = [why for why, text in refusals.DROPPED.items() if reply.answer.startswith(text)]
    if dropped:
        return dropped[0]
    return "said"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['set']}: {row['name']}")
def test_what_comes_out_of_a_reply(talk: Talk, row: dict[str, Any], stream: bool) -> None:
    reply = talk.ask(row, stream=stream)
    assert inv.unvalidated(reply) == []
    evidence = inv.state_of(talk.agent, "U1", "t")["evidence"]
    assert inv.unfaithful(talk.agent, "U1", reply, evidence) == []
    expected = row.get("why", "said").replace("not in the documents", "silent")
    assert outcome(reply) == expected, (reply.answer, inv.state_of(talk.agent, "U1", "t")["draft"])
    if expected == "said":
        files = {c["n"]: Path(c["filename"]).stem for c in reply.citations}
        told = [(s["text"], files[s["citations"][0]]) for s in reply.sentences]
        assert told == list(zip(row["says"], row["cites"], strict=True))
        assert reply.draft == ("partly dropped" if row.get("dropped") else "verified")
        assert reply.usage["model_calls"] == (2 if "again" in row else 1)
    else:  # the documents do hold the answer, so it is quoted, and marked as that
        assert (reply.decision, reply.get("draft")) == ("answer", None if expected == "silent" else "dropped")
        assert refusals.INSTEAD in reply.answer and "kestrel freezer" in reply.answer
        assert "extractive_fallback" in reply.safety_flags


def test_there_are_sixty_and_more() -> None:
    assert len(ROWS) >= 60
    assert len({row["name"] for row in ROWS}) == len(ROWS)
