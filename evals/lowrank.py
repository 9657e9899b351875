"""MiniLM in PyTorch, and its fitting by low-rank steps (LoRA, Hu et al. 2021) to several yes-or-no questions at once.

PyTorch is no dependency: only who fine-tunes needs it. Functions of named tensors, without modules of their own, so
that what is learned can be written down as it stands and put into the shipped graph.
"""

import importlib
import json
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evals import logistic
from graph.errors import Unavailable
from graph.policy.threats import encoder

LAYERS, FROM, HEADS_OF, HIDDEN = 6, 2, 12, 384  # layers FROM.. are moved
RANK, RATE, EPOCHS, BATCH, DROP = 16, 1e-3, 2, 32, 0.1
SCALE, L2 = 3.0, 3e-4  # of the line that fitting starts from, on embeddings of length 1; as train.py has them
LINEAR = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
          "intermediate.dense", "output.dense")  # fmt: skip
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")

Steps = dict[str, Any]  # tensors by name; "line" (HIDDEN, heads) and "bias" (heads,) read the embedding


class Encoder:
    """The texts and their states before layer FROM, which are run once."""

    def __init__(self, texts: list[str]) -> None:
        from tokenizers import Tokenizer

        from graph.tuned import installed

        self.texts = texts
        self.torch = _torch()
        self.weights = {name: self.torch.from_numpy(value) for name, value in _tensors(installed())}
        tokenizer = Tokenizer.from_file(str(installed().with_name("tokenizer.json")))
        tokenizer.no_padding()
        tokenizer.enable_truncation(encoder.PIECES)
        self.ids = [np.array(e.ids) for e in tokenizer.encode_batch(texts)]
        self.length = np.array([len(ids) for ids in self.ids])
        self.start = np.concatenate([[0], np.cumsum(self.length)])
        self.states = np.zeros((self.start[-1], HIDDEN), np.float16)
        with self._judging():
            for rows in self._batches(np.arange(len(texts))):
                found = self._first(rows).float().numpy()
                for at, row in enumerate(rows):
                    self.states[self.start[row] : self.start[row + 1]] = found[at, : self.length[row]]

    def judge(self, steps: Steps, rows: np.ndarray) -> np.ndarray:
        """Margins of the texts `rows`, at their own numbers; shape (texts, heads)."""
        found = np.zeros((len(self.ids), len(steps["bias"])))
        with self._judging():
            for batch in self._batches(np.unique(rows)):
                found[batch] = self._margins(steps, batch).float().numpy()
        return found

    def fit(self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray, seed: int) -> Steps:
        """Steps for the texts `rows`, with margins in standard deviations over them.

        labels: (n, heads) 0 or 1. weights: (n, heads), what each row counts for each head; 0 where nothing is known.
        Rows are drawn by what they count for all heads together, in batches of similar length.
        """
        torch = self.torch
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed)
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
        drawn_by = weights.sum(1)
        each = weights / np.maximum(drawn_by, 1e-12)[:, None]  # shares of a drawn row's loss; they sum to 1
        done = 0
        while done < most:
            count = min(40, most - done)
            drawn = rng.choice(len(rows), count * BATCH, p=drawn_by / drawn_by.sum())
            near = self.length[rows[drawn]] + rng.random(len(drawn)) * 4  # batches of equal lengths only would be alike
            drawn = drawn[np.argsort(near, kind="stable")]
            for number in rng.permutation(count):
                batch = drawn[number * BATCH : (number + 1) * BATCH]
                with torch.autocast("cpu", torch.bfloat16):
                    margins = self._margins(steps, rows[batch], DROP)
                wanted = torch.from_numpy(labels[batch]).float()
                lost = torch.nn.functional.binary_cross_entropy_with_logits(margins.float(), wanted, reduction="none")
                loss = (lost * torch.from_numpy(each[batch]).float()).sum(1).mean()
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(list(steps.values()), 1.0)
                optimiser.step()
                schedule.step()
            done += count
        held = {name: value.detach() for name, value in steps.items()}
        spread = torch.from_numpy(self.judge(held, rows)[rows].std(0)).float()
        return {**held, "line": held["line"] / spread, "bias": held["bias"] / spread}

    def _begin(self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> Steps:
        """No step at all, and for each head the line that is best without any."""
        torch = self.torch
        eye = {"line": torch.eye(HIDDEN), "bias": torch.zeros(HIDDEN)}
        vectors = self.judge(eye, rows)[rows] * SCALE
        lines, biases = [], []
        for head in range(labels.shape[1]):
            known = weights[:, head] > 0
            line, bias = logistic.fit(logistic.Dense(vectors[known]), labels[known, head], weights[known, head], L2, 60)
            lines.append(line * SCALE)
            biases.append(bias)
        line = {"line": torch.tensor(np.array(lines).T.copy()).float(), "bias": torch.tensor(biases).float()}
        return begin(self.weights, line, RANK, range(FROM, LAYERS))

    def _judging(self) -> Any:
        from contextlib import ExitStack

        stack = ExitStack()
        stack.enter_context(self.torch.no_grad())
        stack.enter_context(self.torch.autocast("cpu", self.torch.bfloat16))
        return stack

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

    def _margins(self, steps: Steps, rows: np.ndarray, drop: float = 0.0) -> Any:
        """Margins of texts of similar length; a tensor (rows, heads)."""
        mask = self._mask(rows)
        states = np.zeros((*mask.shape, HIDDEN), np.float16)
        for at, row in enumerate(rows):
            states[at, : self.length[row]] = self.states[self.start[row] : self.start[row + 1]]
        x = self.torch.from_numpy(states).bfloat16()
        for layer in range(FROM, LAYERS):
            x = self._layer(x, mask, {**self.weights, **steps}, f"encoder.layer.{layer}.", drop)
        pooled = self.torch.nn.functional.normalize((x.float() * mask[..., None]).sum(1), dim=1)
        with self.torch.autocast("cpu", enabled=False):
            return pooled.float() @ steps["line"] + steps["bias"]

    def _layer(self, x: Any, mask: Any, w: Steps, at: str, drop: float) -> Any:
        f = self.torch.nn.functional
        split = [
            self._linear(x, w, f"{at}{name}").view(*x.shape[:2], HEADS_OF, -1).transpose(1, 2) for name in LINEAR[:3]
        ]
        found = f.scaled_dot_product_attention(*split, attn_mask=mask[:, None, None, :], dropout_p=drop)
        found = self._linear(found.transpose(1, 2).reshape(x.shape), w, at + LINEAR[3])
        x = self._norm(x + f.dropout(found, drop, drop > 0), w, at + NORMS[0])
        found = self._linear(f.gelu(self._linear(x, w, at + LINEAR[4])), w, at + LINEAR[5])
        return self._norm(x + f.dropout(found, drop, drop > 0), w, at + NORMS[1])

    def _linear(self, x: Any, w: Steps, name: str) -> Any:
        f = self.torch.nn.functional
        found = f.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])
        if f"{name}.weight:a" in w:
            found = found + f.linear(f.linear(x, w[f"{name}.weight:a"]), w[f"{name}.weight:b"])
        return found

    def _norm(self, x: Any, w: Steps, name: str) -> Any:
        return self.torch.nn.functional.layer_norm(x, (HIDDEN,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)


def begin(weights: Steps, line: Steps, rank: int, layers: Iterable[int]) -> Steps:
    """Steps that move nothing yet, for `layers`, with the line that reads the embedding."""
    torch = _torch()
    steps = dict(line)
    for layer in layers:
        at = f"encoder.layer.{layer}."
        for name in LINEAR:
            out, width = weights[f"{at}{name}.weight"].shape
            steps[f"{at}{name}.weight:a"] = torch.randn(rank, width) * width**-0.5
            steps[f"{at}{name}.weight:b"] = torch.zeros(out, rank)
            steps[f"{at}{name}.bias"] = weights[f"{at}{name}.bias"].clone()
        for name in NORMS:
            for part in ("weight", "bias"):
                steps[f"{at}{name}.{part}"] = weights[f"{at}{name}.{part}"].clone()
    return {name: value.requires_grad_() for name, value in steps.items()}


def _torch() -> Any:
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise Unavailable(
            "PyTorch is not installed.", hint="Install a CPU build; only fine-tuning needs it."
        ) from error
    torch.set_flush_denormal(True)  # numbers too small to matter cost a hundred times the others
    return torch


def _tensors(file: Path) -> Iterator[tuple[str, np.ndarray]]:
    data = file.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            yield name, np.frombuffer(data[8 + size + begin : 8 + size + end], "<f4").reshape(entry["shape"]).copy()
