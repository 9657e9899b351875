"""What it costs a person with many turns that a question is compared with all of them.

    OPENBLAS_NUM_THREADS=1 python -m evals.load.turns      100, 1,000, 3,000 and 10,000 turns
    OPENBLAS_NUM_THREADS=1 python -m evals.load.turns --turns 100,50000

Turns as an answer of two citations leaves them, their vectors by chance. Processor time of one search for the two
nearest, one turn having come in since the last; median of so many.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from graph.deps import stores
from graph.settings import load
from graph.stores.conversations import Conversations

SEARCHES, WIDTH = 20, 384
WHO = "T1", "ann"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", default="100,1000,3000,10000", help="comma separated, rising")
    given = parser.parse_args()
    chance, there = np.random.default_rng(7), 0
    with tempfile.TemporaryDirectory() as folder:
        kept = stores(load(environ={}, home=Path(folder))).conversations
        for count in map(int, given.turns.split(",")):
            while there < count:
                there = _added(kept, there, chance)
            spent = []
            for _ in range(SEARCHES):
                there = _added(kept, there, chance)
                begun = time.process_time()
                assert len(kept.search(*WHO, _direction(chance), 2)) == 2
                spent.append((time.process_time() - begun) * 1_000)
            print(f"{count:>7,} turns: {statistics.median(spent[1:]):6.2f} ms of processor (n={len(spent) - 1})")
        kept.close()
    return 0


def _added(kept: Conversations, there: int, chance: np.random.Generator) -> int:
    cited = [{"title": "The sampling plan", "section": "Storage", "quote": "q" * 200}] * 2
    reply: dict[str, Any] = {"run_id": f"{there:032x}", "timestamp": "2026-01-01T00:00:00Z", "answer": "a" * 600}
    reply |= {"question": "What do we say about storage?", "citations": cited}
    gist = {"question": reply["question"], "answer": "a" * 600, "topic": "storage", "items": [], "doc_ids": []}
    kept.add(*WHO, f"t{there % 50}", reply, gist, _direction(chance))
    return there + 1


def _direction(chance: np.random.Generator) -> np.ndarray:
    drawn = chance.standard_normal(WIDTH).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn))


if __name__ == "__main__":
    raise SystemExit(main())
