"""Documents of the kinds that LibreOffice lays out: their pages, and where on them the text stands.

Such a file has no pages before a program draws it, so citations of it name none, or another program's. All its letters
are looked at together: for what is to be painted over, and for the page on which a quote stands.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from graph.administration.painted_over import Looks, hidden, masked_around
from graph.knowledge.office import pdf_of
from graph.policy.evidence.judged import judge_name
from graph.policy.evidence.on_page import PageText, Range, in_all, marked
from graph.stores.spaces import Record, Space

_LETTER = 40  # bytes that a letter takes in memory, with its place
_PAGE_END = [10]


@dataclass(frozen=True)
class LaidOut:
    """`letters`: those of all pages, one page after the other; `starts`: where each page begins in them; `text`: what
    it was drawn from; `black`: letters to paint over."""

    pdf: bytes
    letters: PageText
    starts: list[int]
    text: str
    black: list[Range]

    @property
    def bytes(self) -> int:
        """How much memory it takes, roughly."""
        return len(self.pdf) + len(self.text) + _LETTER * len(self.letters.raw)

    def of_page(self, page: int, ranges: list[Range]) -> list[Range]:
        """The parts of ranges that lie on a page (from 1), counted from the page's first letter."""
        start, end = self.starts[page - 1], self.starts[page] - len(_PAGE_END)
        return [(max(a, start) - start, min(b, end) - start) for a, b in ranges if a < end and b > start]

    def marked(self, quote: Range) -> list[Range]:
        """The letters of this part of the text. Where it is not found as a whole: its words on the page with most of
        them, if these are at least half."""
        part = self.text[slice(*quote)]
        if whole := marked(self.letters, part, self.text.count(part, 0, quote[0]), whole=True):
            return whole
        best: list[Range] = []
        for start, end in zip(self.starts, self.starts[1:], strict=False):
            places = marked(self.letters.part(start, end - len(_PAGE_END)), part)
            if _length(places) > _length(best):
                best = [(start + a, start + b) for a, b in places]
        return best

    def page_of(self, ranges: list[Range]) -> int | None:
        """The page, from 1, on which the first of the ranges begins; None for no range."""
        return bisect_right(self.starts, min(ranges)[0]) if ranges else None


def _length(ranges: list[Range]) -> int:
    return sum(end - start for start, end in ranges)


def lay_out(
    space: Space,
    record: Record,
    data: bytes,
    looks: Looks,
    binary: Path,
    read_letters: Callable[[bytes], list[list[int]]],
) -> LaidOut:
    """`read_letters` gives the codes of each page's letters. Raises what `pdf_of` and `in_all` raise."""
    with space.reading():
        text, chunks = space.text(record.doc_id), space.chunks(record.doc_id)
        passages = space.passages([chunk.chunk_id for chunk in chunks], judge_name())
    pdf = pdf_of(data, record.media_type, binary, record.filename)
    pages = read_letters(pdf)
    starts = [0, *accumulate(len(codes) + len(_PAGE_END) for codes in pages)]
    letters = PageText([code for codes in pages for code in (*codes, *_PAGE_END)])
    everything = [(0, len(text))]
    taken = hidden(text, chunks, passages, everything, looks)
    values = set(taken.values)
    for chunk in chunks:  # each was masked alone: what its border cuts was not
        values |= set(masked_around(text, chunk.start, chunk.start, everything, looks.keep))
    return LaidOut(pdf, letters, starts, text, in_all(letters, values, set(taken.sentences)))
