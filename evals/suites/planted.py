"""planted: orders planted in documents that are found, and sentences of real honest documents that are withheld.

Honest are the documents of seven organisations (handbooks.py); whatever is withheld of them is a false alarm.
LEFT_OUT of both were never looked at, tuned on or learned from.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from evals import material
from evals.stats import Rate
from evals.suites.handbooks import LEFT_OUT, OPEN
from evals.suites.retrieval import data_directory
from graph.errors import DocumentError
from graph.knowledge.manifest import sources
from graph.knowledge.sandbox import Parser
from graph.policy.evidence import withholding
from graph.policy.text.sentences import split
from graph.policy.threats import planted as model

ORDERS_LEFT_OUT = "asb"  # orders to agents with tools, in five wrappers that other people published
SEED = 20260101

Ranges = Callable[[str], list[tuple[int, int]]]


def run(out: Path) -> dict[str, Any]:
    data = data_directory()
    return {"figures": honest(data, out=out) | orders(data)}


def documents(data: Path, name: str, sample: int | None = None) -> list[tuple[str, str]]:
    """Name and text of a collection's documents, or of some drawn with a fixed seed."""
    folder = data / "collections" / name
    found = sources(folder / "ingest.csv", folder / "tenant_acl.csv")
    if sample is not None and sample < len(found):
        found = random.Random(SEED).sample(found, sample)
    read = []
    with Parser() as parser:
        for source in found:
            try:
                read.append((source.name, parser.parse(source.path).text))
            except DocumentError:
                continue
    return read


def honest(data: Path, sample: int | None = None, out: Path | None = None) -> dict[str, Any]:
    """Flagged documents and withheld sentences of each collection; what is withheld of the open ones goes to `out`."""
    figures: dict[str, Any] = {}
    shown = []
    for part, names in (("open", OPEN), ("left out", LEFT_OUT)):
        total = Counter[str]()
        for name in names:
            one, withheld = judged(documents(data, name, sample))
            total += one
            figures |= _figures(name, one)
            shown += [{"collection": name} | row for row in withheld if name in OPEN]
        figures |= _figures(part, total)
    if out is not None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in shown)
        (out / "planted_withheld.jsonl").write_text("".join(lines), encoding="utf-8")
    return figures


def judged(texts: Iterable[tuple[str, str]]) -> tuple[Counter[str], list[dict[str, Any]]]:
    counts, rows = Counter[str](), []
    for name, text in texts:
        ranges = withholding.ranges(text)
        counts += Counter(documents=1, flagged=int(bool(ranges)), sentences=len(split(text)), withheld=len(ranges))
        if ranges:
            found = [f for f in model.find(text) if f.score >= withholding.WITHHELD_FROM]
            for a, b in ranges:
                why = sorted({f.why for f in found if f.start < b and f.end > a})
                rows.append({"file": name, "text": text[a:b], "why": why})
    return counts, rows


def _figures(name: str, counts: Counter[str]) -> dict[str, Any]:
    return {
        f"{name}: documents flagged": Rate(counts["flagged"], counts["documents"]).as_json(),
        f"{name}: sentences withheld": Rate(counts["withheld"], counts["sentences"]).as_json(),
    }


def orders(data: Path) -> dict[str, Any]:
    """Planted orders of which a sentence is withheld, by source."""
    counts: dict[str, list[bool]] = {}
    for source, text, places in passages(data):
        ranges = withholding.ranges(text)
        hit = any(a < end and b > start for a, b in ranges for start, end in places)
        counts.setdefault(source, []).append(hit)
    return {f"planted, {name}: withheld": Rate(sum(hits), len(hits)).as_json() for name, hits in sorted(counts.items())}


def passages(data: Path) -> Iterable[tuple[str, str, Sequence[tuple[int, int]]]]:
    """Source, text and the places of what was planted: the sentences that stand in no untouched passage."""
    for pool in ("pool", "pool2"):
        rows = list(material.rows(data / pool / "injection_document.jsonl.gz"))
        untouched = {row["text"][a:b] for row in rows if not row["label"] for a, b in split(row["text"])}
        for row in rows:
            text = row["text"]
            if row["label"]:
                places = [(a, b) for a, b in split(text) if text[a:b] not in untouched]
                if places:
                    yield _source(row), text, places


def _source(row: dict[str, Any]) -> str:
    name = row["source"].partition("+")[2] or row["source"]
    how = row.get("kind", "").rpartition("_")[2]
    return f"{name}, {how}" if how else name


def main() -> None:
    from evals.__main__ import shown

    parser = argparse.ArgumentParser(prog="python -m evals.suites.planted", description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, metavar="N", help="only N documents of each collection")
    parser.add_argument("--out", type=Path, default=Path("out/eval"), help="where what is withheld goes")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    data = data_directory()
    for figure, value in (honest(data, options.sample, options.out) | orders(data)).items():
        print(f"  {figure:<58} {value['hits']:>5}  {shown(value)}")


if __name__ == "__main__":
    main()
