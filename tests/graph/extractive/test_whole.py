"""Lists, tables and sections answered as a whole, over evidence that is cut into passages."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from graph.extractive import answerer, reader, whole
from graph.extractive.enumerations import enumerations
from graph.knowledge.mentions import MENTIONED
from graph.policy.answer import counted

FREEZERS = """# Freezers

The lab has these freezers:

- FZ-01, in the hall
- FZ-02, in the cellar
  - holds plasma
- FZ-03, in the annex

They are checked on Mondays."""

LOANS = """# Loans

Lender: Mill Society; Insured value: 12,000; Loan: 6 weeks; Courier: yes
Lender: Harbour Archive; Insured value: 81,000; Loan: 3 months; Courier: no
Lender: Quay Company; Insured value: 9,500; Loan: 1 year; Courier: yes
Lender: Total; Insured value: 102,500"""

ROOMS = """# Rooms for visitors

## Attic

The attic has 4 seats. The rent is 15 crowns.

## Hall

The hall has 90 seats. The rent is 40 crowns.

## Cellar

The cellar has 25 seats. The rent is 25 crowns."""

HALLS = """# Opening hours of the halls

Hall: Mill; Monday: 8-15; Sunday: closed
Hall: Quay; Monday: closed; Sunday: 9-12
Hall: Harbour; Monday: 9-12; Sunday: 9-12"""

RULES = """# House rules

## 2.1 Quiet hours

Nobody plays music after ten. Guests are told so.

## 2.2 Kitchen

The last one turns off the oven."""


CARDS = """# Board

List: Learn the rules; Title: Read the policy; Labels: Assigned,Partially
List: Learn the rules; Title: Ask a lawyer; Labels: Not Applicable
List: Ship it; Title: Keep an archive; Labels: Done, Not Applicable
List: Ship it; Title: Write the notice; Labels: Applicable"""

STAGES = """# Stages of a project

Stage: Active; New features: ✅; Bug fixes: ✅; Announced: ❌
Stage: Complete; New features: ❌; Bug fixes: ✅; Announced: ❌
Stage: Sunset; New features: ❌; Bug fixes: ✅; Announced: ✅ (by mail)
Stage: Archived; New features: ❌; Bug fixes: ❌; Announced: ✅"""

ACTIONS = """# Required actions

All agencies must do the following:

1. Stop the service.
2. Install the update.
3. Take one of two options:

## Option 1

Ask the vendor.

4. Validate the settings.
5. Report to the office.

They are due in May."""

ROLES = """# Roles in a trial

Sponsor

- Pays for the trial
- Signs the contract
- Reports to the board

Monitor

- Visits the site
- Reads the records

Pharmacist

- Stores the drug
- Counts the packs"""

CARE = """# Principles of good care

## Listen first

Some things to think of:

- Did the patient speak first?
- Was there time enough?
- Was the door closed?
- Did somebody take notes?
- Was a translator there?

## Explain

Say it in plain words.

## Follow up

Call after a week."""


class Even:
    """Finds every passage equally good."""

    def scores(self, question: str, passages: Sequence[reader.Passage]) -> np.ndarray:
        return np.full(len(passages), 2.0, np.float32)


class Doubtful:
    """Finds every passage to answer rather not."""

    def scores(self, question: str, passages: Sequence[reader.Passage]) -> np.ndarray:
        return np.full(len(passages), -2.2, np.float32)


def evidence(text: str, *cuts: int, title: str = "", doc: str = "d", first: int = 1) -> list[dict[str, Any]]:
    """The text as one passage, or divided before these characters."""
    places = [0, *cuts, len(text)]
    return [
        {"n": first + at, "chunk_id": f"{doc}:{at}", "doc_id": doc, "where": "private", "title": title, "section": title,
         "filename": f"{doc}.md", "score": 0.8, "start": start, "edits": [], "text": text[start:end].rstrip("\n")}
        for at, (start, end) in enumerate(itertools.pairwise(places))
    ]  # fmt: skip


def asked(question: str, items: list[dict[str, Any]], by: reader.Reader | None = None, **more: Any) -> list[str]:
    task = {"question": question, "about": "", "style": "concise", "listing": "", "evidence": items, **more}
    return [said["text"] for said in answerer.answer(task, by or Even())["sentences"]]


BOATS = "# Boats\n\nThe rent of a boat is billed by use, and the keeper of the boats collects it."


@pytest.mark.parametrize(
    ("question", "text", "answered"),
    [
        ("How much is the rent of a boat?", BOATS, False),
        ("What does a boat cost?", BOATS, False),
        ("What is the annual fee of a boat?", BOATS, False),
        ("How much is the rent of a boat?", BOATS.replace("billed by use", "billed for a day"), True),
        ("How is the rent of a boat billed?", BOATS, True),
        ("How much is the rent of a boat?", BOATS.replace("billed by use", "40 crowns"), True),
        ("How much is the rent of a boat?", BOATS.replace("billed by use", "twenty crowns"), True),
        ("How much is the rent of a boat?", BOATS.replace("The rent", "No rent"), True),
    ],
)
def test_an_amount_is_not_answered_without_one(question: str, text: str, answered: bool) -> None:
    assert bool(asked(question, evidence(text, title="Boats"), Doubtful())) is answered
    assert asked(question, evidence(text, title="Boats"))  # where the reader is sure


def test_a_list_is_told_whole_though_a_passage_ends_inside_it() -> None:
    cut = FREEZERS.index("- FZ-03")
    said = "\n".join(asked("Which freezers does the lab have?", evidence(FREEZERS, cut, title="Freezers")))
    assert all(name in said for name in ("FZ-01", "FZ-02", "holds plasma", "FZ-03"))
    assert "Mondays" not in said


WHY = "who are known to the clerk for it, and whose grain, coin or cattle nobody can trace to a field or a mint"
REFUSED = ["Dealers", "Changers", "Gamblers", "Drovers", "Smugglers", "Pedlars", "Tinkers", "Coiners", "Lenders"]
REFUSALS = f"""# Accounts

Due to the risk, it is the policy of the mill not to open accounts for the following:

- {f"{chr(10)}- ".join(f"{name}, {WHY}" for name in REFUSED)}

## Duties

The clerk keeps:

- the list of accounts
- the list of refusals
- the key of the chest"""


class Knows:
    """Finds the passages with these words to answer, and no others."""

    def __init__(self, words: str) -> None:
        self.words = words

    def scores(self, question: str, passages: Sequence[reader.Passage]) -> np.ndarray:
        return np.array([3.0 if self.words in text else -4.0 for _, text in passages], np.float32)


@pytest.mark.parametrize(("best", "whole_list"), [("Gamblers", True), ("key of the chest", False)])
def test_of_a_list_in_which_the_best_passage_stands_no_part_is_told(
    best: str, whole_list: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "SURE_FROM", 0.95)  # nothing else says for sure that it is the list
    question = "Which kinds of customers do we refuse because they are too risky?"
    said = "\n".join(asked(question, evidence(REFUSALS, title="Accounts"), Knows(best)))
    assert ([name for name in REFUSED if name in said] == REFUSED) is whole_list


SANCTIONS = """# Guests

## Measures

Any or all of the following sanctions may be imposed against a guest who was abusive:

- Denial of the yard;
- Denial of the mill.

## Duties

The warden does the following:

- opens the gate;
- sweeps the yard."""


@pytest.mark.parametrize(
    ("question", "all_of_it"),
    [
        ("A guest shouted at the warden. What sanctions are open to us?", True),
        ("What sanctions and what duties are open to us?", False),
        ("What colours are open to us?", False),
    ],
)
def test_a_list_that_is_introduced_as_what_is_asked_for_is_the_one(question: str, all_of_it: bool) -> None:
    said = "\n".join(asked(question, evidence(SANCTIONS, title="Guests"), Doubtful()))
    assert ("of the yard;" in said and "of the mill." in said and "sweeps" not in said) is all_of_it


def test_a_caption_answers_nothing_but_a_question_about_its_table() -> None:
    text = "# Codes\n\nDrug: alum; Code: C03\nDrug: salt; Code: M01\n\nTable 2. Codes used to tell the drugs apart."
    (said,) = asked("What code do we use for alum?", evidence(text, title="Codes"))
    assert said.startswith("Drug: alum; Code: C03")
    assert "Codes used to tell" in " ".join(asked("What does table 2 show?", evidence(text, title="Codes")))


def test_what_a_passage_repeats_of_the_one_before_is_listed_once() -> None:
    first, second = evidence(FREEZERS, FREEZERS.index("- FZ-03"))
    at = FREEZERS.index("- FZ-02")
    again = second | {"start": at, "text": FREEZERS[at:]}
    (one,) = [one for one in enumerations([first, again]) if one.lead and "these freezers" in one.lead.text]
    assert [entry.text.split(",")[0] for entry in one.entries] == ["FZ-01", "FZ-02", "FZ-03"]


def test_passages_that_do_not_follow_each_other_are_two_lists() -> None:
    first, _, third = evidence(FREEZERS, FREEZERS.index("- FZ-02"), FREEZERS.index("- FZ-03"))
    assert not [one for one in enumerations([first, third]) if len(one.entries) > 1 and one.kind == "items"]


def test_a_count_lists_what_it_counts() -> None:
    (said,) = asked("How many freezers does the lab have?", evidence(FREEZERS, title="Freezers"))
    assert said.startswith("3 in all:\n- FZ-01, in the hall\n- FZ-02, in the cellar\n- FZ-03")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which lender has the highest insured value?", ["Harbour"]),
        ("Which lender has the lowest insured value?", ["Quay"]),
        ("Which lender has the longest loan?", ["Quay"]),
        ("Which lenders send a courier?", ["Mill", "Quay"]),
        ("Which lenders send no courier?", ["Harbour"]),
        ("List all lenders with an insured value above 10,000", ["Mill", "Harbour"]),
        ("What is the insured value of all loans in total?", ["Total"]),
    ],
)
def test_the_rows_that_count_are_told_and_no_others(question: str, names: list[str]) -> None:
    said = "\n".join(asked(question, evidence(LOANS, title="Loans")))
    assert [name for name in ("Mill", "Harbour", "Quay", "Total") if name in said] == names


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Which cards carry the label Not Applicable?", ["Ask a lawyer", "Keep an archive"]),
        ("Which cards of Ship it are labelled Applicable?", ["Write the notice"]),
        ("Which cards are in Learn the rules, not Ship it?", ["Read the policy", "Ask a lawyer"]),
    ],
)
def test_a_value_that_is_named_picks_its_rows(question: str, titles: list[str]) -> None:
    said = "\n".join(asked(question, evidence(CARDS, title="Board of cards")))
    known = ("Read the policy", "Ask a lawyer", "Keep an archive", "Write the notice")
    assert [title for title in known if title in said] == titles


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which halls are closed on Sunday?", ["Mill"]),
        ("Which halls are closed on Monday?", ["Quay"]),
        ("Which halls are closed?", ["Mill", "Quay"]),  # on some day
        ("Which halls are closed on Sunday and open 8-15 on Monday?", ["Mill"]),
    ],
)
def test_a_value_of_several_columns_is_that_of_the_column_that_is_named(question: str, names: list[str]) -> None:
    said = "\n".join(asked(question, evidence(HALLS, title="Opening hours of the halls")))
    assert [name for name in ("Mill", "Quay", "Harbour") if name in said] == names


def test_always_and_sometimes_are_values_like_others() -> None:
    text = "# Certificates\n\nCertificate: Gate; Required: Always\nCertificate: Yard; Required: Sometimes\nCertificate: Mill; Required: Never\nCertificate: Weir; Required: Always"
    said = "\n".join(asked("Which certificates are always required and which only sometimes?", evidence(text)))
    assert [name for name in ("Gate", "Yard", "Mill", "Weir") if name in said] == ["Gate", "Yard", "Weir"]


def test_rows_with_a_value_are_counted() -> None:
    (said,) = asked("How many cards are in Ship it?", evidence(CARDS, title="Board of cards"))
    assert said.startswith("2 in all:\n- List: Ship it; Title: Keep an archive")


@pytest.mark.parametrize(
    ("question", "stages"),
    [
        ("in which stages does a project get bug fixes but no new features?", ["Complete", "Sunset"]),
        ("Which stages of a project are announced?", ["Sunset", "Archived"]),
        ("What are the stages of a project that have only Announced?", ["Archived"]),
    ],
)
def test_marks_pick_their_rows(question: str, stages: list[str]) -> None:
    said = "\n".join(asked(question, evidence(STAGES, title="Stages of a project")))
    assert [name for name in ("Active", "Complete", "Sunset", "Archived") if f"Stage: {name}" in said] == stages


def test_a_numbered_list_goes_on_behind_a_heading_inside_it() -> None:
    said = "\n".join(asked("What are all the required actions?", evidence(ACTIONS, title="Required actions")))
    assert "1. Stop the service." in said and "5. Report to the office." in said and "Ask the vendor" not in said


def test_amounts_that_are_not_clear_are_not_added_up() -> None:
    text = LOANS.rpartition("\n")[0].replace("9,500", "2x 500 crowns")
    assert not any("in all" in said for said in asked("What is the insured value altogether?", evidence(text)))


def test_a_total_is_not_the_highest() -> None:
    text = LOANS.replace("Total;", "Total Value;")
    (said,) = asked("Which lender has the highest insured value?", evidence(text, title="Loans"))
    assert "Harbour" in said and "Total" not in said


def test_the_list_of_the_day_is_read() -> None:
    days = {"2022-05-10": "Ann, Bo", "2022-10-11": "Cy, Di"}
    parts = [
        evidence("# Present\n\n- " + names.replace(", ", "\n- "), title=f"Meeting {day}", doc=day, first=n)[0]
        for n, (day, names) in enumerate(days.items(), 1)
    ]
    assert " ".join(asked("Who was present at the meeting of 10 May 2022?", parts)).split() == ["-", "Ann", "-", "Bo"]


def test_a_sum_is_told_with_its_rows() -> None:
    (said,) = asked("What is the insured value altogether?", evidence(LOANS.rpartition("\n")[0], title="Loans"))
    assert said.startswith("102,500 in all (Insured value, 3 rows):\n- Lender: Mill Society;")


TRIP = """# Trip to the coast

Expense: Airfare; Cost: $1258
Expense: Boat Tour; Cost: $132
Expense: Food Tour; Cost: $100
Expense: Walking Tour; Cost: $15
Expense: Food; Cost: $400
Expense: Design/print of the maps; Cost: $50
Expense: Total; Cost: $1955"""


@pytest.mark.parametrize(
    ("question", "sum_and_names"),
    [
        ("what did the boat, food and walking tours of the trip cost altogether?", ["$247", "Boat Tour", "Food Tour", "Walking Tour"]),
        ("trip: airfare plus food in total?", ["$1,658", "Airfare", "Food"]),
        ("Add up the design of the maps and the airfare: what does the trip cost altogether?", ["$1,308", "Airfare", "Design/print of the maps"]),
    ],
)  # fmt: skip
def test_things_that_are_named_are_added_up_and_no_others(question: str, sum_and_names: list[str]) -> None:
    (said,) = asked(question, evidence(TRIP, title="Trip to the coast"))
    number, *names = sum_and_names
    assert said.startswith(f"{number} in all (Cost, {len(names)} rows):\n")
    assert [line.partition("; Cost")[0] for line in said.split("\n- ")[1:]] == [f"Expense: {name}" for name in names]


def test_of_things_that_are_not_all_there_no_sum_is_told() -> None:
    said = asked("boat tour, wine and walking tour of the trip altogether?", evidence(TRIP, title="Trip to the coast"))
    assert not any("in all" in text for text in said)


def test_many_long_rows_are_counted_by_their_beginnings() -> None:
    rows = [f"List: Ship it; Title: Card {n} of the board; Text: {'word ' * 40}" for n in range(40)]
    (said,) = asked(
        "How many cards are in the board?", evidence("# Board\n\n" + "\n".join(rows), title="Board of cards")
    )
    assert said.startswith("40 in all:\n- List: Ship it; Title: Card 0 of the board\n- List")
    assert counted.lines(said)


def test_sections_are_rows_where_each_measures_the_same() -> None:
    assert asked("Which room has the most seats?", evidence(ROOMS)) == ["Hall\n\nThe hall has 90 seats."]
    assert asked("Which rooms are there for visitors?", evidence(ROOMS)) == ["Attic", "Hall", "Cellar"]


class Within(Even):
    """Finds that a text with these words answers best, as a reader does that sees more in sentences than in names."""

    def __init__(self, words: str) -> None:
        self.words = words

    def scores(self, question: str, passages: Sequence[reader.Passage]) -> np.ndarray:
        return np.array([2.0 if self.words in text else 0.0 for _, text in passages], np.float32)


def test_a_sentence_that_lists_what_is_asked_for_answers_before_a_table() -> None:
    stated = "These core variables come from the main set: AGE, SEX, SITE, and RACE."
    text = f"# Core variables\n\n{stated}\n\nSet: MAIN; Variables: AGE, SEX\nSet: EVENTS; Variables: TERM\nSet: VISITS; Variables: DAY"
    question = "Which core variables come from the main set?"
    assert asked(question, evidence(text), Within("These core")) == [stated]
    one = text.replace("These core variables come", "Each core variable comes")
    assert asked(question, evidence(one), Within("Each core")) != [one.split("\n\n")[1]]


def test_headings_that_are_called_as_what_is_asked_for_are_the_list() -> None:
    names = ["Hypothetical strategies", "Composite strategies", "Policy strategy"]
    parts = "".join(f"### {name}\n\nThis is one of them. It is clear.\n\n" for name in names)
    rules = "## Events\n\nWith events that intervene, the sponsor names:\n\n- the events\n- the drug\n- a strategy\n"
    text = f"# Trials\n\n## Strategies for events that intervene\n\n{parts}{rules}"
    question = "Which strategies can a sponsor of a drug name for events that intervene?"
    assert asked(question, evidence(text), Within("the sponsor names")) == names
    other = text.replace("## Strategies for", "## How to deal with")
    assert asked(question, evidence(other), Within("the sponsor names")) != names


@pytest.mark.parametrize(
    ("question", "text", "words", "names"),
    [
        ("Which roles does a trial have?", ROLES, "contract", ["Sponsor", "Monitor", "Pharmacist"]),
        ("What are our care principles?", CARE, "patient", ["Listen first", "Explain", "Follow up"]),
    ],
)
def test_what_headings_name_is_listed_before_a_list_under_one_of_them(
    question: str, text: str, words: str, names: list[str]
) -> None:
    task = {"question": question, "about": "", "style": "concise", "listing": "", "evidence": evidence(text)}
    assert [one["text"] for one in answerer.answer(task, Within(words))["sentences"]] == names


@pytest.mark.parametrize("question", ["What does section 2.1 say?", "what does the quiet hours section say"])
def test_a_section_that_is_named_is_told_as_it_stands(question: str) -> None:
    said = "\n".join(asked(question, evidence(RULES)))
    assert "Nobody plays music after ten. Guests are told so." in said and "oven" not in said


def test_what_stands_below_the_heading_that_is_asked_about_is_told() -> None:
    (section,) = asked("What do the house rules say about quiet hours?", evidence(RULES))
    assert section == "2.1 Quiet hours\n\nNobody plays music after ten. Guests are told so."


def test_a_summary_has_something_of_each_section() -> None:
    said = "\n".join(asked("Summarise the house rules", evidence(RULES, title="House rules")))
    assert "Quiet hours" in said and "Nobody plays music" in said and "turns off the oven" in said


def test_the_edition_in_force_answers_and_changes_are_told_of_both() -> None:
    old = evidence("Tripods are allowed. Flash is not.", title="Photo policy, version 1", doc="v1")
    new = evidence("Tripods are not allowed. Flash is not.", title="Photo policy, version 2", doc="v2", first=2)
    assert asked("Are tripods allowed?", [*old, *new])[0] == "Tripods are not allowed."
    assert "Tripods are allowed." not in asked("Are tripods allowed?", [*old, *new])
    changed = asked("What changed in the photo policy?", [*old, *new])
    assert changed == ["Tripods are allowed.", "Tripods are not allowed."]


def test_a_year_in_the_question_picks_the_document_of_that_year() -> None:
    one = evidence("The museum had 41,300 visitors.", title="Report 2022", doc="r22")
    other = evidence("The museum had 52,110 visitors.", title="Report 2024", doc="r24", first=2)
    assert asked("How many visitors did the museum have in 2022?", [*one, *other]) == [
        "The museum had 41,300 visitors."
    ]


def test_a_list_of_something_else_is_not_counted() -> None:
    assert not any("in all" in said for said in asked("How many alternates does the team have?", evidence(FREEZERS)))


def test_only_what_is_planned_where_a_model_writes_the_rest() -> None:
    assert asked("When are the freezers checked?", evidence(FREEZERS), planned=True) == []
    assert asked("How many freezers does the lab have?", evidence(FREEZERS, title="Freezers"), planned=True)


RUNS = """# Runs

Run ID: 1; Outcome: Falls; Cases: 90; Share: 0.4
Run ID: 1; Outcome: Rosacea; Cases: 700; Share: 0.3
Run ID: 2; Outcome: Falls; Cases: 1; Share: 0.6
Run ID: 2; Outcome: Goitre; Cases: 900; Share: 0.2
"""


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Which outcome has the most cases in run 1?", ["Run ID: 1; Outcome: Rosacea; Cases: 700; Share: 0.3"]),
        ("Which outcome has the most cases?", ["Run ID: 2; Outcome: Goitre; Cases: 900; Share: 0.2"]),
        ("Which outcome has the fewest cases in run 2?", ["Run ID: 2; Outcome: Falls; Cases: 1; Share: 0.6"]),
    ],
)
def test_the_highest_is_that_of_the_rows_with_the_number_that_is_named(question: str, rows: list[str]) -> None:
    assert asked(question, evidence(RUNS, title="Runs")) == rows


def test_the_list_of_a_document_that_is_called_is_read() -> None:
    other = evidence(RUNS, title="Runs", doc="other")
    called = evidence(RUNS.replace("Rosacea", "Gout"), title="AppendixB", doc="called", first=5)
    for item in called:
        item["why"] = MENTIONED
    question = "In Appendix B, which outcome has the most cases in run 1?"
    assert asked(question, [*other, *called]) == ["Run ID: 1; Outcome: Gout; Cases: 700; Share: 0.3"]


RISKS = """# Risks of the mill

## Risk register

Risk ID: R-001; Asset: Mill; Owner: Ada

Risk ID: R-002; Asset: Saw; Owner: Ben

Risk ID: R-003; Asset: Kiln; Owner: Ada

## Risks that were accepted by the board

- Risk of dust, of which there are many
- Risk of noise, for all of the risks there
"""


def test_a_table_that_is_called_by_its_heading_is_counted() -> None:
    items = evidence(RISKS, title="Risks of the mill")
    (count,) = asked("How many risks are there in the risk register?", items)
    assert count.startswith("3 in all:") and "R-002" in count
    assert "R-002" in " ".join(asked("Which assets are in the risk register?", items))


ASHES = """# Samples of the mill

## Residues list

Class: Heavy metal salts of the furnace; Residue: Leadate; Sign: Pb
Class: Heavy metal salts of the furnace; Residue: Zincate; Sign: Zn
Class: Light oils of the press; Residue: Linoleate; Sign: Li"""


def test_rows_of_the_kind_that_is_counted_count() -> None:
    (count,) = asked("How many metal salts are among the residues of the mill?", evidence(ASHES))
    assert count.startswith("2 in all:") and "Linoleate" not in count
    (count,) = asked("How many residues are in the residues list?", evidence(ASHES))
    assert count.startswith("3 in all:")


NAMES = """# Protocol

## Authors and reviewers

Ada Berg, Epidemiology

Ben Holt, Statistics

Cleo Marsh, Pharmacy

Dan Reed, Cardiology
"""


@pytest.mark.parametrize(
    ("more", "count"),
    [
        ("\n## Sponsor\n\nHarbour Research pays for all of it.\n", 4),
        ("\nThey meet every month, and each of them has a vote in what is written here.\n", None),  # not all of it
    ],
)
def test_short_lines_below_a_heading_are_a_list_where_nothing_else_follows(more: str, count: int | None) -> None:
    listed = [one for one in enumerations(evidence(NAMES + more, title="Protocol")) if one.kind == "items"]
    assert [len(one.entries) for one in listed] == ([count] if count else [])


def test_how_many_in_a_column_of_numbers_is_said_by_the_rows() -> None:
    table = (
        "# Groups\n\nNew users of: Alpha; Harbour: 45,321; Mill: 78\nNew users of: Beta; Harbour: 14,802; Mill: 19\n"
    )
    assert asked("How many new users are there in Harbour?", evidence(table, title="Groups")) == [table[10:].strip()]
    rooms = "# Rooms\n\nRoom: Hall; House: Mill\nRoom: Loft; House: Mill\nRoom: Shed; House: Quay\n"
    (count,) = asked("How many rooms are in the house Mill?", evidence(rooms, title="Rooms"))
    assert count.startswith("2 in all")


CLAUSES = """# Abuse at the counter

## Standards

Any or all of the following may be decided by the board against somebody who abuses staff:

Denial of all services other than the right to vote;

Denial of entry to the house; or

Whatever else the bylaws allow, as the board sees fit.

Threats are told to the police.
"""


def test_clauses_below_a_lead_are_a_list_up_to_the_one_that_ends_it() -> None:
    (listed,) = [one for one in enumerations(evidence(CLAUSES, title="Abuse")) if one.kind == "items"]
    assert [entry.text.split()[0] for entry in listed.entries] == ["Denial", "Denial", "Whatever"]
    assert listed.lead is not None and listed.lead.text.startswith("Any or all")


def test_a_paragraph_that_ends_with_a_comma_below_no_lead_lists_nothing() -> None:
    letter = "# Letter\n\nDear members,\n\nThe hall is closed in May.\n\nYours,\n\nThe board\n"
    assert not [one for one in enumerations(evidence(letter, title="Letter")) if one.kind == "items"]


def test_a_column_of_which_the_question_gives_the_value_is_not_measured() -> None:
    table = "# Limits\n\n" + "".join(
        f"Rate: {rate}; Change: {change}; Least: {least}\n"
        for rate, change, least in (("+300", "-40%", "6%"), ("+100", "-20%", "10%"), ("-300", "-40%", "6%"))
    )
    question = "Which is the lowest limit if the rate goes up by 300?"
    assert "Rate: -300; Change: -40%; Least: 6%" not in asked(question, evidence(table, title="Limits"))[:1]


TOWERS = """# Towers of the army

## Army towers

Tower: Alm; Status of the army: Army
Tower: Bree; Status of the army: Army/Civil
Tower: Cove; Status of the army: Army/Civil
Tower: Dell; Status of the army: Army
Tower: Ebb; Status of the army: none"""


def test_a_value_that_the_table_is_called_by_picks_no_row_beside_another() -> None:
    (count,) = asked("How many of the army towers are shared with civil flights?", evidence(TOWERS))
    assert count.startswith("2 in all:") and "Alm" not in count
    (count,) = asked("How many towers are army or civil?", evidence(TOWERS))
    assert count.startswith("4 in all:")


COURSES = """# Courses

Course: Bread; Hours: 100; Length: 26 weeks
Course: Cakes; Hours: 82; Length: 52 weeks
Course: Knives; Hours: 120; Length: 61 weeks
Course: Soups; Hours: 40; Length: 4 weeks"""


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which plans were signed in 2024 or later?", {"Bay", "Cove"}),
        ("Which plans were signed after 2024?", {"Cove"}),
        ("Which plans were signed before 2024?", {"Ash"}),
    ],
)
def test_a_year_bounds_a_column_of_days(question: str, names: set[str]) -> None:
    plans = "# Plans\n\nPlan: Ash; Signed: 2023-12-31\nPlan: Bay; Signed: 2024-06-01\nPlan: Cove; Signed: 2025-01-02"
    said = " ".join(asked(question, evidence(plans)))
    assert {name for name in ("Ash", "Bay", "Cove") if name in said} == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which courses have a length of 52 weeks or more?", {"Cakes", "Knives"}),
        ("Which courses have a length of 52+ weeks?", {"Cakes", "Knives"}),
        ("Which courses have hours of 82 or less?", {"Cakes", "Soups"}),
        ("Which courses have at least 100 hours?", {"Bread", "Knives"}),  # of a column of bare numbers
    ],
)
def test_amounts_from_which_or_up_to_which_rows_count(question: str, names: set[str]) -> None:
    said = " ".join(asked(question, evidence(COURSES)))
    assert {name for name in ("Bread", "Cakes", "Knives", "Soups") if name in said} == names


REGISTER = """# Register of suppliers

## Active suppliers

### Cloud

Supplier: Vell; Tier: Critical; Site: Oslo
Supplier: Quay; Tier: Low; Site: Bern

### Payroll

Supplier: Mill; Tier: Critical; Site: Rome
Supplier: Dune; Tier: High; Site: Rome"""


def test_tables_of_the_same_columns_below_one_heading_are_one_register() -> None:
    said = " ".join(asked("Which active suppliers are critical?", evidence(REGISTER)))
    assert "Vell" in said and "Mill" in said and "Quay" not in said and "Dune" not in said


def test_some_rows_by_a_word_in_them_are_no_procedure() -> None:
    threats = "# Threats\n\n" + "".join(
        f"Threat: {n}; Target: {t}\n" for n, t in zip("ABCD", ("key", "door", "mail", "till"), strict=True)
    )
    said = asked("A key leaked, what do we do, step by step?", evidence(threats))
    assert said != ["Threat: A; Target: key"]


def test_a_slip_in_one_of_many_rows_leaves_the_column_measured() -> None:
    rows = "".join(f"Course: C{n}; Length: {n} {'weks' if n == 4 else 'weeks'}\n" for n in range(1, 31))
    (count,) = asked("How many courses have a length of more than 28 weeks?", evidence(f"# Courses\n\n{rows}"))
    assert count.startswith("2 in all:") and "C29" in count


PENALTIES = """# Bylaws

## Summary of penalties

Section: 10; Subject: Kennels; Penalty: first offense, $500; second offense, $1,000
Section: 20; Subject: Racks on the street; Penalty: $25 per day
Section: 30; Subject: Alarms; Penalty: $300"""


def test_the_highest_of_cells_with_several_amounts() -> None:
    (said,) = asked("What is the highest fine in the town's summary of penalties?", evidence(PENALTIES))
    assert "Kennels" in said
    (said,) = asked("What is the lowest fine in the town's summary of penalties?", evidence(PENALTIES))
    assert "Racks" in said


def test_one_heading_of_several_is_no_answer_to_a_list() -> None:
    sections = "# Baker\n\n## Skills of the baker\n\nBread and cake.\n\n## Aim\n\nWork.\n\n## Fees\n\nNone are due."
    said = asked("List all skills courses of the baker program", evidence(sections, title="Baker"))
    assert said != ["Skills of the baker"]
