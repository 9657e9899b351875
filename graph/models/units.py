"""What of a text an answer may quote: sentences and lists, whole enough to mean what they mean in their place."""

import re
from itertools import pairwise

from graph.policy.sentences import split

# What it says is said before it: by a pronoun, or because it only refers to more of the same.
_POINTS_BACK = re.compile(r"(?:It|Its|They|Their|He|She|His|Her|This|These|Those|That|See|Refer to)\b")
_PAIR_CHARS = 450
_LIST_CHARS = 1_200  # a longer list is quoted item by item
_ITEM = re.compile(r"(?:[-*•–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s")
# A line without an end, and the words in it that say the opposite of what follows.
_HEADING = re.compile(r"[^\n]{0,80}[^\n.!?:;,]")
_TURNS = re.compile(
    r"\b(?:avoid\w*|not|never|don['’]?t|mistakes?|pitfalls?|wrong|bad|prohibited|forbidden|withdrawn|obsolete)\b", re.I
)


def units(text: str) -> list[tuple[int, int]]:
    """The ranges an answer may quote: sentences, and a list whole, with the line that introduces it.

    A list longer than _LIST_CHARS is quoted item by item. What stands under a heading that turns it round ("Patterns to
    avoid") is quoted with that heading.
    """
    found: list[tuple[int, int]] = []
    heading = 0, 0
    for start, end in _blocks(text):
        lines = [(m.start(), m.end()) for m in re.finditer(r"[^\n]*\S[^\n]*", text[start:end])]
        lines = [(start + a, start + b) for a, b in lines]
        items = [line for line in lines if _ITEM.match(text, line[0])]
        if len(items) == len(lines) and (len(items) > 1 or text[start] in "-*•–"):
            if found and not text[found[-1][0] : found[-1][1]].count("\n") and end - found[-1][0] <= _LIST_CHARS:
                found[-1] = (found[-1][0], end)  # with what stands before it: its introduction or its heading
            elif end - start <= _LIST_CHARS:
                found.append((start, end))
            else:
                found += items
            continue
        spans = [
            span for a, b in lines for span in _with_antecedents(text, [(a + x, a + y) for x, y in split(text[a:b])])
        ]
        turned = _TURNS.search(text, *heading) is not None and end - heading[0] <= _LIST_CHARS
        found += [(heading[0], b) for _, b in spans] if turned else spans
        heading = (start, end) if len(lines) == 1 and _HEADING.fullmatch(text, start, end) else (end, end)
    return found


def _blocks(text: str) -> list[tuple[int, int]]:
    """What empty lines divide."""
    return [(m.start(), m.end()) for m in re.finditer(r"\S(?:[^\n]|\n(?!\s*\n))*", text)]


def _with_antecedents(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sentences; one that begins with "it" or "see" is quoted together with the one before, which says what it is."""
    found = spans[:1]
    for (begin, _), (start, end) in pairwise(spans):
        whole = _POINTS_BACK.match(text, start) is not None and end - begin <= _PAIR_CHARS
        found.append((begin if whole else start, end))
    return found
