"""Which chunks of a space hold a stem, how often, and how long they are: in parts of 2,048 ids, a row for each stem of
a part, to which every document is appended. The rows of a question's stems are all that a search reads of it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg

from graph.knowledge import bm25

PART = 2_048  # ids, so that a place in a part takes two bytes
_ENTRY = np.dtype([("at", "<u2"), ("times", "<u2"), ("length", "<u2")])
SIZE = _ENTRY.itemsize
_MOST = np.iinfo(np.uint16).max


@dataclass(frozen=True)
class Holding:
    """The chunks that hold a stem, or stems in a row: ids, rising, how often, and how many words each has."""

    ids: np.ndarray
    times: np.ndarray
    lengths: np.ndarray

    def scores(self, chunks: int, words: int) -> np.ndarray:
        """By BM25, in a space of so many chunks with so many words in all."""
        return bm25.scores(chunks, self.times, bm25.damping(self.lengths, words / max(1, chunks)))

    def among(self, ids: Sequence[int]) -> np.ndarray:
        """Which of these chunks hold it (bool, as many)."""
        wanted = np.asarray(ids, np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return self.ids[at] == wanted if len(self.ids) else np.zeros(len(wanted), bool)


NOWHERE = Holding(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


def row_of(stems: Sequence[str]) -> str:
    """As a chunk keeps them: in their order, each with a blank on both sides."""
    return f" {' '.join(stems)} "


def add(cursor: "psycopg.Cursor[Any]", tenant: str, stems: Mapping[int, Sequence[str]]) -> None:
    """Of new chunks, by id, each greater than all before."""
    entries: dict[tuple[str, int], list[tuple[int, int, int]]] = defaultdict(list)
    for number in sorted(stems):
        length = min(len(stems[number]), _MOST)
        for stem, times in Counter(stems[number]).items():
            entries[stem, number // PART].append((number % PART, min(times, _MOST), length))
    rows = sorted(entries)
    cursor.execute(
        "INSERT INTO postings SELECT %s, * FROM unnest(%s::text[], %s::integer[], %s::bytea[])"
        " ON CONFLICT (tenant, stem, part) DO UPDATE SET held = postings.held || excluded.held",
        [
            tenant,
            [stem for stem, _ in rows],
            [part for _, part in rows],
            [np.array(entries[row], _ENTRY).tobytes() for row in rows],
        ],
    )


def remove(cursor: "psycopg.Cursor[Any]", tenant: str, stems: Mapping[int, Sequence[str]]) -> None:
    """Of chunks that go, by id."""
    gone: dict[int, list[int]] = defaultdict(list)
    for number in stems:
        gone[number // PART].append(number % PART)
    for part, places in gone.items():
        theirs = {stem for number in stems if number // PART == part for stem in stems[number]}
        sql = "SELECT stem, held FROM postings WHERE tenant = %s AND part = %s AND stem = ANY(%s)"
        left = []
        for stem, blob in cursor.execute(sql, [tenant, part, list(theirs)]).fetchall():
            entries = np.frombuffer(blob, _ENTRY)
            left.append((stem, entries[~np.isin(entries["at"], places)].tobytes()))
        empty = [stem for stem, blob in left if not blob]
        remaining = [(stem, blob) for stem, blob in left if blob]
        sql = "DELETE FROM postings WHERE tenant = %s AND part = %s AND stem = ANY(%s)"
        cursor.execute(sql, [tenant, part, empty])
        cursor.execute(
            "UPDATE postings SET held = one.held FROM unnest(%s::text[], %s::bytea[]) AS one (stem, held)"
            " WHERE tenant = %s AND part = %s AND postings.stem = one.stem",
            [[stem for stem, _ in remaining], [blob for _, blob in remaining], tenant, part],
        )


def lookup(cursor: "psycopg.Cursor[Any]", tenant: str, stems: Collection[str]) -> dict[str, Holding]:
    """The chunks that hold each; a stem that there is not is left out."""
    sql = "SELECT stem, part, held FROM postings WHERE tenant = %s AND stem = ANY(%s) ORDER BY stem, part"
    parts: dict[str, list[tuple[int, np.ndarray]]] = defaultdict(list)
    for stem, part, blob in cursor.execute(sql, [tenant, list(stems)]):
        parts[stem].append((part, np.frombuffer(blob, _ENTRY)))
    return {stem: _joined(entries) for stem, entries in parts.items()}


def _joined(parts: list[tuple[int, np.ndarray]]) -> Holding:
    ids = np.concatenate([part * PART + entries["at"].astype(np.int64) for part, entries in parts])
    times = np.concatenate([entries["times"] for _, entries in parts]).astype(np.float64)
    return Holding(ids, times, np.concatenate([entries["length"] for _, entries in parts]).astype(np.float64))


def in_all(holdings: Sequence[Holding]) -> np.ndarray:
    """Ids of the chunks that each of these has, rising."""
    ids = holdings[0].ids
    for other in holdings[1:]:
        ids = np.intersect1d(ids, other.ids, assume_unique=True)
    return ids


def in_a_row(
    cursor: "psycopg.Cursor[Any]", tenant: str, stems: Sequence[str], among: np.ndarray, first: Holding
) -> Holding:
    """Of these chunks those whose text has the stems one behind the other; `first` has the chunks of the first one."""
    row = row_of(stems)
    sql = "SELECT id, stems FROM chunks WHERE tenant = %s AND id = ANY(%s) AND position(%s IN stems) > 0 ORDER BY id"
    rows = cursor.execute(sql, [tenant, among.tolist(), row]).fetchall()
    ids = np.array([number for number, _ in rows], np.int64)
    times = np.array([_times(row, text) for _, text in rows], np.float64)
    return Holding(ids, times, first.lengths[np.searchsorted(first.ids, ids)])


def _times(row: str, text: str) -> int:
    """`str.count` would miss the second of two that share a blank or a stem."""
    times, at = 0, text.find(row)
    while at >= 0:
        times, at = times + 1, text.find(row, at + 1)
    return times
