"""answerable: can it tell a question that the passages answer from one that they do not? (SQuAD 2 half)

Three kinds of question over all passages: answerable; answerable, but with the whole article taken out of the
evidence (foreign); and unanswerable by design, written against a passage that is there (same article).
The weights were learned on questions of our own, so every row is judged by weights that never saw it.
"""

import gzip
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from evals.figures import auc
from evals.passages import as_evidence
from evals.retrieval import TENANT, data_directory, fill
from evals.stats import Rate
from graph.knowledge.embeddings import shared
from graph.knowledge.index import Index
from graph.models import extractive

SAMPLE, SEED, TOP_K, DEEP = 400, 11, 5, 60


def run(out: Path) -> dict[str, Any]:
    rows = table()
    by = {kind: np.array([r["chance"] for r in rows if r["kind"] == kind]) for kind in ("there", "foreign", "same")}
    plain = {kind: np.array([r["signs"][0] for r in rows if r["kind"] == kind]) for kind in by}
    shown = {kind: Rate(int((values >= extractive.ANSWERED_FROM).sum()), len(values)) for kind, values in by.items()}
    figures: dict[str, Any] = {}
    for kind in ("foreign", "same"):
        n = len(by["there"]) + len(by[kind])
        figures[f"AUC, answerable against {kind} article"] = {"value": auc(by["there"], by[kind]), "n": n}
        figures[f"AUC of the best chunk's score alone, {kind}"] = {"value": auc(plain["there"], plain[kind]), "n": n}
    figures |= {f"answered, {kind}": rate.as_json() for kind, rate in shown.items()}
    return {"figures": figures}


def table(sample: int = SAMPLE) -> list[dict[str, Any]]:
    """One row a question: kind, its signs, the chance of an answer."""
    with gzip.open(data_directory() / "pool" / "abstention.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    contexts = sorted({(r["meta"]["context"], r["meta"]["title"]) for r in rows})
    rng = random.Random(SEED)
    asked = [("there", r) for r in rng.sample([r for r in rows if r["label"]], sample)]
    asked += [("foreign", r) for _, r in asked]
    asked += [("same", r) for r in rng.sample([r for r in rows if not r["label"]], sample)]
    found = []
    with tempfile.TemporaryDirectory() as home:
        index = Index(Path(home), shared())
        documents = [
            {"id": f"p{n}", "title": title.replace("_", " "), "text": text} for n, (text, title) in enumerate(contexts)
        ]
        fill(index, documents)
        texts = {d["id"]: d for d in documents}
        for kind, row in asked:
            title = row["meta"]["title"].replace("_", " ")
            hits = index.search(TENANT, row["text"], DEEP if kind == "foreign" else TOP_K)
            hits = [h for h in hits if kind != "foreign" or texts[h.doc_id]["title"] != title][:TOP_K]
            evidence = as_evidence(hits, texts)
            values = extractive.signs(evidence, extractive.features(row["text"], evidence, shared())[1])
            found.append(
                {
                    "kind": kind,
                    "signs": values.tolist(),
                    "chance": extractive.chance(values),
                }
            )
        index.close()
    return found


if __name__ == "__main__":
    print(json.dumps(run(Path())["figures"], indent=1))
