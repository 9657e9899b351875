"""A count or a sum in an answer: the number first, then what was counted, a line each, so that it can be counted again.

"3 in all:" or "$1,250 in all (Cost per person, 3 rows):", then the lines with "- " before each.
"""

import re
from collections.abc import Sequence

from graph.policy.text.quantities import cells, quantity

_SENTENCE = re.compile(
    r"(?P<sign>[$€£¥]?)(?P<number>[\d,]+(?:\.\d+)?) in all(?: \((?P<heading>[^\n]+), (?P<rows>\d+) rows\))?:\n"
    r"(?P<lines>(?:- [^\n]+\n?)+)"
)
_NUMBERS = re.compile(r"\d[\d,.]*")  # "2x 500.00 USD" is no amount that can be added
MOST = 200  # lines of one sentence: to look for each in its place takes the square of them
# Of an item, a heading, or a label such as "Title: ".
_MARK = re.compile(r"\s*(?:#{1,9} |[-*•–] |\(?[\w.]{1,8}[.)] ?)?\s*(?:[^\W\d_]{1,20}: )?")
BETWEEN = re.compile(r"\s*(?:[-*•–]|\(?\w{1,5}[.)])?\s*")  # two entries that follow each other


def count(lines: Sequence[str]) -> str:
    """The sentence for a count. Lines hold no line breaks."""
    return _written(f"{len(lines)} in all", lines)


def total(lines: Sequence[str], heading: str) -> str:
    """The sentence for the sum of a column; "" where a row has no amount in it."""
    numbers = [_number(line, heading) for line in lines]
    if None in numbers:
        return ""
    value = round(sum(number for number in numbers if number is not None), 4)
    sign = {text[:1] for line in lines for name, text in cells(line) if name == heading} & {*"$€£¥"}
    number = f"{value:,.0f}" if value == int(value) else f"{value:,}"
    return _written(f"{''.join(sign) if len(sign) == 1 else ''}{number} in all ({heading}, {len(lines)} rows)", lines)


def lines(text: str) -> list[str]:
    """What was counted, where the text is such a sentence and its number is right; else nothing."""
    match = _SENTENCE.fullmatch(text)
    if match is None:
        return []
    counted = [line.removeprefix("- ") for line in match["lines"].rstrip("\n").split("\n")]
    if len(counted) > MOST:
        return []
    right = total(counted, match["heading"]) if match["heading"] else count(counted)
    return counted if right == text.rstrip("\n") else []


def places(lines: Sequence[str], texts: Sequence[str]) -> list[list[tuple[int, int]]] | None:
    """Where the lines stand in the texts, each in a place of its own; those with nothing but marks between them are one
    range. None where a line stands nowhere, or not as often as it was counted."""
    ranges: list[list[tuple[int, int]]] = [[] for _ in texts]
    for line in lines:
        for text, spans in zip(texts, ranges, strict=True):
            at = text.find(line)
            while at >= 0 and (
                not _is_line(text, at, at + len(line))
                or any(start < at + len(line) and at < end for start, end in spans)
            ):
                at = text.find(line, at + 1)
            if at >= 0:
                spans.append((at, at + len(line)))
                break
        else:
            return None
    return [_joined(text, sorted(spans)) for text, spans in zip(texts, ranges, strict=True)]


def _is_line(text: str, start: int, end: int) -> bool:
    """Whether it begins a line, behind its mark or label, and ends with a word: a letter in a text is no entry."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return _MARK.fullmatch(before) is not None and not text[end : end + 1].isalnum()


def _written(head: str, lines: Sequence[str]) -> str:
    return f"{head}:\n" + "\n".join(f"- {line}" for line in lines)


def _number(line: str, heading: str) -> float | None:
    value = next((text for name, text in cells(line) if name == heading), "")
    amount = quantity(value)
    if amount is None or amount.kind not in ("number", "money") or len(_NUMBERS.findall(value)) != 1:
        return None
    return amount.number


def _joined(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and BETWEEN.fullmatch(text, joined[-1][1], start):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
