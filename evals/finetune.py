"""Fine-tunes the guard's encoder: `python -m evals.finetune --pool FOLDER`. Needs PyTorch (a CPU build will do).

Writes graph/policy/threats/weights/encoder.npz: low-rank steps for the last four layers of MiniLM (LoRA, Hu et al.
2021), their biases and norms, and a line on the embedding, for the injection head. Sources count as in train.py.
Repeatable on one kind of processor with one number of threads. `--judge` leaves sources out instead and measures: 36
pairs of sources out of eight fits, each fit without both sources of its pairs (and without a few more, to save time).
"""

import argparse
import importlib
import json
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evals import figures, guardrails, logistic, material, train
from evals.material import HEADS
from graph.errors import CordonError, Unavailable
from graph.policy.threats import Assessment, _learned, encoder, learned
from graph.policy.threats.readings import Readings, read

INJECTION = HEADS.index("injection")
LAYERS, FROM, HEADS_OF, HIDDEN = 6, 2, 12, 384  # layers FROM.. are moved
RANK, RATE, EPOCHS, BATCH, DROP = 16, 1e-3, 2, 32, 0.1
SHARE = 2.0  # standard deviations of the encoder's margin next to one of the n-grams; the embedding adds nothing then
LINEAR = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
          "intermediate.dense", "output.dense")  # fmt: skip
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
# Sources left out together. Each pair of attacks and innocent texts is judged by the smallest group with both sources.
APART = (
    ("agt_smoke", "wildguard_benign"),
    ("banking77", "clapnq_train_question", "deepset"),
    ("agt_smoke", "deepset", "wildguard_benign"),
    ("agt_smoke", "banking77", "clapnq_train_question"),
    ("agt_smoke", "inthewild", "wildguard_benign"),
    ("banking77", "clapnq_train_question", "deepset", "inthewild"),
    ("agt_smoke", "spikee_direct", "wildguard_benign"),
    ("banking77", "clapnq_train_question", "deepset", "spikee_direct"),
)
# Left out of the one fit that calibration rests on, with every third of the own texts.
ASIDE, PARTS = ("banking77", "clapnq_train_question"), 3


class Encoder:
    """MiniLM in PyTorch, as functions of named tensors; the layers before FROM are run once for each text."""

    def __init__(self, texts: list[str]) -> None:
        from tokenizers import Tokenizer

        from graph.knowledge.embeddings import _weights

        self.texts = texts
        self.torch = _torch()
        self.weights = {name: self.torch.from_numpy(value) for name, value in _tensors(_weights())}
        tokenizer = Tokenizer.from_file(str(_weights().with_name("tokenizer.json")))
        tokenizer.no_padding()
        tokenizer.enable_truncation(encoder.PIECES)
        self.ids = [np.array(e.ids) for e in tokenizer.encode_batch(texts)]
        self.length = np.array([len(ids) for ids in self.ids])
        self.start = np.concatenate([[0], np.cumsum(self.length)])
        self.states = np.zeros((self.start[-1], HIDDEN), np.float16)
        with self.torch.no_grad(), self.torch.autocast("cpu", self.torch.bfloat16):
            for rows in self._batches(np.arange(len(texts))):
                found = self._first(rows).float().numpy()
                for at, row in enumerate(rows):
                    self.states[self.start[row] : self.start[row + 1]] = found[at, : self.length[row]]

    def _batches(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        order = rows[np.argsort(self.length[rows], kind="stable")]
        for at in range(0, len(order), 64):
            yield order[at : at + 64]

    def _mask(self, rows: np.ndarray) -> Any:
        return self.torch.from_numpy(np.arange(self.length[rows].max()) < self.length[rows][:, None])

    def _first(self, rows: np.ndarray) -> Any:
        mask, w = self._mask(rows), self.weights
        ids = np.zeros(mask.shape, np.int64)
        for at, row in enumerate(rows):
            ids[at, : self.length[row]] = self.ids[row]
        x = w["embeddings.word_embeddings.weight"][self.torch.from_numpy(ids)]
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self._norm(x + w["embeddings.token_type_embeddings.weight"][0], w, "embeddings.LayerNorm")
        for layer in range(FROM):
            x = self._layer(x, mask, w, f"encoder.layer.{layer}.", 0.0)
        return x

    def _norm(self, x: Any, w: dict[str, Any], name: str) -> Any:
        return self.torch.nn.functional.layer_norm(x, (HIDDEN,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    def _linear(self, x: Any, w: dict[str, Any], name: str) -> Any:
        f = self.torch.nn.functional
        found = f.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])
        if f"{name}.weight:a" in w:
            found = found + f.linear(f.linear(x, w[f"{name}.weight:a"]), w[f"{name}.weight:b"])
        return found

    def _layer(self, x: Any, mask: Any, w: dict[str, Any], at: str, drop: float) -> Any:
        f = self.torch.nn.functional
        split = [
            self._linear(x, w, f"{at}{name}").view(*x.shape[:2], HEADS_OF, -1).transpose(1, 2) for name in LINEAR[:3]
        ]
        found = f.scaled_dot_product_attention(*split, attn_mask=mask[:, None, None, :], dropout_p=drop)
        found = self._linear(found.transpose(1, 2).reshape(x.shape), w, at + LINEAR[3])
        x = self._norm(x + f.dropout(found, drop, drop > 0), w, at + NORMS[0])
        found = self._linear(f.gelu(self._linear(x, w, at + LINEAR[4])), w, at + LINEAR[5])
        return self._norm(x + f.dropout(found, drop, drop > 0), w, at + NORMS[1])

    def margins(self, steps: dict[str, Any], rows: np.ndarray, drop: float = 0.0) -> Any:
        """Margins of texts of similar length; a tensor."""
        mask = self._mask(rows)
        states = np.zeros((*mask.shape, HIDDEN), np.float16)
        for at, row in enumerate(rows):
            states[at, : self.length[row]] = self.states[self.start[row] : self.start[row + 1]]
        x = self.torch.from_numpy(states).bfloat16()
        for layer in range(FROM, LAYERS):
            x = self._layer(x, mask, {**self.weights, **steps}, f"encoder.layer.{layer}.", drop)
        pooled = self.torch.nn.functional.normalize((x.float() * mask[..., None]).sum(1), dim=1)
        return pooled @ steps["line"] + steps["bias"]

    def judge(self, steps: dict[str, Any], rows: np.ndarray) -> np.ndarray:
        found = np.zeros(len(self.ids))
        with self.torch.no_grad(), self.torch.autocast("cpu", self.torch.bfloat16):
            for batch in self._batches(np.unique(rows)):
                found[batch] = self.margins(steps, batch).float().numpy()
        return found

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """The untouched embeddings, of texts cut as here."""
        found = np.zeros((len(self.ids), HIDDEN))
        eye = {"line": self.torch.eye(HIDDEN), "bias": self.torch.zeros(1)}
        with self.torch.no_grad(), self.torch.autocast("cpu", self.torch.bfloat16):
            for batch in self._batches(np.unique(rows)):
                found[batch] = self.margins(eye, batch).float().numpy()
        return found[rows]

    def fit(self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
        """Steps for the texts `rows`. Rows are drawn by their weights, in batches of similar length."""
        torch = self.torch
        torch.manual_seed(train.SEED)
        rng = np.random.default_rng(train.SEED)
        steps = self._begin(rows, labels, weights)
        inner = [value for name, value in steps.items() if name not in ("line", "bias")]
        optimiser = torch.optim.AdamW(
            [{"params": inner, "lr": RATE}, {"params": [steps["line"], steps["bias"]], "lr": RATE * 3}],
            weight_decay=0.0,
        )
        most = EPOCHS * len(rows) // BATCH
        warm = max(1, most // 10)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step: min((step + 1) / warm, max(0.0, (most - step) / (most - warm)))
        )
        share = weights / weights.sum()
        done = 0
        while done < most:
            count = min(40, most - done)
            drawn = rng.choice(len(rows), count * BATCH, p=share)
            near = self.length[rows[drawn]] + rng.random(len(drawn)) * 4  # batches of equal lengths only would be alike
            drawn = drawn[np.argsort(near, kind="stable")]
            for number in rng.permutation(count):
                batch = drawn[number * BATCH : (number + 1) * BATCH]
                with torch.autocast("cpu", torch.bfloat16):
                    margin = self.margins(steps, rows[batch], DROP)
                wanted = torch.from_numpy(labels[batch]).float()
                loss = torch.nn.functional.binary_cross_entropy_with_logits(margin.float(), wanted)
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(list(steps.values()), 1.0)
                optimiser.step()
                schedule.step()
            done += count
        return self._scaled(steps, rows)

    def _begin(self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
        """No step at all, and the line that is best without any."""
        torch = self.torch
        dense = logistic.Dense(self.vectors(rows) * train.VECTOR_SCALE)
        line, bias = logistic.fit(dense, labels, weights, train.L2_VECTOR, 60)
        steps = {"line": torch.tensor(line * train.VECTOR_SCALE).float(), "bias": torch.tensor([bias]).float()}
        for layer in range(FROM, LAYERS):
            at = f"encoder.layer.{layer}."
            for name in LINEAR:
                out, width = self.weights[f"{at}{name}.weight"].shape
                steps[f"{at}{name}.weight:a"] = torch.randn(RANK, width) * width**-0.5
                steps[f"{at}{name}.weight:b"] = torch.zeros(out, RANK)
                steps[f"{at}{name}.bias"] = self.weights[f"{at}{name}.bias"].clone()
            for name in NORMS:
                for part in ("weight", "bias"):
                    steps[f"{at}{name}.{part}"] = self.weights[f"{at}{name}.{part}"].clone()
        return {name: value.requires_grad_() for name, value in steps.items()}

    def _scaled(self, steps: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
        """Margins in standard deviations over the texts learned from."""
        spread = float(self.judge(steps, rows)[rows].std())
        held = {name: value.detach() for name, value in steps.items()}
        return {**held, "line": held["line"] / spread, "bias": held["bias"] / spread}


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise Unavailable(
            "PyTorch is not installed.", hint="Install a CPU build; only fine-tuning needs it."
        ) from error


def _tensors(file: Path) -> Iterator[tuple[str, np.ndarray]]:
    data = file.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            yield name, np.frombuffer(data[8 + size + begin : 8 + size + end], "<f4").reshape(entry["shape"]).copy()


@dataclass(frozen=True)
class Task:
    """The texts of the injection head; `first` and `seen` are numbers of texts in the encoder."""

    table: train.Table  # for learning: give-away tails are cut
    judged: list[Readings]
    encoder: Encoder
    first: np.ndarray  # of each sample, as it is learned from
    seen: list[list[int]]  # of each sample, what the guard embeds of it


def task(folder: Path, embed: learned.Embed | None = None, *, measured: bool) -> Task:
    samples = [*material.own_training(), *train.capped(material.questions(folder))]
    table = train.tabulate([s for s in samples if measured or s.ship], embed)
    judged = [read(s.text) for s in table.samples] if measured else table.readings
    first = [learned.shown(r.learned[0]) for r in table.readings]
    seen = [[learned.shown(text) for text in r.learned[:2]] for r in judged]
    texts = list(dict.fromkeys([*first, *(text for row in seen for text in row)]))
    number = {text: at for at, text in enumerate(texts)}
    return Task(
        table,
        judged,
        Encoder(texts),
        np.array([number[text] for text in first]),
        [[number[text] for text in row] for row in seen],
    )


def fit(work: Task, chosen: np.ndarray) -> dict[str, Any]:
    labels = work.table.labels[chosen, INJECTION]
    return work.encoder.fit(work.first[chosen], labels, train._weights(work.table.source[chosen], labels))


def calibrate(work: Task) -> tuple[np.ndarray, np.ndarray]:
    """Knots of n-grams and encoder together, by the margins of ordinary questions and own texts that a fit left out.

    One fit and a third of the own texts, where train.py takes a dozen fits: each takes minutes here.
    """
    table = work.table
    part = np.random.default_rng(train.SEED).integers(0, PARTS, len(table.samples))
    aside = np.isin(table.source, ASIDE) | ((table.source == material.OWN) & (part == 0))
    rest, group = np.flatnonzero(~aside), np.flatnonzero(aside)
    tuned = work.encoder.judge(fit(work, rest), work.first[group])[work.first[group]]
    plain = train.margins(table, [train.fit(table, INJECTION, rest)], group)[0][:, 0]
    kept = replace(
        table,
        samples=[table.samples[at] for at in group],
        labels=table.labels[group],
        known=table.known[group],
        source=table.source[group],
    )
    return train.calibrate(kept, INJECTION, plain, plain + SHARE * tuned)[1]


def write(file: Path, steps: dict[str, Any], knots: tuple[np.ndarray, np.ndarray]) -> None:
    held = {name: value.numpy().astype(np.float16) for name, value in steps.items() if name not in ("line", "bias")}
    np.savez_compressed(
        file,
        **held,
        line=steps["line"].numpy(),
        bias=np.float32(steps["bias"].item()),
        share=np.float32(SHARE),
        knot_margins=knots[0].astype(np.float32),
        knot_scores=knots[1].astype(np.float32),
    )
    print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")


def judge(folder: Path, cache: Path | None) -> dict[str, Any]:
    """As `guardrails.left_out`, with the encoder: alone and beside the n-grams."""
    embed = train.embedder(cache)
    work = task(folder, embed, measured=True)
    table = work.table
    shipped = np.array([s.ship for s in table.samples])
    attack = table.labels[:, INJECTION] == 1
    ruled = [guardrails._rules_only(r) for r in work.judged]
    found: dict[str, dict[str, list[float]]] = {}
    for group in APART:
        rest = np.flatnonzero(shipped & ~np.isin(table.source, group))
        pairs = [pair for pair in _pairs() if _group(pair) == group]
        wanted = np.flatnonzero(np.isin(table.source, [name for pair in pairs for name in pair]))
        texts = np.array([number for at in wanted for number in work.seen[at]])
        tuned = dict(zip(work.encoder.texts, work.encoder.judge(fit(work, rest), texts), strict=True))
        plain = guardrails._with_injection(train.fit(table, INJECTION, rest))
        knots = encoder.steps().knots if encoder.present() else learned.model().knots["embedded:injection"]
        by = learned.Tuned(lambda given, tuned=tuned: np.array([tuned[text] for text in given]), SHARE, knots)
        silent = replace(plain, words=np.zeros_like(plain.words), bias=np.zeros_like(plain.bias))
        ways = {"n-grams and embedding": (plain, None), "n-grams and encoder": (plain, by), "encoder": (silent, by)}
        for bad, good in pairs:
            positive = np.flatnonzero((table.source == bad) & attack)
            negative = np.flatnonzero((table.source == good) & ~attack)
            for name, way in ways.items():
                p, n = (_scores(work, ruled, rows, embed, *way) for rows in (positive, negative))
                kept = found.setdefault(name, {"auc": [], "found at 1%": []})
                kept["auc"].append(figures.auc(p, n))
                kept["found at 1%"].append(float((p > np.quantile(n, 0.99)).mean()))
                print(f"{bad} / {good}, {name}: {kept['auc'][-1]:.3f} {kept['found at 1%'][-1]:.3f}", flush=True)
    return {
        name: {
            "pairs": len(kept["auc"]),
            "mean AUC": float(np.mean(kept["auc"])),
            "worst AUC": min(kept["auc"]),
            "found at 1%": float(np.mean(kept["found at 1%"])),
        }
        for name, kept in found.items()
    }


def _scores(
    work: Task,
    ruled: Sequence[Assessment],
    rows: np.ndarray,
    embed: learned.Embed,
    weights: learned.Model,
    by: learned.Tuned | None,
) -> np.ndarray:
    found = []
    for row in rows:
        readings = work.judged[row]
        _, scores = _learned(readings, learned.scores(readings.learned, embed, weights, by))
        found.append(max(scores["injection"], ruled[row].scores["injection"]))
    return np.array(found)


def _pairs() -> list[tuple[str, str]]:
    return [(bad, good) for bad in guardrails.ATTACKS for good in guardrails.INNOCENT]


def _group(pair: tuple[str, str]) -> tuple[str, ...]:
    """The smallest group of APART without either source; those that never ship are in no fit anyway."""
    needed = {name for name in pair if not name.startswith(material.NOT_SHIPPED)}
    return min((group for group in APART if needed <= set(group)), key=len)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.finetune", description=__doc__.split("\n")[0])
    parser.add_argument("--pool", help="folder of the labelled texts; default: $CORDON_POOL")
    parser.add_argument("--cache", type=Path, help="with --judge: file that keeps embeddings between runs")
    parser.add_argument("--judge", action="store_true", help="leave sources out and measure; writes no weights")
    options = parser.parse_args()
    try:
        folder = material.pool_folder(options.pool)
        if options.judge:
            print(json.dumps(judge(folder, options.cache), indent=1))
            return 0
        work = task(folder, measured=False)
        knots = calibrate(work)
        write(encoder.FILE, fit(work, np.arange(len(work.table.samples))), knots)
    except CordonError as error:
        print(f"{error}\n{error.hint}" if getattr(error, "hint", "") else error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
