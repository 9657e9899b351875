"""json: what becomes of broken JSON, step by step, and of the five ways in which a model's output goes wrong.

The pairs of the pool are the tests of the json-repair library (MIT); its folder by CORDON_POOL. A pair is decided by
its text when no option of that library, and no schema that the pool leaves out, stands behind the expected value.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evals import material
from evals.task import Metric, Output, Rows, Sample, Score, Scores, Task
from graph.policy.answer.schemas import ANSWER
from graph.policy.repair import repair

FAULTS, EACH = ("garbage", "wrong schema", "empty", "half", "over-long"), 20
# Options under which that library gives another value for the same text.
_TURNING = ("schema", "logging", "stream_stable")


def tasks() -> Iterator[Task]:
    """The fault classes; crashes and times on hostile texts; value-equal pairs, by step."""
    faulty = [Sample("", text, None, {"fault": fault}) for fault in FAULTS for text in _faulty(fault)]
    yield Task("faults", faulty, partial(mended, schema=ANSWER), fits, faults)
    # They are told by how they begin: some hold megabytes.
    texts = _hostile()
    samples = [Sample(str(at), text[:100]) for at, text in enumerate(texts)]
    yield Task("hostile texts", samples, lambda sample: survived(texts[int(sample.id)]), crashed, hostile)
    yield Task(
        "pairs", pairs(material.pool_folder()), mended, lambda s, out: {"equal": same(out.raw.value, s.target)}, by_step
    )


def mended(sample: Sample, schema: dict[str, Any] | None = None) -> Output:
    done = repair(sample.input, schema)
    steps = "+".join(done.steps) or "untouched"
    return Output(json.dumps(done.value), metadata={"steps": steps, "errors": done.errors}, raw=done)


def survived(text: str) -> Output:
    """What it crashed with; `raw` is the time in seconds."""
    begun, crash = time.perf_counter(), ""
    try:
        json.dumps(repair(text, ANSWER).value)
    except Exception as error:
        crash = repr(error)
    return Output(crash, raw=time.perf_counter() - begun)


def crashed(sample: Sample, out: Output) -> Scores:
    return {"crashed": Score(bool(out.text), out.text), "seconds": out.raw}


def fits(sample: Sample, out: Output) -> Scores:
    return {"fits": out.raw.ok, "told": None if out.raw.ok else bool(out.raw.errors)}


def faults(rows: Rows) -> Iterator[Metric]:
    for fault in FAULTS:
        part = rows.where(fault=fault)
        yield part.rate(f"{fault}, fits the schema", "fits")
        yield part.rate(f"{fault}, else told in words", "told", least=1)


def hostile(rows: Rows) -> Iterator[Metric]:
    yield rows.rate("hostile texts, crashes", "crashed", most=0)
    yield rows.figure("hostile texts, slowest (s)", "seconds", max)


def by_step(rows: Rows) -> Iterator[Metric]:
    yield rows.where(decided=True).rate("pairs decided by their text, value-equal", "equal")
    yield rows.rate("all pairs, value-equal", "equal")
    for steps, part in rows.by("steps"):
        yield part.rate(f"all pairs, {steps}", "equal")


def pairs(folder: Path) -> list[Sample]:
    """The text, and the value that the library's tests expect; whether the text decides it."""
    return [
        Sample("", row["text"], _value(row["label"]),
               {"decided": not any(row["meta"]["kw"].get(option) is not None for option in _TURNING)})
        for row in material.rows(folder / "jsonrepair.jsonl.gz")
    ]  # fmt: skip


def _value(label: Any) -> Any:
    if isinstance(label, str):
        try:
            return json.loads(label)
        except ValueError:
            return label
    return label


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


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
