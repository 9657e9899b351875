"""How much of a question a text has in like words: what may answer is chosen by it before the reader reads.

Each word piece of the question is worth the cosine of the one that is most like it in the text ("days off" finds
"leave"). The vectors do not know what stands around a piece, so that hundreds of texts take a few milliseconds. They
began as what MiniLM makes of each piece alone, and learned from the reader's questions (evals/training/likeness.py).
"""

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from graph import turn_cache
from graph.onnx.minilm import installed

FILE = Path(__file__).with_name("weights") / "likeness.npz"
ASKED, READ = 32, 96  # pieces of the question and of a text; it learned from as many
CHARS = 800  # more would not be read
LENGTH = 127  # of a vector, in whole numbers

_opening = threading.Lock()


def likeness(question: str, texts: Sequence[str]) -> np.ndarray:
    """-1 to 1 for each text, float32 (len(texts),)."""
    known = turn_cache.entries()  # several stages of a turn weigh the same texts
    new = [text for text in dict.fromkeys(texts) if ("like", question, text) not in known]
    known |= {("like", question, text): value for text, value in zip(new, _likeness(question, new), strict=True)}
    return np.array([known["like", question, text] for text in texts], np.float32)


def _likeness(question: str, texts: list[str]) -> np.ndarray:
    if not texts:
        return np.zeros(0, np.float32)
    with _opening:
        tokenizer, vectors, weights = _opened()
    question_ids = tokenizer.encode(question[:CHARS], add_special_tokens=False).ids[:ASKED]
    pieces = [
        one.ids[:READ] for one in tokenizer.encode_batch_fast([t[:CHARS] for t in texts], add_special_tokens=False)
    ]
    scores = np.zeros(len(texts), np.float32)
    some = [at for at, ids in enumerate(pieces) if ids]
    if not question_ids or not some:
        return scores
    each, places = np.unique([piece for at in some for piece in pieces[at]], return_inverse=True)
    begin = np.cumsum([0, *(len(pieces[at]) for at in some[:-1])])
    # Sums of whole numbers below 2^24 are exact in float32, so that every processor finds the same.
    cosines = vectors[question_ids].astype(np.float32) @ vectors[each].astype(np.float32).T
    best = np.maximum.reduceat(cosines[:, places], begin, axis=1).astype(np.int64)
    shares = weights[question_ids].astype(np.int64)
    scores[some] = shares @ best / (shares.sum() * LENGTH**2)
    return scores


@cache
def _opened() -> tuple[Any, np.ndarray, np.ndarray]:
    """Tokenizer; a vector of whole numbers for each piece, of length 127; what a piece of the question weighs."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(installed().with_name("tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with np.load(FILE, allow_pickle=False) as stored:
        return tokenizer, stored["vectors"], stored["weights"]
