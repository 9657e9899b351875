"""A section that a question calls by its number is found in the document that it names, however little words help."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.agent import Agent
from graph.audit.verify import verify
from graph.policy.evidence import access

LONG = "The committee met in the old hall and spoke of the weather, the roof and the garden for a while. " * 12
RULES = "".join(f"## {n}. Part {n}\n\n{LONG}\n\n" for n in range(1, 12))
TERMS = f"# Terms and conditions of the library\n\n{RULES}## 12. Damage\n\nReaders pay for pages that they tear.\n"
LIST = "# House list\n\n" + "".join(f"{n}. Item {n} of the terms of the house.\n" for n in range(1, 15))
BYLAW = f"# Bylaw 3\n\n{RULES}## 12. Votes\n\n12.1.4. A tie is broken by the chair.\n\n12.1.5. Nobody votes twice.\n"


@pytest.fixture
def library(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    agent = opened()
    for name, text in (("terms.md", TERMS), ("list.md", LIST), ("bylaw-3.md", BYLAW)):
        (tmp_path / name).write_text(text)
        agent.ingest(tmp_path / name, tenant_id="library")
    (tmp_path / "terms2.md").write_text("# Terms and conditions\n\n## 77. Fees\n\nThe secret fee is 900 crowns.\n")
    agent.ingest(tmp_path / "terms2.md", tenant_id="library", groups=("board",))
    return agent


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does section 12 of the terms and conditions say?", "Readers pay for pages that they tear."),
        ("what is in 12.1.4 of bylaw 3", "A tie is broken by the chair."),
        ("What does section 12 of Bylaw 3 say?", "Nobody votes twice."),
    ],
)
def test_it_is_quoted(library: Agent, question: str, answer: str) -> None:
    reply = library.ask(question, tenant_id="library")
    assert answer in reply["answer"] and "Item 12" not in reply["answer"]
    assert verify(dict(reply), library.deps.index).ok


def test_a_section_of_another_group_is_for_that_group_alone(library: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "What does section 77 of the terms and conditions say?"
    assert "900" in library.ask(question, tenant_id="library", groups=("board",))["answer"]
    assert "900" not in str(dict(library.ask(question, tenant_id="library")))
    monkeypatch.setattr(access, "denied", lambda *_: None)  # the search itself leaves out what others may see
    assert "900" not in str(dict(library.ask(question, tenant_id="library")))
