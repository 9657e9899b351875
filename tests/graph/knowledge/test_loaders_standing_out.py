"""Headings that nobody marked as such: short lines in bold or capitals, as most people write them."""

import io
from collections.abc import Iterable

import pytest
from docx import Document as new_docx

from graph.knowledge.document import Document
from graph.knowledge.loaders import load

TEXT = "The warden opens the gate at eight and closes it at ten."


def word(*paragraphs: str | tuple[str, ...]) -> Document:
    """A Word document of these paragraphs; a tuple is a text and how it looks."""
    file = new_docx()
    for one in paragraphs:
        text, *looks = (one,) if isinstance(one, str) else one
        run = file.add_paragraph(style="Heading 1" if "heading" in looks else None).add_run(text)
        run.bold, run.underline = "bold" in looks, "underlined" in looks
    stream = io.BytesIO()
    file.save(stream)
    return load(stream.getvalue(), "gate rules.docx")


def sections(document: Document) -> list[str]:
    return [block.section for block in document.blocks if block.kind == "heading"]


def markdown(*paragraphs: str, name: str = "gate rules.md") -> Document:
    return load("\n\n".join(paragraphs).encode(), name)


def test_lines_in_bold_and_capitals_head_the_text_below_them() -> None:
    read = word(("ABUSIVE GUESTS", "bold"), ("PURPOSE", "bold"), TEXT, ("DUTIES", "bold"), ("The Warden", "bold"), TEXT, ("Guests", "bold"), TEXT)  # fmt: skip
    assert read.title == "ABUSIVE GUESTS"
    assert sections(read) == [
        "ABUSIVE GUESTS",
        "ABUSIVE GUESTS > PURPOSE",
        "ABUSIVE GUESTS > DUTIES",
        "ABUSIVE GUESTS > DUTIES > The Warden",
        "ABUSIVE GUESTS > DUTIES > Guests",
    ]


def test_they_stand_below_the_headings_that_the_file_marks() -> None:
    read = word(("House rules", "heading"), ("The gate", "bold"), TEXT, ("Fees", "heading"), ("When due", "underlined"), TEXT)  # fmt: skip
    assert sections(read) == ["House rules", "House rules > The gate", "Fees", "Fees > When due"]


def test_of_the_lines_of_a_title_page_the_longest_is_the_title() -> None:
    read = word(("ANY MILL", "bold"), ("RULES OF THE GATE AND OF THE YARD", "bold"), ("October 28, 2014", "bold"), ("1. Scope", "bold"), TEXT)  # fmt: skip
    assert read.title == "RULES OF THE GATE AND OF THE YARD"
    assert read.text.startswith("ANY MILL\n\n# RULES OF THE GATE") and "October 28, 2014\n\n## 1. Scope" in read.text


@pytest.mark.parametrize(
    "line",
    [
        "Keep the gate shut.",
        "Note",
        "Important:",
        "Please bring these things with you:",
        "Warden: Jo Mill",
        "Table 4. Hours of the gate",
        "March 2023",
        "17",
        "warden@mill.example",
        "A line that is far too long to head anything, since it goes on and on until everybody has forgotten how it began",
    ],
)
def test_bold_lines_that_say_something_stay_text(line: str) -> None:
    assert sections(word(TEXT, (line, "bold"), TEXT)) == []
    assert sections(markdown(TEXT, f"**{line}**", TEXT)) == []


def test_a_bold_line_with_nothing_below_it_stays_text() -> None:
    assert sections(word(TEXT, ("The Warden", "bold"))) == []
    assert sections(markdown("# Gate", TEXT, "**The Warden**", "# Yard", TEXT)) == ["Gate", "Yard"]


def test_a_name_over_its_value_is_no_heading() -> None:
    assert sections(word(TEXT, ("Gate owner:", "bold"), "Jo Mill", TEXT)) == []
    assert sections(word(TEXT, ("Gate owner:", "bold"), TEXT)) == ["Gate owner:"]


def test_a_word_in_bold_within_a_line_heads_nothing() -> None:
    assert sections(markdown(TEXT, "**The Warden** has the key", TEXT)) == []


@pytest.mark.parametrize("name", ["gate.md", "gate.html"])
def test_bold_paragraphs_of_markdown_and_pages(name: str) -> None:
    text = {"gate.md": f"# Gate\n\n**Hours**\n\n{TEXT}\n\n**Keys:**\n\n- one\n- two\n", "gate.html": f"<h1>Gate</h1><p><b>Hours</b></p><p>{TEXT}</p><p><strong>Keys:</strong></p><ul><li>one</li><li>two</li></ul>"}[name]  # fmt: skip
    assert sections(load(text.encode(), name)) == ["Gate", "Gate > Hours", "Gate > Keys:"]


def numbered(items: Iterable[str]) -> list[str]:
    return [part for at, item in enumerate(items, 1) for part in (f"{at}. **{item}**", TEXT)]


def test_bold_numbered_lines_with_text_between_them_are_headings_and_a_list_of_them_stays_one() -> None:
    assert sections(markdown("# Gate", *numbered(["Scope", "Duties"]))) == ["Gate", "Gate > 1. Scope", "Gate > 2. Duties"]  # fmt: skip
    nested = markdown("# Gate", "1. **Duties**  \n   1. **The Warden**", TEXT)
    assert sections(nested) == ["Gate", "Gate > 1. Duties", "Gate > 1. Duties > 1. The Warden"]
    steps = markdown("# Gate", "1. **Open**\n2. **Sweep**\n3. **Close**", TEXT)
    assert sections(steps) == ["Gate"] and "1. Open\n2. Sweep\n3. Close" in steps.text


def test_a_bullet_of_wingdings_begins_an_item() -> None:
    file = new_docx()
    for text in ("sharp tools;", "open fire."):
        run = file.add_paragraph().add_run()
        sign = run._r.makeelement(
            "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}sym",
            {
                "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}font": "Wingdings",
                "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}char": "F09F",
            },
        )
        run._r.append(sign)
        run.add_tab()
        run.add_text(text)
    stream = io.BytesIO()
    file.save(stream)
    assert load(stream.getvalue(), "a.docx").text == "- sharp tools;\n- open fire."


@pytest.mark.parametrize(
    ("headings", "title"),
    [
        (["1. Scope", "2. Duties"], "gate rules"),
        (["Purpose", "Duties"], "gate rules"),
        (["I. Scope", "II. Duties"], "gate rules"),
        (["1. Scope", "Duties"], "1. Scope"),
        (["33. Gate policy", "33.1 Duties"], "33. Gate policy"),
        (["The gate", "1. Scope"], "The gate"),
        (["[NAME OF INSTITUTION]", "Gate"], "gate rules"),
        (["SAMPLE", "Gate"], "gate rules"),
        (["Sample gate policy", "Gate"], "Sample gate policy"),
        (["Your gate and you", "Gate"], "Your gate and you"),
    ],
)
def test_the_heading_of_the_first_part_is_no_title(headings: list[str], title: str) -> None:
    assert markdown(*(part for one in headings for part in (f"# {one}", TEXT))).title == title
