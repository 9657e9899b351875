"""How answers look: lists as lists, tables as tables, code as code, the numbers of the sources apart from the words."""

import io
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pypdfium2
import pytest
import typst
from markdown_it import MarkdownIt
from rich.console import Console

from graph.audit.markdown import drawn
from graph.audit.pdf import source_of, write_pdf
from graph.policy.answer import layout
from graph.policy.answer.layout import Code, Heading, Item, Listing, Paragraph, Table, Words
from graph.service.render import show_answer
from tests.support.looks import ANSWER


def terminal(answer: str, width: int = 80, *, tty: bool = True) -> str:
    out = io.StringIO()
    show_answer(answer, Console(file=out, width=width, soft_wrap=not tty, highlight=False))
    return re.sub(r" +$", "", out.getvalue(), flags=re.M)


def item(mark: str, text: str, *numbers: int) -> Item:
    return Item(mark, [Paragraph([Words(text, numbers)])])


def test_the_blocks_of_an_answer() -> None:
    first, steps, table, code, last = layout.blocks(ANSWER)
    assert first == Paragraph([Words("The kiln opens at nine.", (1,)), Words("Fire it in this order:", (2,), " ")])
    assert isinstance(steps, Listing) and [i.mark for i in steps.items] == ["1.", "2.", "3."]
    assert steps.items[1].blocks[1] == Listing([item("", "Leave 3 cm.")])
    assert steps.items[2] == item("3.", "Close the door.", 1)
    assert table == Table(
        ["Cone", "Temperature", "Hold"],
        [
            [Words("06"), Words("999 C"), Words("10 minutes", (1,))],
            [Words("6"), Words(""), Words("15 minutes | more", (2,))],
        ],
    )
    assert code == Code("if kilnctl status; then\n    kilnctl reset <port>\nfi", (1,))
    assert last == Paragraph([Words("Call [REDACTED] then.", (2,))])


def test_bullets_around_everything() -> None:
    (listing,) = layout.blocks(
        "- The glazes:\n  - celadon\n  - shino [1]\n- ```\n  if x:\n      y\n  ``` [2]\n- Last. [3]"
    )
    assert isinstance(listing, Listing) and len(listing.items) == 3
    assert listing.items[0].blocks[1] == Listing([item("", "celadon"), item("", "shino", 1)])
    assert listing.items[1].blocks == [Code("if x:\n    y", (2,))]


def test_a_lone_row_is_a_list_of_its_cells_where_it_is_long() -> None:
    assert layout.blocks("Cone: 6; Hold: 15 minutes [1]") == [Paragraph([Words("Cone: 6; Hold: 15 minutes", (1,))])]
    pairs = [item("", "Cone: 6"), item("", "Heat: 1222 C"), item("", "Hold: 15 minutes", 1)]
    assert layout.blocks("Cone: 6; Heat: 1222 C; Hold: 15 minutes [1]") == [Listing(pairs)]
    sentence = "There are three: a; the first: b; the last: c."
    assert layout.blocks(sentence) == [Paragraph([Words(sentence)])]


def test_numbers_that_do_not_follow_are_two_lists_and_a_year_is_none() -> None:
    two, four, year = layout.blocks("2. Two. [1] 4. Four. [2] 1986. It rained. [3]")
    assert two == Listing([item("2.", "Two.", 1)]) and four == Listing([item("4.", "Four.", 2)])
    assert year == Paragraph([Words("1986. It rained.", (3,))])


def test_a_heading_keeps_its_source() -> None:
    assert layout.blocks("## Storage [1] Cold. [2]") == [Heading(2, "Storage", (1,)), Paragraph([Words("Cold.", (2,))])]
    assert terminal("## Storage [1] Cold. [2]") == "Storage [1]\n\nCold. [2]\n"
    assert drawn(layout.blocks("## Storage [1]")) == "## Storage **[1]**"


def test_an_endless_list_within_lists_is_read() -> None:
    (listing,) = layout.blocks("- " * 5_000 + "x")
    assert isinstance(listing, Listing)


def test_in_the_terminal() -> None:
    said = terminal(ANSWER)
    assert "nine. [1]  Fire it" in said
    assert "2. Load the shelves.\n   • Leave 3 cm.\n3. Close the door. [1]\n" in said
    assert re.search(r"^Cone +Temperature +Hold$", said, re.M) and re.search(
        r"^6 +15 minutes \| more \[2\]$", said, re.M
    )
    assert "  if kilnctl status; then\n      kilnctl reset <port>\n  fi\n  [1]\n" in said and "`" not in said


def test_an_item_keeps_its_indent_and_a_wide_table_becomes_lines() -> None:
    assert terminal("1. One two three four five six seven.", 24) == "1. One two three four\n   five six seven.\n"
    rows = " ".join(f"{'; '.join(f'{name}: {n}' for name in 'ABCDEF')} [{n}]" for n in (1, 2))
    assert "A: 1\nB: 1\n" in terminal(rows, 40) and "F: 1 [1]\n\nA: 2\n" in terminal(rows, 40)


def test_on_a_pipe_nothing_is_cut_or_wrapped() -> None:
    long = "word " * 60
    said = terminal(f"{long}end. [1] A: {long}x; B: 1 [1] A: 2; B: {long}y [2]", tty=False)
    assert f"{long}end. [1]" in said and f"{long}x" in said and f"{long}y [2]" in said


def test_in_markdown() -> None:
    said = drawn(layout.blocks(ANSWER))
    assert "nine. **[1]** Fire it in this order: **[2]**\n\n1. Check" in said
    assert "2. Load the shelves.\n   - Leave 3 cm.\n3. Close" in said
    assert "| 06 | 999 C | 10 minutes **[1]** |\n| 6 |  | 15 minutes \\| more **[2]** |" in said
    assert "```\nif kilnctl status; then\n    kilnctl reset <port>\nfi\n```\n\n**[1]**" in said
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(said)
    assert (html.count("<li>"), html.count("<td>"), html.count("<pre>")) == (4, 6, 1)


@pytest.mark.parametrize("words", ["1986. It rained.", "> quoted", "+ more", "---", "***", "```"])
def test_words_of_a_document_open_nothing_in_markdown(words: str) -> None:
    html = MarkdownIt("commonmark", {"html": False}).render(drawn([Paragraph([Words(words)])]))
    assert html.startswith("<p>") and words.strip(">") in html.replace("&gt;", "")


def test_two_lists_stay_two_in_markdown() -> None:
    html = MarkdownIt().render(drawn(layout.blocks("2. Two. [1] 4. Four. [2]")))
    assert '<ol start="2">' in html and '<ol start="4">' in html


def test_in_the_pdf(tmp_path: Path) -> None:
    source = source_of(drawn(layout.blocks(ANSWER)), title="t", created="2026-01-31")
    assert "#enum(start: 1, " in source and "#list(" in source and "#table(columns: " in source
    assert '#raw("if kilnctl status; then\\n    kilnctl reset <port>\\nfi", block: true)' in source.replace("\n", "\\n")
    assert source.count('#cite("[1]")') == 4 and source.count('#cite("[2]")') == 3
    write_pdf(drawn(layout.blocks(ANSWER)), tmp_path / "a.pdf", title="t", created="2026-01-31")
    text = pypdfium2.PdfDocument(tmp_path / "a.pdf")[0].get_textpage().get_text_range()
    assert "1. Check the vent." in text and "kilnctl reset <port>" in text and "Cone: " not in text


def test_threads_write_pages_at_once_as_typst_alone_would(tmp_path: Path) -> None:
    texts = [f"# Kiln {n}\n\n{ANSWER}" for n in range(6)]
    created = "2026-01-02T03:04:05.000Z"
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda n: write_pdf(texts[n], tmp_path / f"{n}.pdf", title="Kiln", created=created), range(6)))
    for n, text in enumerate(texts):
        source = source_of(text, title="Kiln", created=created)
        assert (tmp_path / f"{n}.pdf").read_bytes() == typst.compile(source.encode())
