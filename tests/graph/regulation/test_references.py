"""What a text refers to, in the forms of the Union's drafting rules."""

import pytest

from evals import acts
from graph.knowledge.loaders.build import Builder
from graph.regulation import links, loader, reading
from graph.regulation.references import Context, find

HERE = {"article": "Article 14", "paragraph": "Article 14(3)", "divisions": {"Chapter": "III", "Section": "2"}}

CASES = [
    ("point (f) of Article 6(1)", ["Article 6(1)(f)"]),
    ("Article 6(1), first subparagraph, point (f)", ["Article 6(1)(f)"]),
    ("Articles 12 to 15 and 34", ["Article 12", "Article 13", "Article 14", "Article 15", "Article 34"]),
    ("Article 93(2) and (3)", ["Article 93(2)", "Article 93(3)"]),
    ("Article 9(2)(a), (b) or (c)", ["Article 9(2)(a)", "Article 9(2)(b)", "Article 9(2)(c)"]),
    ("paragraphs 1 and 2 of this Article", ["Article 14(1)", "Article 14(2)"]),
    ("Paragraph 1 shall not apply", ["Article 14(1)"]),
    ("points (a) to (c)", ["Article 14(3)(a)", "Article 14(3)(b)", "Article 14(3)(c)"]),
    ("point (d) of the first subparagraph of paragraph 1", ["Article 14(1)(d)"]),
    ("the second subparagraph of Article 49(1)", ["Article 49(1), second subparagraph"]),
    ("paragraph 1 and the second subparagraph thereof", ["Article 14(1)", "Article 14(1), second subparagraph"]),
    ("Article 40 and paragraph 2 of that Article", ["Article 40", "Article 40(2)"]),
    ("paragraph 5, and in that paragraph", ["Article 14(5)", "Article 14(5)"]),
    ("Section 1 of Chapter II", ["Chapter II, Section 1"]),
    ("this Chapter", ["Chapter III"]),
    ("this Section", ["Chapter III, Section 2"]),
    ("point 3 of Annex II", ["Annex II, point 3"]),
    ("the Annex", ["Annex"]),
    ("recitals 4 and (5)", ["Recital 4", "Recital 5"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names"), CASES)
def test_provisions_of_the_act(text: str, names: list[str]) -> None:
    found = find(text, Context(**HERE))  # type: ignore[arg-type]
    assert [spelt[0] for r in found for spelt in r.names] == names
    assert not any(r.elsewhere for r in found)


@pytest.mark.parametrize(
    "text",
    [
        "Article 263 TFEU",
        "Article 8(1) of the Charter",
        "Articles 12 to 15 of that Directive",
        "Article 7 and Article 8 of the Charter",
        "Article 16 thereof",
        "Chapter 2 of Title V of the TEU",
        "point (b) of Article 1(1) of Directive (EU) 2015/1535",
        "Article 5 of the Treaty on European Union, as set out in that Article",
        "Article 2 of the Annex to Commission Recommendation 2003/361/EC",
    ],
)
def test_provisions_of_other_acts_are_not_taken_for_this_one(text: str) -> None:
    assert all(r.elsewhere for r in find(text, Context(**HERE)))  # type: ignore[arg-type]


def test_a_paragraph_of_an_article_without_numbers_goes_by_its_place() -> None:
    (reference,) = find("Article 113(3), point (a)", Context(**HERE))  # type: ignore[arg-type]
    assert {"Article 113, third paragraph(a)", "Article 113(a)"} <= set(reference.names[0])


def test_ordinary_words_are_no_references() -> None:
    text = "a point of view, the contact point, one article of clothing, a section of the public, informed thereof"
    assert find(text, Context(**HERE)) == []  # type: ignore[arg-type]


def test_a_range_without_end_is_not_counted_out() -> None:
    assert len(find("Articles 1 to 9999", Context(**HERE))[0].names) < 10  # type: ignore[arg-type]


NASTY = {
    ("Article 2(3)", "paragraph 2"): ("condition", ["Article 2(2)"]),
    ("Article 4(1)(b)", "Section 2 of Chapter II"): ("refers", ["Chapter II, Section 2"]),
    ("Article 4(1), second subparagraph", "Point (h) of the first subparagraph"): ("exception", ["Article 4(1)(h)"]),
    ("Article 6(1)", "points 1 to 3 of the Annex"): ("refers", ["Annex, point 1", "Annex, point 2", "Annex, point 3"]),
    ("Article 6(3)", "Paragraphs 1 and 2"): ("exception", ["Article 6(1)", "Article 6(2)"]),
    ("Article 7", "Article 17(1) and (3)"): ("refers", ["Article 17(1)", "Article 17(3)"]),
    ("Article 8(1)(b)", "points (a) to (c) of Article 12(2)"):
        ("condition", ["Article 12(2)(a)", "Article 12(2)(b)", "Article 12(2)(c)"]),
    ("Article 10(1)", "Article 13(2), second subparagraph, point (b)"):
        ("condition", ["Article 13(2), second subparagraph, point (b)"]),
    ("Article 10(2)", "Paragraph 1"): ("exception", ["Article 10(1)"]),
    ("Article 11(2)", "that Article"): ("refers", ["Article 12"]),
    ("Article 12(2)(c)", "points (c) and (i) of Article 4(1)"): ("refers", ["Article 4(1)(c)", "Article 4(1)(i)"]),
    ("Article 12(3)", "paragraph 1"): ("exception", ["Article 12(1)"]),
    ("Article 12(3)", "Article 16"): ("condition", ["Article 16"]),
    ("Article 14", "this Chapter"): ("refers", ["Chapter II"]),
    ("Article 14", "Articles 12(2)(a), (b) and 13(1)"):
        ("refers", ["Article 12(2)(a)", "Article 12(2)(b)", "Article 13(1)"]),
    ("Article 17(2)", "Articles 4, 6, 10 to 12 and 13(2)"):
        ("refers", ["Article 4", "Article 6", "Article 10", "Article 11", "Article 12", "Article 13(2)"]),
    ("Annex, point 3", "Article 2(1), point (a)"): ("refers", ["Article 2(1)(a)"]),
}  # fmt: skip


def test_every_reference_of_the_invented_act_is_resolved_and_the_nasty_ones_rightly() -> None:
    out = Builder(max_text=10**6)
    loader.read(acts.as_text(acts.invented()).encode(), out, "text", "act.txt")
    placed = reading.units(out.finish("act.txt", "text/plain"))
    names: dict[str, int] = {}
    for at, one in enumerate(placed):
        names.setdefault(one.unit.name, at)
    found, unresolved = {}, []
    for at, reference, targets, sense in links.references(placed, names):
        said = placed[at].unit.text[reference.start : reference.end]
        found[placed[at].unit.name, said] = (sense, [placed[t].unit.name for t in targets])
        unresolved += [] if reference.elsewhere or targets else [said]
    assert unresolved == []
    assert {key: found.get(key) for key in NASTY} == NASTY
    assert found["Article 10(3)", "Articles 12 to 15"][1] == []  # of that Directive
    assert found["Recital 13", "that Article"][1] == []
