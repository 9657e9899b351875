"""MiniLM's sessions: what making one takes of the memory, and what is read together."""

import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from graph.extractive import reader
from graph.onnx import minilm

# Two sessions with weights moved; then how many megabytes the C library still holds for nothing.
_HELD = """
import ctypes, resource
from graph.extractive import reader
from graph.onnx import minilm
from graph.policy.threats import encoder

found = [(encoder.FILE, "text"), (reader.FILE, "piece")]
kept = [minilm.runner(minilm.steps(file), 64, scale) for file, scale in found]
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() // 2**20
before = resident()
ctypes.CDLL(None).malloc_trim(0)
print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps what was freed")
def test_memory_that_making_a_session_took_and_freed_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", _HELD], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20  # without, 60 and more


def test_a_text_is_read_alike_whatever_stands_beside_it_and_whoever_hands_it_out() -> None:
    runner = minilm.runner(minilm.steps(reader.FILE), 64, "piece")
    texts = [("What is kept?", f"{'Notebooks are kept. ' * (n % 4)}Nobody reads the {n} copies.") for n in range(20)]
    alone = np.concatenate([runner.embed([text]) for text in texts])
    with ThreadPoolExecutor(2) as pool:
        for each in (map, pool.map):
            np.testing.assert_allclose(runner.embed(texts, each), alone, atol=1e-6)


def test_only_texts_of_one_length_are_read_together() -> None:
    met: list[list[int]] = []

    def each(read: Any, batches: list[list[list[int]]]) -> Any:
        met.extend([len(pieces) for pieces in batch] for batch in batches)
        return map(read, batches)

    texts = ["one", "one two", "two", "one two three"] * minilm.TOGETHER
    minilm.runner(minilm.steps(reader.FILE), 64, "piece").embed(texts, each)
    assert met == [[5] * 8, [4] * 8, [3] * 8, [3] * 8]
