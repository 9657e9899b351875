"""Personal data that is not written out: escaped, encoded, or divided over the cells of a table.

What the guards can decode a model can, too, and so can the reader of an answer. So the rules look at these readings as
well, and what they find is masked where it was written. What was decoded decides: an address with escapes, a hash or
a row of numbers is left alone unless a rule knows what it says.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import accumulate
from operator import ne

from graph.policy.pii import card, cnic, pk_mobile
from graph.policy.pii.rule import Page, RuleMatch
from graph.policy.text import encodings, escapes
from graph.policy.text.canonical import canonicalise

_PLAUSIBLE = 0.7  # from this score on (see `RuleMatch`): what random letters decode to is no place for guesses
# An encoding within an encoding within an encoding, as far as the guards look; one less in a text longer than any
# passage or question, since each costs as much as reading the text again.
DEEPEST, LONG = 3, 20_000
HiddenMatch = tuple[RuleMatch, str]
Look = Callable[[str], list[HiddenMatch]]  # what the rules find in a text
Said = dict[tuple[str, int], list[HiddenMatch]]  # what decoded texts hold, by how deep one looked
Places = list[int]  # where each character of a reading began in the text, and where its last one ended

# In "https://host/x/MzUy" and "twice: 3335" a stretch begins before the encoded part of it does.
_PARTS = {
    encodings.BASE64: re.compile(r"[A-Za-z0-9+]{12,}={0,2}"),
    encodings.HEX: re.compile(r"[0-9a-fA-F]{16,}"),
}
_PADDING = re.compile(r"={1,6}")  # base32 has more of it than base64
_NOTE = re.compile(r"[\[【]\d{1,3}[\]】]")
_CELL = re.compile(r"[^;|\t\n]+")
_TITLE = r"\s*(?:[^\W\d_][^:]{0,100}:\s*)?"
_NUMBER = re.compile(rf"{_TITLE}(\(?\+?\d[\d ().-]{{0,30}}?)\s*")
_ENDS = re.compile(r".*?(?<![\w.,-])(\+?\d{1,16})\s*", re.S)
_BEGINS = re.compile(rf"{_TITLE}(\d{{1,16}})(?![\w-])(?![.,]\d)")
_LONGEST_CELL = 240
_BEFORE = 120  # characters before the first cell that may name the number


def find(text: str, look: Look) -> list[HiddenMatch]:
    """Ranges of `text` that say something which `look` finds once it is read out."""
    look = cache(look)  # the same text comes out of several readings
    said: Said = {}
    depth = DEEPEST if len(text) <= LONG else DEEPEST - 1
    return [
        *_escaped(text, look, depth, said),
        *_encoded(text, look, depth, said),
        *_divided(text),
        *_noted(text, look),
    ]


def _escaped(text: str, look: Look, depth: int, said: Said) -> Iterator[HiddenMatch]:
    """As often as there is something to undo; a hit counts when something in it reads otherwise than it is written."""
    if not _may_escape(text):
        return
    written = text
    places: Places = list(range(len(text) + 1))
    wide: list[int] = []  # how many characters before each place read otherwise than they are written
    while depth:
        depth -= 1
        plain, moved = escapes.undone(text)
        canonical = canonicalise(plain)
        if canonical.text == text:
            break
        places = [places[at] for at in moved] if moved else places
        places = [places[at] for at in canonical.starts] + [places[canonical.ends[-1]] if canonical.text else 0]
        text = canonical.text
        if moved:
            wide = [0, *accumulate(map(ne, text, (written[at] for at in places)))]
            yield from _placed(look(text), places, wide)
    if wide and depth:
        yield from _placed(_encoded(text, look, depth, said), places, wide)


def _noted(text: str, look: Look) -> Iterator[HiddenMatch]:
    """What reads on over the number of a footnote: "0300[1] 1234567"."""
    parts, places, at = list[str](), list[int](), 0
    for mark in _NOTE.finditer(text):
        parts.append(text[at : mark.start()])
        places += range(at, mark.start())
        at = mark.end()
    if not at:
        return
    places += range(at, len(text))
    for hit, type in look("".join(parts) + text[at:]):
        start, end = places[hit.start], places[hit.end - 1] + 1
        if end - start > hit.end - hit.start:
            yield RuleMatch(start, end, hit.score), type


def _placed(found: Iterable[HiddenMatch], places: Places, wide: list[int]) -> Iterator[HiddenMatch]:
    for hit, type in found:
        if wide[hit.end] > wide[hit.start]:
            yield RuleMatch(places[hit.start], places[hit.end], hit.score), type


def _may_escape(text: str) -> bool:
    return any(sign in text for sign in "%&\\=") or "U+" in text or "u+" in text or not text.isascii()


def _encoded(text: str, look: Look, depth: int, said: Said) -> Iterator[HiddenMatch]:
    """Stretches whose bytes are a text with a hit in it, whole: what was left of one could still be decoded."""
    for shape, decoders in encodings.SHAPES:
        for match in shape.finditer(text):
            for piece in (match, *(_PARTS[shape].finditer(text, *match.span()) if shape in _PARTS else ())):
                found = [one for decode, _ in decoders for one in _says(decode(piece.group()), look, depth, said)]
                if found:
                    score, type = max((hit.score, type) for hit, type in found)
                    if score >= _PLAUSIBLE:
                        padding = _PADDING.match(text, piece.end())
                        yield RuleMatch(piece.start(), padding.end() if padding else piece.end(), score), type
                        break


def _says(data: bytes, look: Look, depth: int, said: Said) -> list[HiddenMatch]:
    """What is found in the bytes, if they are a text."""
    try:
        plain = canonicalise(data.decode("utf-8")).text
    except UnicodeDecodeError:
        return []
    if len(plain) < 6 or not "".join(plain.split()).isprintable():
        return []
    if (plain, depth) not in said:
        deeper = _encoded(plain, look, depth - 1, said) if depth > 1 else ()
        said[plain, depth] = look(plain) or [*_escaped(plain, look, depth - 1, said), *_divided(plain), *deeper]
    return said[plain, depth]


def _divided(text: str) -> Iterator[HiddenMatch]:
    """The parts of a number that stand in neighbouring cells, each part for itself."""
    for cells in _runs(text):
        page = Page("-".join(text[start:end] for start, end in cells))
        begins = list(accumulate((end - start + 1 for start, end in cells), initial=0))
        if page.digits < 11:
            continue
        named = canonicalise(text[max(0, cells[0][0] - _BEFORE) : cells[-1][1]]).text.lower()
        for hit, type in _joined(page, named):
            for start, end in cells[bisect_right(begins, hit.start) - 1 : bisect_left(begins, hit.end)]:
                yield RuleMatch(start, end, hit.score), type


def _joined(page: Page, named: str) -> Iterator[HiddenMatch]:
    """Numbers of a table stand side by side by chance: only those with a form of their own, or a name, count."""
    for hit in cnic.RULE.find(page):
        if cnic.LOCALITY.match(page.text, hit.start) or cnic.NAMES.search(named):
            yield hit, cnic.RULE.type
    for hit in pk_mobile.RULE.find(page):
        if page.text[hit.start] in "+(0":  # "92" alone is a number like its neighbours
            yield hit, pk_mobile.RULE.type
    if card.NAMES.search(named):
        yield from ((hit, card.RULE.type) for hit in card.RULE.find(page))


def _runs(text: str) -> Iterator[list[tuple[int, int]]]:
    """Ranges of the numbers in cells that follow each other. Words may stand before the first and after the last."""
    if not any(sign in text for sign in ";|\t\n"):
        return
    run: list[tuple[int, int]] = []
    for cell in _CELL.finditer(text):
        if cell.end() - cell.start() > _LONGEST_CELL:
            whole = None
        else:
            whole = _NUMBER.fullmatch(cell.group())
        if whole:
            run.append(_range(cell, whole))
            continue
        if not cell.group().strip():
            continue
        if run and (last := _BEGINS.match(cell.group())):
            run.append(_range(cell, last))
        if len(run) > 1:
            yield run
        tail = text[max(cell.start(), cell.end() - _LONGEST_CELL) : cell.end()]
        first = _ENDS.fullmatch(tail)
        shift = cell.end() - len(tail)
        run = [(shift + first.start(1), shift + first.end(1))] if first else []
    if len(run) > 1:
        yield run


def _range(cell: re.Match[str], found: re.Match[str]) -> tuple[int, int]:
    return cell.start() + found.start(1), cell.start() + found.end(1)
