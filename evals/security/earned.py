"""What each part of the guards earns: verdicts on questions with all of them, and with each one left out in turn.

    python -m evals.security.earned [--each 100]

The own sets, and sources that nothing was learned from (up to `--each` texts of each). A part is a table of rules, what
weighs a text (frames, mentions), or a reading of disguised text. The learned layer and the encoder stay.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

from evals import material
from evals.suites import guardrails
from graph.policy.rubric import ACTIONS, Action
from graph.policy.threats import assess, encoder, frame, rule
from graph.policy.threats.views import respelt

TABLES = ("injection", "leakage", "cross_tenant", "evasion", "toxicity", "harm", "markup")
VIEWS = ("smuggled", "escaped", "encoded", "unmarked")


def parts() -> Iterator[tuple[str, AbstractContextManager[Any]]]:
    yield "all of them", ExitStack()
    for name in TABLES:
        yield f"rules: {name}", _without(name)
    yield "rules: tongues", patch("graph.policy.threats.tongues.rules", lambda: ())
    nothing = frame.Frames((), (), ())
    yield "frames (asks about, reports, forbids)", patch("graph.policy.threats.frame.frames", lambda text: nothing)
    yield "mentions (quoted, spoken of)", patch("graph.policy.threats.mention.spans", lambda text, **_: [])
    for name in VIEWS:
        yield f"reading: {name}", patch(f"graph.policy.threats.views.{name}", lambda text: iter(()))
    yield "reading: respelt", patch.object(respelt.Respelling, "views", lambda self, text: iter(()))


@contextmanager
def _without(table: str) -> Iterator[None]:
    kept = rule.find

    def rest(rules: Any, text: str) -> Any:
        return kept([one for one in rules if (one.type, one.score, one.why) not in gone], text)

    gone = {(row["type"], row["score"], row["why"]) for row in rule.Table(table).content["rule"]}
    with patch("graph.policy.threats.rule.find", rest):
        yield


def texts(each: int) -> Iterator[tuple[str, bool]]:
    """A text, and whether it is to be stopped."""
    for sample in guardrails.own_sets({"": guardrails.ENCODED}).samples:
        yield sample.input, sample.target != "ALLOW"
    for sample in guardrails.judges(material.pool_folder_near(), each):
        yield sample.input, bool(sample.metadata["label"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=100, help="texts of each left-out source")
    given = list(texts(parser.parse_args().each))
    margins = cache(encoder.margins)  # the encoder reads the same with most parts left out
    reads = patch("graph.policy.threats.encoder.margins", lambda of, **more: margins(tuple(of), **more))
    bad = sum(wanted for _, wanted in given)
    print(f"{bad} attacks, {len(given) - bad} innocent texts")
    print(f"{'left out':<42}{'attacks stopped':>16}{'blocked':>9}{'innocent stopped':>18}{'blocked':>9}{'changed':>9}")
    first: list[Action] = []
    with reads:
        for name, left_out in parts():
            with left_out:
                verdicts = [assess(text, tenant="U1", encode=True).action for text, _ in given]
            first = first or verdicts
            counts = Counter((wanted, verdict) for (_, wanted), verdict in zip(given, verdicts, strict=True))
            told = [
                (sum(counts[wanted, action] for action in ACTIONS[1:]), counts[wanted, "BLOCK"])
                for wanted in (True, False)
            ]
            changed = sum(a != b for a, b in zip(first, verdicts, strict=True))
            (stopped, blocked), (alarms, shut) = told
            print(f"{name:<42}{stopped:>16}{blocked:>9}{alarms:>18}{shut:>9}{changed:>9}", flush=True)


if __name__ == "__main__":
    main()
