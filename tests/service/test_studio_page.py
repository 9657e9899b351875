"""docs/studio.md says what is so: the questions of its table go the ways it tells, and the picture is of this graph."""

import re
import struct
from pathlib import Path

import pytest

from graph.agent import Agent
from graph.service import diagram

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "studio.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| (ALLOW|ALLOW_WITH_GUARDRAILS|BLOCK) \| (\w*) ?\| (admit [\w ]+) \|$", PAGE, re.M)


def test_the_table_has_each_verdict_and_each_way() -> None:
    assert {action for _, action, *_ in ROWS} == {"ALLOW", "ALLOW_WITH_GUARDRAILS", "BLOCK"} and len(ROWS) == 6


@pytest.mark.parametrize(("question", "action", "code", "stages"), ROWS)
def test_a_question_of_the_table_goes_that_way(
    agent: Agent, question: str, action: str, code: str, stages: str
) -> None:
    reply = agent.ask(question, tenant_id="U1", thread_id="studio-page")
    assert reply.verdict["action"] == action
    assert (reply.refusal or {"code": ""})["code"] == code
    assert [*(name for name in reply.timings_ms if name != "total"), "record"] == stages.split()
    if code and action == "BLOCK":
        assert reply.verdict["safe_response"] == reply.answer


def test_the_stages_it_names_are_those_of_the_graph() -> None:
    drawn = set(re.findall(r"^\t(\w+)\(", diagram.mermaid(), re.M))
    assert {name for *_, stages in ROWS for name in stages.split()} <= drawn


def test_the_picture_is_the_size_of_the_one_that_its_command_draws() -> None:
    """Its bytes differ with fonts and versions; its size follows from the stages."""
    assert "cordon graph --format png > docs/graph.png" in PAGE

    def size(data: bytes) -> tuple[int, ...]:
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        return struct.unpack(">II", data[16:24])

    assert size((DOCS / "graph.png").read_bytes()) == size(diagram.png())


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", PAGE) + re.findall(r"\bdocs/[\w.]+\.md\b", PAGE):
        assert (DOCS / target).exists() or (DOCS.parent / target).exists(), target
