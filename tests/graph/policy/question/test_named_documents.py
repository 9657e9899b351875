"""Which documents a question asks for by name, and which names it only mentions."""

import pytest

from graph.policy.question import named_documents


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is in U2_plan.pdf?", ["U2_plan.pdf"]),
        ("Summarise the file secret-plan.pdf", ["secret-plan.pdf"]),
        ("Show me the memo U2_memo_budget", ["U2_memo_budget"]),
        ('open "budget.xlsx"', ["budget.xlsx"]),
        ("report.pdf: what does it say?", ["report.pdf"]),
        ("According to ai_policy.pdf, who decides?", ["ai_policy.pdf"]),
        ("Who wrote notes.txt?", ["notes.txt"]),
        ("Tell me what foo.docx says", ["foo.docx"]),
    ],
)
def test_asked_for(question: str, expected: list[str]) -> None:
    assert named_documents.find(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "In which format do I hand in my report: report.pdf or report.docx?",
        "What does the dataset participant_id column mean?",
        "Does the cluster have a README.md somewhere that explains the queues?",
        "Should I send data.csv or data.xlsx?",
        "Which report is due in June?",
    ],
)
def test_only_mentioned(question: str) -> None:
    assert named_documents.find(question) == []
