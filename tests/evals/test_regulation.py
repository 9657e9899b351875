"""The GDPR from its official PDF, where the evaluation data is; and the data of the suite itself."""

import json
from collections import Counter
from pathlib import Path

import pytest

from evals import acts, material, oracle
from evals.material import data_directory
from evals.suites import regulation
from graph.errors import BadInput
from graph.knowledge.loaders import load
from graph.knowledge.loaders.build import Builder
from graph.regulation import from_pdf, links, reading, structure
from graph.regulation.unit import Unit

DATASETS = material.DATASETS
# Units of which the second copy has other words than the official PDF, and what the PDF says there.
SLIPS = {
    "Article 2(2)": "within the scope of Chapter 2 of Title V of the TEU",
    "Article 12(5)": "Information provided under Articles 13 and 14",
    "Article 45(5)": "procedure referred to in Article 93(3)",
    "Article 53(1)": "— their parliament;",
    "Recital 19": "Directive (EU) 2016/680",
    "Recital 41": "the Court of Justice of the European Union (the ‘Court of Justice’)",
    "Recital 55": "laid down by constitutional law or by international public law",
    "Recital 73": "restrictions concerning specific principles and the rights of information",
    "Recital 80": "with regard to its obligations under this Regulation",
    "Recital 115": "may be the case, inter alia, where disclosure",
    "Recital 127": "supervisory authorities concerned",
    "Recital 136": "by a two-thirds majority of its members",
    "Recital 143": "laid down in Article 263 TFEU",
    "Recital 150": "criteria for setting the related administrative fines",
    "Recital 151": "misdemeanour procedure",
}


@pytest.fixture(scope="module")
def folder() -> Path:
    try:
        return data_directory() / "regulation"
    except BadInput as error:
        pytest.skip(f"the GDPR's PDF is not here: {error}")


@pytest.fixture(scope="module")
def gdpr(folder: Path) -> list[Unit]:
    return structure.parse(from_pdf.read((folder / regulation.PDF).read_bytes(), Builder(max_text=10**7)))[1]


def test_99_articles_173_recitals_11_chapters_15_sections(gdpr: list[Unit]) -> None:
    kinds = Counter(u.kind for u in gdpr)
    assert (kinds["article"], kinds["recital"], kinds["annex"]) == (99, 173, 0)
    last = [u.path.rpartition(", ")[2] for u in gdpr if u.kind == "division"]
    assert sum(d.startswith("Chapter") for d in last) == 11
    assert sum(d.startswith("Section") for d in last) == 15
    assert [u.name for u in gdpr if u.kind == "article"] == [f"Article {n}" for n in range(1, 100)]
    assert [u.name for u in gdpr if u.kind == "recital"] == [f"Recital {n}" for n in range(1, 174)]
    names = Counter(u.name for u in gdpr if u.kind not in ("front", "signature", "article"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_unit_is_that_of_the_second_copy_but_for_its_own_slips(gdpr: list[Unit], folder: Path) -> None:
    found = oracle.compare(gdpr, oracle.rows(folder))
    assert found["absent"] == []
    assert set(found["differ"]) == SLIPS.keys()
    mine = oracle.paragraphs(gdpr)
    for name, said in SLIPS.items():
        key = ("0", name.split()[1]) if name.startswith("R") else tuple(name.split()[1].rstrip(")").split("("))
        assert acts.fold(said) in acts.fold(mine[key]), name  # type: ignore[index]


@pytest.mark.parametrize("form", ["text", "text, marks alone", "EUR-Lex HTML", "simple HTML"])
def test_other_forms_give_the_same_units(gdpr: list[Unit], form: str) -> None:
    assert acts.differences(regulation.forms(gdpr, pdf=False)[form], gdpr) == []


def test_pages_are_those_of_the_journal(gdpr: list[Unit]) -> None:
    pages = {u.name: u.page for u in gdpr}
    assert (pages["Recital 1"], pages["Article 1(1)"], pages["Article 33(1)"], pages["Article 99(2)"]) == (
        1,
        32,
        52,
        87,
    )


def test_every_pair_of_articles_of_the_second_copy_is_an_edge_and_every_reference_resolves(folder: Path) -> None:
    placed = reading.units(
        load((folder / regulation.PDF).read_bytes(), regulation.PDF, loader="graph.regulation.loader")
    )
    names: dict[str, int] = {}
    for at, one in enumerate(placed):
        names.setdefault(one.unit.name, at)
        names.setdefault(one.unit.path, at)
    pairs, unresolved = set(), []
    for at, reference, targets, _ in links.references(placed, names):
        unresolved += [] if reference.elsewhere or len(targets) == len(reference.names) else [placed[at].unit.name]
        ends = [placed[n].unit.name for n in targets if placed[n].unit.name.startswith("Article")]
        if placed[at].unit.name.startswith("Article"):
            pairs |= {(_number(placed[at].unit.name), _number(name)) for name in ends}
    assert unresolved == []
    assert oracle.edges(oracle.rows(folder)) - pairs == set()


def _number(name: str) -> int:
    return int(
        "".join(c for c in name.removeprefix("Article ") if c.isdigit() or c in "(,").split("(")[0].split(",")[0]
    )


def test_questions_name_provisions_that_exist_and_a_third_is_held_out(gdpr: list[Unit]) -> None:
    rows = [json.loads(line) for line in (DATASETS / "regulation.jsonl").read_text().splitlines()]
    names = {u.name for u in gdpr}
    assert len(rows) >= 80 and len({r["id"] for r in rows}) == len(rows)
    assert {n for r in rows for n in r["needed"]} <= names
    assert sum(r["split"] == "held" for r in rows) * 3 >= len(rows)
    assert {r["kind"] for r in rows} == {"definition", "right", "deadline", "exception", "fine", "multi", "reference"}


def test_the_comparison_with_the_second_copy_sees_one_wrong_word(gdpr: list[Unit], folder: Path) -> None:
    wrong = [Unit(u.kind, u.path, u.name, u.text.replace("72 hours", "72 days"), page=u.page) for u in gdpr]
    assert "Article 33(1)" in oracle.compare(wrong, oracle.rows(folder))["differ"]
