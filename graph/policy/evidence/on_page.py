"""Where on a page, letter by letter, stands what people may not see, and what is to be marked.

A page's letters come in the order of its file, a document's text in reading order, joined, mended and without what
every page repeats. So what masking and withholding take out of the text is looked for among the letters, and both look
at the letters once more.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher

from graph.errors import Quarantined
from graph.policy import pii
from graph.policy.evidence import withholding
from graph.policy.text.structure import CELL_HEADING
from graph.policy.threats.detector import Detector

Range = tuple[int, int]  # half-open, of letters
_ROUNDS = 3
_NAMES = re.compile(rf"(?:^|; |\n){CELL_HEADING}: ")  # of columns: a table's row has them in a text, not on the page
_ENDS = {0: "\ufffd", 2: "-", 10: "\n", 13: "\n"}  # codes that stand for no letter; 2 divides a word at a line end
MOST_COMPARED = 100_000  # words of a page times those of a quote: some pages are made to take long
LEAST_MARKED = 0.5  # share of a quote's words that must be found, where it is not found as a whole


class PageText:
    """The letters of a page, to be looked in whatever the case, the accents, and the signs and blanks between them."""

    def __init__(self, codes: Sequence[int]) -> None:
        self._read("".join(_ENDS.get(code) or ("\ufffd" if 0xD800 <= code < 0xE000 else chr(code)) for code in codes))

    def _read(self, raw: str) -> None:
        self.raw = raw
        self._plain, self._at = _plain(raw)

    def part(self, start: int, end: int) -> "PageText":
        """Of half-open offsets in `raw`."""
        part = PageText(())
        part._read(self.raw[start:end])
        return part

    def find(self, text: str) -> list[Range]:
        """Where these letters stand in a row: in the same case, else as words of their own, else anywhere."""
        wanted, _ = _plain(text)
        starts, start = [], self._plain.find(wanted) if wanted else -1
        while start >= 0:
            starts.append(start)
            start = self._plain.find(wanted, start + 1)
        apart = [start for start in starts if self._apart(start) and self._apart(start + len(wanted))]
        places = [(self._at[start], self._at[start + len(wanted) - 1] + 1) for start in apart or starts]
        return [(start, end) for start, end in places if self.raw[start:end] == text] or places

    def _apart(self, at: int) -> bool:
        """Whether something lies between this letter and the one before."""
        return at == 0 or at == len(self._at) or self._at[at] - self._at[at - 1] > 1

    def words(self) -> list[tuple[str, Range]]:
        """As `find` compares them, in order."""
        words, start = [], 0
        for at in range(1, len(self._at) + 1):
            if self._apart(at):
                words.append((self._plain[start:at], (self._at[start], self._at[at - 1] + 1)))
                start = at
        return words


def _plain(text: str) -> tuple[str, list[int]]:
    """Letters and digits alone, lower case, without accents; for each where it stands."""
    letters = [
        (letter, at)
        for at, sign in enumerate(text)
        for letter in unicodedata.normalize("NFKD", sign).casefold()
        if letter.isalnum()
    ]
    return "".join(letter for letter, _ in letters), [at for _, at in letters]


def taken_out(
    page: PageText,
    values: Iterable[str],
    sentences: Iterable[str],
    keep: pii.Public,
    released: Collection[str] = (),
    detector: Detector | None = None,
) -> list[Range]:
    """The letters to paint over: `values` are masked in the document's text of this page, `sentences` withheld; what
    both rules find among the letters themselves comes on top.

    Raises Quarantined "uncertain" where one of them cannot be found, or something is left that is to be masked.
    """
    places = [place for value in values for place in _value(page, value)]
    places += [place for sentence in sentences for place in _located(page.find(sentence), sentence)]
    for text in dict.fromkeys((page.raw, page.raw.replace("\n", " "))):
        places += [(span.start, span.end) for span in pii.mask(text, keep=keep).spans]
        places += withholding.unreleased(text, withholding.ranges(text, detector), released)
    for _ in range(_ROUNDS):
        places = united(places)
        left = [(span.start, span.end) for span in pii.mask(_without(page.raw, places), keep=keep).spans]
        if not left:
            return places
        places += left
    raise _uncertain()


def _value(page: PageText, value: str) -> list[Range]:
    """Wherever it stands; of one whose words a table has torn apart, wherever one of its words does."""
    if whole := page.find(value):
        return whole
    return [place for word in value.split() for place in _located(page.find(word), word)]


def in_all(letters: PageText, values: Iterable[str], sentences: Iterable[str]) -> list[Range]:
    """Where they stand in the letters of a whole document, over all pages. A hidden note, of which no word of a value
    or no three words of a sentence in a row are drawn, is left out. Raises Quarantined "uncertain" where only a part of
    a sentence is drawn."""
    places = list[Range]()
    for value in values:
        drawn = letters.find(value) or any(letters.find(word) for word in value.split())
        places += _value(letters, value) if drawn else []
    for sentence in sentences:
        whole = letters.find(sentence) or letters.find(_NAMES.sub(" ", sentence))
        words = sentence.split()
        parts = [" ".join(words[at : at + 3]) for at in range(max(len(words) - 2, 1))]
        if not whole and any(letters.find(part) for part in parts):
            raise _uncertain()
        places += whole
    return united(places)


def _located(places: list[Range], text: str) -> list[Range]:
    if not places and _plain(text)[0]:
        raise _uncertain()
    return places


def _uncertain() -> Quarantined:
    return Quarantined(
        "uncertain",
        "something on this page is masked, and where it stands in the picture is not certain",
        hint="Read the text instead.",
    )


def united(ranges: Iterable[Range], gap: int = 0) -> list[Range]:
    """In order, those that overlap as one, and those with fewer than `gap` characters between them."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start < merged[-1][1] + gap:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _without(text: str, taken: Iterable[Range]) -> str:
    letters = list(text)
    for start, end in taken:
        letters[start:end] = "█" * (end - start)
    return "".join(letters)


def marked(page: PageText, quote: str, before: int = 0, *, whole: bool = False) -> list[Range]:
    """The letters of a quote, which stands `before` times in the page's text before the place that is meant. Where the
    whole is not found, those of its words that are; none with `whole`, or below LEAST_MARKED of its words."""
    for text in (quote, _NAMES.sub(" ", quote)):
        if places := page.find(text):
            return [places[min(before, len(places) - 1)]]
    if whole:
        return []
    drawn = page.words()
    wanted = [word for part in quote.split() if (word := _plain(part)[0])]
    if len(drawn) * len(wanted) > MOST_COMPARED:
        return []
    matcher = SequenceMatcher(None, [word for word, _ in drawn], wanted, autojunk=False)
    same = [block for block in matcher.get_matching_blocks() if block.size]
    if sum(block.size for block in same) < LEAST_MARKED * max(len(wanted), 1):
        return []
    return [(drawn[block.a][1][0], drawn[block.a + block.size - 1][1][1]) for block in same]
