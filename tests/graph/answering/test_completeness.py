"""Answers from a part of what was asked for say so."""

from typing import Any

import pytest

from graph.answering.completeness import partial
from graph.policy.question.answer_type import all_of

LENDERS = (
    "# Lenders\n\nThe lenders are:\n\n- Ironworks Museum\n- Harbour Archive\n- Mill Society\n\nThey were asked in May."
)
PRICES = "# Fees\n\nRoom: Hall; Fee: 40\nRoom: Attic; Fee: 15\nRoom: Cellar; Fee: 25"


def passage(text: str, **other: Any) -> dict[str, Any]:
    item = {"n": 1, "chunk_id": "c", "doc_id": "d", "where": "private", "title": "", "section": "", "start": 0}
    return {**item, "edits": [], "withheld": 0, "text": text, **other}


def answered(question: str, text: str, *quotes: str) -> bool:
    sentences = [{"text": quote, "citations": [n]} for n, quote in enumerate(quotes, 1)]
    citations: list[dict[str, Any]] = [{"chunk_id": "c", "quote": quote} for quote in quotes]
    return partial(question, sentences, citations, [passage(text)])


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("List all lenders to the whale exhibition.", "list"),
        ("which countries can I not work from", "list"),
        ("What are our visual design principles?", "list"),
        ("How many lenders are there?", "count"),
        ("Which object has the highest insured value?", "extreme"),
        ("Of the rooms we rent, which is the cheapest?", "extreme"),
        ("Summarises the leave policy", "summary"),
        ("what did it cost altogether", "sum"),
        ("which cloud partners donate services to our projects", "list"),
        ("in which stages does a project still get bug fixes", "list"),
        ("what does the script do by default, step by step", "list"),
        ("our yearly talk - what topics should it touch on", "list"),
        ("Who was present at the meeting of 10 May?", "list"),
        ("tell me the ones we must answer within a day", "list"),
        ("in which year was the most money spent", "extreme"),
        ("what do the two add up to", "sum"),
        ("tl;dr of the lightning talks page?", "summary"),
        ("how many weeks of notice do I have to give?", None),
        ("What is the status of sample GS-21138?", None),
        ("Which brain atlas does the script use?", None),
        ("Which antivirus should we buy?", None),
        ("Which person handles the data?", None),
        ("Who is the director of the museum?", None),
        ("Which is the right form?", None),
        ("Which freezer holds the whole blood samples, and who may open it?", None),
        ("When does the library open?", None),
        ("What is the process for leave?", None),
        ("Which process is used for leave?", None),
    ],
)
def test_which_questions_need_all_of_it(question: str, kind: str | None) -> None:
    assert all_of(question) == kind


def test_a_list_is_partial_unless_all_of_it_is_cited() -> None:
    items = ("Ironworks Museum", "Harbour Archive", "Mill Society")
    assert answered("List all lenders.", LENDERS, *items[:2])
    assert not answered("List all lenders.", LENDERS, *items)
    assert not answered("List all lenders.", LENDERS, LENDERS.split("\n\n")[2])


def test_a_list_that_may_go_on_in_the_next_passage_is_partial() -> None:
    long = "# Lenders\n\n" + "\n".join(f"- Museum of the town number {n}, with its archive" for n in range(40))
    assert answered("List all lenders.", long, long[11:])
    assert not answered("List all lenders.", f"{long}\n\nThey were asked in May.", long[11:])


def test_a_list_told_in_one_sentence_is_whole() -> None:
    said = "The lenders are the Ironworks Museum, the Harbour Archive and the Mill Society."
    assert not answered("List all lenders.", said, said)
    assert answered("List all lenders.", said + " Others were asked.", said, "Others were asked.")


def test_a_row_is_no_count_and_no_highest() -> None:
    rows = PRICES.splitlines()[2:]
    assert answered("How many rooms are there?", PRICES, rows[0])
    assert answered("Which room has the highest fee?", PRICES, rows[1])
    assert not answered("Which room has the highest fee?", PRICES, rows[0])
    assert not answered("What is the fee of the hall?", PRICES, rows[0])
    assert answered("How many lenders are there?", LENDERS, "Mill Society lends object 110 for 7 months.")


@pytest.mark.parametrize(
    "stated", ["There are three rooms.", "All 1,200 rented rooms are listed.", "Rooms: 24; Year: 2024"]
)
def test_a_count_that_the_text_states_is_whole(stated: str) -> None:
    assert not answered("How many rooms are there?", stated, stated)
    assert answered("How many lenders are there?", stated, stated)


def test_a_summary_is_partial_unless_it_cites_every_passage_of_the_document() -> None:
    fees = passage(PRICES)
    more = passage("The cellar is closed in July.", n=2, chunk_id="e", start=len(PRICES) + 2)
    sentences, cited = [{"text": "Room: Hall; Fee: 40"}], [{"chunk_id": "c", "quote": "Room: Hall; Fee: 40"}]
    assert partial("Summarise the fees.", sentences, cited, [fees, more])
    assert partial("Summarise the fees.", sentences, cited, [fees | {"start": 900}])
    assert not partial("Summarise the fees.", sentences, cited, [fees])


def test_rows_beside_what_is_withheld_are_partial() -> None:
    rows = "\n".join(PRICES.splitlines()[2:])
    cited = [{"chunk_id": "c", "quote": rows}]
    for withheld in (0, 1):
        beside = passage("More rooms.", n=2, chunk_id="e", start=len(PRICES) + 2, withheld=withheld)
        assert partial("List all rooms.", [{"text": rows}], cited, [passage(PRICES), beside]) is bool(withheld)


def test_rows_are_no_count_though_numbers_stand_beside_the_words() -> None:
    rows = ["Room: A; Rented: 3", "Room: B; Rented: 5", "Room: C; Rented: 1"]
    assert answered("How many rooms are rented?", "\n".join(rows), *rows[:2])


@pytest.mark.parametrize(
    ("question", "text", "part"),
    [
        ("How many regular members are there?", "Up to two regular members can be elected.", True),
        ("How many members are there?", "The council has 12 members.", False),
        ("Which year had the most visitors?", "In 2024 there were 48,200 visitors.", True),
        ("Which year had the most visitors?", "The year with the most visitors was 2024.", False),
        ("What did the two trips cost altogether?", "The first trip cost 40 crowns.", True),
        ("What did the two trips cost altogether?", "The total was 90 crowns.", False),
    ],
)
def test_a_sentence_is_whole_only_where_it_speaks_of_all(question: str, text: str, part: bool) -> None:
    assert answered(question, text, text) == part
