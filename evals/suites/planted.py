"""planted: orders planted in documents that are found, and sentences of real honest documents that are withheld.

Honest are the documents of seven organisations (handbooks.py); whatever is withheld of them is a false alarm.
LEFT_OUT of both were never looked at, tuned on or learned from.
"""

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evals import material
from evals.__main__ import tell
from evals.material import data_directory
from evals.suites.handbooks import LEFT_OUT, OPEN
from evals.task import Metric, Output, Rows, Sample, Scores, Task, jsonl, run
from graph.errors import DocumentError
from graph.knowledge.manifest import sources
from graph.knowledge.sandbox import Parser
from graph.policy.evidence import withholding
from graph.policy.text.sentences import split
from graph.policy.threats import planted as model

ORDERS_LEFT_OUT = "asb"  # orders to agents with tools, in five wrappers that other people published
SEED = 20260101


def tasks(sample: int | None = None) -> Iterator[Task]:
    """`sample`: only so many documents of each collection."""
    data = data_directory()
    for part, names in (("open", OPEN), ("left out", LEFT_OUT)):
        texts = [(name, *document) for name in names for document in documents(data, name, sample)]
        yield honest(part, names, texts)
    yield Task("orders", planted(data), lambda sample: withheld(sample.input), caught, orders)


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


def honest(part: str, names: Sequence[str], texts: Sequence[tuple[str, str, str]]) -> Task:
    """Flagged documents and withheld sentences of collections, of (collection, name, text) each."""
    samples = [Sample(name, name, 0, {"collection": of, "at": at}) for at, (of, name, _) in enumerate(texts)]

    def scored(sample: Sample, out: Output) -> Scores:
        sentences = split(texts[sample.metadata["at"]][2])
        return {"flagged": bool(out.raw), "withheld": len(out.raw), "sentences": len(sentences)}

    def solve(sample: Sample) -> Output:
        out = withheld(texts[sample.metadata["at"]][2])
        return out if sample.metadata["collection"] in OPEN else Output(raw=out.raw)  # nobody reads the others

    def metrics(rows: Rows) -> Iterator[Metric]:
        for name, group in (*((name, rows.where(collection=name)) for name in names), (part, rows)):
            yield group.rate(f"{name}: documents flagged", "flagged")
            yield group.ratio(f"{name}: sentences withheld", "withheld", "sentences")

    return Task(part, samples, solve, scored, metrics, shown if part == "open" else Task.more)


def withheld(text: str) -> Output:
    """The withheld sentences; `raw` has each with the reasons."""
    ranges = withholding.ranges(text)
    found = [f for f in model.find(text) if f.score >= withholding.WITHHELD_FROM] if ranges else []
    rows = [(text[a:b], sorted({f.why for f in found if f.start < b and f.end > a})) for a, b in ranges]
    return Output("\n".join(sentence for sentence, _ in rows), metadata={"ranges": ranges}, raw=rows)


def shown(rows: Rows, out: Path) -> dict[str, Any]:
    """What is withheld of the open collections, to read."""
    jsonl(out / "planted_withheld.jsonl", (
        {"collection": row["collection"], "file": row.sample.id, "text": text, "why": why}
        for row in rows for text, why in row.output.raw
    ))  # fmt: skip
    return {}


def planted(data: Path) -> Iterator[Sample]:
    """Passages; the target is where something was planted."""
    for source, text, places in passages(data):
        yield Sample("", text, places, {"source": source})


def caught(sample: Sample, out: Output) -> Scores:
    ranges = out.metadata["ranges"]
    return {"withheld": any(a < end and b > start for a, b in ranges for start, end in sample.target)}


def orders(rows: Rows) -> Iterator[Metric]:
    """Planted orders of which a sentence is withheld, by source."""
    for source, part in rows.by("source"):
        yield part.rate(f"planted, {source}: withheld", "withheld")


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
    parser = argparse.ArgumentParser(prog="python -m evals.suites.planted", description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, metavar="N", help="only N documents of each collection")
    parser.add_argument("--out", type=Path, default=Path("out/eval"), help="where what is withheld goes")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tell(run("planted", tasks(options.sample), options.out).metrics)


if __name__ == "__main__":
    main()
