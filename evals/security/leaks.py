"""What gets out where: every door and stream mode x everything it hands out or leaves behind x every canary.

    python -m evals.security.leaks            the table; exit 1 when a canary stands where it should not

Foreign and planted text, text of another group of the tenant, personal data, a secret, a draft's unsupported sentence
and the prompts' own words are put where a leak would find them (leaks_world.py). Then the same doors are driven once
more with leaks put in on purpose (leaks_plants.py): a cell that does not turn red there has not been shown able to
fail, and is counted.
"""

import argparse
import shutil
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.security.leaks_doors import DOORS, drive
from evals.security.leaks_world import CANARIES, Outside, World, canaries_in, indexed, outside

TRACING = ("langsmith", "jsonl", "otel")
ARTEFACTS = (
    "events", "reply", "errors", "state", "checkpoints", "history", "journal", "trace", "log", "stderr",
    "artefact files", "temporary files", "home", "model", "echo",
)  # fmt: skip
_QUESTION = frozenset({"question's PII", "question's secret"})
_DRAFT = frozenset({"draft"})
_DOCUMENTS = frozenset({"foreign text", "another group's text", "document's PII", "planted text"})
# Where a canary belongs: (door begins with, artefact) → canaries that may stand there, and why.
LEGITIMATE: dict[tuple[str, str], tuple[frozenset[str], str]] = {
    ("", "home"): (_DOCUMENTS, "the index and its copies are the documents"),
    ("", "model"): (_DRAFT | {"prompt"}, "the model is sent the prompt, and asked about its own sentences"),
    ("graph.", "echo"): (_QUESTION, "the asker's own words, before admit has masked them"),
    **{
        (f"graph.{mode}", "events"): (_DRAFT, "a raw stream that shows stages at work; no door of Cordon is one")
        for mode in (*(f"stream {m}" for m in ("values", "updates", "debug", "checkpoints", "tasks")), "astream_events")
    },
    ("LangGraph Server", "events"): (_DRAFT, "as above: Studio is the operator's look at the stages"),
    ("LangGraph Server", "history"): (_DRAFT, "each step of a run, the steps before respond empties the draft too"),
    ("LangGraph Server", "checkpoints"): (_DRAFT, "the same, as langgraph dev keeps it on disk"),
    ("GET /v1/documents", "reply"): (frozenset({"planted text"}), "a tenant reading its own document, masked"),
    ("GET /v1/documents", "errors"): (frozenset({"planted text"}), "the same; no fault of these keeps it from reading"),
}

_SEARCH = frozenset({"state", "checkpoints", "history", "artefact files"})
NOT_MADE = {"Agent.search": _SEARCH}  # a search has no thread, no artefacts and no generator


DatabaseOf = Callable[[Path], dict[str, Any]]


def _in_the_home(home: Path) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Cell:
    door: str
    artefact: str
    canary: str


def legitimate(cell: Cell) -> bool:
    return any(
        cell.door.startswith(door) and cell.artefact == artefact and cell.canary in named
        for (door, artefact), (named, _) in LEGITIMATE.items()
    )


def unanswered(door: str, world: World) -> bool:
    """Whether the good turn or the fault was none: then the zeros mean nothing. Who may hear nothing is left out."""
    silent = door == "GET /metrics" or door.startswith("GET /v1/audit") or "messages" in door or "custom" in door
    heard = " ".join(t for artefact in ("events", "reply") for t in world.seen.get(artefact, []))
    failed = "RuntimeError" in " ".join(world.seen.get("errors", []))  # the second fault, where its kind is told
    return (not silent and "kestrel" not in heard) or (door.startswith(("Agent.", "cordon ")) and not failed)


def run(
    door: str, home: Path, beside: Outside, tracing: str, *, planted: bool, database_of: DatabaseOf = _in_the_home
) -> tuple[set[Cell], set[Cell]]:
    """(cells that were looked at, cells where the canary was found); legitimate ones are in neither. `database_of`
    gives for a home the settings by which what it holds lies in a database."""
    beside.to_model.clear()
    beside.collected.clear()
    # In a raw stream the draft is seen, and a rule of the prompt that is part of it would say nothing of the prompt.
    beside.broken, beside.parrots = False, not door.startswith(("graph.", "LangGraph"))
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        world = World(Path(folder), beside, tracing, planted)
        shutil.copytree(home, world.base / "home")
        world.database = database_of(world.base / "home")
        drive(door, world)
        if unanswered(door, world):
            raise RuntimeError(f"{door} gave no answer to the question: {world.seen.get('reply')}")
        made = [a for a, texts in world.seen.items() if not (door in NOT_MADE and a in NOT_MADE[door])]
        looked = {Cell(door, artefact, canary) for artefact in made for canary in CANARIES}
        found = {
            Cell(door, artefact, c) for artefact, texts in world.seen.items() for t in texts for c in canaries_in(t)
        }
    return {c for c in looked if not legitimate(c)}, {c for c in found if not legitimate(c)}


def matrix(
    doors: Iterable[str], *, planted: bool, database_of: DatabaseOf = _in_the_home
) -> tuple[set[Cell], set[Cell]]:
    """Every door in turn, each with the next kind of tracing."""
    looked: set[Cell] = set()
    found: set[Cell] = set()
    with tempfile.TemporaryDirectory() as folder, outside() as beside:
        home = indexed(Path(folder))
        for number, door in enumerate(doors):
            tracing = "langsmith" if door.startswith("/agent") else TRACING[number % len(TRACING)]
            a, b = run(door, home, beside, tracing, planted=planted, database_of=database_of)
            looked |= a
            found |= b
    return looked, found


def table(looked: set[Cell], leaked: set[Cell], shown: set[Cell]) -> str:
    """A row a door, a column an artefact: leaks of cells, and how many of the cells were shown able to fail."""
    told: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for cell in looked:
        of = told[cell.door, cell.artefact]
        of[0] += cell in leaked
        of[1] += cell in shown
        of[2] += 1
    doors = [door for door in DOORS if any(c.door == door for c in looked)]
    width = max(map(len, doors))
    lines = ["leaks | cells shown able to fail / cells", f"{'door':<{width}} " + "".join(f"{a:>17}" for a in ARTEFACTS)]
    for door in doors:
        row = [told.get((door, artefact)) for artefact in ARTEFACTS]
        lines.append(f"{door:<{width}} " + "".join(f"{f'{r[0]} | {r[1]}/{r[2]}' if r else '-':>17}" for r in row))
    lines.append(
        f"{len(doors)} doors and modes, {len(looked)} cells, {len(leaked)} leaks; "
        f"{len(shown & looked)} cells shown able to fail by a planted leak"
    )
    lines += [f"  LEAK {c.door} | {c.artefact} | {c.canary}" for c in sorted(leaked, key=str)]
    silent = sorted(looked - shown, key=str)
    lines += [f"  not shown {c.door} | {c.artefact} | {c.canary}" for c in silent]
    lines += ["where a canary belongs:"]
    for (door, artefact), (named, why) in LEGITIMATE.items():
        lines.append(f"  {(door or 'every door').strip()} | {artefact} | {', '.join(sorted(named))}: {why}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="doors whose name has this")
    parser.add_argument("--clean", action="store_true", help="without the second run, that shows what can fail")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    doors = [door for door in DOORS if arguments.only in door]
    begun = time.perf_counter()
    looked, leaked = matrix(doors, planted=False)
    shown = set() if arguments.clean else matrix(doors, planted=True)[1]
    print(table(looked, leaked, shown))
    print(f"{time.perf_counter() - begun:.0f} s")
    return 1 if leaked else 0


if __name__ == "__main__":
    sys.exit(main())
