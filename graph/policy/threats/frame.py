"""Who is spoken about: a question about a rule, or a report on what others do, commands nobody.

The precise rules know words only. Here sentences that order the assistant to act are told from those that ask what is
allowed or how something works, or report what somebody did; a finding in one of those weighs less.
"""

from dataclasses import dataclass

from graph.policy.text.sentences import split
from graph.policy.threats.rule import Table

DAMPED = 0.3  # what is left of the score of a finding in a question about a rule, or in a report

_TABLE = Table("frame")
_ADDRESSED = _TABLE.pattern("addressed")
_INQUIRY = _TABLE.pattern("inquiry")
_REPORTED = _TABLE.pattern("reported")
_PROHIBITION = _TABLE.pattern("prohibition")
_OPENING = _TABLE.pattern("opening")
_YOU = _TABLE.pattern("you")


@dataclass(frozen=True)
class Frames:
    """Ranges of sentences that only ask about a thing, of those that report what somebody does, and of prohibitions."""

    inquiries: tuple[tuple[int, int], ...]
    reports: tuple[tuple[int, int], ...]
    prohibitions: tuple[tuple[int, int], ...]


def frames(text: str) -> Frames:
    """Linear; of a very long text only the first 20,000 characters are looked at."""
    inquiries, reports, prohibitions = [], [], []
    for start, end in split(text[:20_000]):
        sentence = text[start:end][:1_000]
        if _PROHIBITION.match(sentence):
            prohibitions.append((start, end))
        elif _INQUIRY.match(sentence):
            if not _ADDRESSED.search(_OPENING.sub("", sentence, count=1)):
                inquiries.append((start, end))
        elif (
            (report := _REPORTED.search(sentence))
            and not _YOU.search(sentence)
            and not _ADDRESSED.match(sentence[: report.start()].strip() or "-")
        ):
            reports.append((start, end))
    return Frames(tuple(inquiries), tuple(reports), tuple(prohibitions))


def covers(ranges: tuple[tuple[int, int], ...], start: int, end: int) -> bool:
    """Whether the ranges, in order, hold all of [start, end) but for a few characters between them."""
    at = start
    for a, b in ranges:
        if a > at + 2:
            continue
        at = max(at, b)
    return at + 2 >= end
