"""Claims with evidence, of other people's sets, that the support check's encoder learns from and is judged by."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evals.material import data_directory, own_set
from graph.knowledge import loaders

LABELS = ("supported", "contradicted", "neutral", "unsupported")  # the last: contradicted or neutral
JUDGES = ("faithbench", "healthver", "qags", "sem_tab_facts", "vitaminc_sample")
# Rows of a source that are learned from at most; under licences that let weights ship.
ENTAILMENT = {
    "mnli_dev": 6_000, "fever_nli": 6_000, "fool_me_twice": 2_500, "check_covid": 1_400, "neg_nli": 1_800,
    "nan_nli": 250, "scone": 500, "med": 500, "breaking_nli": 700, "conj_nli_dev": 600, "conj_nli_auto": 300,
    "folio": 300, "sharc_dev": 2_100, "condaqa": 1_900,
}  # fmt: skip
ANSWERS = {
    "expertqa": 1_400, "factcheck_gpt": 1_800, "bump": 1_500, "tabfact_pairs": 3_600, "scitab": 1_200,
    "faithdial_audit": 300, "contract_nli_few": 111, "q2_dialogue": 932,
}  # fmt: skip
ASIDE = ("dialfact_sample", "pubhealthtab_small")  # the borders are set on these, and on WiCE
_MARKUP = re.compile(r"</?[a-z]+>")


@dataclass(frozen=True)
class Row:
    claim: str
    evidence: str
    label: str  # one of LABELS
    source: str
    group: str  # rows of one group stay together
    kind: str = ""
    heading: str = ""
    number: int = 0  # of a claim that was written for Cordon


def gather(source: str) -> list[Row]:
    """The rows of one source, in their order. Tables come as Cordon reads them: "name: value; name: value" a line."""
    folder = data_directory() / "support"
    file = folder / ("judge" if source in JUDGES else "") / f"{source}.jsonl.gz"
    return list(_rows(file))


def _rows(file: Path) -> Iterator[Row]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for raw in map(json.loads, lines):
            heading, text = _table(_MARKUP.sub("", raw["evidence"]))
            yield Row(raw["claim"], text, raw["label"], raw["source"], raw["evidence"][:200], raw["kind"], heading)


def _table(text: str) -> tuple[str, str]:
    """Title and rows with their headings; "" and the text as it is where it is no table."""
    lines = text.split("\n")
    begin = next((at for at, line in enumerate(lines) if line.count(" | ") >= 1), -1)
    if begin < 0 or begin > 2 or sum(" | " in line for line in lines) < 2:
        return "", text
    heads = [cell.strip() for cell in lines[begin].split(" | ")]
    rows = []
    for line in lines[begin + 1 :]:
        cells = [cell.strip() for cell in line.split(" | ")]
        named = [f"{head}: {cell}" if head else cell for head, cell in zip(heads, cells, strict=False) if cell]
        rows.append("; ".join(named))
    return " ".join(lines[:begin])[:120], "\n".join(rows)


def claims(collections: tuple[str, ...], begin: str = "") -> list[Row]:
    """Claims that people wrote about passages of these collections: paraphrases, and what is false by one fact. Those
    whose id begins with "p" are pairs that differ in that fact alone: only the encoder learns from them.

    `datasets/support_claims.jsonl` says where a passage stands and not what it says: the digests of its first and last
    GRAM words. Claims whose passage is not found are left out.
    """
    made = []
    for row in own_set("support_claims"):
        if row["collection"] in collections and row["id"].startswith(begin) and (evidence := passage(row)):
            label = "supported" if row["supported"] else "unsupported"
            group = f"{row['document']} {row['begin']}"
            made.append(Row(row["claim"], evidence, label, "claims", group, row["kind"], "", int(row["id"][1:])))
    return made


GRAM = 12  # words


def passage(row: dict[str, str]) -> str:
    """ "" where the document no longer has it."""
    text, first, last = _document(f"{row['collection']}/{row['document']}")
    start, end = first.get(row["begin"], -1), last.get(row["end"], -1)
    return text[start:end] if 0 <= start < end else ""


@cache
def _document(name: str) -> tuple[str, dict[str, int], dict[str, int]]:
    """Its text, and where runs of GRAM words begin and end, by their digests."""
    path = data_directory() / "collections" / name
    text = loaders.load(path.read_bytes(), path.name).text
    words = list(re.finditer(r"\w+", text))
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for at in range(len(words) - GRAM + 1):
        run = digest([word[0] for word in words[at : at + GRAM]])
        first.setdefault(run, words[at].start())
        last.setdefault(run, words[at + GRAM - 1].end())
    return text, first, last


def digest(words: list[str]) -> str:
    return hashlib.sha256(" ".join(words).casefold().encode()).hexdigest()[:12]
