"""What a model says that is true and does not answer gives way to what the documents say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graph.agent import Agent
from graph.audit.verify import verify
from tests.support.models import Scripted

KILN = """# The kestrel kiln

The kestrel kiln stands in the yard behind the old bakery. The kestrel kiln is fired on Mondays at nine.

Its door is painted green. Anybody who leaves it must carry the grey ash box to the shed."""
QUESTION = "When is the kestrel kiln fired?"


def said(*texts: str) -> str:
    return json.dumps({"answered": True, "sentences": [{"text": text, "sources": [1]} for text in texts]})


def answered(settings_of: Callable[..., Any], tmp_path: Path, *texts: str, **options: Any) -> dict[str, Any]:
    (tmp_path / "kiln.md").write_text(KILN)
    with Agent(
        settings_of(artifacts=False, model="stub", context=8192), model=Scripted(reply=lambda *_: said(*texts))
    ) as agent:
        agent.ingest(tmp_path / "kiln.md", tenant_id="U1")
        reply = json.loads(json.dumps(agent.ask(QUESTION, tenant_id="U1", **options)))
        assert verify(reply, agent.deps.index).ok
    return dict(reply)


def test_a_true_sentence_beside_the_point_gives_way_to_quotes(settings_of: Callable[..., Any], tmp_path: Path) -> None:
    reply = answered(settings_of, tmp_path, "Its door is painted green.")
    assert reply["answer"].startswith("The model's answer was beside the question. Quoted from the documents instead:")
    assert "fired on Mondays at nine" in reply["answer"]
    assert reply["draft"] == "dropped" and "extractive_fallback" in reply["safety_flags"]


def test_one_that_answers_stays(settings_of: Callable[..., Any], tmp_path: Path) -> None:
    reply = answered(settings_of, tmp_path, "The kestrel kiln is fired on Mondays at nine.")
    assert reply["answer"] == "The kestrel kiln is fired on Mondays at nine. [1]" and reply["draft"] == "verified"


def test_what_only_says_the_question_again_is_no_answer(settings_of: Callable[..., Any], tmp_path: Path) -> None:
    reply = answered(settings_of, tmp_path, "The kestrel kiln is fired when it is fired.")
    assert "when it is fired" not in reply["answer"] and "fired on Mondays at nine" in reply["answer"]


def test_a_sentence_far_below_the_one_that_answers_goes(settings_of: Callable[..., Any], tmp_path: Path) -> None:
    reply = answered(
        settings_of,
        tmp_path,
        "The kestrel kiln is fired on Mondays at nine.",
        "Anybody who leaves it must carry the grey ash box to the shed.",
    )
    assert reply["answer"] == "The kestrel kiln is fired on Mondays at nine. [1]" and reply["draft"] == "partly dropped"


def test_sentences_of_which_none_answers_are_none(settings_of: Callable[..., Any], tmp_path: Path) -> None:
    reply = answered(settings_of, tmp_path, "Anybody who leaves it must carry the grey ash box to the shed.")
    assert "ash box" not in reply["answer"] and reply["draft"] == "dropped"
