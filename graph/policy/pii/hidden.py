"""Personal data that is not written out: escaped, encoded, or divided over the cells of a table.

A model or a reader can decode what the guards can. So the rules also read the decoded text, and what they match there
is masked where it was written. An address with escapes, a hash or a row of numbers stays unless a rule matches what it
decodes to.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import accumulate
from operator import ne

from graph.policy.pii import card, cnic, pk_mobile
from graph.policy.pii.rule import Page, RuleMatch, TypedMatch
from graph.policy.text import encodings, escapes
from graph.policy.text.canonical import canonicalise

_PLAUSIBLE = 0.7  # least score (see `RuleMatch`) of a match in bytes: random letters decode to what guesses match
# Encodings within each other that are undone; one fewer in a text of more than LONG characters, longer than any passage
# or question, since each costs as much as reading the text again.
DEEPEST, LONG = 3, 20_000
Look = Callable[[str], list[TypedMatch]]  # what the rules match in a text
Decoded = dict[tuple[str, int], list[TypedMatch]]  # matches in decoded texts, by text and by the depth left
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


def find(text: str, look: Look) -> list[TypedMatch]:
    """Ranges of `text` in which `look` matches something once they are decoded."""
    look = cache(look)  # the same text comes out of several readings
    decoded: Decoded = {}
    depth = DEEPEST if len(text) <= LONG else DEEPEST - 1
    return [
        *_escaped(text, look, depth, decoded),
        *_encoded(text, look, depth, decoded),
        *_divided(text),
        *_noted(text, look),
    ]


def _escaped(text: str, look: Look, depth: int, decoded: Decoded) -> Iterator[TypedMatch]:
    """Matches once escapes are undone, up to `depth` times; only those that hold a character which undoing changed."""
    if text.isascii() and not any(sign in text for sign in ("%", "&", "\\", "=", "U+", "u+")):
        return
    written = text
    places: Places = list(range(len(text) + 1))
    changed: list[int] = []  # how many characters before each place read otherwise than they are written
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
            changed = [0, *accumulate(map(ne, text, (written[at] for at in places)))]
            yield from _placed(look(text), places, changed)
    if changed and depth:
        yield from _placed(_encoded(text, look, depth, decoded), places, changed)


def _noted(text: str, look: Look) -> Iterator[TypedMatch]:
    """Matches that the number of a footnote divides: "0300[1] 1234567"."""
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


def _placed(matches: Iterable[TypedMatch], places: Places, changed: list[int]) -> Iterator[TypedMatch]:
    for hit, type in matches:
        if changed[hit.end] > changed[hit.start]:
            yield RuleMatch(places[hit.start], places[hit.end], hit.score), type


def _encoded(text: str, look: Look, depth: int, decoded: Decoded) -> Iterator[TypedMatch]:
    """Encoded stretches with a match in their text, each whole: what was left of one could still be decoded."""
    for shape, decoders in encodings.SHAPES:
        for match in shape.finditer(text):
            for piece in (match, *(_PARTS[shape].finditer(text, *match.span()) if shape in _PARTS else ())):
                matches = [m for decode, _ in decoders for m in _in_bytes(decode(piece.group()), look, depth, decoded)]
                if matches:
                    score, type = max((hit.score, type) for hit, type in matches)
                    if score >= _PLAUSIBLE:
                        padding = _PADDING.match(text, piece.end())
                        yield RuleMatch(piece.start(), padding.end() if padding else piece.end(), score), type
                        break


def _in_bytes(data: bytes, look: Look, depth: int, decoded: Decoded) -> list[TypedMatch]:
    """Matches in the bytes, if they are a text."""
    try:
        plain = canonicalise(data.decode("utf-8")).text
    except UnicodeDecodeError:
        return []
    if len(plain) < 6 or not "".join(plain.split()).isprintable():
        return []
    if (plain, depth) not in decoded:
        deeper = _encoded(plain, look, depth - 1, decoded) if depth > 1 else ()
        decoded[plain, depth] = look(plain) or [*_escaped(plain, look, depth - 1, decoded), *_divided(plain), *deeper]
    return decoded[plain, depth]


def _divided(text: str) -> Iterator[TypedMatch]:
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


def _joined(page: Page, named: str) -> Iterator[TypedMatch]:
    """Numbers of a table stand side by side by chance: only those with a distinct form, or a name near them, count."""
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
        if len(cell.group()) <= _LONGEST_CELL and (whole := _NUMBER.fullmatch(cell.group())):
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


def _range(cell: re.Match[str], number: re.Match[str]) -> tuple[int, int]:
    return cell.start() + number.start(1), cell.start() + number.end(1)
