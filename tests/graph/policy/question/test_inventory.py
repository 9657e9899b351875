"""Questions that want a list of documents, and which."""

import pytest

from graph.policy.question import intent


@pytest.mark.parametrize("question", ["List all documents.", "list documents", "What documents are there?"])
def test_any_document(question: str) -> None:
    assert intent.inventory(question) == intent.ANY


@pytest.mark.parametrize(
    ("question", "kind"),
    [("Show me my datasets", "dataset"), ("Name all policies", "policy"), ("Show me notes about acids", "")],
)
def test_a_kind(question: str, kind: str) -> None:
    assert intent.inventory(question) == kind
