"""What of a document's text no picture of it may show: what masking replaces, and the sentences that are withheld."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.policy import pii
from graph.policy.evidence import withholding
from graph.policy.evidence.judged import judge, read
from graph.policy.evidence.on_page import Range, united
from graph.policy.threats.detector import Detector
from graph.stores.spaces import Passage, StoredChunk

NEAR = 3  # characters: parts of a page with fewer between them are one
AROUND = 300  # characters before and behind a page's text that masking reads with it


@dataclass(frozen=True)
class Looks:
    """What is taken out of a document's pictures: all but `keep`, and but what people `released`."""

    keep: pii.Public
    detector: Detector | None
    released: frozenset[str]


@dataclass(frozen=True)
class Hidden:
    """Parts of the text, each once for each place."""

    values: list[str]
    sentences: list[str]


def hidden(
    text: str, chunks: Iterable[StoredChunk], passages: Mapping[str, Passage], stands: list[Range], looks: Looks
) -> Hidden:
    """Of the parts `stands` of the text, in which these chunks lie."""
    masked, withheld = list[Range](), list[Range]()
    for chunk in chunks:
        passage = passages[chunk.chunk_id]
        stored = looks.detector is None and passage.judged
        judged = read(passage.judged) if stored else judge(passage.text, looks.detector)
        spans = pii.mask(passage.text, keep=looks.keep, personal=judged.personal).spans
        masked += [(chunk.start + span.start, chunk.start + span.end) for span in spans]
        shut = withholding.unreleased(passage.text, judged.orders, looks.released)
        withheld += [(chunk.start + start, chunk.start + end) for start, end in shut]
    return Hidden(within(text, stands, masked), within(text, stands, withheld))


def masked_around(text: str, first: int, last: int, stands: list[Range], keep: pii.Public) -> list[str]:
    """What masking takes out of these parts, where the text from `first` to `last` is read as a whole."""
    first, last = max(first - AROUND, 0), last + AROUND
    spans = pii.mask(text[first:last], keep=keep).spans
    return within(text, stands, [(first + span.start, first + span.end) for span in spans])


def within(text: str, stands: list[Range], ranges: Iterable[Range]) -> list[str]:
    """Of these ranges what stands in the parts. Chunks overlap: each part of the text counts once."""
    cut = {(max(a, start), min(b, end)) for start, end in ranges for a, b in united(stands, NEAR)}
    return [text[start:end] for start, end in sorted(cut) if start < end]
