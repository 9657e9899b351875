"""What site builders and note takers add to Markdown, read as a reader of the page sees it."""

import pytest

from graph.knowledge.loaders import dialects, load
from tests.support.cpu import seconds


def text(source: str) -> str:
    return load(source.encode(), "page.md").text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("A line that\nwas wrapped\nOwner: Ann", "A line that was wrapped Owner: Ann"),
        ("- an item that\n  was wrapped\n- two", "- an item that was wrapped\n- two"),
        ("Room 4  \nHigh Street<br>York", "Room 4\nHigh Street\nYork"),
        ("- one\n\n  more of it\n\n  - inner\n- two", "- one\n  more of it\n  - inner\n- two"),
        ("3. three\n4. four", "3. three\n4. four"),
        (
            "(to-rooms)=\n# Rooms\n\nSee {ref}`to-rooms` and {doc}`the plan <plans/1>`.",
            "# Rooms\n\nSee to-rooms and the plan.",
        ),
        ("```{note}\nKeep the **door** shut.\n```", "Note: Keep the door shut."),
        ("```{admonition} Doors\n:class: tip\nKeep it shut.\n```", "Note: Doors\n\nKeep it shut."),
        (
            ":::{warning} Mind the gap\n:class: x\nNobody stands there.\n:::",
            "Warning: Mind the gap\n\nNobody stands there.",
        ),
        ("```{tip}\n- one\n- two\n```", "Tip:\n\n- one\n- two"),
        ("```{figure} plan.png\nThe plan of the house.\n```", "The plan of the house."),
        ("```{code-block} python\nprint(2)\n```", "```\nprint(2)\n```"),
        ("```\n(a)=\n```", "```\n(a)=\n```"),
        ("{% include 'menu.html' %}\n\nText {{ page.title }} here.", "Text here."),
        ("{% if x %}Kept.{% endif %} {% comment %}gone{% endcomment %}", "Kept."),
        ("**Call {{ desk }}** now.", "Call now."),
        ("Call {{ desk | default('4400') }}.", "Call 4400."),
        ('See [the guide]({{ "/guide/" | url }}).', "See the guide."),
        ("{{< include _menu.qmd >}}\n\nText.", "Text."),
        ("Text about `{{ name }}` in code.", "Text about {{ name }} in code."),
        ("{% raw %}{{ name }}{% endraw %} is a tag.", "{{ name }} is a tag."),
        ("## Safety {#sec-safety .wide}\n\nText.", "# Safety\n\nText."),
        ("Press [Go](x.html){.button} and [this]{.underline}.", "Press Go and this."),
        ("Press ++ctrl+c++, ==now== :material-close: or :tada:.", "Press ctrl+c, now or ."),
        ("At 10:30: go, see std::io::Read.", "At 10:30: go, see std::io::Read."),
        ('--8<-- "menu.md"\n\nText.\n\n[TOC]', "Text."),
        ('!!! warning "Cold"\n\n    Wear gloves.\n\nNext.', "Warning: Cold\n\nWear gloves.\n\nNext."),
        ("!!! note\n    Wear gloves\n    and goggles.", "Note: Wear gloves and goggles."),
        ("- Open it.\n\n    ??? danger\n        Hot!\n- Close it.", "- Open it.\n  Danger: Hot!\n- Close it."),
        ("> [!TIP]\n> Ask first.", "Tip: Ask first."),
        ("::: {.callout-important}\n## Cold\nWear gloves.\n:::", "Important: Cold\n\nWear gloves."),
        ("::: tip\nAsk first.\n:::\n\n:::: {.column}\nText.\n::::", "Tip: Ask first.\n\nText."),
        ('=== "Linux"\n\n    Use apt.', "Linux:\n\nUse apt."),
        ("See {{ '[House rules]({}/rules)'.format(site) }}.", "See House rules."),
        ('```{block, type="box"}\nAsk **first**.\n```\n\nText.', "Ask first.\n\nText."),
        ("```{r}\n#| label: sum\n1 + 1\n```", "```\n1 + 1\n```"),
        ("Text.\n\n```{python}\n#| echo: false\nprint(1)\n```", "Text."),
        ("```{r setup, include=FALSE}\nlibrary(x)\n```\n\nText.", "Text."),
        ("- [ ] open\n- [x] done", "- open\n- done"),
        ("It is so.[^1] Yes.\n\n[^1]: In most cases.", "It is so. Yes.\n\nFootnote: In most cases."),
        ("*[HTML]: Hypertext Markup Language", "- HTML: Hypertext Markup Language"),
        ("Dewar\n:   A flask for cold liquids.\n\nMore.", "- Dewar: A flask for cold liquids.\n\nMore."),
        ("Use <mark>this</mark>, <kbd>Esc</kbd> and <your name>.", "Use this, Esc and <your name>."),
        ("[![build](b.svg)](ci) ![logo](l.png)\n\nText.", "Text."),
        ("![The pump stands left of the door.](p.png)", "The pump stands left of the door."),
        ("It was ~~five~~ six.", "It was six."),
        (
            "See <https://example.org/a> or https://example.org/b.",
            "See https://example.org/a or https://example.org/b.",
        ),
        ("- [One](#one)\n- [Two](#two)\n\n# One\n\nText.", "# One\n\nText."),
        ("# Guide\n\n- [Home](/)\n- [Rules](/rules)\n\nThis guide tells all of us how we work here.", None),
        ("Text.\n\n[Back to top](#top)", "Text."),
        ("Area 10 m<sup>2</sup>, as known<sup>3</sup>.", "Area 10 m^2, as known."),
        (
            "<table>\n<tr><th>Room</th><th>Key</th></tr>\n\n    <tr><td>B</td><td>7</td></tr>\n</table>",
            "Room: B; Key: 7",
        ),
    ],
)
def test_a_page_is_read_without_the_marks_of_its_builder(source: str, expected: str | None) -> None:
    assert text(source) == (expected or "# Guide\n\nThis guide tells all of us how we work here.")


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: 'The {{ x }}*guide*'\nnav: [a]\n---\n",
        "---\n  title: The guide\n  nav: [a]\n---\n",
        '+++\ntitle = "The guide"\n+++\n',
    ],
)
def test_front_matter_gives_the_title_and_no_text(front: str) -> None:
    document = load(f"{front}\n# Begin\n\nText.".encode(), "page.md")
    assert (document.title, document.text) == ("The guide", "# Begin\n\nText.")
    assert any("title" in entry for entry in document.hidden)


@pytest.mark.parametrize(
    "source",
    [
        "{# the secret words #}",
        "{% comment %}the secret words{% endcomment %}",
        "{% assign x = 'the secret words' %}",
        "{{ 'the secret words' }}",
        '{{< note "the secret words" >}}',
        "~~the secret words~~",
        "<!-- the secret words -->",
        '![the secret words](p.png "tip")',
    ],
)
def test_what_is_taken_out_is_still_looked_at(source: str) -> None:
    document = load(f"Text.\n\n{source}".encode(), "page.md")
    assert document.text == "Text." and any("the secret words" in entry for entry in document.hidden)


@pytest.mark.parametrize(
    "source",
    [
        "See {doc}`the plan <the secret words>`.",
        "```{note}\n:class: the secret words\nText.\n```",
        ":::{note}\n:class: the secret words\nText.\n:::",
    ],
)
def test_what_myst_leaves_out_is_still_looked_at(source: str) -> None:
    document = load(source.encode(), "page.md")
    assert "secret" not in document.text and any("the secret words" in entry for entry in document.hidden)


def test_code_is_left_as_it_is_written() -> None:
    code = "{{ value }}\n::: x\n!!! note\n- [ ] box :tada:"
    assert text(f"```yaml\n{code}\n```") == f"```\n{code}\n```"


def test_a_builder_fills_in_the_tags_inside_code_too() -> None:
    assert "<path>" in text("{% include 'a' %}\n\n```\ncd {{ settings.path }}\n```")


def test_much_of_everything_is_read_in_time() -> None:
    for piece in ("{{ ", "{% ", "[[", "`", "==a", "<a ", ":::\n", "!!! note\n", "[^", "++a", ":a", "{.a", "](a "):
        load(f"x {piece * 20_000}".encode(), "page.md")


def test_quarto_and_r_markdown_are_read_as_markdown() -> None:
    for name in ("page.qmd", "Chapter.Rmd"):
        assert load(b"# Safety {#sec}\n\nWear *gloves*.", name).text == "# Safety\n\nWear gloves."


def test_options_of_chunks_that_are_never_closed_are_read_in_linear_time() -> None:
    def spent(times: int) -> float:
        return seconds(lambda: dialects.common_markdown("```{r}\n" + "#| a\n" * times))

    assert spent(20_000) < 20 * max(spent(2_000), 0.001)


def test_links_of_a_wiki_are_read_by_their_words() -> None:
    source = (
        "See [[moss|the mosses]] and [[rain]]. Not [[1]](http://x.example), `[[ -f x ]]`, a[[1, 2]] or x[[i]].\n\n"
        "- ![[plan.png]] Ada leads [[Moss]]\n\n| Item | Use |\n|---|---|\n| [[soap-2\\|Soap]] | washing |\n"
    )
    text = load(source.encode(), "a.md").text
    assert "See the mosses and rain. Not [1], [[ -f x ]], a[[1, 2]] or x[[i]]." in text
    assert "- Ada leads Moss" in text and "Item: Soap; Use: washing" in text
