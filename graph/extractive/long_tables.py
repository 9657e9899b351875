"""Tables of more rows than are read with a question: of these the rows that count are looked up in the document itself.

"Which maintainers of Rook are from Red Hat?" over 2,000 rows needs five of them, wherever they stand. The rows that
fulfil what the question says are chosen here, over all rows of the table; the passages that hold them become evidence
like any others, and the answerer chooses from these again. No text leaves this module.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from graph.extractive.conditions import name_stems, named_values, stems, unmet
from graph.extractive.enumerations import Entry, Enumeration
from graph.extractive.nouns import noun_of
from graph.extractive.whole import compares, selected
from graph.knowledge.index import content_words
from graph.policy.question.answer_type import all_of, plain
from graph.policy.text import lexical
from graph.policy.text.quantities import cells
from graph.policy.text.structure import SEPARATOR
from graph.stores.spaces import StoredChunk

MOST_MEASURED = 10_000  # rows of which numbers are compared: one second
MOST_NAMED = 5_000  # rows with a value that the question may name, of which every cell is looked at: half a second
MOST_WORDS = 40  # of the question, that a value may be of
LONGEST_VALUE = 5  # words
FEWEST_SHARED = 0.5  # of the columns of a row, which those of the table have, too


@dataclass(frozen=True)
class Selected:
    """The chunks with the rows of a table that count, in their order; how many these rows are, and how many the table
    has."""

    chunk_ids: list[str]
    fitting: int
    rows: int


def look_through(
    question: str, title: str, text: str, chunks: Sequence[StoredChunk], at: int, table: tuple[int, int]
) -> Selected | None:
    """The rows that the question asks for, of the table in `chunks[at]` that runs from one chunk to another of the
    document `text`. None where it is no question for rows or names no value of the table."""
    question = plain(question)
    kind = all_of(question)
    if kind is None or kind == "summary":
        return None
    first, last = table
    lines = _rows(text, chunks[at].start, chunks[at].end)
    columns = {name for *_, row in lines for name, _ in row if name}
    if len(lines) < 2 or not columns:
        return None
    measured = kind == "extreme" or compares(question)
    every = [span for span in _lines(text, chunks[first].start, chunks[last].end) if ": " in text[slice(*span)]]
    if kind == "count" and not measured and _counts_all(question, title, chunks[at].section, columns):
        return Selected([], len(every), len(every))
    some = every if measured else _with_a_value(question, text, every)
    if not some or len(some) > (MOST_MEASURED if measured else MOST_NAMED):
        return None
    asked = [span for span in some if _belongs(text[slice(*span)], columns)]
    fitting = {*asked}
    asked += [span for span in every if span not in fitting][:1]  # what all of the rows have tells none apart
    entries = [Entry(0, start, end, text[start:end], cells(text[start:end])) for start, end in asked]
    path = tuple(filter(None, (title, *chunks[at].section.split(SEPARATOR))))
    listed = Enumeration("rows", path, None, entries)
    noun = noun_of(question)
    if not (measured or named_values(question, entries, noun)):
        return None
    chosen = selected(question, kind, listed)
    if not chosen or len(chosen) == len(every):
        return None
    if unmet(question, listed, entries, chosen, noun):
        return None  # a condition that no row fulfils, or that is not understood
    starts = [chunk.start for chunk in chunks]
    holding = {chunks[bisect_right(starts, entry.start) - 1].chunk_id: None for entry in chosen}
    return Selected([*holding], len(chosen), len(every))


def _counts_all(question: str, title: str, section: str, columns: set[str]) -> bool:
    """Whether it only asks how many there are of what the table is called or has a column of."""
    noun = noun_of(question)
    words = name_stems(" ".join([title, section.rpartition(SEPARATOR)[2], *columns]))
    return bool(noun) and {*noun} <= words and stems(" ".join(content_words(question))) <= words


def table_at(chunks: Sequence[StoredChunk], at: int) -> tuple[int, int]:
    """The first and the last chunk of the section in which a chunk lies."""
    place, first, last = (chunks[at].sheet, chunks[at].section), at, at
    while first and (chunks[first - 1].sheet, chunks[first - 1].section) == place:
        first -= 1
    while last + 1 < len(chunks) and (chunks[last + 1].sheet, chunks[last + 1].section) == place:
        last += 1
    return first, last


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the lines with text begin and end."""
    return [match.span() for match in re.compile(r"[^\n]*\S[^\n]*").finditer(text, start, end)]


def _rows(text: str, start: int, end: int) -> list[tuple[int, int, tuple[tuple[str, str], ...]]]:
    """The lines that name two cells and more."""
    lines = [(a, b, cells(text[a:b])) for a, b in _lines(text, start, end)]
    return [one for one in lines if len(one[2]) > 1]


def _belongs(line: str, columns: set[str]) -> bool:
    """Whether a line is a row of the table with these columns. That of few cells has fewer of its names."""
    names = [name for name, _ in cells(line) if name]
    return len(names) > 1 and sum(name in columns for name in names) >= FEWEST_SHARED * len(names)


def _with_a_value(question: str, text: str, rows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The rows with a whole value, or one of several in a cell, that the question may name: any other fulfils no
    condition."""
    words = lexical.words(question)[:MOST_WORDS]
    runs = [words[at : at + length] for length in range(LONGEST_VALUE, 0, -1) for at in range(len(words) - length + 1)]
    values = [
        r"[\W_]+".join(rf"{re.escape(lexical.stem(word))}\w{{0,3}}" for word in run) for run in runs if _says(run)
    ]
    if not values or not rows:
        return []
    value = re.compile(rf"[:;,/|]\s?(?:{'|'.join(values)})(?=\s*[.]?\s*(?:[;,/|\n]|$))", re.I)
    starts = [start for start, _ in rows]
    at = {bisect_right(starts, match.start()) - 1 for match in value.finditer(text, rows[0][0], rows[-1][1])}
    return [rows[n] for n in sorted(at)]


def _form(word: str) -> str:
    """What finds any form of a word."""
    return rf"{re.escape(lexical.stem(word))}\w{{0,3}}"


def _says(run: Sequence[str]) -> bool:
    return bool(content_words(" ".join(run))) or run[0].isdigit()
