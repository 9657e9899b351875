"""Sections that a question calls by number or name."""

import pytest

from graph.policy.question import named_section


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("What does section 2.1 say?", "2.1 Quiet hours"),
        ("what does Action Two require", "Action 2: Report"),
        ("What is in clause 4?", "4. Fees"),
        ("Summarise appendix B", "Appendix B: User agreement"),
        ("What does § 7 say?", "§ 7 Kündigung"),
        ("What is in 4.2.7 of bylaw 1?", "4.2.7. No member may hold two posts"),
        ("What does the Meetings section of the handbook say?", "Meetings"),
        ("What does the data protection section say?", "Data protection and privacy"),
        ("what does the part on night shifts say", "Night Shifts"),
        ("Summarise the section about the lost keys", "Lost keys"),
        ("What does the part on lost keys in Mill & Co's travel policy say?", "Lost keys"),
        ("What does the section on leave of the handbook cover?", "Leave"),
        ("What does the part on working in the field say?", "Working in the field"),
        ("What does the part on language in the communication rules say?", "Language"),
        ("What does the airspace page say under lateral separation?", "Lateral separation"),
    ],
)
def test_the_heading_that_is_called_fits(question: str, heading: str) -> None:
    named = named_section.find(question)
    assert named is not None and named.fits(heading)


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("What does section 2.1 say?", "2.11 Kitchen"),
        ("What does section 2.1 say?", "12.1 Kitchen"),
        ("What does action 2 require?", "Step 2: Report"),
        ("What does the Meetings section say?", "Seminars"),
        ("What does the part on night shifts say?", "Night trains"),
    ],
)
def test_others_do_not(question: str, heading: str) -> None:
    named = named_section.find(question)
    assert named is not None and not named.fits(heading)


@pytest.mark.parametrize(
    "question",
    ["Who is the head of section 3?", "When do the meetings begin?", "Is level 2 open?", "What is in version 2.1?"],
)
def test_a_question_about_something_in_a_section_calls_none(question: str) -> None:
    assert named_section.find(question) is None


@pytest.mark.parametrize(
    "question",
    [
        "Which READ code stands for a tumour of the liver in Appendix D?",
        "What is the smallest risk that analysis 10 of Appendix C can find?",
    ],
)
def test_a_question_for_something_in_it_calls_no_section(question: str) -> None:
    assert named_section.find(question) is None


def test_what_is_asked_about_is_a_section_where_a_heading_says_just_that() -> None:
    named = named_section.about("What does the page on the lab say about the whiteboards?")
    assert named is not None and named.fits("Whiteboards") and named.fits("4.2 Whiteboards")
    assert not named.fits("Whiteboards and chairs")
    assert named_section.about("What does the board say about it when somebody leaves, and who pays?") is None
    assert named_section.about("Who says about the whiteboards that they are old?") is None
