"""Runs on record, once more: asked over a collection by the commands people use, then replayed. Do all come out equal?

    python -m evals.security.replays DIRECTORY --questions FILE.jsonl            with the embedded model
    python -m evals.security.replays DIRECTORY --questions FILE.jsonl --served   with a model server that is moody

FILE has a `question` in each line. They are asked in turn until there are enough runs, with other styles and depths the
next time round, half of them in a thread with memory; every eighth is an attack of our own sets. The model server
(evals.load.stub) breaks its JSON, adds sentences, declines and never says the same twice: only what it wrote then, kept
by CORDON_KEEP_DRAFTS, can give the same reply. It is stopped before the replay. Exit 1 when a run differs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from evals import material
from evals.load import stub
from evals.process import CORDON, ROOT, environment
from evals.suites.guardrails import ATTACKS
from graph.agent import Agent
from graph.settings import load

TENANT = "audited"
ROUNDS: tuple[dict[str, Any], ...] = ({}, {"style": "bullet"}, {"top_k": 3}, {"style": "detailed", "mode": "graph"})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--served", action="store_true")
    given = parser.parse_args()
    asked = [json.loads(line)["question"] for line in given.questions.read_text().splitlines()]
    attacks = cycle(row["text"] for row in material.own_set(ATTACKS["labelled"]) if row["action"] == "BLOCK")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        environ = environment(folder) | {"CORDON_KEEP_DRAFTS": "1"}
        with ExitStack() as served:
            environ |= served.enter_context(stub.running(0, "--moody")) if given.served else {}
            decided = Counter(_asked(environ, given.directory, islice(_turns(asked, attacks), given.runs)))
        print(f"{sum(decided.values())} runs: {dict(decided.most_common())}", flush=True)
        done = subprocess.run(
            [*CORDON, "audit", "replay", "--last", str(given.runs), "--json"],
            env=environ, cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    for run in runs:
        if run["differs"]:
            print(f"{run['run_id'][:8]}: {run['differs']}")
    differ, left = sum(bool(run["differs"]) for run in runs), Counter(run["left"] for run in runs if run["left"])
    print(f"{len(runs)} replayed: {len(runs) - differ - sum(left.values())} equal, {differ} differ, {dict(left)}")
    return 0 if done.returncode == 0 and len(runs) == given.runs else 1


def _turns(asked: list[str], attacks: Any) -> Any:
    for n, question in enumerate(cycle(asked)):
        more = ROUNDS[n // len(asked) % len(ROUNDS)]
        kept = {"memory": "buffer", "thread_id": f"t{n // 10}"} if n % 2 else {}
        yield (next(attacks) if n % 8 == 7 else question), {**more, **kept}


def _asked(environ: dict[str, str], directory: Path, turns: Any) -> Any:
    with Agent(load(environ=environ)) as agent:
        agent.ingest(directory, tenant_id=TENANT)
        for question, options in turns:
            yield agent.ask(question, tenant_id=TENANT, **options).decision


if __name__ == "__main__":
    sys.exit(main())
