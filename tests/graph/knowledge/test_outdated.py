"""Which version of a document is in force."""

from typing import Any

import pytest

from graph.knowledge.versions import asks_for_changes, outdated


def sources(*names: str) -> list[dict[str, Any]]:
    return [{"n": n, "title": name, "filename": f"{n}.md", "where": "private"} for n, name in enumerate(names, 1)]


@pytest.mark.parametrize(
    ("names", "old"),
    [
        (("Photo policy, version 1", "Photo policy, version 2"), {1}),
        (("Photo policy v1.10", "Photo policy v1.9"), {2}),
        (("photo_policy_v1", "photo_policy_v2", "photo_policy_v3"), {1, 2}),
        (("Photo policy 2022", "Photo policy 2024-03", "Fees 2020"), {1}),
        (("Photo policy, version 1", "Door policy, version 2"), set()),
        (("Version 1", "Version 2"), set()),
        (("Photo policy", "Photo policy 2"), set()),
    ],
)
def test_a_version_is_outdated_where_a_later_one_of_its_name_is_there(names: tuple[str, ...], old: set[int]) -> None:
    assert outdated("Are tripods allowed?", sources(*names)) == old


def test_a_year_in_the_question_picks_its_own() -> None:
    reports = sources("Report 2022", "Report 2023", "Report 2024")
    assert outdated("How many visitors came in 2023?", reports) == {1, 3}
    assert outdated("How many visitors came in 1999?", reports) == {1, 2}


@pytest.mark.parametrize("question", ["What changed?", "What was the old fee?", "Does version 1 allow tripods?"])
def test_none_is_outdated_where_versions_are_compared(question: str) -> None:
    assert outdated(question, sources("Photo policy, version 1", "Photo policy, version 2")) == set()


def test_file_names_tell_it_where_titles_do_not() -> None:
    items = [item | {"title": "Photos"} for item in sources("", "")]
    named = [item | {"filename": f"photo_v{item['n']}.md"} for item in items]
    assert outdated("Are tripods allowed?", named) == {1}


def test_a_document_of_other_groups_is_no_version() -> None:
    public, shared = sources("Photo policy, version 1", "Photo policy, version 2")
    assert outdated("Are tripods allowed?", [public, shared | {"where": "private/staff"}]) == set()


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What changed between version 1 and 2?", True),
        ("What is new in the photo policy?", True),
        ("How has the policy changed?", True),
        ("Which differences are there between the versions?", True),
        ("Who may change the policy?", False),
        ("What is the new room?", False),
    ],
)
def test_what_asks_for_changes(question: str, asks: bool) -> None:
    assert asks_for_changes(question) is asks
