"""Pieces of text without which a pattern cannot match, read off the pattern itself.

Most rules match few texts, and to look for a word costs a hundredth of running a pattern. So a pattern is compiled and
run only where the text holds the words that each of its matches must hold.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import product
from re import _casefix, _parser  # type: ignore[attr-defined]
from typing import Any

from graph.policy.threats import lazy

Needs = tuple[tuple[str, ...], ...]  # of each group one piece at least

_MOST = 128  # pieces of one group: each is looked for in turn
_SHORTEST = 2  # characters; one letter stands in every text
_ZERO_WIDTH = (_parser.AT, _parser.ASSERT, _parser.ASSERT_NOT)
_REPEATS = (_parser.MAX_REPEAT, _parser.MIN_REPEAT, _parser.POSSESSIVE_REPEAT)
# Letters that `re` takes for one another where case is ignored and that are not one when lowered (ß and ẞ are, s and
# ſ are not), each with the one that stands for it.
_ALIKE = {code: min(code, *others) for code, others in _casefix._EXTRA_CASES.items()}


def folded(text: str) -> str:
    """The text with one form for all letters that `re` takes for one another where case is ignored."""
    if text.isascii():
        return text.lower()
    return text.replace("\u0130", "i").lower().translate(_ALIKE)  # lowered, that one would be two characters


def met(needs: Needs, low: str) -> bool:
    """Whether a text, folded, holds what the pattern needs; never False where the pattern matches."""
    for group in needs:
        for piece in group:
            if piece in low:
                break
        else:
            return False
    return True


def search(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """`pattern.search(text)`, in less time where the text does not hold what the pattern needs."""
    return pattern.search(text) if met(needs(pattern), folded(text)) else None


@cache
def needs(pattern: re.Pattern[str]) -> Needs:
    """What every match of the pattern holds, folded, the group that fewest texts hold first; () where nothing is known.
    Parts of a pattern that this module cannot read count for nothing."""
    groups = dict.fromkeys(map(_least, _read(_parser.parse(*lazy.source(pattern)))[1]))
    return tuple(sorted(groups, key=lambda group: (-min(map(len, group)), len(group))))


def _least(pieces: Iterable[str]) -> tuple[str, ...]:
    """Without those that hold another one, the shortest first."""
    shortest: list[str] = []
    for piece in sorted(pieces, key=lambda piece: (len(piece), piece)):
        if not any(short in piece for short in shortest):
            shortest.append(piece)
    return tuple(shortest)


_Words = frozenset[str]
_Reading = tuple[_Words | None, list[_Words]]  # all that an item can match, where that is little; what its matches hold


def _read(items: Any) -> _Reading:
    """Of items that stand one behind the other."""
    groups: list[_Words] = []
    run: _Words = frozenset([""])
    whole = True
    for kind, value in items:
        if kind is _parser.LITERAL:
            letter = folded(chr(value))
            run = frozenset([begun + letter for begun in run])
            continue
        if kind in _ZERO_WIDTH:
            continue
        words, inner = _read_item(kind, value)
        if words is not None and len(run) * len(words) <= _MOST:
            run = frozenset(a + b for a, b in product(run, words))
            continue
        whole = False
        groups += [run, *inner]
        run = frozenset([""]) if words is None else words
    return (run if whole else None), [group for group in [*groups, run] if group and min(map(len, group)) >= _SHORTEST]


def _read_item(kind: Any, value: Any) -> _Reading:
    if kind is _parser.IN:
        return _characters(value), []
    if kind is _parser.SUBPATTERN:
        return _read(value[-1])
    if kind is _parser.ATOMIC_GROUP:
        return _read(value)
    if kind is _parser.BRANCH:
        return _either([_read(branch) for branch in value[1]])
    if kind in _REPEATS:
        least, most, repeated = value
        words, groups = _read(repeated)
        if words is not None and most == 1:
            return words | {""} if least == 0 else words, []
        return None, [] if least == 0 else groups + _long([words])
    return None, []


def _either(branches: list[_Reading]) -> _Reading:
    words = [words for words, _ in branches]
    union = frozenset[str]().union(*(branch or () for branch in words))
    if None not in words and len(union) <= _MOST:
        return union, []
    # One group of each: that with the longest pieces.
    best = [
        max(groups + _long([words]), key=lambda group: min(map(len, group)), default=None) for words, groups in branches
    ]
    if None in best:
        return None, []
    pieces = frozenset(_least(piece for group in best if group for piece in group))
    return None, [pieces] if len(pieces) <= _MOST else []


def _long(groups: Iterable[_Words | None]) -> list[_Words]:
    return [group for group in groups if group and min(map(len, group)) >= _SHORTEST]


def _characters(items: list[tuple[Any, Any]]) -> _Words | None:
    """Of a class that names few."""
    if len(items) > 4 or any(kind is not _parser.LITERAL for kind, _ in items):
        return None
    return frozenset(folded(chr(code)) for _, code in items)
