"""The texts that the threat guards are trained on and judged by, each with its source and what it is.

The pool is not part of the project: give its folder by `--pool` or the environment variable CORDON_POOL. Rows of
sources without an open licence (tensortrust, alpaca_harmless, tweeteval) carry `ship=False` and never enter the
weights that ship.
"""

import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.task import NoData, Sample
from graph.policy.text.canonical import canonicalise

DATASETS = Path(__file__).with_name("datasets")
HEADS = ("injection", "leakage", "cross_tenant", "evasion", "toxicity", "harm")
NOT_SHIPPED = ("tensortrust", "alpaca_harmless", "tweeteval", "squad2")
OWN = "own"
# Whole sources of both pools that only judge: nothing is learned from them, no border and no rule was chosen by them.
JUDGES = (
    "alpaca_harmless", "dolly", "followbench",  # ordinary requests
    "awesome_prompts", "prompts_zh", "cursorrules",  # personas and system prompts
    "coconot_pref",  # harmless twins of harmful requests, many about security
    "jailbreak_llms",  # elaborate jailbreaks
    "pap",  # harmful aims refined until they persuade
    "trustllm_misuse",  # plain harmful requests
)  # fmt: skip
NOISY = ("harmfulqa",)  # a fifth of it are study questions
# agt_smoke ends every row with its label and a random number, plain or in disguise.
_TAIL = re.compile(r"\s*(?:Scenario|Reference)\s+PI1-.*\Z", re.S)
_KEY = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Labelled:
    """`labels` are the heads that should fire; `known` the heads for which the source says anything."""

    text: str
    source: str
    labels: frozenset[str]
    known: frozenset[str] = frozenset(HEADS)
    kind: str = ""
    calibrates: bool = True  # not what comes from a template, whose sisters stand in every fold, nor what is long

    @property
    def ship(self) -> bool:
        """Whether weights that ship may be learned from it."""
        return not self.source.startswith(NOT_SHIPPED) and self.source not in JUDGES


def data_directory() -> Path:
    """CORDON_EVAL_DATA, or ../shared/data beside the checkout. Raises NoData when there is none."""
    given = os.environ.get("CORDON_EVAL_DATA")
    path = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        raise NoData("the evaluation data is not here.", hint="Set CORDON_EVAL_DATA to the folder that holds it.")
    return path


def pool_folder(given: str | Path | None = None) -> Path:
    """The folder of the pool; raises NoData where there is none."""
    name = given or os.environ.get("CORDON_POOL", "")
    folder = Path(name) if name else Path()
    if not name or not (folder / "injection_query.jsonl.gz").is_file() or not folder.with_name("pool2").is_dir():
        raise NoData(
            f"no pool of labelled texts at {str(name)!r}.",
            hint="Give the folder that holds injection_query.jsonl.gz, with pool2 beside it, by --pool or CORDON_POOL.",
        )
    return folder


def pool_folder_near() -> Path:
    """The pool at CORDON_POOL, or `pool` in the evaluation data; raises NoData where there is neither."""
    return pool_folder(None if os.environ.get("CORDON_POOL") else data_directory() / "pool")


def own_set(name: str) -> list[dict[str, Any]]:
    """Rows of one of the project's own sets, `evals/datasets/NAME.jsonl`."""
    with (DATASETS / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def own_samples(name: str, key: str, *targets: str, **more: Any) -> list[Sample]:
    """The same as samples (`Sample.from_row`)."""
    return [Sample.from_row(row, key, *targets, **more) for row in own_set(name)]


def own_training() -> list[Labelled]:
    """Templates (G) and long messages (L) teach, but set no border: many windows lift a text's worst margin."""
    return [
        Labelled(r["text"], OWN, frozenset(r["labels"]), kind=r["kind"], calibrates=r["id"][0] not in "GLH")
        for r in own_set("threats_train")
    ]


PLANTED = frozenset({"planted"})
AUTHOR = (OWN, "templates", "requests", "prose")  # what one author wrote: left out together


def own_planted() -> list[Labelled]:
    """Sentences of documents, planted or not: written one by one, from templates, and out of the questions' set.

    Whatever is asked of an assistant is planted once it stands in a document; prose about attacks is not.
    """
    found = [
        Labelled(r["text"], OWN if r["kind"] == "written" else "templates", PLANTED if r["planted"] else frozenset())
        for r in own_set("planted_train")
    ]
    for sample in own_training():
        if sample.kind == "instructions" or sample.kind.startswith("injection"):
            found.append(Labelled(sample.text, "requests", PLANTED))
        elif sample.kind in ("security_prose", "mention"):
            found.append(Labelled(sample.text, "prose", frozenset()))
    return found


def planted(folder: Path, most: int = 8_000) -> list[Labelled]:
    """Sentences of the pool's documents: payloads, and what ordinary passages say. No position is kept."""
    documents = list(rows(folder / "injection_document.jsonl.gz"))
    found = []
    for row in documents:
        source = "spikee" if row["source"].startswith("spikee") else "bipia"
        if row["source"] in ("bipia_text_only", "bipia_code_only"):
            found.append(Labelled(row["text"].split("\n")[0], source, PLANTED))
        elif row["label"] == 0 and not row["source"].endswith("table"):
            found += [Labelled(s, source, frozenset()) for s in _sentences(row["text"])]
        elif source == "spikee":
            found += [Labelled(s, source, PLANTED) for s in _payload(row["text"])]
    evidence = [e for r in rows(folder / "grounding.jsonl.gz") for e in _evidence(r)]
    ordinary = distinct(Labelled(s, "grounding", frozenset()) for e in evidence for s in _sentences(e))
    step = max(1, len(ordinary) // most)
    return [*distinct([*found, *_public_attacks(folder)]), *ordinary[::step]]


def _public_attacks(folder: Path) -> list[Labelled]:
    """Attacks that people typed as questions, as if found in a document; of a long one the first four sentences."""
    found = []
    for sample in questions(folder):
        if sample.ship and "injection" in sample.labels:
            text = untailed(sample)
            parts = [text] if len(text) < 250 else [s for s in _sentences(text) if 25 <= len(s) <= 300][:4]
            source = "spikee" if sample.source == "spikee_direct" else sample.source
            found += [Labelled(part, source, PLANTED, kind="question") for part in parts]
    return found


def _payload(text: str) -> list[str]:
    """What stands after the two base texts of Spikee's documents."""
    body = text.partition("<data>")[2].partition("</data>")[0]
    for end in ("attached document.", "attached document"):
        _, mark, tail = body.rpartition(end)
        if mark:
            return _sentences(tail)
    return []


def _evidence(row: dict[str, Any]) -> list[str]:
    found = (row.get("meta") or {}).get("context") or ""
    return [" ".join(found)] if isinstance(found, list) else [str(found)]


def _sentences(text: str) -> list[str]:
    from graph.policy.text.sentences import split

    return [text[a:b] for a, b in split(text) if 15 <= b - a <= 600]


def questions(folder: Path) -> list[Labelled]:
    """User questions of the pool with their injection label, without duplicates."""
    found = [
        Labelled(row["text"], row["source"], frozenset(["injection"] if row["label"] else []))
        for row in rows(folder / "injection_query.jsonl.gz")
    ]
    more = rows(folder / "benign_instructions_NC.jsonl.gz")
    return distinct([*found, *(Labelled(row["text"], "alpaca_harmless", frozenset()) for row in more)])


def varied(folder: Path) -> list[Labelled]:
    """Questions of the second pool, which lies beside the first: attacks, harm, and all sorts of innocent requests.

    What is no attack is innocent of everything; of an attack or a harmful request nothing else is known.
    """
    found = []
    for name, label in (("injection_query", "injection"), ("harm", "harm")):
        for row in rows(folder.with_name("pool2") / f"{name}.jsonl.gz"):
            bad = frozenset({label})
            source = "catqa" if row["source"].startswith("catqa") else row["source"]  # one set in three languages
            if row["label"]:
                found.append(Labelled(row["text"], source, bad, bad))
            elif name == "injection_query":
                found.append(Labelled(row["text"], source, frozenset()))
    return distinct(sample for sample in found if sample.source not in NOISY)


def harmful(folder: Path) -> list[Labelled]:
    known = frozenset({"harm", "leakage", "cross_tenant"})
    return distinct(
        Labelled(r["text"], r["source"], frozenset({"harm"}), known) for r in rows(folder / "refusal.jsonl.gz")
    )


def toxic(folder: Path) -> list[Labelled]:
    """Tweets; 1 = hateful or offensive to a majority of the annotators."""
    known = frozenset({"toxicity"})
    return distinct(
        Labelled(tweet(r["text"]), r["source"], frozenset({"toxicity"} if r["label"] else ()), known)
        for r in rows(folder / "toxicity.jsonl.gz")
    )


def tweet(text: str) -> str:
    """Without the marks by which one collection of tweets is told from another."""
    import html

    text = html.unescape(html.unescape(text))
    text = re.sub(r"\bRT\b|https?://\S+|@\w+:?|#", " ", text)
    return " ".join(text.replace('""', '"').split())


def untailed(sample: Labelled) -> str:
    """The text without the tail that gives agt_smoke's label away; for training only."""
    return _TAIL.sub("", sample.text) if sample.source == "agt_smoke" else sample.text


def distinct(samples: Iterable[Labelled]) -> list[Labelled]:
    """The first of each group of samples with the same letters and digits, in order."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for sample in samples:
        key = (sample.source, _KEY.sub("", canonicalise(sample.text).text.casefold())[:400])
        if key[1] and key not in seen:
            seen.add(key)
            kept.append(sample)
    return kept


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
