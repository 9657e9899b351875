"""BM25 as FTS5 reckons it, to the last bit but one, in a thousandth of the time for a chunk.

FTS5 takes a microsecond for each chunk that holds any of the words, and tells them one by one. Spaces of some size
therefore keep beside their word index which chunks hold each stem, and how often, in parts of 2,048 rows: a blob for
each stem of a part. `Space.build_postings` makes the parts, in the space's own file. One of whose chunks any goes, goes
with it, in the same transaction; they are read only while together they hold exactly the chunks of the space.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from graph.knowledge import bm25
from graph.stores.vectors import greatest

WORTH = 3_000  # chunks up to which FTS5 is asked
PART = 2_048  # rows, so that a place in a part takes two bytes
SCHEMA = (
    # The stem "" has every row of a part.
    """CREATE TABLE IF NOT EXISTS postings (part INTEGER, stem TEXT, held BLOB NOT NULL, PRIMARY KEY (part, stem))
        WITHOUT ROWID""",
    f"""CREATE TRIGGER IF NOT EXISTS postings_go AFTER DELETE ON chunks
        BEGIN DELETE FROM postings WHERE part = old.id / {PART}; END""",
)

Read = Callable[..., list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Holding:
    """Where in `Postings.rows` the chunks are that hold a word, rising, and what it adds to the score of each."""

    at: np.ndarray
    scores: np.ndarray

    def among(self, at: np.ndarray) -> np.ndarray:
        """Which of these chunks hold it (bool, as many)."""
        if not len(self.at):
            return np.zeros(len(at), np.bool_)
        return np.asarray(self.at.take(np.searchsorted(self.at, at), mode="clip") == at)


class Postings:
    """Of a space as it stands: whoever changes it makes another one. `read` asks the space, and its `places`."""

    def __init__(self, read: Read) -> None:
        self._read = read
        sizes = read("SELECT id, sz FROM words_docsize ORDER BY id")
        self.rows = np.array([row for row, _ in sizes], np.int64)  # of every chunk, rising
        lengths = _numbers(b"".join(size for _, size in sizes))
        self._damping = bm25.damping(lengths, lengths.mean()) if sizes else lengths
        parts = covered(read) if len(sizes) > WORTH else {}
        whole = [part * PART + np.frombuffer(places, np.uint16).astype(np.int64) for part, places in parts.items()]
        in_step = parts and np.array_equal(np.concatenate(whole), self.rows)
        self._begins = {part: int(np.searchsorted(self.rows, part * PART)) for part in parts} if in_step else {}

    def holding(self, words: Sequence[str]) -> dict[str, Holding]:
        """For each word the chunks that hold it, in any of its inflections."""
        return {word: self._holding(word, stems) for word, stems in zip(words, bm25.tokens(words), strict=True)}

    def _holding(self, word: str, stems: Sequence[str]) -> Holding:
        if len(stems) != 1:  # a few chunks: FTS5 knows best what stands in a row
            ranked = self._read("SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rowid", (quoted(word),))
            rows, scores = np.array(ranked, np.float64).reshape(-1, 2).T
            return Holding(np.searchsorted(self.rows, rows.astype(np.int64)), scores)
        at, times = self._stored(*stems) if self._begins else self._counted(*stems)
        return Holding(at, bm25.scores(len(self.rows), times, self._damping[at]))

    def _stored(self, stem: str) -> tuple[np.ndarray, np.ndarray]:
        parts = ",".join(map(str, self._begins))  # a look for each, where a join may read all of them
        sql = f"SELECT part, held FROM postings WHERE part IN ({parts}) AND stem = ? ORDER BY part"
        rows = self._read(sql, (stem,))
        pairs = np.frombuffer(b"".join(blob for _, blob in rows), np.uint16).reshape(-1, 2)
        begins = np.array([self._begins[part] for part, _ in rows], np.int64)
        begins = np.repeat(begins, [len(blob) // 4 for _, blob in rows])
        return begins + pairs[:, 0], pairs[:, 1].astype(np.float64)

    def _counted(self, stem: str) -> tuple[np.ndarray, np.ndarray]:
        """Numbers come out of SQLite four times as fast in one text as in rows."""
        [(text,)] = self._read("SELECT ifnull(group_concat(doc), '') FROM places WHERE term = ?", (stem,))
        rows, times = np.unique(np.fromstring(text, np.int64, sep=","), return_counts=True)
        return np.searchsorted(self.rows, rows), times

    def best(self, holdings: Iterable[Holding], limit: int) -> list[int]:
        """Rows of the chunks with the greatest sum of scores, best first; of equals the lowest."""
        scores = np.zeros(len(self.rows))
        for one in holdings:
            scores[one.at] += one.scores
        scored = np.flatnonzero(scores)
        best: list[int] = self.rows[scored[greatest(scores[scored], limit)]].tolist()
        return best


def quoted(word: str) -> str:
    """A word, or several, as a phrase of an FTS5 query."""
    return '"' + word.replace('"', " ").replace("\x00", " ") + '"'


def covered(read: Read) -> dict[int, bytes]:
    """The parts there are, rising, with the places of their rows."""
    if not read("SELECT 1 FROM sqlite_master WHERE name = 'postings'"):
        return {}
    parts = ",".join(str(part) for (part,) in read(f"SELECT DISTINCT id / {PART} FROM chunks"))
    return dict(read(f"SELECT part, held FROM postings WHERE part IN ({parts}) AND stem = '' ORDER BY part"))


def made(places: Sequence[int], texts: Iterable[str]) -> Iterable[tuple[str, bytes]]:
    """Stem → blob, of the texts of a part, which have these places in it, rising. A blob has which of the texts hold
    the stem, counted from 0, and how often, two bytes each; that of the stem "" has the places."""
    yield "", np.array(places, np.uint16).tobytes()
    with closing(bm25.tokenizer()) as db:
        for stem, group in groupby(bm25.stems(db, texts, "term, doc"), key=lambda one: one[1]):
            numbers, times = np.unique([number for number, _ in group], return_counts=True)
            pairs = np.stack([numbers, np.minimum(times, np.iinfo(np.uint16).max)], axis=1)
            yield stem, pairs.astype(np.uint16).tobytes()


def _numbers(flat: bytes) -> np.ndarray:
    """SQLite's variable-length integers: seven bits a byte, the highest first; the last byte is below 128."""
    data = np.frombuffer(flat, np.uint8).astype(np.int64)
    ends = np.flatnonzero(data < 128)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    values = np.zeros(len(ends), np.int64)
    for n in range(int((ends - starts).max(initial=-1)) + 1):
        longer = starts + n <= ends
        values[longer] = values[longer] * 128 + (data[starts[longer] + n] & 127)
    return values
