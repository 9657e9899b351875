"""MiniLM's sessions: what making one takes of the memory, beside what it needs."""

import platform
import subprocess
import sys

import pytest

# Two sessions with weights moved; then how many megabytes the C library still holds for nothing.
_HELD = """
import ctypes, resource
from graph.models import reader
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
