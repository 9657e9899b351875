"""Letters moved, replaced or taken apart: leetspeak, shuffled, rotated, reversed, spaced and joined words."""

import re
import string
from collections.abc import Iterator
from functools import cache

from graph.policy.threats import lexicon
from graph.policy.threats.lazy import pattern
from graph.policy.threats.views.segments import segmented
from graph.policy.threats.views.view import PIECES, READ, READABLE, View

_TOKEN = pattern(r"\S+")
_POSSESSIVE = pattern(r"['’]s?$")
_EDGE = ".,;:!?\"'()[]{}<>`*_~"
_JOINED, _SPLIT = 12, 6  # letters of words put together, at least; of the pieces of words taken apart, on average
_ALPHABET = string.ascii_lowercase
_TURNS = [str.maketrans(_ALPHABET, _ALPHABET[n:] + _ALPHABET[:n]) for n in range(1, 26)]
_MIRROR = str.maketrans(_ALPHABET, _ALPHABET[::-1])


class Respelling:
    """Readings of several texts that have most of their words in common: each word and each run of words is judged
    once."""

    def __init__(self) -> None:
        self._common, self._plain, self._undone = cache(_common), cache(_plain), cache(_undone)

    def views(self, text: str) -> Iterator[View]:
        """Readings of the runs of tokens that are no common words."""
        head = text[:READ]
        tokens = list(_TOKEN.finditer(head))
        if len(tokens) < 3 and not any(len(t.group()) > 20 for t in tokens):
            return
        runs = list(self._strange_runs(tokens))
        if not runs:
            return
        fixed, hits = self._respelled(head, tokens)
        if hits >= 2:
            yield View(fixed, "leetspeak or shuffled letters", 0, len(text))
        places_by_disguise: dict[str, list[tuple[int, int, str]]] = {}
        for first, last in runs[:PIECES]:
            start, end = tokens[first].start(), tokens[last].end()
            for plain, how in self._undone(head[start:end]):
                places_by_disguise.setdefault(how, []).append((start, end, plain))
        for how, places in places_by_disguise.items():  # all places at once: the rules read every view from end to end
            parts, at = [], 0
            for start, end, plain in places:
                parts += [head[at:start], plain]
                at = end
            yield View("".join([*parts, head[at:]]), how, places[0][0], at)

    def _strange_runs(self, tokens: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
        """First and last token of each stretch without common words; a short common word may stand inside."""
        first = last = -1
        letters = 0
        for at, token in enumerate(tokens):
            length, common = self._common(token.group())
            if not common and length:
                if first >= 0 and at - last > 2:
                    if letters >= 8:
                        yield first, last
                    first, letters = -1, 0
                first = at if first < 0 else first
                last = at
                letters += length
            elif common and length > 3 and first >= 0 and at - last > 1:
                if letters >= 8:
                    yield first, last
                first, letters = -1, 0
        if first >= 0 and letters >= 8:
            yield first, last

    def _respelled(self, text: str, tokens: list[re.Match[str]]) -> tuple[str, int]:
        """The text with leetspeak and shuffled words in plain letters, and how many words changed."""
        doubtful = [(token, *pair) for token in tokens if (pair := self._plain(token.group()))]
        hits = sum(not bare.isdigit() and len(word) > 2 for _, bare, word in doubtful)
        if hits < 2:
            return text, hits
        out, done = [], 0
        for token, bare, word in doubtful:
            out.append(text[done : token.start()] + token.group().lower().replace(bare, word))
            done = token.end()
        return "".join(out) + text[done:], hits


def _common(token: str) -> tuple[int, bool]:
    """How long the word is without its marks, and whether it is a common one."""
    word = token.strip(_EDGE).lower()
    return len(word), len(word) > 1 and (lexicon.known(word) or lexicon.known(_POSSESSIVE.sub("", word)))


def _plain(token: str) -> tuple[str, str] | None:
    """The token without its marks, and the word that it writes in leetspeak or shuffles; None where it writes none."""
    bare = token.strip(".,;:?\"'()[]{}<>`*_~").lower()
    if len(bare) < 2 or lexicon.known(bare):
        return None
    if bare.isdigit():
        word = lexicon.from_leet(bare) if len(bare) > 2 else ""
    else:
        word = lexicon.from_leet(bare) or lexicon.from_leet(bare.rstrip("!"))
        if not word and bare.isalpha():
            word = lexicon.from_shuffle(bare)
    return (bare, word) if word else None


def _undone(piece: str) -> list[tuple[str, str]]:
    """Readable texts that the piece may have been made from and how, likeliest disguise first."""
    if lexicon.readable(piece) >= 0.8 and max(map(len, piece.split())) <= 20:
        return []
    low = piece.lower()
    turned = (
        (low[::-1], "reversed"),
        (" ".join(word[::-1] for word in low.split()), "each word reversed"),
        (low.translate(_MIRROR), "mirrored alphabet"),
    )
    if readings := [(plain, how) for plain, how in turned if lexicon.readable(plain) >= READABLE]:
        return readings
    sample = low[:400]
    if sum(c in _ALPHABET for c in sample) > 0.6 * len(sample):
        shares = lexicon.readable_as(sample, _TURNS)
        if max(shares) >= READABLE:
            return [(low.translate(_TURNS[shares.index(max(shares))]), "rotated alphabet")]
    if not _taken_apart(piece.split()):
        return []
    joined = re.sub(r"[\s.\-_*|/,·•+]+", "", low)
    if letters := _despaced(low):
        return [(letters, "spaced letters")]
    if letters := segmented(joined):
        return [(letters, "split or joined words")]
    if letters := segmented(joined[::-1]):
        return [(letters, "reversed letters without spaces")]
    return []


def _taken_apart(words: list[str]) -> bool:
    """Whether letters may have been moved between words: a name or a foreign word alone splits into short ones, too."""
    return max(map(len, words)) >= _JOINED or (len(words) >= 3 and sum(map(len, words)) <= _SPLIT * len(words))


def _despaced(piece: str) -> str:
    """Single letters with one separator between them, and a longer gap between words."""
    for gap in (r"\s{2,}|\s*[/|]\s*", r"\s+"):
        words = [re.sub(r"[\s.\-_*|/,·•+]+", "", w) for w in re.split(gap, piece)]
        plain = " ".join(filter(None, words))
        if lexicon.readable(plain) >= READABLE and len(words) > 1:
            return plain
        leet = " ".join(lexicon.from_leet(w) or w for w in words if w)
        if lexicon.readable(leet) >= READABLE and len(words) > 1 and leet != " ".join(piece.split()):
            return leet
    return ""
