"""What a version changed, out of the table of revisions of its document."""

from typing import Any

import pytest

from graph.extractive import revisions

TABLE = """# Amendments

Amendment Number: 1; Date: 2 May 2024; Reason: Added the yard to the rules.
Amendment Number: 2; Date: 9 June 2025; Reason: Updated after advice of the board.
Amendment Number: 10; Date: 1 July 2026; Reason: Corrected the hours of the gate."""
BARE = "# Changes\n\n0.1; 27 March 2018; J. Mill; First version of it\n0.2; 30 March 2018; J. Mill; Added a scale for grain"

ISSUES = "Issue: 1; Approval: Jo Mill; Date: 1/4/2024; Description of change: First one\nIssue: 2; Approval: Jo Mill; Date: 20/08/2025; Description of change: Annual review"


def source(text: str, n: int = 1, doc: str = "d") -> dict[str, Any]:
    return {"n": n, "where": "private", "doc_id": doc, "title": "Rules", "filename": "rules.pdf", "text": text}


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        ("What did amendment 2 change?", TABLE, "advice of the board"),
        ("what did amendment 2 do, and why?", TABLE, "advice of the board"),
        ("What is new in version 0.2 compared with version 0.1?", BARE, "Added a scale"),
        ("What changed in v0.1?", BARE, "First version"),
        ("What changed in the latest amendment?", TABLE, "hours of the gate"),
        ("What changed in amendment 3?", TABLE, None),
        ("What's new in the June 2025 version of the rules?", TABLE, "advice of the board"),
        ("What's new in the July 2025 version of the rules?", TABLE, None),
        ("what did issue 2 of the rules add?", ISSUES, "Annual review"),
        ("What changed in version 2?", "Author: Jo Mill; Version: 2; Date: 3 May 2025; Actions: Clearer", "Clearer"),
        ("What does the gate cost in version 2?", TABLE, None),
        ("What changed in version 2?", "# Grain\n\nMill: 2; Weight: 3 tons; Kind of grain: barley of the year", None),
    ],
)
def test_the_row_of_the_version_is_told(question: str, text: str, said: str | None) -> None:
    row = revisions.row(question, [source(text)])
    assert (row is not None and said is not None and said in row[1]) or (row is None and said is None)


def test_a_document_far_from_the_question_says_nothing() -> None:
    near = [source("The mill is old.", n, f"near{n}") for n in range(1, 4)]
    assert revisions.row("What changed in amendment 2?", [*near, source(TABLE, 4, "far")]) is None
    assert revisions.row("What changed in amendment 2?", [*near[:2], source(TABLE, 3, "far")]) is not None
