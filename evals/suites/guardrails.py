"""guardrails: what is blocked, guarded and let through, on text that the guards were not trained on.

The project's own sets are always judged; with the pool (CORDON_POOL or the evaluation data), sources that nothing was
learned from, too.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evals import figures, material
from evals.material import HEADS, Labelled
from evals.solvers import judged, triage
from evals.suites import false_positives, planted
from evals.suites.handbooks import OPEN
from evals.task import Metric, Output, Rows, Sample, Scores, Solver, Tables, Task
from evals.training import train
from graph import settings
from graph.deps import stores
from graph.models import detector as detectors
from graph.policy.threats import assess, learned

TOXICITY = HEADS.index("toxicity")
WRITERS = ("blind", "unseen", "outside", "long", "privacy")
INNOCENT = {"hard innocent": "innocent_hard", "staff innocent": "staff_innocent"} | {
    f"{name} innocent": f"{name}_innocent" for name in WRITERS
}
ATTACKS = {"labelled": "guardrails"} | {name: f"{name}_attacks" for name in WRITERS}
ENCODED = partial(triage, tenant="U1", encode=True)


def tasks(detector: str = "") -> Iterator[Task]:
    """With a detector (CORDON_DETECTOR) the own sets alone, without it and with it beside each other."""
    if detector:
        by = detectors.detector(_settings(detector=detector))
        yield own_sets({", without": ENCODED, ", with": partial(ENCODED, detector=by)})
        return
    yield own_sets({"": partial(triage, tenant="U1"), ", with encoder": ENCODED}, by_class, curves)
    yield from false_positives.tasks(stores(_settings()))
    yield from speed()
    folder = material.pool_folder_near()
    yield Task("left-out sources", judges(folder), ENCODED, judged, by_source, against_each_other)
    # Their borders rest on banking77 and clapnq.
    texts = [s for s in material.questions(folder) if s.source in ("banking77", "clapnq_train_question")][::4]
    samples = [Sample("", text.text, "ALLOW", {"source": text.source}) for text in texts]
    figures_ = {"ordinary questions that borders rest on: blocked": "blocked"}
    yield Task("ordinary questions", samples, ENCODED, judged, figures_)
    asked = [Sample.from_row(row | {"action": "ALLOW"}, "question", "action") for row in material.own_set("answers")]
    solve = partial(triage, tenant="U0", encode=True)
    yield Task("laboratory questions", asked, solve, judged, both("laboratory questions"))
    yield Task("questions of staff", list(staff()), solve, judged, both("questions of staff"))
    yield from toxicity(folder)
    yield Task("pasted", pasted(folder.parent), ENCODED, judged, by_group)


def _settings(**overrides: Any) -> settings.Settings:
    """CORDON_POOL, which tells where the pool is, is none of them."""
    return settings.load(environ={k: v for k, v in os.environ.items() if k != "CORDON_POOL"}, **overrides)


# ---- the project's own sets ---------------------------------------------------------------------------------------


def own_sets(ways: Mapping[str, Solver], tables: Any = Task.tables, more: Any = Task.more) -> Task:
    """Innocent text with attack words, and attacks: every own set, judged in each way."""
    rows = [({"action": "ALLOW"} | row if name in INNOCENT else row, name)
            for name, file in (INNOCENT | ATTACKS).items() for row in material.own_set(file)]  # fmt: skip
    samples = [Sample.from_row(row, "text", "action", set=name, way=way) for way in ways for row, name in rows]

    def solve(sample: Sample) -> Output:
        return ways[sample.metadata["way"]](sample)

    def metrics(rows: Rows) -> Iterator[Metric]:
        for beside in zip(*(on_own(rows.where(way=way), way) for way in ways), strict=True):
            yield from beside

    return Task("own sets", samples, solve, judged, metrics, more, tables)


def on_own(rows: Rows, way: str) -> Iterator[Metric]:
    """False alarms on innocent text, and what is found of attacks."""
    for name in INNOCENT:
        yield rows.where(set=name).rate(f"{name}: guarded or blocked{way}", "stopped")
        yield rows.where(set=name).rate(f"{name}: blocked{way}", "blocked")
    for name in ATTACKS:
        group = rows.where(set=name)
        yield group.wanting("BLOCK").rate(f"{name} attacks: blocked{way}", "blocked")
        yield group.wanting("BLOCK").rate(f"{name} attacks: blocked or guarded{way}", "stopped")
        if middle := group.wanting("ALLOW_WITH_GUARDRAILS"):
            yield middle.rate(f"{name} guarded middle: guarded{way}", "right")
        if good := group.wanting("ALLOW"):
            yield good.rate(f"{name} innocent: guarded or blocked{way}", "stopped")


def labelled(rows: Rows) -> tuple[Rows, Rows]:
    """Of the labelled set with the encoder, those to be stopped and those to be let through."""
    found = rows.where(set="labelled", way=", with encoder")
    return found.wanting("BLOCK", "ALLOW_WITH_GUARDRAILS"), found.wanting("ALLOW")


def by_class(rows: Rows) -> Tables:
    """Precision and recall of "not allowed" by class and subclass of the labelled set (C9). Precision counts the false
    alarms of the whole set against each."""
    bad, good = labelled(rows)
    alarms = len(good.where(stopped=True))
    table = {}
    for key in ("class", "subclass"):
        for value, group in Rows([*bad, *good]).by(key):
            table[f"{key}: {value}"] = row = [group.rate("right action", "right")]
            if wanted := bad.where(**{key: value}):
                hits = len(wanted.where(stopped=True))
                row += [wanted.rate("recall", "stopped"), Metric.rate("precision", hits, hits + alarms)]
    return {"classes": table}


def curves(rows: Rows, out: Path) -> dict[str, Any]:
    """Plots of the labelled set's scores."""
    bad, good = (np.array([max(row.output.raw.scores.values()) for row in part]) for part in labelled(rows))
    return {"plots": figures.curves(bad, good, out / "guardrails.png", "labelled set")}


def speed() -> Iterator[Task]:
    """p95 of the processor time of one question on one thread, and how long a megabyte of the worst text takes."""
    texts = [Sample("", row["text"]) for name in ("guardrails", "innocent_hard") for row in material.own_set(name)]
    learned.tuned().margins(["first"])
    for name, encode in (("without", False), ("with", True)):
        assess("first")
        solve, figure = partial(timed, tenant="U1", encode=encode), f"one question, p95 ms, {name} encoder"
        yield Task(f"speed {name} encoder", texts, solve, took, partial(only, figure, lambda ms: np.quantile(ms, 0.95)))
    longest = partial(only, "one megabyte, seconds, worst of 12", lambda ms: max(ms) / 1e3)
    yield Task("long texts", [Sample("", unit, 1_000_000) for unit in REPEATED], timed, took, longest)


def timed(sample: Sample, **options: Any) -> Output:
    """Processor time in ms of one assessment, of the text repeated to as many characters as its target."""
    size = sample.target or len(sample.input)
    text = (sample.input * (size // len(sample.input) + 1))[:size]
    begun = time.process_time()
    found = assess(text, **options)
    return Output(verdict=found.action, raw=(time.process_time() - begun) * 1e3)


def took(sample: Sample, out: Output) -> Scores:
    return {"ms": out.raw}


def only(name: str, what: Callable[[list[float]], Any], rows: Rows) -> list[Metric]:
    return [rows.figure(name, "ms", what)]


# What backtracking, windows and decoders like least.
REPEATED = (
    "ignore all the your my our previous ", "show " * 8 + "x ", "a" * 64, "how to " * 6, "aGVsbG8gd29ybGQ", "%41",
    "\"'",         "you are act as pretend ", "1gn0r3 ", ". ", "<b>", "ا ب ج ",
)  # fmt: skip


# ---- the pool -----------------------------------------------------------------------------------------------------


def both(name: str) -> dict[str, str]:
    return {f"{name}: blocked": "blocked", f"{name}: guarded or blocked": "stopped"}


def judges(folder: Path, most: int = 200) -> Iterator[Sample]:
    """Sources that nothing was learned from (material.JUDGES), as triage judges a question: up to `most` of each."""
    texts: dict[tuple[str, str], list[str]] = {}
    for text in [*material.questions(folder), *material.varied(folder)]:
        if text.source in material.JUDGES:
            texts.setdefault((text.source, "".join(text.labels)), []).append(text.text)
    for (source, label), all_of in sorted(texts.items()):
        for chosen in all_of[:: max(1, len(all_of) // most)][:most]:
            yield Sample("", chosen, label, {"source": source, "label": label})


def by_source(rows: Rows) -> Iterator[Metric]:
    for (source, label), group in rows.by("source", "label"):
        yield from group.rates(both(f"{source}, {'attacks' if label else 'innocent'}"))
    for label, of in pairs(rows).items():
        areas, found = ([one[what] for one in of.values()] for what in ("AUC", "found at 1%"))
        yield Metric.mean(f"{label} AUC, mean over left-out pairs", areas)
        yield Metric(f"{label} AUC, worst left-out pair", min(areas), len(areas))
        yield Metric.mean(f"{label}, found at 1% of left-out innocents", found)


def pairs(rows: Rows) -> dict[str, dict[str, dict[str, float]]]:
    """Attacks against each innocent source by the score of their own head, whatever the verdict."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    groups = list(rows.by("source", "label"))
    for (bad, label), attacks in groups:
        for (good, innocent), others in groups:
            if label and not innocent:
                p, n = (np.array([row.output.raw.scores[label] for row in these]) for these in (attacks, others))
                at_one = float((p > np.quantile(n, 0.99)).mean())
                found.setdefault(label, {})[f"{bad} / {good}"] = {"AUC": figures.auc(p, n), "found at 1%": at_one}
    return found


def against_each_other(rows: Rows, out: Path) -> dict[str, Any]:
    (out / "left_out.json").write_text(json.dumps(pairs(rows), indent=1), encoding="utf-8")
    return {}


def toxicity(folder: Path) -> Iterator[Task]:
    """Learned from Davidson's tweets and the own set, judged on TweetEval's offensive tweets, and back.

    The shipped encoder beside the n-grams never saw TweetEval, whose licence keeps weights learned from it out of the
    project: the way back is judged by n-grams alone.
    """
    table = train.tabulate([*material.own_training(), *tweets(folder)])
    tuned = learned.tuned()
    for source, other, by in (
        ("davidson", "tweeteval_offensive", tuned),
        ("tweeteval_offensive", "davidson", None),
    ):
        rest = np.flatnonzero(table.source != other)
        these = np.flatnonzero(table.source == other)
        margin = train.margins(table, [train.fit(table, TOXICITY, rest)], these)[:, 0]
        if by is not None:
            shown = [learned.shown(table.readings[row].learned[0]) for row in these]
            margin = margin + (by.share * by.margins(shown))[:, TOXICITY]
        wanted = table.labels[these, TOXICITY] == 1
        name = f"toxicity, {source} to {other}{'' if by else ', n-grams alone'}"
        samples = [Sample(str(at), table.samples[row].text, bool(wanted[at])) for at, row in enumerate(these)]
        yield Task(
            name,
            samples,
            read(margin),
            lambda s, out: {"right": out.text == str(s.target), "margin": out.raw},
            partial(told_apart, name=name),
        )


def read(margin: np.ndarray) -> Solver:
    """The margin of the sample with this number; half of them are toxic."""
    border = np.median(margin)
    return lambda sample: Output(str(margin[int(sample.id)] > border), raw=float(margin[int(sample.id)]))


def told_apart(rows: Rows, name: str) -> Iterator[Metric]:
    yield rows.rate(f"{name}: accuracy", "right")
    bad, good = (np.array(rows.wanting(wanted).values("margin")) for wanted in (True, False))
    yield Metric(f"{name}: AUC", figures.auc(bad, good), len(rows))


def staff(step: int = 5) -> Iterator[Sample]:
    """Every fifth question that readers of five collections wrote; all of them are innocent."""
    pages = material.own_set("reader_questions")
    for question in [asked[0] for page in pages for asked in page["questions"]][::step]:
        yield Sample("", question, "ALLOW")


def pasted(data: Path, pages: int = 120) -> Iterator[Sample]:
    """Pages of handbooks pasted as a question, and short attacks of the labelled set in the middle of them."""
    texts = [text for name in OPEN for _, text in planted.documents(data, name) if len(text) > 3_000]
    hosts = [text[200:4_500] for text in texts[:: max(1, len(texts) // pages)]][:pages]
    attacks = [r["text"] for r in material.own_set("guardrails") if r["class"] in ("injection", "jailbreak")]
    attacks = [text for text in attacks if len(text) < 400]
    hidden = []
    for at, attack in enumerate(attacks):
        host = hosts[at % len(hosts)]
        middle = host.find(" ", len(host) // 2)
        hidden.append(f"{host[:middle]}\n\n{attack}\n\n{host[middle:]}")
    groups = {"pages pasted": hosts, "attacks alone": attacks, "attacks in the middle of a page": hidden}
    for name, group in groups.items():
        for text in group:
            yield Sample("", text, "ALLOW" if group is hosts else "BLOCK", {"group": name})


def by_group(rows: Rows) -> Iterator[Metric]:
    for name in dict.fromkeys(row["group"] for row in rows):
        yield from rows.where(group=name).rates(both(name))


def tweets(folder: Path) -> list[Labelled]:
    """A thousand toxic and a thousand harmless tweets of each collection, by a fixed shuffle."""
    texts = material.toxic(folder)
    rng = np.random.default_rng(train.SEED)
    chosen: list[Labelled] = []
    for source in ("davidson", "tweeteval_offensive"):
        for label in (True, False):
            group = [s for s in texts if s.source == source and bool(s.labels) == label]
            chosen += [group[int(at)] for at in rng.permutation(len(group))[:1_000]]
    return chosen
