"""Notes in the margin: small print beside the running text, which pdfium gives in the midst of the lines beside it."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from graph.knowledge.loaders.pdf_lines import Line

SMALLER = 0.88  # times the size of the running text, at most
FEWEST = 8  # lines of running text on a page that has a margin
MOSTLY = 0.6  # of the letters of a page: the running text
APART = 6.0  # points from the running text, at least
LONG = 30  # characters of a line of running text
WIDEST = 0.6  # times the width of the text: a column of its own is no note
PITCH = 1.9  # times its size: how far a line of a note is below the one before
ALIGNED = 3.0  # points by which left edges of one note differ
_WORD = re.compile(r"[^\W\d_]{2}")
_SENTENCE_END = re.compile(r"[.!?:][\"”’)\]]*\s*$")


def set_apart(pieces: Sequence[Line]) -> tuple[list[Line], list[list[Line]]]:
    """The lines of a page without those of notes in its margins, and the lines of each note, from the top."""
    cells = [
        (one, own, left, right, one.text[start:end])
        for one in pieces
        for (start, end, left, right), own in zip(one.spans(), one.sizes, strict=True)
    ]
    letters: Counter[float] = Counter()
    for _, own, *_, words in cells:
        letters[round(own)] += len(words)
    size = letters.most_common(1)[0][0] if letters else 0.0
    text = [cell for cell in cells if cell[1] > SMALLER * size and _WORD.search(cell[-1])]
    if len(text) < FEWEST or sum(len(words) for *_, words in text) < MOSTLY * letters.total():
        return [*pieces], []
    left, right = min(cell[2] for cell in text) - APART, max(cell[3] for cell in text) + APART
    heights = [cell[0].bottom for cell in text if len(cell[-1]) >= LONG]
    widest = WIDEST * (right - left)
    lines: list[Line] = []
    beside: list[Line] = []
    for one in pieces:
        outside = [end <= left or begin >= right for *_, begin, end in one.spans()]
        outside = [away and own <= SMALLER * size for away, own in zip(outside, one.sizes, strict=True)]
        before, rest = one.divided(left) if outside[0] else (None, one)
        middle, behind = rest.divided(right) if rest and outside[-1] else (rest, None)
        if not (before or behind):
            lines.append(one)
            continue
        for part, own in ((before, one.sizes[0]), (behind, one.sizes[-1])):
            if part:
                part.size = own
                beside.append(part)
        if middle:
            middle.size = max(one.sizes)
            lines.append(middle)
    notes = [note for note in _gathered(beside) if any(_WORD.search(one.text) for one in note)]
    near = all(any(abs(note[0].bottom - one) <= 2 * size for one in heights) for note in notes)
    narrow = all(one.right - one.left <= widest for one in beside)
    if not (near and narrow) or sum(map(len, notes)) < len(beside):  # a letterhead, a column, numbers of lines
        return [*pieces], []
    return lines, notes


def put_back(lines: Sequence[Line], notes: Sequence[list[Line]]) -> list[Line]:
    """The lines with each note as one of its own behind the sentence beside which it begins."""
    after: dict[int, list[Line]] = {}
    for note in notes:
        last = len(lines) - 1
        beside = next((at for at, one in enumerate(lines) if one.bottom <= note[0].bottom + one.size / 2), last)
        ends = (at for at in range(beside, len(lines)) if _SENTENCE_END.search(lines[at].text))
        after.setdefault(next(ends, last), []).append(_joined(note))
    return [one for at, line in enumerate(lines) for one in (line, *after.get(at, []))]


def _gathered(beside: Sequence[Line]) -> list[list[Line]]:
    """Lines of one margin below each other, as notes."""
    ordered = sorted(beside, key=lambda one: -one.bottom)
    notes: list[list[Line]] = []
    for line in ordered:
        above = next((note for note in notes if _goes_on(note[-1], line)), None)
        if above is None:
            notes.append([line])
        else:
            above.append(line)
    return notes


def _goes_on(above: Line, line: Line) -> bool:
    close = above.bottom - line.bottom <= PITCH * max(above.size, line.size)
    return close and (abs(above.left - line.left) <= ALIGNED or abs(above.bottom - line.bottom) < 0.5 * line.size)


def _joined(note: Sequence[Line]) -> Line:
    text = note[0].text
    for above, line in pairwise(note):
        hyphen = text[-1:] == "-" and line.text[:1].islower() and above.text[-2:-1].isalpha()
        text = text[:-1] + line.text if hyphen else f"{text} {line.text}"
    first = note[0]
    return Line(
        text, first.left, max(one.right for one in note), first.bottom, first.size, False, first.page, alone=True
    )
