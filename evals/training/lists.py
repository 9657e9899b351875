"""What the borders of lists stand on (graph/extractive/list_choice.py, answerer.py): how often the right list is
chosen, how its weight and its lead tell right ones from wrong, and from which chance sentences answer where no list was
read. `python -m evals.training.lists [--homes DIR]`, over whole.jsonl and whole_more.jsonl; a quarter of an hour
without homes."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from evals.material import own_set
from evals.suites import whole as suite
from evals.suites.handbooks import ingested
from evals.training.logistic import Dense, fit
from graph.extractive import answerer, list_choice, whole
from graph.extractive.enumerations import Enumeration
from graph.policy.answer import counted
from graph.policy.question.answer_type import All, all_of

SETS = ("whole", "whole_more")
COVERED = 0.6  # share of the wanted items, from which a list is the right one
L2 = 0.01
BORDERS = (0.35, 0.45, 0.55, 0.6, 0.65, 0.75)


@dataclass
class Asked:
    """A question of all of something. `right` says of each list whether it is the one; `ahead` is (weight, lead) of the
    chosen one, `chosen` its place. `chance` is that of the sentences, `read` whether a list was said."""

    row: dict[str, Any]
    right: list[bool]
    chosen: int = 0
    ahead: tuple[float, float] = (0.0, 0.0)
    chance: float = 1.0
    read: bool = False
    exact: bool = False


def asked(homes: Path | None) -> Iterator[Asked]:
    for name in SETS:
        rows = [row for row in own_set(name) if all_of(row["question"]) not in (None, "summary")]
        with ExitStack() as opened:
            agents = {c: opened.enter_context(ingested(c, homes)) for c in sorted({row["collection"] for row in rows})}
            for row in rows:
                one = Asked(row, [])
                with _watched(one):
                    tenant = "reader" if row["tenant"] == "public" else str(row["tenant"])
                    reply = agents[row["collection"]].ask(row["question"], tenant_id=tenant, user_id=row["id"])
                one.exact = suite.scored(row, reply)["exact"]
                yield one


def _watched(one: Asked) -> ExitStack:
    """While a question is asked: what the answerer weighs is noted, and no sentence is held back."""
    choose, chance, as_a_whole = list_choice.choose, answerer.chance, answerer._as_a_whole

    def chosen(question: str, kind: All, lists: Sequence[Enumeration], *more: Any) -> Any:
        one.right = [_right(one.row, question, kind, each) for each in lists]
        if lists:
            one.chosen, *ahead = list_choice.ahead(lists, list_choice.weigh(question, kind, lists, *more))
            one.ahead = (ahead[0], ahead[1])
        return choose(question, kind, lists, *more)

    def likely(signs: np.ndarray) -> float:
        one.chance = chance(signs)
        return one.chance

    def read(*given: Any) -> Any:
        said, sure = as_a_whole(*given)
        one.read = bool(said)
        return said, sure

    patches = ExitStack()
    for place, name, value in (
        (whole, "choose", chosen), (answerer, "chance", likely), (answerer, "_as_a_whole", read),
        (answerer, "ALL_ANSWERED_FROM", 0.0),
    ):  # fmt: skip
        patches.enter_context(patch.object(place, name, value))
    return patches


def _right(row: Mapping[str, Any], question: str, kind: All, one: Enumeration) -> bool:
    entries = whole.selected(question, kind, one) if kind == "count" else one.entries
    text = counted.count([entry.text for entry in entries]).split(":")[0] if kind == "count" else ""
    text = text or " ".join(entry.text for entry in entries)
    there = [any(suite.stands(wanted, text) for wanted in group) for group in row["wanted"]]
    return bool(there) and sum(there) >= COVERED * len(there)


def auc(right: np.ndarray, scores: np.ndarray) -> float:
    higher = scores[right][:, None] - scores[~right][None, :]
    return float(((higher > 0) + 0.5 * (higher == 0)).mean())


def left_out(signs: np.ndarray, right: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The chance of each, learned from the other collections."""
    chances = np.zeros(len(right))
    for group in sorted({*groups.tolist()}):
        others = groups != group
        slopes, bias = fit(Dense(signs[others]), right[others].astype(float), np.ones(others.sum()), L2)
        chances[~others] = 1 / (1 + np.exp(-(signs[~others] @ slopes + bias)))
    return chances


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.training.lists", description=__doc__.split("\n")[0])
    parser.add_argument("--homes", type=Path, help="where what was ingested stays for the next time")
    every = list(asked(parser.parse_args().homes))
    made = [one for one in every if one.right]
    right = np.array([one.right[one.chosen] for one in made])
    print(f"the right list is chosen: {right.sum()} of {sum(any(one.right) for one in made)}, n = {len(made)}")
    signs = np.array([one.ahead for one in made])
    groups = np.array([one.row["collection"] for one in made])
    slopes, bias = fit(Dense(signs), right.astype(float), np.ones(len(made)), L2)
    chances = left_out(signs, right, groups)
    print(f"weight {slopes[0]:.2f}, lead {slopes[1]:.2f}, bias {bias:.2f}")
    print(f"AUC, collections left out: {auc(right, chances):.2f}; the weight alone {auc(right, signs[:, 0]):.2f}")
    for border in BORDERS:
        taken = chances >= border
        print(f"from {border}: {(taken & right).sum()} of {right.sum()} right ones, {(taken & ~right).sum()} of "
              f"{(~right).sum()} wrong ones")  # fmt: skip
    said = [one for one in every if not one.read]
    border = answerer.ALL_ANSWERED_FROM
    for name, part in (
        ("from", [o for o in said if o.chance >= border]),
        ("below", [o for o in said if o.chance < border]),
    ):
        absent = sum(not one.row["wanted"] for one in part)
        exact = sum(one.exact and bool(one.row["wanted"]) for one in part)
        print(f"sentences, {name} {border}: {exact} of {len(part)} right; of {absent} the answer is nowhere")


if __name__ == "__main__":
    main()
