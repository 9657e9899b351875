"""Common words with their frequency: they tell text that people can read from text that was disguised."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from graph.policy.threats.lazy import pattern

FILE = Path(__file__).with_name("weights") / "lexicon.npz"
LONGEST = 18
_LOOKED = 3_000  # characters
_TOKEN = pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LEET = str.maketrans("0134578@$!|+9€£", "oieastbasiitgel")


@cache
def words() -> dict[str, float]:
    """Word → log frequency, commonest first. Made by `python -m evals.training.train`."""
    import numpy as np

    with np.load(FILE, allow_pickle=False) as stored:
        names = bytes(stored["words"]).decode().split("\n")
        return dict(zip(names, stored["logs"].astype(float).tolist(), strict=True))


@cache
def _folded() -> dict[str, tuple[str, float]]:
    """Words keyed as leetspeak writes them, where 1 is i or l."""
    words_by_form: dict[str, tuple[str, float]] = {}
    for word, log in words().items():
        words_by_form.setdefault(_unleet(word), (word, log))
    return words_by_form


@cache
def _shapes() -> dict[str, str]:
    """Words keyed by first letter, last letter and the letters between in order: the eye reads past a shuffle."""
    words_by_shape: dict[str, str] = {}
    for word in words():
        if len(word) >= 5:
            words_by_shape.setdefault(_shape(word), word)
    return words_by_shape


def _unleet(letters: str) -> str:
    return letters.translate(_LEET).replace("l", "i")


def known(word: str) -> bool:
    """Whether a lower-case word is a common one."""
    return word in words()


def readable(text: str) -> float:
    """The share of the letters of `text` that stand in common words, 0-1; short words count little."""
    return _share([word.lower() for word in _TOKEN.findall(text[:_LOOKED])])


def readable_as(text: str, turned: Sequence[Mapping[int, int]]) -> list[float]:
    """`readable` of a lower-case text with each of the alphabets in place of its letters."""
    tokens = "\n".join(_TOKEN.findall(text[:_LOOKED]))
    return [_share(tokens.translate(letters).split("\n")) for letters in turned]


def _share(tokens: list[str]) -> float:
    total = common = 0
    known_words = words()
    for word in tokens:
        weight = len(word) if len(word) > 2 else 1
        total += weight
        if word in known_words:
            common += weight
    return common / total if total else 0.0


def from_leet(word: str) -> str:
    """The common word that `word` writes in leetspeak, or ""."""
    return _folded().get(_unleet(word.lower()), ("", 0.0))[0]


def from_shuffle(word: str) -> str:
    """The common word whose inner letters `word` shuffles, or ""."""
    return _shapes().get(_shape(word.lower()), "") if len(word) >= 5 else ""


def segment(letters: str) -> str:
    """The likeliest words that `letters`, written without spaces and perhaps in leetspeak, consist of."""
    plain = _unleet(letters.lower()[:1_200])
    words_by_form = _folded()
    best = [0.0] + [-1e9] * len(plain)
    cut = [0] * (len(plain) + 1)
    for end in range(1, len(plain) + 1):
        best[end], cut[end] = best[end - 1] - 14.0, end - 1  # a letter that belongs to no word
        for start in range(max(0, end - LONGEST), end):
            if (word := words_by_form.get(plain[start:end])) and (score := best[start] + word[1]) > best[end]:
                best[end], cut[end] = score, start
    pieces: list[str] = []
    at = len(plain)
    while at:
        piece = plain[cut[at] : at]
        pieces.append(words_by_form[piece][0] if piece in words_by_form else piece)
        at = cut[at]
    return " ".join(reversed(pieces))


def _shape(word: str) -> str:
    return f"{word[0]}{''.join(sorted(word[1:-1]))}{word[-1]}"
