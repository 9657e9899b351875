"""json: what becomes of broken JSON, step by step, and of the five ways in which a model's output goes wrong.

The pairs of the pool are the tests of the json-repair library (MIT); its folder by CORDON_POOL. A pair is decided by
its text when no option of that library, and no schema that the pool leaves out, stands behind the expected value.
"""

import gzip
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.material import pool_folder
from evals.stats import Rate
from graph.errors import BadInput
from graph.policy.answer.schemas import ANSWER
from graph.policy.repair import repair

FAULTS, EACH = ("garbage", "wrong schema", "empty", "half", "over-long"), 20
# Options under which that library gives another value for the same text.
_TURNING = ("schema", "logging", "stream_stable")


@dataclass(frozen=True)
class Pair:
    text: str
    value: Any
    decided: bool


def pairs(folder: Path) -> list[Pair]:
    found = []
    with gzip.open(folder / "jsonrepair.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            options = row["meta"]["kw"]
            found.append(Pair(row["text"], _value(row["label"]), not any(options.get(o) is not None for o in _TURNING)))
    return found


def _value(label: Any) -> Any:
    if isinstance(label, str):
        try:
            return json.loads(label)
        except ValueError:
            return label
    return label


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def run(out: Path) -> dict[str, Any]:
    """Value-equal pairs, by step; the fault classes; crashes and times on hostile texts."""
    figures: dict[str, Any] = {}
    with suppress(BadInput):  # no pool: only what is ours is measured
        figures |= _pool(pairs(pool_folder()))
    for fault in FAULTS:
        results = [repair(text, ANSWER) for text in _faulty(fault)]
        figures[f"{fault}, fits the schema"] = Rate(sum(r.ok for r in results), len(results)).as_json()
        figures[f"{fault}, else told in words"] = Rate(
            sum(bool(r.errors) for r in results if not r.ok), sum(not r.ok for r in results)
        ).as_json()
    crashes, slowest, texts = 0, 0.0, list(_hostile())
    for text in texts:
        begun = time.perf_counter()
        try:
            json.dumps(repair(text, ANSWER).value)
        except Exception:
            crashes += 1
        slowest = max(slowest, time.perf_counter() - begun)
    figures["hostile texts, crashes"] = Rate(crashes, len(texts)).as_json()
    figures["hostile texts, slowest (s)"] = {"value": slowest, "interval": None, "n": len(texts)}
    return {"figures": figures, "plots": []}


def _pool(found: list[Pair]) -> dict[str, Any]:
    results = [(p, repair(p.text)) for p in found]
    good = [(p, r, same(r.value, p.value)) for p, r in results]
    figures = {
        "pairs decided by their text, value-equal": Rate(
            sum(g for p, _, g in good if p.decided), sum(p.decided for p in found)
        ).as_json(),
        "all pairs, value-equal": Rate(sum(g for *_, g in good), len(good)).as_json(),
    }
    steps = Counter("+".join(r.steps) or "untouched" for _, r, _ in good)
    for step, n in sorted(steps.items()):
        right = sum(g for _, r, g in good if ("+".join(r.steps) or "untouched") == step)
        figures[f"all pairs, {step}"] = Rate(right, n).as_json()
    return figures


def _faulty(fault: str) -> list[str]:
    dice = random.Random(fault)
    whole: dict[str, Any] = {
        "answered": True,
        "sentences": [{"text": f"Sentence {i} of the answer.", "sources": [1 + i % 3]} for i in range(6)],
    }
    text = json.dumps(whole)
    makers: dict[str, Callable[[], str]] = {
        "garbage": lambda: "".join(chr(dice.randrange(32, 0x250)) for _ in range(dice.randrange(20, 2_000))),
        "wrong schema": lambda: json.dumps({dice.choice(["text", "reply", "Sentences"]): dice.choice(["x", [1], {}])}),
        "empty": lambda: dice.choice(["", " ", "\n", "```json\n```", "{}", "null", "[]"]),
        "half": lambda: text[: dice.randrange(40, len(text) - 1)],
        "over-long": lambda: (
            text[:-2] + ", " + ", ".join([json.dumps(whole["sentences"][0])] * dice.randrange(100, 900))
        ),
    }
    return [makers[fault]() for _ in range(EACH)]


def _hostile() -> list[str]:
    dice = random.Random(7)
    noise = "".join(dice.choice('{}[]",:\\ab1 \n') for _ in range(100_000))
    deep = ["[" * 100_000, '{"a":' * 100_000, "(" * 100_000, "[" * 100_000 + "]" * 100_000, "{[}]" * 25_000]
    odd = [
        '{"a": "\ud800',
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"a": 1e999999}',
        "9" * 10_000,
        "\x00{\x01",
        '["a" b" ' * 12_000,
    ]
    return [*deep, *odd, noise, noise * 100, json.dumps(["x" * 100] * 100_000)[:-1]]
