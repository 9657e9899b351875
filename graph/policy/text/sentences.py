"""Where sentences begin and end, by rules that hold for any language with spaces, and for CJK, Arabic and Urdu."""

import re
from collections.abc import Iterator

# Words whose full stop belongs to them. What follows is part of the same sentence.
_INSIDE_WORDS = """
    e.g i.e eg ie cf vs viz dr mr mrs ms mx prof st sr jr rev hon gen col lt sgt capt messrs fig figs eq eqs eqn tab
    art arts sec secs ch chap cl para paras vol vols pp p ref refs ed eds app appx approx ca dept est ext tel
    bzw ggf usw z.b d.h u.a nr abs bd hr fr sog"""
# Words that end with a stop only before a number: "No. 5", but "The answer is no."
_NUMBER_WORDS = "no nos al art sec p pp ch vol fig item ca jan feb mar apr jun jul aug sep sept oct nov dec"
# A lone capital before one of these ends a sentence ("Plan B. The ..."); before a name it is an initial.
_OPENER_WORDS = """
    a an all also and as at after before both but by do each every for from he her his how however i if in it its no
    not on once one or our please she so some such that the their then there these they this those to use we what
    when where which while who why with you your"""
_INSIDE, _BEFORE_NUMBER, _OPENERS = (
    frozenset(words.split()) for words in (_INSIDE_WORDS, _NUMBER_WORDS, _OPENER_WORDS)
)
_STOP = re.compile(r"(?:[.!?…]+|[。！？｡]+|[؟۔।॥]+)[\"'”’»›)\]}）」』】]*")
_WIDE = frozenset("。！？｡")
_OPENING = "([{\"'“‘«"
_MARK_BEFORE = re.compile(r"\s*[-*•]?\s*[(\[]?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,5})\.\Z")
_WORD_AFTER = re.compile(r"[\"'“‘«(\[]*(\w+)")


def split(text: str) -> list[tuple[int, int]]:
    """Ranges of the sentences of `text`, in order, without the space around them.

    A line end always ends a sentence, so list items and table rows stay whole. Every character that is not space
    is in exactly one range. Linear in the length of the text.
    """
    ranges: list[tuple[int, int]] = []
    for start, end in _lines(text):
        begin = start
        for stop in _STOP.finditer(text, start, end):
            if stop.start() >= begin and _ends(text, start, stop, end):
                _add_trimmed(text, begin, stop.end(), ranges)
                begin = stop.end()
        _add_trimmed(text, begin, end, ranges)
    return ranges


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _add_trimmed(text: str, start: int, end: int, ranges: list[tuple[int, int]]) -> None:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    finish = begin + len(piece.strip())
    if finish > begin:
        ranges.append((begin, finish))


def _ends(text: str, line: int, stop: re.Match[str], end: int) -> bool:
    after = stop.end()
    if after >= end or stop.group()[0] in _WIDE:
        return True
    if not text[after].isspace():
        return False
    following = text[after : after + 80].lstrip()
    word = _WORD_AFTER.match(following)
    first = word.group(1)[0] if word else following[:1]
    if first.islower():
        return False
    return stop.group() != "." or _full_stop(text, line, stop.start(), word.group(1) if word else "")


def _full_stop(text: str, line: int, position: int, word: str) -> bool:
    """Whether the single full stop at `position` ends a sentence, `word` being what follows it."""
    near = text[max(line, position - 24) : position].split()
    before = near[-1].lstrip(_OPENING) if near else ""
    lowered = before.lower()
    if position - line <= 12 and _MARK_BEFORE.match(text[line : position + 1]):
        return False  # "1. Purpose", "a. First"
    if lowered in _BEFORE_NUMBER and word[:1].isdigit():
        return False
    if lowered in _INSIDE and not (lowered == before and word.lower() in _OPENERS and len(before) > 2):
        return False
    if len(before) == 1 and before.isupper():
        return word.lower() in _OPENERS
    if re.fullmatch(r"(?:[A-Z]\.)+[A-Z]", before):
        return word.lower() in _OPENERS  # "U.S. The" ends, "U.S. Army" and "J.R. Smith" do not
    return True
