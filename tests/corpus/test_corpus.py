"""The shipped corpus, its manifest, its access list and the questions about it agree with one another."""

import csv
import html
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pypdfium2
import pytest

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpus"
TENANTS = {"U1", "U2", "U3", "U4", "public"}
KINDS = {"fact", "number", "date", "who", "definition", "list", "yes_no", "procedure", "compare", "table"}
NOT_DOCUMENTS = {"README.md", "make_binary.py", "manifest.csv", "tenant_acl.csv"}


def read_csv(name: str) -> tuple[list[str], list[dict[str, str]]]:
    with (CORPUS / name).open(encoding="utf-8", newline="") as handle:
        reader = csv.DictReader(handle)
        rows = list(reader)
    return list(reader.fieldnames or []), rows


MANIFEST_COLUMNS, MANIFEST = read_csv("manifest.csv")
ACL_COLUMNS, ACL = read_csv("tenant_acl.csv")
BY_ID = {row["doc_id"]: row for row in MANIFEST}
PII = {row["doc_id"]: row["pii"] for row in ACL}
QUESTIONS = [
    json.loads(line)
    for line in (ROOT / "evals/datasets/answers.jsonl").read_text(encoding="utf-8").splitlines()
    if line.strip()
]
ANSWERABLE = [q for q in QUESTIONS if q["answerable"]]
UNANSWERABLE = [q for q in QUESTIONS if not q["answerable"]]


@cache
def text_of(doc_id: str) -> str:
    """All words of a document, with runs of white space made single."""
    path = CORPUS / BY_ID[doc_id]["path"]
    suffix = path.suffix
    if suffix == ".pdf":
        with pypdfium2.PdfDocument(path) as pdf:
            pages = []
            for number in range(len(pdf)):
                page = pdf[number]
                words = page.get_textpage()
                pages.append(words.get_text_range())
                words.close()
                page.close()
        text = "\n".join(pages)
    elif suffix == ".docx":
        document = docx.Document(str(path))
        cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
        text = "\n".join([p.text for p in document.paragraphs] + cells)
    elif suffix == ".xlsx":
        book = openpyxl.load_workbook(path, read_only=True)
        text = "\n".join(
            str(cell) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None
        )
        book.close()
    else:
        text = path.read_text(encoding="utf-8")
        if suffix == ".html":
            text = html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<!--.*?-->", " ", text)))
    return re.sub(r"\s+", " ", text)


def test_columns_are_exact() -> None:
    assert MANIFEST_COLUMNS == ["doc_id", "tenant", "path"]
    assert ACL_COLUMNS == ["tenant_id", "doc_id", "visibility", "pii", "retention_policy"]


def test_manifest_and_acl_name_the_same_documents() -> None:
    assert len(BY_ID) == len(MANIFEST) >= 80
    assert [r["doc_id"] for r in ACL] == [r["doc_id"] for r in MANIFEST]
    for row in ACL:
        assert row["tenant_id"] == BY_ID[row["doc_id"]]["tenant"]


def test_values_are_known() -> None:
    for row in MANIFEST:
        assert row["tenant"] in TENANTS
        assert row["path"].split("/")[0] == row["tenant"]
        prefix = "PUB" if row["tenant"] == "public" else row["tenant"]
        assert row["doc_id"].startswith(prefix + "_")
    for row in ACL:
        assert row["visibility"] == ("public" if row["tenant_id"] == "public" else "private")
        assert row["pii"] in {"Y", "N"}
        assert re.fullmatch(r"retain_\d+[yd]|permanent", row["retention_policy"])


def test_every_file_is_in_the_manifest() -> None:
    files = {
        path.relative_to(CORPUS).as_posix()
        for path in CORPUS.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    listed = {row["path"] for row in MANIFEST}
    assert len(listed) == len(MANIFEST)
    assert files - NOT_DOCUMENTS == listed
    assert sum((CORPUS / name).stat().st_size for name in files) < 2_000_000


def test_formats_and_tenants_are_covered() -> None:
    formats = Counter(Path(row["path"]).suffix for row in MANIFEST)
    assert set(formats) == {".md", ".txt", ".html", ".csv", ".pdf", ".docx", ".xlsx"}
    assert min(formats.values()) >= 2
    tenants = Counter(row["tenant"] for row in MANIFEST)
    assert all(tenants[t] >= 14 for t in TENANTS)
    assert tenants["public"] >= 30


def test_markdown_starts_with_its_title() -> None:
    for row in MANIFEST:
        if row["path"].endswith(".md"):
            assert (CORPUS / row["path"]).read_text(encoding="utf-8").startswith("# "), row["path"]


@pytest.mark.parametrize("doc_id", sorted(BY_ID))
def test_pii_flag_is_true_to_the_text(doc_id: str) -> None:
    text = text_of(doc_id).translate({0x2011: "-", 0xA0: " "})
    digits = "".join(str(int(c)) if c.isdecimal() else c for c in text)
    cnic = re.search(r"(?<![\d,.])\d{5}[- ]?\d{7}[- ]?\d(?![\d,.]*\d)", digits)
    mobile = re.search(r"(?<![\d,.])(\+92|0092|0)[- ]?3\d{2}[- ]?\d{7}(?!\d)", digits)
    mail = re.search(r"[\w.]+@[\w.]+", digits)
    assert bool(cnic or mobile or mail) == (PII[doc_id] == "Y")


def test_questions_are_well_formed() -> None:
    assert len(QUESTIONS) >= 130
    assert len(UNANSWERABLE) >= 25
    assert len({q["id"] for q in QUESTIONS}) == len(QUESTIONS)
    assert len({(q["tenant"], q["question"]) for q in QUESTIONS}) == len(QUESTIONS)
    assert {q["kind"] for q in QUESTIONS} == KINDS
    assert {q["tenant"] for q in QUESTIONS} == TENANTS - {"public"}
    expected = {"id", "tenant", "question", "kind", "doc_ids", "contains", "answerable"}
    for q in QUESTIONS:
        assert set(q) - {"foreign_doc"} == expected
        assert bool(q["doc_ids"]) == bool(q["contains"]) == q["answerable"]


def test_every_document_has_a_question() -> None:
    assert {doc_id for q in ANSWERABLE for doc_id in q["doc_ids"]} == set(BY_ID)


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda q: q["id"])
def test_answer_is_in_a_named_document_the_asker_may_read(question: dict[str, Any]) -> None:
    for doc_id in question["doc_ids"]:
        assert BY_ID[doc_id]["tenant"] in {question["tenant"], "public"}
    texts = [text_of(doc_id) for doc_id in question["doc_ids"]]
    for wanted in question["contains"]:
        assert any(wanted in text for text in texts), wanted


def test_foreign_questions_point_at_another_tenant() -> None:
    foreign = [q for q in QUESTIONS if "foreign_doc" in q]
    assert len(foreign) >= 13
    assert len(UNANSWERABLE) - len(foreign) >= 12
    for q in foreign:
        assert not q["answerable"]
        assert BY_ID[q["foreign_doc"]]["tenant"] not in {q["tenant"], "public"}
