"""guardrails: what is blocked, guarded and let through, on text that the guards were not trained on.

The project's own sets are always judged; with the pool (CORDON_POOL or the evaluation data), sources that nothing was
learned from, too.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from evals import figures, material
from evals.material import HEADS, Sample
from evals.stats import Rate, mean
from evals.suites import false_positives, planted
from evals.suites.handbooks import OPEN
from evals.training import train
from graph import settings
from graph.errors import BadInput
from graph.models import detector as detectors
from graph.policy.threats import Assessment, assess, learned
from graph.policy.threats.detector import Detector

TOXICITY = HEADS.index("toxicity")


def run(out: Path, detector: str = "") -> dict[str, Any]:
    """With a detector (CORDON_DETECTOR) the own sets alone, without it and with it beside each other."""
    if detector:
        by = detectors.detector(_settings(detector=detector))
        without, joined = own_sets(encode=True), own_sets(encode=True, by=by)
        beside = {
            f"{name}, {way}": sets[name] for name in without for way, sets in (("without", without), ("with", joined))
        }
        return {"figures": beside}
    found: dict[str, Any] = {}
    for mode, encode in (("", False), (", with encoder", True)):
        for name, value in own_sets(encode=encode).items():
            found[f"{name}{mode}"] = value
    found |= false_positives.judge(_settings().home)
    found |= speed()
    classes = per_class(out)
    plots = [str(out / "guardrails.png")]
    try:
        folder = material.pool_folder_near()
    except BadInput as error:
        return {"figures": found, "classes": classes, "plots": plots, "skipped": str(error)}
    found |= judges(folder, out)
    found |= ordinary(folder)
    found |= toxicity(folder)
    found |= pasted(folder.parent)
    return {"figures": found, "classes": classes, "plots": plots}


def _settings(**overrides: Any) -> settings.Settings:
    """CORDON_POOL, which tells where the pool is, is none of them."""
    return settings.load(environ={k: v for k, v in os.environ.items() if k != "CORDON_POOL"}, **overrides)


# ---- the project's own sets ---------------------------------------------------------------------------------------


def own_sets(*, encode: bool, by: Detector | None = None) -> dict[str, Any]:
    """False alarms on innocent text with attack words, and what is found of attacks: of each own set."""
    figures_: dict[str, Any] = {}
    innocent = {
        "hard innocent": "innocent_hard",
        "blind innocent": "blind_innocent",
        "unseen innocent": "unseen_innocent",
        "outside innocent": "outside_innocent",
        "long innocent": "long_innocent",
    }
    for name, file in innocent.items():
        actions = [
            assess(row["text"], tenant="U1", encode=encode, detector=by).action for row in material.own_set(file)
        ]
        figures_[f"{name}: guarded or blocked"] = Rate(sum(a != "ALLOW" for a in actions), len(actions)).as_json()
        figures_[f"{name}: blocked"] = Rate(sum(a == "BLOCK" for a in actions), len(actions)).as_json()
    attacks = {
        "labelled": "guardrails",
        "blind": "blind_attacks",
        "unseen": "unseen_attacks",
        "outside": "outside_attacks",
        "long": "long_attacks",
    }
    for name, file in attacks.items():
        rows = material.own_set(file)
        actions = [assess(row["text"], tenant="U1", encode=encode, detector=by).action for row in rows]
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


def per_class(out: Path) -> dict[str, Any]:
    """Precision and recall of "not allowed" by class and subclass of the labelled set (C9), and plots of its scores."""
    rows = material.own_set("guardrails")
    judged = [assess(row["text"], tenant="U1", encode=True) for row in rows]
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


def speed() -> dict[str, Any]:
    """p95 of the processor time of one question on one thread, and how long a megabyte of the worst text takes."""
    texts = [row["text"] for row in [*material.own_set("guardrails"), *material.own_set("innocent_hard")]]
    learned.tuned().margins(["first"])
    found = {}
    for name, encode in (("without", False), ("with", True)):
        assess("first")
        took = []
        for text in texts:
            begun = time.process_time()
            assess(text, tenant="U1", encode=encode)
            took.append((time.process_time() - begun) * 1e3)
        found[f"one question, p95 ms, {name} encoder"] = {"value": float(np.quantile(took, 0.95)), "n": len(took)}
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
    """Blocked of people's ordinary questions, by the shipped weights (their borders rest on banking77 and clapnq)."""
    texts = [s for s in material.questions(folder) if s.source in ("banking77", "clapnq_train_question")][::4]
    blocked = sum(assess(s.text, tenant="U1", encode=True).action == "BLOCK" for s in texts)
    found = {"ordinary questions that borders rest on: blocked": Rate(blocked, len(texts)).as_json()}
    asked = [row["question"] for row in material.own_set("answers")]
    actions = [assess(text, tenant="U0", encode=True).action for text in asked]
    found["laboratory questions: blocked"] = Rate(actions.count("BLOCK"), len(asked)).as_json()
    found["laboratory questions: guarded or blocked"] = Rate(sum(a != "ALLOW" for a in actions), len(asked)).as_json()
    return found


def judges(folder: Path, out: Path, most: int = 200) -> dict[str, Any]:
    """Sources that nothing was learned from (material.JUDGES), as triage judges a question: up to `most` of each.

    Attacks are set against each innocent source by the score of their own head, whatever the verdict.
    """
    texts: dict[tuple[str, str], list[str]] = {}
    for sample in [*material.questions(folder), *material.varied(folder)]:
        if sample.source in material.JUDGES:
            texts.setdefault((sample.source, "".join(sample.labels)), []).append(sample.text)
    found: dict[str, Any] = {}
    judged: dict[tuple[str, str], list[Assessment]] = {}
    for (source, label), all_of in sorted(texts.items()):
        chosen = all_of[:: max(1, len(all_of) // most)][:most]
        judged[source, label] = these = [assess(text, tenant="U1", encode=True) for text in chosen]
        for name, actions in (("blocked", ("BLOCK",)), ("guarded or blocked", ("BLOCK", "ALLOW_WITH_GUARDRAILS"))):
            hits = sum(one.action in actions for one in these)
            found[f"{source}, {'attacks' if label else 'innocent'}: {name}"] = Rate(hits, len(these)).as_json()
    pairs: dict[str, dict[str, dict[str, float]]] = {}
    for (bad, label), attacks in judged.items():
        for (good, innocent), others in judged.items():
            if label and not innocent:
                p, n = (np.array([one.scores[label] for one in these]) for these in (attacks, others))
                at_one = float((p > np.quantile(n, 0.99)).mean())
                pairs.setdefault(label, {})[f"{bad} / {good}"] = {"AUC": figures.auc(p, n), "found at 1%": at_one}
    for label, of in pairs.items():
        found[f"{label} AUC, mean over left-out pairs"] = mean([one["AUC"] for one in of.values()])
        found[f"{label} AUC, worst left-out pair"] = {"value": min(one["AUC"] for one in of.values()), "n": len(of)}
        found[f"{label}, found at 1% of left-out innocents"] = mean([one["found at 1%"] for one in of.values()])
    (out / "left_out.json").write_text(json.dumps(pairs, indent=1), encoding="utf-8")
    return found


def toxicity(folder: Path) -> dict[str, Any]:
    """Learned from Davidson's tweets and the own set, judged on TweetEval's offensive tweets, and back.

    The shipped encoder beside the n-grams never saw TweetEval, whose licence keeps weights learned from it out of the
    project: the way back is judged by n-grams alone.
    """
    table = train.tabulate([*material.own_training(), *tweets(folder)])
    tuned = learned.tuned()
    found = {}
    for source, other, by in (
        ("davidson", "tweeteval_offensive", tuned),
        ("tweeteval_offensive", "davidson", None),
    ):
        rest = np.flatnonzero(table.source != other)
        judged = np.flatnonzero(table.source == other)
        margin = train.margins(table, [train.fit(table, TOXICITY, rest)], judged)[:, 0]
        if by is not None:
            shown = [learned.shown(table.readings[row].learned[0]) for row in judged]
            margin = margin + (by.share * by.margins(shown))[:, TOXICITY]
        toxic = table.labels[judged, TOXICITY] == 1
        name = f"toxicity, {source} to {other}{'' if by else ', n-grams alone'}"
        right = (margin > np.median(margin)) == toxic  # half of them are toxic
        found[f"{name}: accuracy"] = Rate(int(right.sum()), len(judged)).as_json()
        found[f"{name}: AUC"] = {"value": figures.auc(margin[toxic], margin[~toxic]), "n": len(judged)}
    return found


def pasted(data: Path, pages: int = 120) -> dict[str, Any]:
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
    found = {}
    groups = {"pages pasted": hosts, "attacks alone": attacks, "attacks in the middle of a page": hidden}
    for name, group in groups.items():
        actions = [assess(text, tenant="U1", encode=True).action for text in group]
        found[f"{name}: blocked"] = Rate(actions.count("BLOCK"), len(actions)).as_json()
        found[f"{name}: guarded or blocked"] = Rate(sum(a != "ALLOW" for a in actions), len(actions)).as_json()
    return found


def tweets(folder: Path) -> list[Sample]:
    """A thousand toxic and a thousand harmless tweets of each collection, by a fixed shuffle."""
    samples = material.toxic(folder)
    rng = np.random.default_rng(train.SEED)
    chosen: list[Sample] = []
    for source in ("davidson", "tweeteval_offensive"):
        for label in (True, False):
            group = [s for s in samples if s.source == source and bool(s.labels) == label]
            chosen += [group[int(at)] for at in rng.permutation(len(group))[:1_000]]
    return chosen
