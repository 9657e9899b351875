"""The vectors of graph/extractive/likeness.py: `python -m evals.training.likeness [--homes DIR]`.

They begin as what MiniLM makes of each word piece alone, in its DIMENSIONS main directions, and learn which unit of
those that search finds answers a question. Needs PyTorch, the evaluation data, and a GPU (two minutes on one).
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evals.command import ended
from evals.training.lowrank import SCALE, Model, device
from evals.training.reader import LEARNED
from evals.training.reader_questions import asked
from evals.training.reader_texts import groups
from graph.extractive import likeness, reader
from graph.onnx.minilm import WIDTH

DIMENSIONS, RATE, STEPS, TOGETHER, MOST, SEED = 64, 1e-3, 340, 64, 40, 1
OTHERS = 0.5  # questions of the public sources for each question of staff
SHARPNESS = 12.0  # of the choice among units, times a likeness of at most 1

Question = tuple[list[int], list[list[int]], list[bool]]  # pieces of the question and of each unit; which answer


def train(homes: Path | None) -> None:
    """Writes graph/extractive/weights/likeness.npz."""
    model = Model([0.0] * WIDTH, None, reader.PIECES, SEED, device())
    given = _given(model, homes)
    vectors, rarity = _alone(model), _rarity(model, given)
    torch = model.torch
    vectors = torch.nn.functional.normalize(vectors, dim=1).to(model.device).requires_grad_()
    weights = torch.from_numpy(np.log(rarity)).float().to(model.device).requires_grad_()
    optimiser = torch.optim.AdamW([{"params": [vectors]}, {"params": [weights], "lr": 3 * RATE}], RATE, weight_decay=0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda at: min(1, at / 50) * max(0.0, 1 - at / STEPS))
    rng = np.random.default_rng(SEED)
    for _ in range(STEPS):
        batch = [given[at] for at in rng.choice(len(given), TOGETHER, replace=False)]
        optimiser.zero_grad()
        sum(_loss(torch, vectors, weights, one) for one in batch).div(TOGETHER).backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        units = torch.nn.functional.normalize(vectors, dim=1).cpu().numpy()
        shares = weights.exp().cpu().numpy()
    whole = np.rint(units * likeness.LENGTH).astype(np.int8)
    np.savez_compressed(likeness.FILE, vectors=whole, weights=np.rint(shares / shares.max() * 60_000).astype(np.uint16))


def _loss(torch: Any, vectors: Any, weights: Any, one: Question) -> Any:
    question, units, right = one
    own = torch.nn.functional.normalize(vectors[torch.tensor(question)], dim=1)
    share = torch.softmax(weights[torch.tensor(question)], 0)
    like = [(own @ torch.nn.functional.normalize(vectors[torch.tensor(u)], dim=1).T).amax(1) @ share for u in units]
    chosen = torch.log_softmax(SHARPNESS * torch.stack(like), 0)
    return -torch.logsumexp(chosen[torch.tensor(right)], 0)


def _given(model: Model, homes: Path | None) -> list[Question]:
    """Questions with units that answer and units that do not."""
    staff = [(q, [(o.path, o.text, bool(o.answers)) for o in shown]) for q, shown in asked(homes)]
    public = groups(LEARNED, SEED)
    made = []
    for question, shown in [*staff, *public[: round(OTHERS * len(staff))]]:
        shown = sorted(shown, key=lambda one: not one[2])[:MOST]
        right = [good for *_, good in shown]
        if any(right) and not all(right):
            units = [_bare(model, f"{path}: {text}" if path else text, likeness.READ) for path, text, _ in shown]
            made.append((_bare(model, question, likeness.ASKED), units, right))
    return made


def _bare(model: Model, text: str, most: int) -> list[int]:
    ids: list[int] = model.tokenizer.encode(text, add_special_tokens=False).ids[:most]
    return ids or [0]


def _alone(model: Model) -> Any:
    """What MiniLM makes of each piece alone, in its main directions, (pieces, DIMENSIONS)."""
    torch, size = model.torch, model.tokenizer.get_vocab_size()
    begin, _, end = model.pieces(["a"])[0]
    model.steps["line"] = torch.eye(WIDTH, device=model.device)
    rows = model.judge_all([[begin, piece, end] for piece in range(size)], 512) / SCALE
    rows -= rows.mean(0)
    directions = np.linalg.svd(rows[::4], full_matrices=False)[2][:DIMENSIONS]
    return torch.from_numpy(rows @ directions.T).float()


def _rarity(model: Model, given: Sequence[Question]) -> np.ndarray:
    held = Counter(piece for _, units, _ in given for unit in units for piece in {*unit})
    count = sum(len(units) for _, units, _ in given)
    size = model.tokenizer.get_vocab_size()
    return np.array([max(0.3, math.log(count / (1 + held[piece]))) for piece in range(size)])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.training.likeness", description=__doc__.split("\n")[0])
    parser.add_argument("--homes", type=Path, help="keep what is ingested here, for another run")
    options = parser.parse_args()
    return ended(lambda: train(options.homes))


if __name__ == "__main__":
    sys.exit(main())
