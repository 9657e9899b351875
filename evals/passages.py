"""passages: questions over all passages of a SQuAD 2 half: does the cited sentence hold the answer?"""

import gzip
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from evals.retrieval import TENANT, data_directory, fill
from evals.stats import Rate
from graph.knowledge.embeddings import shared
from graph.knowledge.index import Hit, Index
from graph.models import extractive

SAMPLE, SEED, TOP_K = 600, 7, 5


def run(out: Path) -> dict[str, Any]:
    """Right sentence first, among three; and how well scores tell answerable questions from others."""
    rows = [r for r, _ in ranked()]
    asked = [r for r in rows if r["answerable"]]
    figures = {
        "gold answer in the passages retrieved": Rate(sum(r["retrieved"] for r in asked), len(asked)),
        "gold answer in the first sentence": Rate(sum(r["at"] == 0 for r in asked), len(asked)),
        "gold answer in one of three": Rate(sum(r["at"] is not None and r["at"] < 3 for r in asked), len(asked)),
    }
    return {"figures": {name: rate.as_json() for name, rate in figures.items()}}


def ranked(sample: int = SAMPLE) -> list[tuple[dict[str, Any], Any]]:
    with gzip.open(data_directory() / "pool" / "abstention.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    contexts = sorted({(r["meta"]["context"], r["meta"]["title"]) for r in rows})
    asked = random.Random(SEED).sample([r for r in rows if r["label"]], sample)
    found = []
    with tempfile.TemporaryDirectory() as home:
        index = Index(Path(home), shared())
        documents = [
            {"id": f"p{n}", "title": title.replace("_", " "), "text": text} for n, (text, title) in enumerate(contexts)
        ]
        fill(index, documents)
        texts = {d["id"]: d for d in documents}
        for row in asked:
            hits = index.search(TENANT, row["text"], TOP_K)
            evidence = as_evidence(hits, texts)
            candidates, table = extractive.features(row["text"], evidence, shared())
            order = extractive.score(row["text"], evidence, shared())
            gold = {a.casefold() for a in row["meta"]["answers"]}
            at = next((n for n, c in enumerate(order) if any(g in c.text.casefold() for g in gold)), None)
            held = any(g in e["text"].casefold() for e in evidence for g in gold)
            labels = [any(g in c.text.casefold() for g in gold) for c in candidates]
            found.append(({"answerable": True, "at": at, "retrieved": held}, (table, labels)))
        index.close()
    return found


def as_evidence(hits: list[Hit], texts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Whole passages as the answerer is shown them."""
    return [
        {"n": n, "text": texts[h.doc_id]["text"], "title": texts[h.doc_id]["title"],
         "section": "", "score": h.score, "start": 0}
        for n, h in enumerate(hits, 1)
    ]  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(run(Path())["figures"], indent=1))
