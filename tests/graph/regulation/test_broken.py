"""Acts that are not whole are reported and kept as far as they can be read; hostile ones stay cheap."""

import random
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from evals import acts
from graph.errors import DocumentError, Quarantined
from graph.knowledge.document import Document
from graph.knowledge.loaders import load
from graph.knowledge.sandbox import Limits, Parser
from graph.regulation import report, splitter
from graph.regulation.unit import Unit

ACT = acts.invented()


def act_of(document: Document) -> Any:
    plan = splitter.Plan(document, lambda text: len(text) // 4, size=500)
    vectors = np.eye(len(plan.parts), 8, dtype=np.float32)
    return plan.act("act", "0" * 64, [f"act_{n}" for n in range(len(plan.parts))], vectors)


def status(units: list[Unit]) -> dict[str, Any]:
    return report.status(act_of(load(acts.as_text(units).encode(), "act.txt", loader="graph.regulation.loader")))


def inside(article: int) -> set[str]:
    return {f"Article {article}", *(f"Article {article}({n})" for n in range(1, 9))}


def test_a_whole_act_has_nothing_to_report() -> None:
    found = status(ACT)
    assert found["complete"] and report.problems(found) == []


def test_missing_articles_and_recitals_are_named() -> None:
    left = [u for u in ACT if not u.name.startswith(("Article 7", "Article 8", "Recital 12", "Recital 13"))]
    found = status(left)
    assert report.problems(found)[:2] == ["Article 7-8 missing", "Recital 12-13 missing"]
    assert not found["complete"]


def test_an_article_printed_twice_and_one_out_of_order_are_named() -> None:
    five = [u for u in ACT if u.name in inside(5)]
    at = next(n for n, u in enumerate(ACT) if u.name == "Article 16")
    found = status([*ACT[:at], *five, *ACT[at:]])
    assert found["article_gaps"]["doubled"] == [5]
    assert found["article_gaps"]["out_of_order"] == [5]
    reordered = [u for u in ACT if u not in five]
    at = next(n for n, u in enumerate(reordered) if u.name == "Article 16")
    found = status([*reordered[:at], *five, *reordered[at:]])
    assert found["article_gaps"] == {"missing": [], "doubled": [], "out_of_order": [5]}
    assert found["articles"] == 20


def test_a_missing_paragraph_is_named() -> None:
    found = status([u for u in ACT if u.name != "Article 12(2)" and not u.name.startswith("Article 12(2)(")])
    assert found["parts_missing"] == ["Article 12(2)"]


def test_an_act_that_breaks_off_is_said_to() -> None:
    at = next(n for n, u in enumerate(ACT) if u.name == "Article 15(2)")
    found = status(ACT[:at])
    assert report.problems(found) == ["no final clause and no signature: the end may be missing"]
    assert not found["complete"]


def test_missing_pages_leave_what_is_readable() -> None:
    import pypdfium2

    whole = pypdfium2.PdfDocument(acts.as_pdf(ACT))
    part = pypdfium2.PdfDocument.new()
    part.import_pages(whole, [0, *range(2, len(whole))])
    from io import BytesIO

    buffer = BytesIO()
    part.save(buffer)
    found = report.status(act_of(load(buffer.getvalue(), "act.pdf", loader="graph.regulation.loader")))
    assert not found["complete"]
    assert report.problems(found)
    assert 10 < found["articles"] + found["recitals"] < 51


def test_a_scan_without_text_is_refused_with_advice() -> None:
    from io import BytesIO

    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    picture = BytesIO()
    Image.new("L", (8, 8), 128).save(picture, "PNG")
    buffer = BytesIO()
    canvas = Canvas(buffer)
    for _ in range(3):
        canvas.drawImage(ImageReader(picture), 0, 0, 500, 700)
        canvas.showPage()
    canvas.save()
    with pytest.raises(Quarantined) as refused:
        load(buffer.getvalue(), "scan.pdf", loader="graph.regulation.loader")
    assert refused.value.reason == "scanned" and "OCR" in refused.value.hint


HOSTILE = {
    "points in points": "Article 1\n" + "".join(f"({'ai1'[n % 3]}) x:\n" for n in range(20_000)),
    "one long sentence of references": "Article 1\n1. " + "Articles 1 to 9999 and " * 30_000 + ".",
    "marks and nothing else": "Article 1\n" + "(a)\n" * 60_000,
    "articles": "".join(f"Article {n}\n" for n in range(1, 40_000)),
    "the same article": "Article 1\n1. x.\n" * 12_000,
    "a list without an end": "Article 1\n1. points " + "(a), " * 60_000 + ".",
    "a sentence without an end": "Article 1\n1. x\n\n" + "y\n\n" * 100_000,
    "front matter": "REGULATION (EU) 1/2030\n\n" + "x y,\n\n" * 40_000 + "Article 1\n1. x.",
    "this chapter": "CHAPTER I\nX\nArticle 1\nY\n" + "".join(f"{n}. this Chapter applies.\n" for n in range(1, 8_000)),
    "footnotes": "Article 1\n1. "
    + "".join(f"Council ({n}) x " for n in range(1, 4_000))
    + ".\n\n"
    + "".join(f"({n}) OJ C {n}, 1.1.2000, p. 1.\n\n" for n in range(1, 4_000)),
    "no space": "Article 1\n1. " + "a" * 1_000_000,
    "open quotes": "Article 1\nDefinitions\n" + "(1) ‘" * 50_000,
    "chapters": "Article 1\nx.\n" + "CHAPTER I\n" * 20_000,
    "hyphens": "Article 1\n1. " + "a-\n" * 100_000,
    "brackets": "Article 1\n1. Article 1" + "(1)" * 100_000,
    "or": "(1) " + "and or to " * 100_000 + "\nArticle 1\n1. " + "paragraph 1 or " * 40_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_time_in_proportion(name: str) -> None:
    """Half of it and all of it: parsing and building the graph must not take four times as long."""
    text = HOSTILE[name]
    spent = []
    for part in (text[: len(text) // 2], text):
        begun = time.process_time()
        with suppress(DocumentError):
            act_of(load(part.encode(), "act.txt", loader="graph.regulation.loader"))
        spent.append(time.process_time() - begun)
    assert spent[1] < 20
    assert spent[1] < 3.2 * spent[0] + 1.5, spent


def test_a_huge_act_is_stopped_by_the_sandbox() -> None:
    text = "".join(f"Article {n}\n1. {'x ' * 200}.\n" for n in range(1, 3_000)).encode()
    with Parser(Limits(max_text=100_000)) as parser, pytest.raises(Quarantined) as refused:
        parser.parse_bytes(text, "act.txt", loader="graph.regulation.loader")
    assert refused.value.reason == "oversize"


def test_garbled_acts_never_crash() -> None:
    lines = acts.as_text(ACT).split("\n\n")
    rng = random.Random(7)
    for _ in range(40):
        mixed = rng.sample(lines, k=rng.randrange(2, len(lines)))
        text = "\n".join(line[: rng.randrange(0, len(line) + 1)] for line in mixed)
        try:
            act_of(load(text.encode(), "act.txt", loader="graph.regulation.loader"))
        except DocumentError as error:
            assert error.reason in ("broken", "empty")
