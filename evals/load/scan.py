"""What the guards cost: processor time to judge a text, on one thread.

    OMP_NUM_THREADS=1 python -m evals.load.scan

Short texts are the questions of evals/datasets/answers.jsonl, longer ones stretches of the shipped corpus. Each is
judged three times, of which the fastest counts: other work on the machine only ever adds.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from evals import material
from evals.process import ROOT
from graph.policy.evidence.judged import judge
from graph.policy.threats import assess

SIZES = (2_000, 8_000)  # characters
COUNT, TIMES = 30, 3
WAYS: dict[str, Callable[[str], Any]] = {
    "question": partial(assess, encode=True),
    "question, without encoder": assess,
    "document": partial(assess, source="document"),
    "passage, at ingestion": judge,
}


def main() -> int:
    asked = [row["question"] for row in material.own_set("answers")][: 5 * COUNT]
    texts = {f"questions of {statistics.mean(map(len, asked)):.0f} characters": asked}
    corpus = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "corpus").rglob("*.md")))
    for size in SIZES:
        step = (len(corpus) - size) // COUNT
        texts[f"{size:,} characters"] = [corpus[at * step : at * step + size] for at in range(COUNT)]
    print("| milliseconds a text, median (mean) | " + " | ".join(f"{name} (n={len(of)})" for name, of in texts.items()))
    for way, how in WAYS.items():
        how("first")  # loads weights, compiles rules
        rows = [[_ms(how, text) for text in of] for of in texts.values()]
        print(f"| {way} | " + " | ".join(f"{statistics.median(row):.1f} ({statistics.mean(row):.1f})" for row in rows))
    return 0


def _ms(how: Callable[[str], Any], text: str) -> float:
    took = []
    for _ in range(TIMES):
        begun = time.process_time()
        how(text)
        took.append(time.process_time() - begun)
    return min(took) * 1e3


if __name__ == "__main__":
    raise SystemExit(main())
