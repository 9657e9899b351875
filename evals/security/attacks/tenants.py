"""Many tenants in one process that may open few files: handles and memory, and whether each is still answered."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from evals.security import Row

TENANTS, FILES, MEMORY_MB = 1_000, 256, 450
_SCRIPT = """
import json, resource, sys
from pathlib import Path
import numpy as np
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]),) * 2)
from graph.agent import Agent
from graph.context import ReadScope
from graph.stores.spaces import Record, StoredChunk
from graph.settings import load
def held():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(list(Path("/proc/self/fd").iterdir())), pages * resource.getpagesize() / 2**20
text = "The heron vent opens on Friday."
with Agent(load(environ={}, home=Path(sys.argv[1]) / "home", artifacts=False)) as agent:
    index, kept, vector = agent.deps.index, agent.deps.conversations, agent.deps.embedder.embed([text])
    asked = lambda n: agent.ask("When does the heron vent open?", tenant_id=f"T{n}", memory="buffer")
    asked("nobody")
    first, most, some = held(), [0, 0.0], range(0, int(sys.argv[3]), 50)
    for n in range(int(sys.argv[3])):
        space = index.space(f"T{n}", create=True)
        record = Record("vents", "vents.md", "Vents", "", f"T{n}", "private", "text/plain", 1, 1, "", "")
        space.put(record, text, [StoredChunk("vents_0", "vents", 0, len(text), None, None, "")], vector, [text])
        assert index.search(ReadScope(f"T{n}"), "heron vent", 5)
        if n % 5 == 0:
            index.spaces.sync(f"T{n}")
        if n in some:
            reply = asked(n)
            assert reply.decision == "answer", reply.answer
        kept.add(f"T{n}", "ann", "t", reply | {"run_id": f"{n}"}, {}, vector[0])
        most = [max(pair) for pair in zip(most, held())]
    again = sum(asked(n).decision == "answer" for n in some)
print(json.dumps({"first": first, "most": most, "again": again}))
"""


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as base:
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT, base, str(FILES), str(TENANTS)],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
            check=False,
        )
    tried = f"{TENANTS:,} tenants search and are remembered one after the other, {FILES} open files allowed"
    if done.returncode:
        yield Row(tried, done.stderr.strip().splitlines()[-1][:200], "an answer for each", False)
        return
    found = json.loads(done.stdout)
    (_, before), (handles, memory) = found["first"], found["most"]
    yield Row(tried, f"{handles} handles at most", f"fewer than {FILES}", handles < FILES)
    yield Row("the same", f"{before:.0f} MB, then {memory:.0f} MB", f"under {MEMORY_MB} MB", memory < MEMORY_MB)
    wanted = len(range(0, TENANTS, 50))
    yield Row("the first of them ask again", f"{found['again']} of {wanted} answered", "all", found["again"] == wanted)
