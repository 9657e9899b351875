import json

import pytest

from graph.knowledge.document import Block, Document, to_markdown
from graph.knowledge.loaders import load

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
