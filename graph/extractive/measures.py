"""What a question measures the entries of a list by: a column, or the sentence below each heading that says it."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

from graph.extractive.conditions import stems
from graph.extractive.enumerations import Entry, Enumeration
from graph.extractive.nouns import noun_of
from graph.knowledge.index import content_words
from graph.policy.text.quantities import quantity
from graph.policy.text.sentences import split

ONE_WAY = 0.95  # of the cells that measure something
_KINDS = {
    "date": re.compile(r"\b(?:expires?|expiry|earliest|latest|newest|oldest|last|date|due|recent\w*|first)\b", re.I),
    "money": re.compile(
        r"\b(?:expensive|cheap\w*|costs?|prices?|spend\w*|budget|paid|pay|worth|value|"
        r"fines?|penalt(?:y|ies)|fees?|charges?|fares?|salar(?:y|ies)|wages?|rents?)\b",
        re.I,
    ),
    "time": re.compile(r"\b(?:longest|shortest|duration|takes?|time|slowest|fastest)\b", re.I),
}


@dataclass(frozen=True)
class Column:
    """What is measured of each entry, and the sentence below a heading that says it."""

    heading: str
    kind: str
    values: list[float | None]
    statements: list[Entry | None]


def column_of(
    question: str, chosen: Enumeration, entries: Sequence[Entry], given: Set[str] = frozenset()
) -> Column | None:
    """What the question measures by: the column that it names, or one of the kind it asks for; none that is `given`."""
    question_stems = stems(" ".join(content_words(question)))
    if chosen.kind == "headings":
        return _measured_below(question_stems - {*noun_of(question)}, entries)
    names = [name for name in chosen.headings if name not in given]
    columns = [one for name in names if (one := measured(name, [entry.value(name) for entry in entries]))]

    def worth(column: Column) -> tuple[float, bool]:
        names = stems(column.heading)
        meant = 1.0 if (pattern := _KINDS.get(column.kind)) and pattern.search(question) else 0.0
        # "Which crate has the highest value?": crates are numbered, and are not what is compared.
        return 2.0 * len(names & question_stems) / max(1, len(names)) + meant, not names & {*noun_of(question)}

    best = max(columns, key=worth, default=None)
    return best if best is not None and worth(best)[0] > 0.0 else None


def measured(heading: str, cells: Sequence[str], statements: Sequence[Entry | None] = ()) -> Column | None:
    """A column where more than half of the cells measure something, all or nearly all in one way: of forty rows one may
    have "4 weks"."""
    values = [quantity(cell) for cell in cells]
    kinds = Counter(value.kind for value in values if value)
    usual, count = kinds.most_common(1)[0] if kinds else ("", 0)
    if count < ONE_WAY * kinds.total() or count * 2 <= len(cells):
        return None
    numbers = [value.number if value and value.kind == usual else None for value in values]
    return Column(heading, usual, numbers, list(statements) or [None] * len(cells))


def _measured_below(question_stems: frozenset[str], entries: Sequence[Entry]) -> Column | None:
    """By the sentence below each heading that has most of the words of the question, and a number."""
    statements = [_sentence(question_stems, entry) for entry in entries]
    return measured("", [one.text if one else "" for one in statements], statements)


def _sentence(question_stems: frozenset[str], entry: Entry) -> Entry | None:
    sentences = [
        Entry(line.n, line.start + start, line.start + end, line.text[start:end])
        for line in entry.below
        for start, end in split(line.text)
    ]
    shared = [(len(question_stems & stems(one.text)), -at) for at, one in enumerate(sentences) if quantity(one.text)]
    most, at = max(shared, default=(0, 0))
    return sentences[-at] if most else None
