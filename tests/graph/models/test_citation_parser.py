"""CitationParser that name a source leave a sentence; what only looks like one stays."""

from typing import Any

import pytest

from graph.models import claims
from graph.models.citation_parser import CitationParser

EVIDENCE: list[Any] = [
    {"n": 1, "filename": "a.md", "title": "A handbook", "text": ""},
    {"n": 2, "filename": "b.md", "title": "B handbook", "text": ""},
]


@pytest.mark.parametrize(
    ("written", "text", "sources"),
    [
        ("The room is open until nine. [2]", "The room is open until nine.", [2]),
        ("Source [1]: The room is open until nine.", "The room is open until nine.", [1]),
        ("The room is open until nine. [evidence-c1ad68a7]", "The room is open until nine.", []),
        ("The room is open until nine (evidence-c1ad68a7 n=2).", "The room is open until nine.", [2]),
        ('<evidence-c1ad68a7 n=1 from="A">The room is open.</evidence-c1ad68a7>', "The room is open.", [1]),
        ("Care is given here (evidence-based care) in room (42).", "Care is given here (evidence-based care) in room (42).", []),
    ],
)  # fmt: skip
def test_a_mark_is_read_and_leaves_the_sentence(written: str, text: str, sources: list[int]) -> None:
    assert claims.parse(written, CitationParser(EVIDENCE)) == [{"text": text, "sources": sources}]


@pytest.mark.parametrize(("written", "claimed"), [
    ("$73,500", True), ("75%", True), ("2023-01-03", True), ("14:30.", True), ("(1)", False), ("114", False), ("null", False),
])  # fmt: skip
def test_an_amount_alone_is_a_claim_where_nothing_else_was_written(written: str, claimed: bool) -> None:
    parsed = claims.parse(written, CitationParser(EVIDENCE), [1])
    assert parsed == ([{"text": written, "sources": [1]}] if claimed else [])
    assert len(claims.parse(f"{written}\n\nThe room is open.", CitationParser(EVIDENCE))) == 1


@pytest.mark.parametrize(("written", "claimed"), [
    ("Monday", True), ("room 42.", True), ("nine", True), ("Tuesday", False), ("Yes", False), ("42", False), ("mon", False),
    ("P3", True), ("P4", False),
])  # fmt: skip
def test_a_value_alone_is_a_claim_where_it_stands_in_the_evidence(written: str, claimed: bool) -> None:
    evidence = [{**EVIDENCE[0], "text": "Each Monday room 42 is open until nine, P3 at most. Yes."}]
    assert bool(claims.parse(written, CitationParser(evidence), [1])) == claimed


@pytest.mark.parametrize(("written", "claimed"), [
    ("You can tag us on these networks:\n\n- Mastodon [2]\n- LinkedIn\n- Bluesky",
     [("You can tag us on these networks: Mastodon, LinkedIn, Bluesky", [2])]),
    ("We have two:\n1. Mastodon;\n2. LinkedIn.\nAsk before you post.",
     [("We have two: Mastodon, LinkedIn", []), ("Ask before you post.", [])]),
    ("We have two:\n- Mastodon\n- LinkedIn is for notices of jobs only.",
     [("We have two: Mastodon", []), ("LinkedIn is for notices of jobs only.", [])]),
    ("We have two:\n- Mastodon\n- For jobs:\n  - LinkedIn", [("We have two: Mastodon", []), ("For jobs: LinkedIn", [])]),
    ("Complete the form. It is required for any of the following:", [("Complete the form.", [])]),
    ("We have two:\nThe first one is Mastodon.\n- LinkedIn", [("The first one is Mastodon.", [])]),
])  # fmt: skip
def test_short_items_are_one_claim_with_the_line_that_leads_to_them(written: str, claimed: list[Any]) -> None:
    parsed = claims.parse(written, CitationParser(EVIDENCE))
    assert [(one["text"], one["sources"]) for one in parsed] == claimed


@pytest.mark.parametrize(
    ("written", "text", "sources"),
    [
        ("According to the evidence, the room is open until nine. (2)", "The room is open until nine.", [1, 2]),
        ("The evidence-c1ad68a7 n=2 from \"B\" states that the room is open until nine.", "The room is open until nine.", [1, 2]),
        ("The provided documents state that the room is open until nine.", "The room is open until nine.", [1]),
        ("Source 2 says: the room is open until nine.", "The room is open until nine.", [1, 2]),
        ("The information sheet states the fee.", "The information sheet states the fee.", [1]),
        ("The source states the fee of the room.", "The source states the fee of the room.", [1]),
        ("The room is described in article 5 (2).", "The room is described in article 5 (2).", [1]),
        ("The room has number 42. (42)", "The room has number 42. (42)", [1]),
    ],
)  # fmt: skip
def test_a_claim_names_its_sources_once(written: str, text: str, sources: list[int]) -> None:
    assert CitationParser(EVIDENCE).tidied({"text": written, "sources": [1]}) == {"text": text, "sources": sources}
