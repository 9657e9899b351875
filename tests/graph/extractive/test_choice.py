"""What is quoted for which kind of question, with a reader that is told what answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from graph.extractive import answerer, candidates, choice, reader
from graph.extractive.candidates import leaves
from graph.extractive.units import units

FIRE = """## Fire in the magnet room

Stay calm.

1. Call the internal fire service.
2. Press the red button.
3. Take the subject out.

## Leave

Staff have 25 days of leave a year. Interns have 12 days of leave a year. The canteen is open until three."""


class Told:
    """Gives each passage that holds one of the words 4, every other one -6."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def scores(self, question: str, passages: Sequence[reader.Passage]) -> np.ndarray:
        return np.array([4.0 if any(w in text for w in self.words) else -6.0 for _, text in passages], np.float32)


def asked(question: str, *words: str, text: str = FIRE, style: str = "concise") -> list[str]:
    item: dict[str, Any] = {"n": 1, "text": text, "title": "Handbook", "section": "", "score": 0.5, "start": 0}
    item |= {"where": "private", "doc_id": "handbook", "edits": [], "filename": "handbook.md"}
    task = {"question": question, "about": "", "style": style, "listing": "", "evidence": [item]}
    return [said["text"] for said in answerer.answer(task, Told(*words))["sentences"]]


def test_a_fact_is_one_sentence() -> None:
    assert asked("How many days of leave do staff have?", "Staff have") == ["Staff have 25 days of leave a year."]


def test_what_to_do_is_the_procedure_under_its_heading() -> None:
    (said,) = asked("What do I do if there is a fire?", "Call", "Press", "Take")
    assert said.splitlines()[-3:] == [
        "1. Call the internal fire service.",
        "2. Press the red button.",
        "3. Take the subject out.",
    ]
    assert "#" not in said and "leave" not in said


def test_a_procedure_does_not_end_in_the_midst_of_a_list() -> None:
    steps = [f"Step {name}: " + "move the tray to the next place and look at the lamp, " * 4 for name in "ABCDE"]
    text = "## Trays\n\nMove them so:\n\n" + "\n".join(f"- {step}" for step in steps)
    (said,) = asked("How do I move the trays?", "Step", text=text)
    assert "Step A" in said and "Step E" in said


def test_what_a_page_announces_is_no_procedure() -> None:
    text = (
        "# Accounts\n\nThis page explains how to get an account.\n\n## Ask for it\n\n1. Open the form of the desk.\n"
        "2. Choose the account that you want.\n3. Wait a day.\n"
    )
    (said,) = asked("How do I get an account?", "explains", "Choose", text=text)
    assert said.startswith("1. Open the form of the desk.") and "explains" not in said
    assert asked(
        "How do I get an account?", "explains", text="# Accounts\n\nThis page explains how to get an account."
    ) == [
        "This page explains how to get an account."  # where nothing else is there
    ]


def test_what_introduces_items_is_said_once_though_passages_overlap() -> None:
    text = "To travel, go on as follows:\n\n1. Ask the desk for leave.\n2. Book the train with the desk."
    chosen = [
        candidates.Candidate(n, unit, text[unit.start : unit.end], frozenset(), "")
        for n, unit in enumerate((part for whole in units(text) for part in leaves(whole) if part.lead), 1)
    ]
    said = [quote for _, quote in choice.quotes(chosen, {1: text, 2: text}, 1)]
    assert len(said) > 1 and sum("as follows" in quote for quote in said) == 1


def test_a_comparison_is_a_statement_for_each_side() -> None:
    said = asked("Is the leave of staff longer than the leave of interns?", "Staff have", "Interns have")
    assert said == ["Staff have 25 days of leave a year.", "Interns have 12 days of leave a year."]


def test_a_row_of_something_else_does_not_stand_beside_the_one_that_is_named() -> None:
    oven = """# Ovens

Oven: North; Supplier: Vell; Cleaned: 4 May by the day shift; Room: dry kiln behind the yard
Oven: South; Supplier: Vell; Cleaned: 9 June at night; Place: cellar of building seven"""
    north = "".join(asked("When was the north oven cleaned?", "North", "South", text=oven))
    assert "4 May" in north and "9 June" not in north
    both = "".join(asked("When was the oven of Vell cleaned?", "North", "South", text=oven))
    assert "4 May" in both and "9 June" in both


def test_nothing_is_quoted_when_nothing_answers() -> None:
    assert asked("How many days of leave do visitors have?", "nothing of this") == []


@pytest.mark.parametrize("text", ["", "## Only a heading", "Really?"])
def test_what_says_nothing_is_not_quoted(text: str) -> None:
    assert asked("Really?", "Really", text=text) == []


def test_the_shipped_reader_puts_the_answer_first() -> None:
    assert reader.FILE.stat().st_size < 6_000_000
    passages = [("Leave", "Interns have 12 days of leave a year."), ("Canteen", "The canteen is open until three."),
                ("Purchasing", "Orders above 500 euros need two offers.")]  # fmt: skip
    for question, first in (("how many days off do interns get", 0), ("When does the canteen close?", 1)):
        scores = reader.shared().scores(question, passages)
        assert int(scores.argmax()) == first
        alone = [float(reader.shared().scores(question, [passage])[0]) for passage in passages]
        assert np.allclose(scores, alone, atol=1e-3)  # whatever is read beside it
    assert reader.shared().scores("anything", []).shape == (0,)


def test_code_keeps_its_fences_and_a_list_its_first_mark() -> None:
    text = "## Backup\n\nRun this:\n\n```\n# all of it\nfor d in a b; do\n    tar cf $d.tar $d\ndone\n```\n\nThen look at the log."
    (said,) = asked("How do I make a backup?", "Run", "tar", "look", text=text)
    assert said == text.partition("\n\n")[2]
    assert asked("What does the tar line do?", "tar cf", text=text) == [
        "Run this:\n\n```\n# all of it\nfor d in a b; do\n    tar cf $d.tar $d\ndone\n```"
    ]
    text = "## Store\n\n- gloves of nitrile\n- coats of cotton\n"
    (said,) = asked("What items are in the store?", "gloves", "coats", text=text)
    assert said == "- gloves of nitrile\n- coats of cotton"


@pytest.mark.parametrize("piece", ["7", "[13]", "https://lab.example/a"])
def test_a_piece_without_words_is_no_sentence(piece: str) -> None:
    page = f"Staff have 25 days of leave a year.\n\n{piece}\n\nInterns have fewer."
    assert asked("How many days of leave do staff have?", piece, text=page) == []


@pytest.mark.parametrize("text", ["The rooms with a hood are:\n\n- 12\n- 14", "Where to ask:\n\nhttps://lab.example/a"])
def test_a_number_or_an_address_is_quoted_below_what_it_is_of(text: str) -> None:
    assert text.split()[-1] in "".join(asked("Which rooms have a hood, where to ask?", "12", "https", text=text))


def test_what_is_of_another_year_than_the_one_asked_about_is_left_out() -> None:
    text = "In 2022 there were 41 visitors.\n\nIn 2023 there were 47 visitors.\n\nVisitors came by train."
    assert asked("How many visitors were there in 2023?", "47", "41", text=text) == ["In 2023 there were 47 visitors."]


def test_how_much_is_allowed_answers_whether_so_much_is() -> None:
    text = "Staff carry 28 bags on a trip.\n\nUp to 6 bags may be carried by a guest."
    item: dict[str, Any] = {"n": 1, "text": text, "title": "Trips", "section": "", "score": 0.5, "start": 9}
    item |= {"filename": "trips.md", "doc_id": "trips"}
    best, _ = candidates.score("May a guest carry 8 bags?", [item], Told("bags"))
    assert best.text == "Up to 6 bags may be carried by a guest."
    best, _ = candidates.score("How many bags does staff carry on a trip?", [item], Told("bags"))
    assert best.text == "Staff carry 28 bags on a trip."


def test_the_head_of_a_function_answers_questions_about_code_alone() -> None:
    text = "deaths_on_record(since=None, returning='number')\n\nThe deaths on record go back to May 2019."
    assert asked("Since when are deaths on record?", "deaths", text=text) == [
        "The deaths on record go back to May 2019."
    ]
    assert "returning" in "".join(asked("Which parameters has deaths_on_record()?", "since", text=text))


def test_carry_and_carried_are_one_word() -> None:
    assert candidates.folded_stems("carry policies") == candidates.folded_stems("carried policy")


class Unsure(Told):
    """Thinks little of what holds none of the words, and nothing of the rest."""

    def scores(self, question: str, passages: Sequence[reader.Passage]) -> np.ndarray:
        return super().scores(question, passages) * 0.3


@pytest.mark.parametrize(("post", "said"), [("director", 0), ("keeper", 1)])
def test_who_holds_a_post_is_not_answered_by_a_place_without_it(post: str, said: int) -> None:
    item: dict[str, Any] = {"n": 1, "text": "The keeper of the museum is Mia.", "title": "House", "section": ""}
    item |= {"score": 0.45, "start": 9, "where": "private", "doc_id": "h", "edits": [], "filename": "h.md"}
    task = {"question": f"Who is the {post} of the museum?", "about": "", "style": "concise", "listing": ""}
    reply = answerer.answer({**task, "evidence": [item]}, Unsure("never"))
    assert len(reply["sentences"]) == said


def test_a_question_that_is_a_title_is_about_the_document() -> None:
    item: dict[str, Any] = {"n": 1, "text": "Shoes stay at the door. Study leave is for study.", "title": "Study leave"}
    item |= {
        "section": "",
        "score": 0.5,
        "start": 0,
        "where": "private",
        "doc_id": "h",
        "edits": [],
        "filename": "h.md",
    }
    task = {"question": "Study leave?", "about": "", "style": "concise", "listing": "", "evidence": [item]}
    assert answerer.answer(task, Told())["sentences"] == []
    said = answerer.answer(task, Told("Study", "Shoes"))["sentences"]
    assert said[0]["text"] == "Shoes stay at the door."  # its opening first


PLANS = """## Plans

Aspect: open on Sunday; Basic plan: no; Team plan: yes
Aspect: storage; Basic plan: 5 GB; Team plan: 50 GB
Aspect: support; Basic plan: by mail; Team plan: by phone

The Team plan is the most used of all. The Basic plan was made in May."""


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between the Basic and the Team plan?",
        "How does the Basic plan differ from the Team plan in storage?",
    ],
)
def test_two_columns_of_a_table_are_compared_by_all_of_its_rows(question: str) -> None:
    quotes = asked(question, "storage", "most used", text=PLANS)
    assert [quote.split(";")[0] for quote in quotes] == ["Aspect: open on Sunday", "Aspect: storage", "Aspect: support"]


def test_another_document_than_the_one_called_by_its_code_says_nothing_beside_it() -> None:
    def item(n: int, code: str, text: str, why: str = "") -> dict[str, Any]:
        of = {"title": "Directive", "filename": f"bod-{code}.md", "where": "private", "doc_id": code, "why": why}
        return {"n": n, "text": text, "section": "", "score": 0.5, "start": 0, "edits": [], **of}

    evidence = [
        item(1, "17-01", "It was released on 2 May."),
        item(2, "20-01", "It was released on 1 March.", "the document asked for"),
        item(3, "22-01", "BOD 20-01 was released in spring."),
    ]
    best, *others = candidates.score("When was BOD 20-01 released?", evidence, Told("released"))
    assert best.n == 2 and "20-01" in best.path
    behind = {one.n: best.score - one.score for one in others}
    assert behind[1] > choice.BESIDE > behind[3]


def test_what_stands_in_the_document_called_by_its_code_is_read_before_all_else() -> None:
    item: dict[str, Any] = {"section": "", "start": 0, "edits": [], "where": "private", "title": "Directive"}
    many = " ".join(f"The directive was released on day {n} by the office." for n in range(40))
    evidence = [
        item | {"n": 1, "text": many, "score": 0.9, "doc_id": "a", "filename": "bod-17-01.md"},
        item | {"n": 2, "text": "Out on 1 March.", "score": 0.2, "doc_id": "b", "filename": "bod-20-01.md"},
    ]
    evidence[1]["why"] = "the document asked for"
    best, *_ = candidates.score("When was the directive BOD 20-01 released by the office?", evidence, Told("1 March"))
    assert best.n == 2 and best.read == 4.0


def test_a_code_that_names_no_document_changes_nothing_of_it() -> None:
    item: dict[str, Any] = {"section": "", "start": 0, "edits": [], "where": "private", "score": 0.5}
    evidence = [
        item | {"n": 1, "text": "It covers GPT-5.", "title": "AI policy", "filename": "ai.md", "doc_id": "a"},
        item | {"n": 2, "text": "Staff may use it.", "title": "Tools", "filename": "tools.md", "doc_id": "b"},
    ]
    evidence[0]["why"] = "the document asked for"
    plain = {one.n: one for one in candidates.score("What does the AI policy say of GPT?", evidence, Told("may"))}
    coded = {one.n: one for one in candidates.score("What does the AI policy say of GPT-4?", evidence, Told("may"))}
    assert coded[1].path == "AI policy"
    assert coded[2].score == plain[2].score


LINES = """# Callsigns

Code: ALF; Name: NORTHWIND; Line: Alfa; Home: Port Ada
Code: BRV; Name: SEAGULL; Line: Port Ada Ferries; Home: Port Ada
Code: CHL; Name: LANTERN; Line: Charlie; Home: Mill Bay"""


class Prefers(Told):
    """Thinks the first of the words a little better than the others."""

    def scores(self, question: str, passages: Sequence[reader.Passage]) -> np.ndarray:
        first = np.array([self.words[0] in text for _, text in passages], np.float32)
        return np.asarray(super().scores(question, passages) + 2.5 * first)


def test_the_row_with_more_of_the_words_stands_alone() -> None:
    item: dict[str, Any] = {"n": 1, "text": LINES, "title": "Lines", "section": "", "score": 0.5, "start": 9}
    item |= {"filename": "lines.md", "doc_id": "lines"}
    question = "Which name has Port Ada Ferries?"
    found = candidates.score(question, [item], Prefers("NORTHWIND", "SEAGULL"))
    assert "NORTHWIND" in found[0].text
    ((_, said),) = choice.choose(question, found, {1: LINES}, "concise")
    assert "SEAGULL" in said and "NORTHWIND" not in said


def test_a_row_that_is_called_by_its_first_cell_is_asked_about_alone() -> None:
    said = "".join(asked("How should BRV come in?", "Code", text=LINES))
    assert "SEAGULL" in said and "LANTERN" not in said


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How long is phase 2?", "In phase 2 the samples rest for nine days."),
        ("How long is phase 3?", "Phases 1-4 take nine days in all."),
        ("How long is GATE 2 open?", "GATE 2: nine hours."),
    ],
)
def test_what_is_of_another_number_stands_behind(question: str, first: str) -> None:
    text = "In phase 1 the samples rest for nine days.\n\nGATE 1: nine hours.\n\n" + first
    item: dict[str, Any] = {"n": 1, "text": text, "title": "Trial", "section": "", "score": 0.5, "start": 9}
    item |= {"filename": "trial.md", "doc_id": "trial"}
    assert candidates.score(question, [item], Told("nine"))[0].text == first


def test_sentences_with_other_numbers_are_no_repetition() -> None:
    text = (
        "# Honours\n\nFor plain honours a student has an average of 90 and no grade below 60.\n\n"
        "For full honours a student has an average of 90 and no grade below 90."
    )
    said = "".join(asked("What is the difference between plain honours and full honours?", "honours", text=text))
    assert "below 60" in said and "below 90" in said
