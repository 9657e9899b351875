"""Questions about all of something: lists, counts, extremes, sums, summaries, clauses, versions, two in one.
`python -m evals.suites.whole [--more | --further | --unread] [--homes DIR] [--out FILE]`

80 questions over four collections (evals/datasets/whole.jsonl) and 90 over three others (whole_more.jsonl), written
from the documents alone by people who had seen nothing of the system; 60 over six of them (whole_further.jsonl), read
after they had been asked once; 40 over the first four (whole_unread.jsonl) that nobody who works on it has read.
An answer is exact when every wanted item stands in it, whole words, and no wrong one, or where there is none, when
nothing is answered; recall is the share of the items. What is neither whole nor flagged `partial` is an answer from a
part that does not say so.
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from evals.material import own_set
from evals.solvers import normalised
from evals.suites.handbooks import ingested
from evals.task import jsonl
from graph.agent import Reply

ALL = ("list", "count", "extreme", "filter", "sum", "summary")  # kinds that need all rows, items or sections


def stands(wanted: str, text: str) -> bool:
    """Whether the words stand in the text as whole words: "3" does not stand in "30"."""
    return re.search(rf"(?<!\w){re.escape(normalised(wanted))}(?!\w)", normalised(text)) is not None


def scored(row: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    told = reply.decision == "answer"
    text = " ".join(sentence["text"] for sentence in reply.sentences) if told else ""
    there = [any(stands(one, text) for one in group) for group in row["wanted"]]
    wrong = any(stands(one, text) for one in row["wrong"]) or (told and not row["wanted"])
    return {
        "id": row["id"], "kind": row["kind"], "question": row["question"], "told": told, "answer": text,
        "recall": sum(there) / max(1, len(there)), "exact": all(there) and not wrong, "confidence": reply.confidence,
        "partial": "partial" in reply.safety_flags,
    }  # fmt: skip


def asked(name: str, homes: Path | None) -> list[dict[str, Any]]:
    rows = own_set(name)
    with ExitStack() as opened:
        agents = {c: opened.enter_context(ingested(c, homes)) for c in sorted({row["collection"] for row in rows})}
        return [
            scored(row, agents[row["collection"]].ask(row["question"], tenant_id=_tenant(row), user_id=row["id"]))
            for row in rows
        ]


def _tenant(row: Mapping[str, Any]) -> str:
    """A public document is asked about by any tenant."""
    return "reader" if row["tenant"] == "public" else str(row["tenant"])


def report(rows: list[dict[str, Any]]) -> str:
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        kinds["all questions"].append(row)
        kinds[row["kind"]].append(row)
    names = (
        "n",
        "exact",
        "recall",
        "answered",
        "exact, partial",
        "need all",
        "incomplete, said",
        "unsaid",
        "unsaid, high",
    )
    lines = [" " * 14 + "".join(f"{name:>{len(name) + 3}}" for name in names)]
    for kind, part in kinds.items():
        short = [row for row in part if row["kind"] in ALL and row["told"] and not row["exact"]]
        unsaid = [row for row in short if not row["partial"]]
        values = (
            str(len(part)),
            *(f"{sum(row[key] for row in part) / len(part):.2f}" for key in ("exact", "recall", "told")),
            str(sum(row["exact"] and row["partial"] for row in part)),
            str(sum(row["kind"] in ALL for row in part)),
            str(len(short) - len(unsaid)),
            str(len(unsaid)),
            str(sum(row["confidence"] == "high" for row in unsaid)),
        )
        lines.append(f"{kind:14}" + "".join(f"{v:>{len(n) + 3}}" for n, v in zip(names, values, strict=True)))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.whole", description=(__doc__ or "").split("\n")[0])
    sets = parser.add_mutually_exclusive_group()
    sets.add_argument("--more", action="store_true", help="the 90 questions over three other collections")
    sets.add_argument(
        "--further", action="store_true", help="60 questions over six collections, in many people's words"
    )
    sets.add_argument("--unread", action="store_true", help="the 40 questions that judge; do not read the answers")
    parser.add_argument("--homes", type=Path, help="where what was ingested stays for the next time")
    parser.add_argument("--out", type=Path, help="a JSONL file for the answers")
    args = parser.parse_args()
    name = next((f"whole_{one}" for one in ("more", "further", "unread") if getattr(args, one)), "whole")
    rows = asked(name, args.homes)
    if args.out:
        jsonl(args.out, rows)
    sys.stdout.write(f"{report(rows)}\n")


if __name__ == "__main__":
    main()
