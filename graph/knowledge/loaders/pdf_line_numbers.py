"""Numbers of the lines in the left margin, as drafts, bills, pleadings and manuscripts have them: out of the text.

They are told from clauses, steps and rows by how they count: one step after the other down each page, on from page to
page or anew, to the left of all that is written, and not in the way of sentences that go on past them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from graph.knowledge.loaders.pdf_lines import Line

FEWEST = 10  # numbers in a document
ALIGNED = 3.0  # points by which the right edges of numbers differ
STEPS = (1, 2, 5, 10)
REGULAR = 0.9  # of the numbers: they follow the one before by the step
OUTSIDE = 0.05  # of the lines of these pages may begin as far to the left as the numbers end
MOSTLY = 0.7  # of the lines, where each has a number
GOES_ON = 0.2  # of those lines begin in the midst of a sentence
MOST_DIGITS = 5


def without_line_numbers(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """The pages as they are where their lines have no numbers."""
    numbered = [
        (n, at, *number) for n, lines in enumerate(pages) for at, line in enumerate(lines) for number in _of(line)
    ]
    if len(numbered) < FEWEST:
        return [*pages]
    edge = Counter(round(right / ALIGNED) for *_, right in numbered).most_common(1)[0][0] * ALIGNED
    numbered = [one for one in numbered if abs(one[-1] - edge) <= ALIGNED]
    if not _are_line_numbers(pages, numbered, edge + ALIGNED):
        return [*pages]
    places = {(n, at) for n, at, *_ in numbered}
    return [
        [rest for at, line in enumerate(lines) if (rest := _rest(line) if (n, at) in places else line) is not None]
        for n, lines in enumerate(pages)
    ]


def _of(line: Line) -> Iterator[tuple[int, float]]:
    """The number at its beginning, with a gap behind it or nothing, and its right edge."""
    start, end, _, right = line.unhung().spans()[0]
    text = line.unhung().text[start:end].strip()
    if text.isdecimal() and len(text) <= MOST_DIGITS:
        yield int(text), right


def _rest(line: Line) -> Line | None:
    """What stands behind the number; None where nothing does."""
    line = line.unhung()
    return line.divided(line.spans()[0][3])[1]


def _are_line_numbers(
    pages: Sequence[list[Line]], numbered: Sequence[tuple[int, int, int, float]], right: float
) -> bool:
    """`numbered` are page, place, number and right edge of each; `right` is where the margin ends."""
    if len(numbered) < FEWEST:
        return False
    following = [*pairwise(numbered)]
    steps = Counter(two[2] - one[2] for one, two in following)
    step = steps.most_common(1)[0][0]
    regular = sum(two[2] - one[2] == step or (two[0] > one[0] and two[2] <= step) for one, two in following)
    on = {n for n, *_ in numbered}
    lines = [line for n in on for line in pages[n]]
    outside = sum(line.left <= right and not [*_of(line)] for line in lines)
    if step not in STEPS or regular < REGULAR * len(following) or outside > OUTSIDE * len(lines):
        return False
    if step > 1:  # every fifth line has one; each row of a table has its year
        return len(numbered) * step <= 2 * len(lines)
    rests = [rest for n, at, *_ in numbered if (rest := _rest(pages[n][at])) is not None]
    goes_on = sum(rest.text[:1].islower() and not rest.gaps for rest in rests)
    return len(numbered) >= MOSTLY * len(lines) and goes_on >= GOES_ON * len(rests)
