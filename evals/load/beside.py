"""What a question of one tenant costs beside another with 30,000 chunks, and beside one with none.

    python -m evals.load.beside                    the shipped tenant U1, question by question in turn
    python -m evals.load.beside --chunks 100000

Two homes with the shipped corpus, in one of which a tenant has that many chunks more (those of evals.load.search). In
both, U1 is asked the same questions in turn, and the other tenant a question before each. Processor time, medians.
"""

import argparse
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random

from evals.load.search import TENANT, fill
from evals.material import own_samples
from evals.solvers import CORPUS
from graph.agent import Agent
from graph.knowledge.manifest import sources
from graph.settings import load


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=30_000)
    given = parser.parse_args()
    asked = [s.input for s in own_samples("answers", "question", "doc_ids") if s.metadata["tenant"] == "U1"]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        homes: dict[int, Agent] = {}
        for count in (0, given.chunks):
            settings = load(environ={}, home=Path(folder) / str(count), out=Path(folder) / "out", artifacts=False)
            agent = homes[count] = stack.enter_context(Agent(settings))
            agent.ingest_sources(sources(CORPUS / "manifest.csv", CORPUS / "tenant_acl.csv"))
            if count:
                space = agent.deps.index.space(TENANT, create=True)
                assert space is not None
                fill(space, count)
                agent.deps.index.spaces.sync(TENANT)
        spent: dict[int, list[float]] = {count: [] for count in homes}
        replies: dict[int, list[str]] = {count: [] for count in homes}
        order = Random(3)
        for n, question in enumerate(asked):
            for count in order.sample(list(homes), 2):
                homes[count].ask(question, tenant_id=TENANT)
                begun = time.process_time()
                reply = homes[count].ask(question, tenant_id="U1")
                if n >= 5:  # the first ones open what there is
                    spent[count].append((time.process_time() - begun) * 1_000)
                replies[count].append(reply.answer)
    for count, took in spent.items():
        print(f"{count:>7,} chunks of another: median {statistics.median(took):.1f} ms of processor (n={len(took)})")
    print(f"answers that are the same: {sum(a == b for a, b in zip(*replies.values(), strict=True))} of {len(asked)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
