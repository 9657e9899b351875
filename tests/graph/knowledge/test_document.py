import json

import pytest

from graph.knowledge.document import Block, Document, to_markdown
from graph.knowledge.loaders import load
from graph.knowledge.loaders.build import TURN, Builder
from graph.policy.evidence import places

SAMPLE = """# Manual

Some words with * and _ and [a] and <b> and 1 > 0.

## Safety

- wear gloves
- wash hands
  - with soap

| Instrument | Room |
|---|---|
| SP8 | B-12 |

```
x = "```"

y
```

1\\. not a list
"""


def sample() -> Document:
    return load(SAMPLE.encode(), "manual.md")


def test_a_document_crosses_a_process_border_unchanged() -> None:
    document = load("# A é 漢\n\ntext\n\n<!-- no -->".encode(), "a.md")
    assert Document.from_json(document.to_json()) == document


@pytest.mark.parametrize(
    "change",
    [
        {"text": None},
        {"blocks": [[0, 999, "paragraph", None, None, None, ""]]},
        {"blocks": [[2, 1, "paragraph", None, None, None, ""]]},
        {"blocks": [[0, 2, "picture", None, None, None, ""]]},
        {"blocks": [[0, 2, "code", None, None, None, ""], [1, 3, "code", None, None, None, ""]]},
        {"blocks": [[0, 2, "code", "1", None, None, ""]]},
        {"blocks": [[0, 2, [], None, None, None, ""]]},
        {"hidden": "x"},
        {"more": 1},
    ],
)
def test_what_is_not_a_document_is_refused(change: dict[str, object]) -> None:
    fields = json.loads(Document("t", "text", (Block(0, 4, "paragraph"),), "text/plain").to_json())
    with pytest.raises((ValueError, TypeError)):
        Document.from_json(json.dumps({**fields, **change}))


def test_markdown_reads_back_to_the_same_text() -> None:
    document = sample()
    again = load(to_markdown(document).encode(), "manual.md")
    assert again.text.replace("- Instrument", "Instrument").split() == document.text.split()
    assert {block.section for block in again.blocks} == {block.section for block in document.blocks}


def test_markdown_makes_nothing_live() -> None:
    text = "see [x](http://evil.example) ![p](http://evil.example/p.png) <img src=x> `code`"
    document = load(text.encode(), "a.txt")
    written = to_markdown(document)
    assert "](" not in written.replace("\\]", "") and "<img" not in written.replace("\\<", "")
    assert load(written.encode(), "a.md").text == text


def test_an_empty_document_is_empty_markdown() -> None:
    assert to_markdown(Document("t", "", (), "text/plain")) == ""


def test_a_block_over_a_page_end_is_on_both_pages_and_the_text_has_no_mark() -> None:
    out = Builder(max_text=1_000)
    out.page = 3
    out.heading("Rules", 1)
    out.paragraph(f"The desk is open. It closes {TURN}at five. {TURN}Then nothing.", [4, 6])
    out.items([(0, f"- first{TURN}"), (0, "- second")], [7])
    out.row("A: 1", 12)
    document = Document.from_json(out.finish("a.pdf", "application/pdf").to_json())
    assert TURN not in document.text

    def pages(words: str) -> tuple[int | None, int | None, int | None]:
        at = document.text.index(words)
        return places.locate(None, places.written(document.places(0, len(document.text))), at, at + len(words))

    assert pages("Rules") == (3, 3, None)
    assert pages("The desk is open.") == (3, 3, None)
    assert pages("It closes at five.") == (3, 4, None)
    assert pages("at five. Then") == (4, 6, None)
    assert pages("first") == (6, 6, None)
    assert pages("second") == (7, 7, None)
    assert pages("A: 1") == (7, 7, 12)


def test_a_mark_of_a_page_end_in_a_file_says_nothing() -> None:
    document = load(f"One{TURN} two{TURN}three".encode(), "a.txt")
    assert TURN not in document.text
    assert document.turns == ()


def test_places_begin_where_the_part_begins() -> None:
    blocks = (Block(0, 10, "paragraph", page=1), Block(12, 30, "paragraph", page=2))
    document = Document("t", "x" * 30, blocks, "application/pdf", turns=((20, 3),))
    assert document.places(5, 30) == [(0, 1, None), (7, 2, None), (15, 3, None)]
    assert document.places(22, 30) == [(0, 3, None)]
