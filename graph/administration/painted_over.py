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
    """What decides what is taken out of a document's pictures; `keep` and what people `released` stay."""

    keep: pii.Public
    detector: Detector | None
    released: frozenset[str]


@dataclass(frozen=True)
class Hidden:
    """Texts to paint over; one that stands in two places is there twice."""

    values: list[str]
    sentences: list[str]


def hidden(
    text: str, chunks: Iterable[StoredChunk], passages: Mapping[str, Passage], parts: list[Range], looks: Looks
) -> Hidden:
    """What is hidden in these parts of the text. The chunks are those that lie in them."""
    masked, withheld = list[Range](), list[Range]()
    for chunk in chunks:
        passage = passages[chunk.chunk_id]
        stored = looks.detector is None and passage.judged
        judged = read(passage.judged) if stored else judge(passage.text, looks.detector)
        spans = pii.mask(passage.text, keep=looks.keep, personal=judged.personal).spans
        masked += [(chunk.start + span.start, chunk.start + span.end) for span in spans]
        shut = withholding.unreleased(passage.text, judged.orders, looks.released)
        withheld += [(chunk.start + start, chunk.start + end) for start, end in shut]
    return Hidden(within(text, parts, masked), within(text, parts, withheld))


def masked_around(text: str, first: int, last: int, parts: list[Range], keep: pii.Public) -> list[str]:
    """What masking takes out of these parts when it reads the text from `first` to `last` as a whole."""
    first, last = max(first - AROUND, 0), last + AROUND
    spans = pii.mask(text[first:last], keep=keep).spans
    return within(text, parts, [(first + span.start, first + span.end) for span in spans])


def within(text: str, parts: list[Range], ranges: Iterable[Range]) -> list[str]:
    """The texts of these ranges, as far as they lie in the parts. Chunks overlap: each place counts once."""
    cut = {(max(a, start), min(b, end)) for start, end in ranges for a, b in united(parts, NEAR)}
    return [text[start:end] for start, end in sorted(cut) if start < end]
