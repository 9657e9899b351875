"""MiniLM in PyTorch, all of whose layers small steps move (LoRA, Hu et al. 2021): what the guards' encoder and the
reader of answers learn with.

PyTorch is no dependency: only who fine-tunes needs it. The model is a function of named tensors, without modules of
its own, so that what is learned can be written down as it stands and put into the shipped graph (graph/onnx/minilm.py).
"""

import importlib
import json
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graph.errors import Unavailable
from graph.onnx.minilm import WIDTH, Text, installed

LAYERS, HEADS_OF = 6, 12
LINEAR = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
          "intermediate.dense", "output.dense")  # fmt: skip
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
SCALE = 12.0  # of the line, since an embedding has length 1
MICRO = 48  # texts that are read at once

Steps = dict[str, Any]  # tensors by name; "line" (WIDTH, ...) and "bias" (...,) read the embedding


class Model:
    """Reads token ids; gives log-odds of shape (texts, ...), the shape of `bias` behind the texts. Without a rank
    the matrices move freely: such a model teaches, and is not shipped. `device`: "cpu" or "cuda"."""

    def __init__(
        self, bias: Sequence[float] | float, rank: int | None, pieces: int, seed: int, device: str = "cpu"
    ) -> None:
        from tokenizers import Tokenizer

        self.torch = _torch()
        self.torch.manual_seed(seed)
        self.device = device
        self.micro = MICRO if self.device == "cpu" else 10**6
        self.weights = {name: self.torch.from_numpy(value).to(self.device) for name, value in _tensors(installed())}
        self.tokenizer = Tokenizer.from_file(str(installed().with_name("tokenizer.json")))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(pieces)
        self.steps = self._begin(self.torch.tensor(bias), rank)

    def _begin(self, bias: Any, rank: int | None) -> Steps:
        """Steps that move nothing yet, and a line that knows nothing."""
        torch, weights = self.torch, self.weights
        steps = {"line": torch.randn(WIDTH, *bias.shape) * WIDTH**-0.5, "bias": bias}
        for at in (f"encoder.layer.{layer}." for layer in range(LAYERS)):
            for name in LINEAR:
                out, width = weights[f"{at}{name}.weight"].shape
                if rank is None:
                    steps[f"{at}{name}.weight:d"] = torch.zeros(out, width)
                else:
                    steps[f"{at}{name}.weight:a"] = torch.randn(rank, width) * width**-0.5
                    steps[f"{at}{name}.weight:b"] = torch.zeros(out, rank)
                steps[f"{at}{name}.bias"] = weights[f"{at}{name}.bias"].clone()
            for name in NORMS:
                for part in ("weight", "bias"):
                    steps[f"{at}{name}.{part}"] = weights[f"{at}{name}.{part}"].clone()
        return self._learning(steps)

    def _learning(self, steps: Steps) -> Steps:
        return {name: value.detach().to(self.device).clone().requires_grad_() for name, value in steps.items()}

    def begin_at(self, moved: Steps, rank: int | None) -> None:
        """Begins with what another model learned: `moved` as `Model.moved` gives it, cut to `rank`. Its line is taken
        where it reads as many outcomes."""
        torch = self.torch
        for name, value in moved.items():
            if f"{name}:d" in self.steps:
                self.steps[f"{name}:d"] = value
            elif f"{name}:a" in self.steps:
                u, s, v = torch.linalg.svd(value, full_matrices=False)
                root = s[:rank].sqrt()
                self.steps[f"{name}:a"], self.steps[f"{name}:b"] = root[:, None] * v[:rank], u[:, :rank] * root
            elif name in self.steps and self.steps[name].shape == value.shape:
                self.steps[name] = value
        self.steps = self._learning(self.steps)

    def moved(self) -> Steps:
        """What was learned, as whole matrices."""
        found = {name: value.detach() for name, value in self.steps.items() if ":" not in name}
        return found | {name: value.detach() for name, value in self._matrices().items()}

    def _matrices(self) -> Steps:
        free = {name.removesuffix(":d"): value for name, value in self.steps.items() if name.endswith(":d")}
        thin = [name.removesuffix(":a") for name in self.steps if name.endswith(":a")]
        return free | {name: self.steps[f"{name}:b"] @ self.steps[f"{name}:a"] for name in thin}

    def load(self, file: Path) -> None:
        """Goes on from steps that `write` wrote."""
        with np.load(file, allow_pickle=False) as held:
            steps = {name: self.torch.from_numpy(held[name].astype(np.float32)) for name in self.steps}
        steps["line"] /= SCALE
        self.steps = self._learning(steps)

    def pieces(self, texts: Sequence[Text]) -> list[list[int]]:
        return [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]

    def learner(self, rate: float, steps: int, warm: int) -> tuple[Any, Any]:
        """Optimiser and schedule: the rate rises for `warm` steps and falls to 0; the line's is three times it."""
        torch = self.torch
        line = [self.steps["line"], self.steps["bias"]]
        inner = [value for name, value in self.steps.items() if name not in ("line", "bias")]
        optimiser = torch.optim.AdamW(
            [{"params": inner, "lr": rate}, {"params": line, "lr": rate * 3}], weight_decay=0.0
        )  # fmt: skip
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda at: min(1, (at + 1) / warm) * max(0.0, 1 - at / steps)
        )
        return optimiser, schedule

    def step(self, loss: Any, optimiser: Any, schedule: Any) -> float:
        optimiser.zero_grad()
        loss.backward()
        self.torch.nn.utils.clip_grad_norm_(list(self.steps.values()), 1.0)
        optimiser.step()
        schedule.step()
        return float(loss.detach())

    def judge(self, pieces: Sequence[list[int]]) -> np.ndarray:
        """Log-odds, nothing learned from them."""
        with self.torch.no_grad():
            found: np.ndarray = self.margins(pieces).float().cpu().numpy()
        return found

    def judge_all(self, pieces: Sequence[list[int]], size: int) -> np.ndarray:
        """`judge`, `size` texts of like length at a time."""
        order = sorted(range(len(pieces)), key=lambda at: len(pieces[at]))
        parts = [order[at : at + size] for at in range(0, len(order), size)]
        judged = np.concatenate([self.judge([pieces[row] for row in part]) for part in parts])
        found = np.zeros_like(judged)
        found[order] = judged
        return found

    def margins(self, pieces: Sequence[list[int]], drop: float = 0.0) -> Any:
        """Log-odds of the texts, a tensor; texts of like length are read together."""
        torch = self.torch
        moved = {name: (self.weights[name] + value).bfloat16() for name, value in self._matrices().items()}
        weights = {**self.weights, **{n: v for n, v in self.steps.items() if ":" not in n}, **moved}
        order = sorted(range(len(pieces)), key=lambda at: len(pieces[at]))
        found = []
        for at in range(0, len(order), self.micro):
            rows = [pieces[row] for row in order[at : at + self.micro]]
            with torch.autocast(self.device, torch.bfloat16):
                found.append(self._read(rows, weights, drop))
        places = torch.empty(len(order), dtype=torch.long)
        places[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(found)[places]

    def _read(self, rows: Sequence[list[int]], weights: Steps, drop: float) -> Any:
        torch, f = self.torch, self.torch.nn.functional
        lengths = torch.tensor([len(row) for row in rows])
        ids = torch.zeros((len(rows), int(lengths.max())), dtype=torch.long)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = torch.tensor(row)
        ids, lengths = ids.to(self.device), lengths.to(self.device)
        mask = torch.arange(ids.shape[1], device=self.device) < lengths[:, None]
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, weights, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            stem = f"encoder.layer.{layer}."
            split = [
                self._linear(x, weights, f"{stem}{name}").view(*x.shape[:2], HEADS_OF, -1).transpose(1, 2)
                for name in LINEAR[:3]
            ]
            found = f.scaled_dot_product_attention(*split, attn_mask=mask[:, None, None, :])
            found = self._linear(found.transpose(1, 2).reshape(x.shape), weights, stem + LINEAR[3])
            x = self._norm(x + f.dropout(found, drop, drop > 0), weights, stem + NORMS[0])
            found = self._linear(f.gelu(self._linear(x, weights, stem + LINEAR[4])), weights, stem + LINEAR[5])
            x = self._norm(x + f.dropout(found, drop, drop > 0), weights, stem + NORMS[1])
        pooled = f.normalize((x.float() * mask[..., None]).sum(1), dim=1)
        with torch.autocast(self.device, enabled=False):
            return SCALE * (pooled.float() @ self.steps["line"]) + self.steps["bias"]

    def _linear(self, x: Any, weights: Steps, name: str) -> Any:
        return self.torch.nn.functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"].to(x.dtype))

    def _norm(self, x: Any, weights: Steps, name: str) -> Any:
        norm = self.torch.nn.functional.layer_norm
        return norm(x, (WIDTH,), weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-12)

    def arrays(self) -> dict[str, np.ndarray]:
        """What is written down: steps as float16, and the line as it reads embeddings of length 1."""
        values = {name: value.detach().cpu().numpy() for name, value in self.steps.items()}
        held = {name: value.astype(np.float16) for name, value in values.items()}
        line, bias = values["line"] * SCALE, values["bias"]
        return {**held, "line": line, "bias": bias}


def device() -> str:
    """The fastest that PyTorch has here."""
    return "cuda" if _torch().cuda.is_available() else "cpu"


def moved_in(file: Path) -> Steps:
    """What a file of steps moves, as whole matrices, without its line."""
    torch = _torch()
    with np.load(file, allow_pickle=False) as stored:
        values = {name: torch.from_numpy(stored[name].astype(np.float32)) for name in stored.files}
    thin = [name.removesuffix(":a") for name in values if name.endswith(":a")]
    kept = {name: value for name, value in values.items() if name.startswith("encoder.") and ":" not in name}
    return kept | {name: values[f"{name}:b"] @ values[f"{name}:a"] for name in thin}


def write(file: Path, held: dict[str, np.ndarray]) -> None:
    np.savez(file, **held)  # type: ignore[arg-type]
    print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")


def batches(lengths: Sequence[int], rows: Sequence[int], size: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """The rows in batches of like length, sorted forty batches at a time: all at once would put like texts together."""
    for at in range(0, len(rows), size * 40):
        part = sorted(rows[at : at + size * 40], key=lambda row: lengths[row])
        made = [part[begin : begin + size] for begin in range(0, len(part), size)]
        yield from (made[number] for number in rng.permutation(len(made)))


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
