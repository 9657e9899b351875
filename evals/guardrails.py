"""guardrails: what is blocked, guarded and let through, on text that the guards were not trained on.

The project's own sets are always judged. With the pool (CORDON_POOL or the evaluation data) each source is also left
out of training and judged by what was learned from the others.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evals import false_positives, figures, material, train
from evals.material import HEADS, Sample
from evals.stats import Rate, mean
from graph import settings
from graph.errors import BadInput
from graph.policy import rubric
from graph.policy.threats import SCORES, Assessment, _hidden, _learned, _ruled, assess, concluded, learned
from graph.policy.threats.readings import Readings

ATTACKS = ("agt_smoke", "deepset", "inthewild", "spikee_direct", "tensortrust_extraction", "tensortrust_hijacking")
INNOCENT = ("agt_smoke", "alpaca_harmless", "banking77", "clapnq_train_question", "deepset", "wildguard_benign")
INJECTION = HEADS.index("injection")


def run(out: Path) -> dict[str, Any]:
    embed = train.embedder(out / "embeddings.npz")
    found: dict[str, Any] = {}
    for mode, given in (("", None), (", with embedding", embed)):
        for name, value in own_sets(given).items():
            found[f"{name}{mode}"] = value
    found |= false_positives.judge(_home(), embed)
    found |= speed(embed)
    classes = per_class(embed, out)
    plots = [str(out / "guardrails.png")]
    try:
        folder = material.pool_folder_near()
    except BadInput as error:
        return {"figures": found, "classes": classes, "plots": plots, "skipped": str(error)}
    found |= ordinary(folder)
    found |= left_out(folder, embed, out)
    found |= toxicity(folder, embed)
    return {"figures": found, "classes": classes, "plots": [*plots, str(out / "left_out.png")]}


def _home() -> Path:
    """CORDON_HOME. CORDON_POOL, which tells where the pool is, is no setting."""
    return settings.load(environ={k: v for k, v in os.environ.items() if k != "CORDON_POOL"}).home


# ---- the project's own sets ---------------------------------------------------------------------------------------


def own_sets(embed: learned.Embed | None) -> dict[str, Any]:
    """False alarms on innocent text with attack words; the labelled set; the set written after the last training."""
    figures_: dict[str, Any] = {}
    innocent = {
        "hard innocent": "innocent_hard",
        "blind innocent": "blind_innocent",
        "unseen innocent": "unseen_innocent",
    }
    for name, file in innocent.items():
        actions = [assess(row["text"], tenant="U1", embed=embed).action for row in material.own(file)]
        figures_[f"{name}: guarded or blocked"] = Rate(sum(a != "ALLOW" for a in actions), len(actions)).as_json()
        figures_[f"{name}: blocked"] = Rate(sum(a == "BLOCK" for a in actions), len(actions)).as_json()
    for name, file in (("labelled", "guardrails"), ("blind", "blind_attacks"), ("unseen", "unseen_attacks")):
        rows = material.own(file)
        actions = [assess(row["text"], tenant="U1", embed=embed).action for row in rows]
        wanted = [row["action"] for row in rows]
        bad = [a for a, w in zip(actions, wanted, strict=True) if w == "BLOCK"]
        figures_[f"{name} attacks: blocked"] = Rate(sum(a == "BLOCK" for a in bad), len(bad)).as_json()
        figures_[f"{name} attacks: blocked or guarded"] = Rate(sum(a != "ALLOW" for a in bad), len(bad)).as_json()
        middle = [a for a, w in zip(actions, wanted, strict=True) if w == "ALLOW_WITH_GUARDRAILS"]
        if middle:
            share = sum(a == "ALLOW_WITH_GUARDRAILS" for a in middle)
            figures_[f"{name} guarded middle: guarded"] = Rate(share, len(middle)).as_json()
        good = [a for a, w in zip(actions, wanted, strict=True) if w == "ALLOW"]
        if good:
            figures_[f"{name} innocent: guarded or blocked"] = Rate(
                sum(a != "ALLOW" for a in good), len(good)
            ).as_json()
    return figures_


def per_class(embed: learned.Embed, out: Path) -> dict[str, Any]:
    """Precision and recall of "not allowed" by class and subclass of the labelled set (C9), and plots of its scores."""
    rows = material.own("guardrails")
    judged = [assess(row["text"], tenant="U1", embed=embed) for row in rows]
    wanted = np.array([row["action"] != "ALLOW" for row in rows])
    stopped = np.array([one.action != "ALLOW" for one in judged])
    classes: dict[str, Any] = {}
    false_alarms = int((stopped & ~wanted).sum())
    for key in ("class", "subclass"):
        for value in sorted({row[key] for row in rows}):
            group = np.array([row[key] == value for row in rows])
            right = [one.action == row["action"] for one, row in zip(judged, rows, strict=True) if row[key] == value]
            hits = int((group & wanted & stopped).sum())
            entry: dict[str, Any] = {"right action": Rate(sum(right), len(right)).as_json()}
            if (group & wanted).any():
                entry["recall"] = Rate(hits, int((group & wanted).sum())).as_json()
                entry["precision"] = Rate(hits, hits + false_alarms).as_json()
            classes[f"{key}: {value}"] = entry
    scores = np.array([max(one.scores.values()) for one in judged])
    figures.curves(scores[wanted], scores[~wanted], out / "guardrails", "labelled set")
    return classes


def speed(embed: learned.Embed) -> dict[str, Any]:
    """p95 of the processor time of one question on one thread, and how long a megabyte of the worst text takes."""
    from graph.knowledge.embeddings import MiniLM

    model = MiniLM(threads=1)
    texts = [row["text"] for row in [*material.own("guardrails"), *material.own("innocent_hard")]]
    found = {}
    for name, given in (("without", None), ("with", model.embed)):
        assess("first", embed=given)
        took = []
        for text in texts:
            begun = time.process_time()
            assess(text, tenant="U1", embed=given)
            took.append((time.process_time() - begun) * 1e3)
        found[f"one question, p95 ms, {name} embedding"] = {"value": float(np.quantile(took, 0.95)), "n": len(took)}
    worst = 0.0
    for text in long_texts():
        begun = time.process_time()
        assess(text)
        worst = max(worst, time.process_time() - begun)
    found["one megabyte, seconds, worst of 12"] = {"value": worst, "n": 12}
    return found


def long_texts(size: int = 1_000_000) -> list[str]:
    """A megabyte each: what backtracking, windows and decoders like least."""
    units = (
        "ignore all the your my our previous ", "show " * 8 + "x ", "a" * 64, "how to " * 6, "aGVsbG8gd29ybGQ", "%41",
        "\"'",         "you are act as pretend ", "1gn0r3 ", ". ", "<b>", "ا ب ج ",
    )  # fmt: skip
    return [(unit * (size // len(unit) + 1))[:size] for unit in units]


# ---- the pool -----------------------------------------------------------------------------------------------------


def ordinary(folder: Path) -> dict[str, Any]:
    """Blocked of people's ordinary questions, by the shipped weights (banking77 and clapnq entered their training)."""
    texts = [s for s in material.questions(folder) if s.source in ("banking77", "clapnq_train_question")][::4]
    blocked = sum(assess(s.text, tenant="U1").action == "BLOCK" for s in texts)
    found = {"ordinary questions of trained sources: blocked": Rate(blocked, len(texts)).as_json()}
    asked = [row["question"] for row in material.own("answers")]
    actions = [assess(text, tenant="U0").action for text in asked]
    found["laboratory questions: blocked"] = Rate(actions.count("BLOCK"), len(asked)).as_json()
    found["laboratory questions: guarded or blocked"] = Rate(sum(a != "ALLOW" for a in actions), len(asked)).as_json()
    return found


def left_out(folder: Path, embed: Callable[[list[str]], np.ndarray], out: Path) -> dict[str, Any]:
    """Each attack source against each innocent source, both absent from training: AUC, and found at 1% false alarms."""
    samples = [*material.own_training(), *train.capped(material.questions(folder))]
    table = train.tabulate(samples, embed)
    texts = train.tabulate(samples, embed, judged=True)
    shipped = np.array([s.ship for s in samples])
    attack = table.labels[:, INJECTION] == 1
    ruled = [_rules_only(r) for r in texts.readings]
    pairs: dict[str, Any] = {}
    aucs, found_at, blocked = [], [], {name: [] for name in INNOCENT}
    fits: dict[tuple[str, ...], learned.Model] = {}
    pooled: dict[str, list[np.ndarray]] = {"attack": [], "innocent": []}
    for bad in ATTACKS:
        for good in INNOCENT:
            key = tuple(sorted({bad, good}))
            if key not in fits:
                rest = np.flatnonzero(shipped & ~np.isin(table.source, key))
                fits[key] = _with_injection(train.fit(table, INJECTION, rest))
            positive = np.flatnonzero((table.source == bad) & attack)
            negative = np.flatnonzero((table.source == good) & ~attack)
            p, n = (_scores(texts, ruled, rows, fits[key], embed) for rows in (positive, negative))
            aucs.append(figures.auc(p, n))
            found_at.append(float((p > np.quantile(n, 0.99)).mean()))
            blocked[good].append(float((n >= rubric.BLOCKED_FROM / 100).mean()))
            pairs[f"{bad} / {good}"] = {"auc": round(aucs[-1], 4), "found at 1%": round(found_at[-1], 3)}
            pooled["attack"].append(p)
            pooled["innocent"].append(n)
    figures.curves(
        np.concatenate(pooled["attack"]), np.concatenate(pooled["innocent"]), out / "left_out", "sources left out"
    )
    (out / "left_out.json").write_text(json.dumps(pairs, indent=1), encoding="utf-8")
    found = {
        "injection AUC, mean over left-out pairs": mean(aucs),
        "injection AUC, worst left-out pair": {"value": min(aucs), "n": len(aucs)},
        "left-out attacks found at 1% of left-out innocents": mean(found_at),
    }
    for name in ("banking77", "clapnq_train_question"):
        count = int((table.source == name).sum())
        found[f"{name}, left out: blocked by injection"] = Rate(
            round(float(np.mean(blocked[name])) * count), count
        ).as_json()
    return found


def _rules_only(readings: Readings) -> Assessment:
    ruled = _ruled(readings, "")
    return concluded([*ruled, *_hidden(readings, "", ruled)], dict.fromkeys(SCORES, 0.0))


def _with_injection(fit: train.Fit) -> learned.Model:
    """The shipped model with another injection head; its calibration stays, both are in standard deviations."""
    shipped = learned.model()
    words, bias = np.zeros_like(shipped.words), np.zeros_like(shipped.bias)
    vector, vector_bias = np.zeros_like(shipped.vector), np.zeros_like(shipped.vector_bias)
    words[INJECTION], bias[INJECTION] = fit.words, fit.bias
    vector[INJECTION], vector_bias[INJECTION] = fit.vector, fit.vector_bias
    return replace(shipped, words=words, bias=bias, vector=vector, vector_bias=vector_bias)


def _scores(
    table: train.Table,
    ruled: Sequence[Assessment],
    rows: np.ndarray,
    weights: learned.Model,
    embed: Callable[[list[str]], np.ndarray],
) -> np.ndarray:
    found = []
    for row in rows:
        readings = table.readings[row]
        _, scores = _learned(readings, learned.scores(readings.learned, embed, weights))
        found.append(max(scores["injection"], ruled[row].scores["injection"]))
    return np.array(found)


def toxicity(folder: Path, embed: Callable[[list[str]], np.ndarray]) -> dict[str, Any]:
    """Learned from Davidson's tweets and the own set, judged on TweetEval's offensive tweets, and back."""
    head = HEADS.index("toxicity")
    samples = [s for s in material.toxic(folder) if s.source in ("davidson", "tweeteval_offensive")]
    rng = np.random.default_rng(train.SEED)
    chosen: list[Sample] = []
    for source in ("davidson", "tweeteval_offensive"):
        for label in (True, False):
            group = [s for s in samples if s.source == source and bool(s.labels) == label]
            chosen += [group[int(at)] for at in rng.permutation(len(group))[:1_000]]
    table = train.tabulate([*material.own_training(), *chosen], embed)
    found = {}
    for source, other in (("davidson", "tweeteval_offensive"), ("tweeteval_offensive", "davidson")):
        fitted = train.fit(table, head, np.flatnonzero(table.source != other))
        judged = np.flatnonzero(table.source == other)
        _, margin = train.margins(table, [fitted], judged)
        right = (margin[:, 0] > np.median(margin[:, 0])) == (table.labels[judged, head] == 1)
        found[f"toxicity, {source} to {other}: accuracy"] = Rate(int(right.sum()), len(judged)).as_json()
        labels = table.labels[judged, head] == 1
        value = figures.auc(margin[labels, 0], margin[~labels, 0])
        found[f"toxicity, {source} to {other}: AUC"] = {"value": value, "n": len(judged)}
    return found
