"""What kind of answer a question wants."""

import pytest

from graph.policy.question import answer_type


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Can staff and guests use the same door?", "fact"),
        ("Who acts against fire?", "fact"),
        ("How many days of leave do I have?", "fact"),
        ("When does the window for claims close?", "fact"),
        ("How long do I keep the samples before I discard them?", "fact"),
        ("Can I lend my card or badge?", "fact"),
        ("How do I order gloves?", "steps"),
        ("somebody dropped a tube of blood, what now?", "steps"),
        ("What should I do if the freezer alarm rings?", "steps"),
        ("What happens when a volunteer withdraws?", "steps"),
        ("What is a data steward?", "definition"),
        ("what does SOP mean", "definition"),
        ("Which datasets may leave the building?", "list"),
        ("What are the roles in the ethics board?", "list"),
        ("What is the difference between leave and absence?", "comparison"),
        ("Is the probation in Lahore longer than in Karachi?", "comparison"),
        ("Which is cheaper, the old scanner or the new one?", "comparison"),
        ("Do I need approval to be away longer than two weeks?", "fact"),
    ],
)
def test_kinds(question: str, kind: str) -> None:
    assert answer_type.kind(question) == kind


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("What is the difference between paid leave and unpaid leave?", "paid leave", "unpaid leave"),
        ("Xylene vs toluene?", "Xylene", "toluene"),
        ("Which is longer, the induction or the audit?", "the induction", "the audit"),
        ("Leave in years, Lahore against Karachi?", "Lahore", "Karachi"),
        ("Do the plan and the policy give the same deadline?", "the plan", "the policy"),
        ("North oven vs south oven: how hot is each?", "North oven", "south oven"),
    ],
)
def test_sides(question: str, one: str, other: str) -> None:
    assert answer_type.sides(question) == (one, other)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many rows does the table of loans have?", "count"),
        ("What is the exact number of loans?", "count"),
        ("What is the CAS number of ether?", None),
        ("Give me the phone number of the guard", None),
        ("Is there a cap on how many rows a table may have?", None),
        ("Is there a limit to how many guests I may bring?", None),
        ("stages a proposal goes through from idea to start?", "list"),
        ("Levels of the alarm in the cold room?", "list"),
        ("Do rules for guests differ?", None),
        ("Which audits have to be done at least once a year?", "list"),
        ("Which mill grinds the most?", "extreme"),
        ("A guest shouted at the warden. What sanctions are open to us?", "list"),
        ("Any courses that take a year?", "list"),
        ("Are there any rules for guests who stay?", None),
        ("Any chance that I get leave?", None),
        ("Which is the highest of the town's summary of fines?", "extreme"),
        ("Give me the summary of the plan", "summary"),
    ],
)
def test_what_is_asked_of_all_items(question: str, kind: str | None) -> None:
    assert answer_type.all_of(question) == kind
