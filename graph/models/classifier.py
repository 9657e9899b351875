"""A sequence classifier in a folder of one's own as a detector, and which of its labels mean what."""

import hashlib
import re
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from graph.errors import BadSettings
from graph.onnx.folder import Folder
from graph.policy.threats import SCORES
from graph.policy.threats.thresholds import pairs
from graph.settings import Settings

NOTHING = "-"
_NAMES = {
    "injection": "injection prompt_injection indirect_injection jailbreak malicious attack",
    "leakage": "leakage data_leakage exfiltration",
    "cross_tenant": "cross_tenant",
    "evasion": "evasion policy_evasion",
    "toxicity": "toxicity toxic severe_toxic obscene threat insult identity_hate hate hateful offensive abuse abusive",
    "harm": "harm harmful harmful_request unsafe dangerous violence self_harm",
    NOTHING: "safe benign legit legitimate normal neutral none ok clean harmless non_toxic nothate not_hate",
}
_KNOWN = {name: head for head, names in _NAMES.items() for name in names.split()}


class Classifier:
    """A folder in the Hugging Face layout, whose config.json names the labels. Raises BadSettings when it is none, or
    when it is not known what a label means."""

    def __init__(self, settings: Settings) -> None:
        self._folder = Folder(Path(settings.detector), "CORDON_DETECTOR", settings.detector_threads)
        named = self._folder.declared("config.json", "id2label")
        if not isinstance(named, dict) or set(named) != {str(at) for at in range(len(named))}:
            raise BadSettings(
                f"CORDON_DETECTOR: {settings.detector} names no labels.", hint="config.json has them as id2label."
            )
        self._heads = _mapped([str(named[str(at)]) for at in range(len(named))], settings.detector_labels)
        several = self._folder.declared("config.json", "problem_type") == "multi_label_classification"
        self._apart = several or len(named) == 1

    @cached_property
    def digest(self) -> str:
        file, folder = self._folder.file, self._folder.folder
        digest = hashlib.sha256()
        for part in (*sorted(file.parent.glob(f"{file.name}*")), folder / "tokenizer.json", folder / "config.json"):
            with part.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()

    def open(self) -> None:
        self._folder.open()

    def read(self, texts: Sequence[str], until: float) -> list[dict[str, float]]:
        import onnxruntime as ort

        windows = [(at, text[a:b]) for at, text in enumerate(texts) for a, b in self._windows(text)]
        probabilities = [dict.fromkeys(self._heads, 0.0) for _ in texts]
        options = ort.RunOptions()
        options.log_severity_level = 4
        bell = threading.Timer(max(0.0, until - time.monotonic()), setattr, (options, "terminate", True))
        bell.start()
        try:
            for row, logits, _ in self._folder.run([window for _, window in windows], options):
                best = probabilities[windows[row][0]]
                for head, p in self._probabilities(logits).items():
                    best[head] = max(best[head], p)
        except BadSettings as error:
            if options.terminate:
                raise TimeoutError from error
            raise
        finally:
            bell.cancel()
        return [{head: p for head, p in one.items() if head != NOTHING} for one in probabilities]

    def _probabilities(self, logits: Any) -> dict[str, float]:
        """By head: of labels that exclude each other the sum counts, of others the highest."""
        import numpy as np

        if logits.shape != (len(self._heads),) or not np.isfinite(logits).all():
            raise ValueError("no logit for each label")
        raised = np.exp(-np.logaddexp(0, -logits)) if self._apart else np.exp(logits - np.logaddexp.reduce(logits))
        by_head: dict[str, float] = {}
        for head, p in zip(self._heads, raised.tolist(), strict=True):
            by_head[head] = max(by_head.get(head, 0.0), p) if self._apart else min(1.0, by_head.get(head, 0.0) + p)
        return by_head

    def _windows(self, text: str) -> list[tuple[int, int]]:
        """Ranges of as many pieces as it reads at once, each begins with the last quarter of the one before."""
        tokenizer = self._folder.whole
        offsets = tokenizer.encode(text, add_special_tokens=False).offsets
        room = self._folder.length - tokenizer.num_special_tokens_to_add(False)
        if len(offsets) <= room:
            return [(0, len(text))]
        again = room // 4
        starts = range(0, len(offsets) - again, room - again)
        return [(offsets[a][0], offsets[min(a + room, len(offsets)) - 1][1]) for a in starts]


def _mapped(labels: Sequence[str], setting: str) -> list[str]:
    """The head of each label."""
    chosen = {_bare_label(name): head for name, head in pairs("CORDON_DETECTOR_LABELS", setting).items()}
    known = _KNOWN | chosen
    heads = [known.get(_bare_label(label), "") for label in labels]
    hint = f"Its labels: {', '.join(labels)}. Heads: {', '.join(SCORES)}, or {NOTHING} for nothing."
    if odd := [name for name, head in chosen.items() if name not in map(_bare_label, labels) or head not in _NAMES]:
        raise BadSettings(
            f"CORDON_DETECTOR_LABELS: {odd[0]!r} is no label, or what it stands for is no head.", hint=hint
        )
    if unknown := [label for label, head in zip(labels, heads, strict=True) if not head]:
        raise BadSettings(
            f"CORDON_DETECTOR: it is not known what its label {unknown[0]!r} means; say so in CORDON_DETECTOR_LABELS.",
            hint=hint,
        )
    if set(heads) == {NOTHING}:
        raise BadSettings("CORDON_DETECTOR: none of its labels stands for anything.", hint=hint)
    return heads


def _bare_label(label: str) -> str:
    return re.sub(r"[\W_]+", "_", label.casefold()).strip("_")
