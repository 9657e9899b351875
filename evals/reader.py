"""python -m evals.reader: teach the reader which sentence answers a question, and judge it on sources left out.

Writes graph/models/weights/reader.npz: low-rank steps for all layers of MiniLM, their biases and norms, and the line
that reads the result (graph/models/reader.py), learned from questions over encyclopedia articles, papers, privacy
policies, a cloud's documentation and pages on health (evals/reader_texts.py).
Whole sources are left out to judge. Needs PyTorch, and the evaluation data.
"""

import argparse
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evals import lowrank
from evals.command import ended
from evals.figures import auc
from evals.lowrank import HEADS_OF, HIDDEN, LAYERS, LINEAR, NORMS
from evals.reader_texts import Group, Source, groups
from evals.stats import Rate
from graph.models import extractive, reader
from graph.tuned import installed

# Their texts may be learned from; those under CC BY-SA are named in NOTICE.
LEARNED = ("squadshifts_wiki", "selqa", "policyqa", "covidqa", "squad2")
LEFT_OUT = ("wikiqa_measure", "squadshifts_reddit", "squadshifts_amazon", "conditionalqa")
RANK, RATE, TOGETHER, MICRO, DROP, SEED = 64, 1e-3, 20, 48, 0.05, 1
SCALE = 12.0  # of the line, since an embedding has length 1
EACH = 0.3  # what each sentence alone counts beside the choice among all
STEPS, FURTHER = 1_400, 550  # batches from the beginning, and from the shipped weights on
EACH_FURTHER, SLOWER = 2_000, 0.5  # questions of a source then, and times RATE
JUDGED = 500  # questions of a source left out


class Model:
    """MiniLM whose layers are all moved, reading question and sentence together."""

    def __init__(self, begun: Path | None = None) -> None:
        from tokenizers import Tokenizer

        self.torch = lowrank._torch()
        self.torch.manual_seed(SEED)
        self.torch.set_flush_denormal(True)  # numbers next to nothing made steps up to eight times slower
        self.weights = {name: self.torch.from_numpy(value) for name, value in lowrank._tensors(installed())}
        self.tokenizer = Tokenizer.from_file(str(installed().with_name("tokenizer.json")))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(reader.PIECES)
        if begun:
            with np.load(begun) as held:
                steps = {name: self.torch.from_numpy(held[name].astype(np.float32)) for name in held}
            steps["line"] /= SCALE
            self.steps = {name: value.requires_grad_() for name, value in steps.items()}
            return
        line = {"line": self.torch.randn(HIDDEN) * HIDDEN**-0.5, "bias": self.torch.tensor(-1.0)}
        self.steps = lowrank.begin(self.weights, line, RANK, range(LAYERS))

    def pieces(self, question: str, path: str, text: str) -> list[int]:
        found: list[int] = self.tokenizer.encode(*reader.pair(question, path, text)).ids
        return found

    def margins(self, pairs: Sequence[list[int]], drop: float = 0.0) -> Any:
        """Log-odds of the pairs, a tensor (len(pairs),); pairs of like length are read together."""
        torch = self.torch
        moved = {}
        for name in [name.removesuffix(":a") for name in self.steps if name.endswith(":a")]:
            moved[name] = (self.weights[name] + self.steps[f"{name}:b"] @ self.steps[f"{name}:a"]).bfloat16()
        weights = {**self.weights, **{n: v for n, v in self.steps.items() if ":" not in n}, **moved}
        order = sorted(range(len(pairs)), key=lambda at: len(pairs[at]))
        found = []
        for at in range(0, len(order), MICRO):
            rows = [pairs[row] for row in order[at : at + MICRO]]
            with torch.autocast("cpu", torch.bfloat16):
                found.append(self._read(rows, weights, drop))
        places = torch.empty(len(order), dtype=torch.long)
        places[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(found)[places]

    def _read(self, rows: Sequence[list[int]], weights: dict[str, Any], drop: float) -> Any:
        torch, f = self.torch, self.torch.nn.functional
        lengths = torch.tensor([len(row) for row in rows])
        ids = torch.zeros((len(rows), int(lengths.max())), dtype=torch.long)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = torch.tensor(row)
        mask = torch.arange(ids.shape[1]) < lengths[:, None]
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, weights, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            split = [
                self._linear(x, weights, f"{at}{name}").view(*x.shape[:2], HEADS_OF, -1).transpose(1, 2)
                for name in LINEAR[:3]
            ]
            found = f.scaled_dot_product_attention(*split, attn_mask=mask[:, None, None, :])
            found = self._linear(found.transpose(1, 2).reshape(x.shape), weights, at + LINEAR[3])
            x = self._norm(x + f.dropout(found, drop, drop > 0), weights, at + NORMS[0])
            found = self._linear(f.gelu(self._linear(x, weights, at + LINEAR[4])), weights, at + LINEAR[5])
            x = self._norm(x + f.dropout(found, drop, drop > 0), weights, at + NORMS[1])
        pooled = f.normalize((x.float() * mask[..., None]).sum(1), dim=1)
        with torch.autocast("cpu", enabled=False):
            return SCALE * (pooled.float() @ self.steps["line"]) + self.steps["bias"]

    def _linear(self, x: Any, weights: dict[str, Any], name: str) -> Any:
        return self.torch.nn.functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"].to(x.dtype))

    def _norm(self, x: Any, weights: dict[str, Any], name: str) -> Any:
        return self.torch.nn.functional.layer_norm(
            x, (HIDDEN,), weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-12
        )


def fit(model: Model, made: Sequence[Group], steps: int, rate: float = RATE) -> None:
    """Learns in `steps` batches of TOGETHER questions: which passage answers, with "none" as one more to choose."""
    torch = model.torch
    encoded = [([model.pieces(q, path, text) for path, text, _ in shown], [y for *_, y in shown]) for q, shown in made]
    line = [model.steps["line"], model.steps["bias"]]
    inner = [value for name, value in model.steps.items() if name not in ("line", "bias")]
    optimiser = torch.optim.AdamW(
        [{"params": inner, "lr": rate}, {"params": line, "lr": rate * 3}], weight_decay=0.0
    )  # fmt: skip
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda at: min(1, (at + 1) / 100) * max(0.0, 1 - at / steps)
    )
    begun, lost = time.monotonic(), 0.0
    for done, batch in zip(range(1, steps + 1), _batches(encoded), strict=False):
        margins = model.margins([pair for at in batch for pair in encoded[at][0]], DROP)
        loss, begin = torch.zeros(()), 0
        for at in batch:
            right = torch.tensor(encoded[at][1])
            own = margins[begin : begin + len(right)]
            begin += len(right)
            all_ = torch.cat([torch.zeros(1), own])
            good = torch.cat([~right.any(keepdim=True), right])
            loss = loss + torch.logsumexp(all_, 0) - torch.logsumexp(all_[good], 0)
            loss = loss + EACH * torch.nn.functional.binary_cross_entropy_with_logits(own, right.float())
        optimiser.zero_grad()
        (loss / len(batch)).backward()
        torch.nn.utils.clip_grad_norm_(list(model.steps.values()), 1.0)
        optimiser.step()
        schedule.step()
        lost += float(loss.detach()) / len(batch) / 50
        if done % 50 == 0:
            print(f"  {done} of {steps} batches, loss {lost:.3f}, {time.monotonic() - begun:.0f} s", flush=True)
            lost = 0.0


def _batches(encoded: Sequence[tuple[list[list[int]], list[bool]]]) -> Iterator[list[int]]:
    rng = random.Random(SEED)
    while True:
        order = list(range(len(encoded)))
        rng.shuffle(order)
        for at in range(0, len(order), TOGETHER * 40):
            part = sorted(order[at : at + TOGETHER * 40], key=lambda one: max(map(len, encoded[one][0])))
            made = [part[begin : begin + TOGETHER] for begin in range(0, len(part), TOGETHER)]
            rng.shuffle(made)
            yield from made


def write(model: Model, file: Path) -> None:
    held = {name: value.detach().numpy().astype(np.float16) for name, value in model.steps.items()}
    line, bias = model.steps["line"].detach().numpy() * SCALE, model.steps["bias"].detach().numpy()
    np.savez_compressed(file, **{**held, "line": line, "bias": bias})
    print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")


def run(out: Path) -> dict[str, Any]:
    """The suite: how the shipped reader does on sources that it learned nothing from."""
    found = {name: judge(name) for name in LEFT_OUT}
    return {"figures": {f"{name}: {what}": value for name, told in found.items() for what, value in told.items()}}


def judge(name: str, count: int = JUDGED) -> dict[str, Any]:
    """How often the sentence read as best is a right one, one of three, and by shared words alone; how often a right
    one is among those that the answerer shows, and in how many words; and how well the best one's log-odds tell
    questions that the passage answers from those that it does not (people's, and mined)."""
    source = Source.of(name)
    rows = list(source.rows)
    random.Random(SEED).shuffle(rows)
    first, three, words, shown, lengths = [], [], [], [], []
    best: dict[str, list[float]] = {"there": [], "original": [], "mined": []}
    for row in rows[:count]:
        texts, title = row["sentences"][:40], row["passage"]["title"]
        read = reader.shared().scores(row["question"], [(title, text) for text in texts])
        best["there" if row["answerable"] else row["kind"]].append(float(read.max()))
        if not row["answerable"]:
            continue
        order = np.argsort(-read, kind="stable")
        first.append(int(order[0]) in row["gold"])
        three.append(bool(set(order[:3].tolist()) & set(row["gold"])))
        words.append(int(np.argmax([source.texts.shared(row["question"], text) for text in texts])) in row["gold"])
        told = _told(row)
        gold = [_bare(row["sentences"][at]) for at in row["gold"]]
        shown.append(any(one in told or (told and told in one) for one in gold))
        if told:
            lengths.append(len(told.split()))
    rates = {"a right sentence first": first, "of three": three, "first by words": words, "shown": shown}
    figures: dict[str, Any] = {what: Rate(sum(held), len(held)).as_json() for what, held in rates.items()}
    figures["words shown, median"] = {"value": float(np.median(lengths)), "n": len(lengths)}
    for kind in ("original", "mined"):
        if len(best[kind]) >= 20:
            value = auc(np.array(best["there"]), np.array(best[kind]))
            figures[f"AUC, answerable or not, {kind}"] = {"value": value, "n": len(best["there"]) + len(best[kind])}
    return figures


def _told(row: dict[str, Any]) -> str:
    """What the answerer shows where the passage is all there is."""
    passage = {"n": 1, "text": row["passage"]["text"], "title": row["passage"]["title"], "section": "", "score": 0.6}
    task = {"question": row["question"], "about": "", "style": "concise", "listing": "", "evidence": [passage]}
    passage["start"] = 0
    return " ".join(_bare(said["text"]) for said in extractive.answer(task, reader.shared())["sentences"])


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def main() -> int:
    from evals.__main__ import shown

    parser = argparse.ArgumentParser(prog="python -m evals.reader", description=__doc__.split("\n")[0])
    parser.add_argument("--judge", action="store_true", help="only judge the shipped reader on the sources left out")
    parser.add_argument("--further", action="store_true", help="go on from the shipped weights")
    parser.add_argument("--steps", type=int, help=f"batches to learn from (default {STEPS}; {FURTHER} with --further)")
    options = parser.parse_args()

    def do() -> None:
        if not options.judge:
            further = options.further
            model = Model(reader.FILE if further else None)
            made = groups(LEARNED, SEED + further, EACH_FURTHER if further else None)
            fit(model, made, options.steps or (FURTHER if further else STEPS), RATE * (SLOWER if further else 1))
            write(model, reader.FILE)
        for name, value in run(Path())["figures"].items():
            print(f"  {name:<58} {shown(value)}", flush=True)

    return ended(do)


if __name__ == "__main__":
    sys.exit(main())
