"""What 1,000 tenants of 100 chunks cost in one process: `python -m evals.load.tenants`.

Each is asked twice, in turn, so that every one of them was let go before its question comes; memory and open files are
those of the whole process, over what it held before the first.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from graph.knowledge.index import CANDIDATES
from graph.stores.embedded import Embedded
from graph.stores.spaces import Record, Space, StoredChunk

CHUNKS, WIDTH = 100, 384
_WORDS = ["valve", "freezer", "policy", "sample", "door", "report", "budget", "visitor", "training", "spill"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenants", type=int, default=1_000)
    given = parser.parse_args()
    dice = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        stores = Embedded(Path(folder), serves=True)
        spaces = stores.spaces("bench")
        memory, files = resident_mb(), _open_files()
        for n in range(given.tenants):
            made = spaces.space(f"T{n}", create=True)
            assert made is not None
            _fill(made, n, dice)
        most_memory, most_files, took = resident_mb(), _open_files(), []
        for n in [*range(given.tenants)] * 2:
            begun = time.process_time()
            space = spaces.space(f"T{n}")
            assert space is not None
            found = space.find(dice.normal(size=WIDTH).astype(np.float32), [*_WORDS[:4], f"t{n}"], CANDIDATES)
            took.append((time.process_time() - begun) * 1_000)
            assert found.chunks == found.holding[f"t{n}"] == CHUNKS
            most_memory, most_files = max(most_memory, resident_mb()), max(most_files, _open_files())
        took.sort()
        print(
            f"{given.tenants} tenants of {CHUNKS} chunks: {most_memory - memory:.0f} MB and {most_files - files} files "
            f"more, {most_files} files in all; a cold tenant's answer: median {statistics.median(took):.1f} ms, "
            f"p95 {took[int(len(took) * 0.95)]:.1f}, worst {took[-1]:.1f} of processor, n={len(took)}"
        )
        spaces.close()
    return 0


def _fill(space: Space, tenant: int, dice: np.random.Generator) -> None:
    vectors = dice.normal(size=(CHUNKS, WIDTH)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"t{tenant} c{n} " + " ".join(dice.choice(_WORDS, 60)) for n in range(CHUNKS)]
    chunks = [StoredChunk(f"d_{n}", "d", 0, len(text), None, None, "") for n, text in enumerate(texts)]
    name = f"T{tenant}"
    record = Record("d", "d.md", "d", name, name, "private", "text/markdown", 1, CHUNKS, "", "")
    space.put(record, "".join(texts), chunks, vectors, texts)


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


if __name__ == "__main__":
    sys.exit(main())
