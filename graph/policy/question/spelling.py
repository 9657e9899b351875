"""Which words of a question may be misspelt, and how far two words are apart."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+")
# Words with an apostrophe, numbers, ids, addresses, file names, what is masked and what is quoted stand as typed.
_AS_TYPED = re.compile(
    r"\S*[^\W\d_]['’]\S*|\S*[\d_@/\\:#<>\[\]]\S*|\S+\.\w\S*|[\"“”«»][^\"“”«»]*[\"“”«»]|(?<!\w)['‘][^'‘’]*['’](?!\w)"
)
_HYPHENED = re.compile(r"(?<![\w-])[^\W\d_]{1,6}-[^\W\d_]{3,}(?![\w-])")
_BRIEF = 5  # letters, up to which a word is mended only where a finger may slip so
_SHORTEST, _LONG = 4, 8  # letters: shorter words are never corrected, from the longer on two slips are allowed
_CHANGED = 1.2  # people drop, double and swap letters more often than they hit another one
_FAR = 3.0  # more than two slips; a swap looks two rows back and costs 1, so no later row falls below it
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = {
    (a, b)
    for row, keys in enumerate(_KEYS)
    for at, a in enumerate(keys)
    for neighbours in _KEYS[max(0, row - 1) : row + 2]
    for b in neighbours[max(0, at - 1) : at + 2]
}
_VOWELS = frozenset("aeiouy")
# British and American, by what stands before, the letters and what stands behind.
_ATLANTIC = (
    (r"\w{2}", "c", "s", r"(?:e[sd]?|ing)$"),  # licence, practise, defence
    (r"\w{2}[iy]", "s", "z", r"(?:e[sd]?|ers?|ing|ations?|able)$"),  # organise, analyse
    (r"\w{2}", "our", "or", ""),  # colour
    (r"\w{2}", "ll", "l", r"(?:e[drs]|ors?|ing)"),  # counsellor, travelled
    (r"(?:cen|me|li|thea)", "tre", "ter", r"s?$"),
    (r"\w{2}", "ogue", "og", r"s?$"),  # catalogue
    (r"\w{2}", "mme", "m", r"s?$"),  # programme
)
_SPAN = 32  # letters; nobody mistypes a longer word, and distances cost the square of it


def words(question: str) -> list[re.Match[str]]:
    """The words that may be corrected: not those in capitals, which are names or abbreviations."""
    text = _AS_TYPED.sub(lambda match: " " * len(match[0]), question)
    return [word for word in _WORD.finditer(text) if _SHORTEST <= len(word[0]) <= _SPAN and not word[0].isupper()]


def hyphened(question: str) -> list[re.Match[str]]:
    """The words with one hyphen that may be written without it; as `words`, not those that stand as typed."""
    return list(_HYPHENED.finditer(_AS_TYPED.sub(lambda match: " " * len(match[0]), question)))


def slips(word: str) -> int:
    """How many letters of a word may be wrong, missing, too many or in another order."""
    return 2 if len(word) >= _LONG else 1


def starts(word: str) -> set[str]:
    """The two letters with which the word that is meant begins: as typed, or in the other order."""
    return {word[:2], word[1::-1]}


def second_letter(word: str) -> set[str]:
    """What may be meant where the slip is at the second letter."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return {word[0] + c + word[at:] for c in letters for at in (1, 2)} | {word[0] + word[2:]}


def roots(word: str, stems: Iterable[str]) -> dict[str, float]:
    """The stems of which the word may be a misspelt form, and how far each is from the beginning of the word."""
    most, letters = slips(word), set(word)
    distances: dict[str, float] = {}
    for stem in stems:
        # The stem of a word that ends in y ends in i.
        for form in (stem, f"{stem[:-1]}y") if stem[-1:] == "i" else (stem,):
            if len(form) <= len(word) + most and len(set(form) - letters) <= most:
                apart = min(_row(form, word)[max(0, len(form) - most) :], default=most + 1.0)
                if int(apart) <= most:
                    distances[stem] = min(apart, distances.get(stem, apart))
    return distances


def distance(typed: str, word: str) -> float:
    """Letters to add, drop, swap with their neighbour, or change; to change one is a little dearer than the others."""
    return _row(typed, word)[-1]


def meant(typed: str, word: str) -> bool:
    """Whether the word is near enough to be what was typed. With two slips, the first two letters agree."""
    most = slips(typed)
    if abs(len(typed) - len(word)) > most or word[:1] not in (typed[0], typed[1]):
        return False
    apart = int(distance(typed, word))
    return 0 < apart <= most and (apart < 2 or typed[:2] == word[:2]) and (len(typed) > _BRIEF or _likely(typed, word))


def _likely(typed: str, word: str) -> bool:
    """Whether one slip that people make leads from the word to what was typed: a letter left out, two swapped, one of
    a key or a vowel beside the right one, one that is doubled or of a key beside its neighbours. Any other short word
    is more often one that the documents do not have ("wifi" is no "wiki")."""
    at = next((n for n, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), min(len(typed), len(word)))
    if len(typed) < len(word):
        return True
    if len(typed) > len(word):
        return any((typed[at], near) in _BESIDE for near in typed[max(0, at - 1) : at] + typed[at + 1 : at + 2])
    swapped = typed[at : at + 2] == word[at : at + 2][::-1]
    return swapped or (typed[at], word[at]) in _BESIDE or {typed[at], word[at]} <= _VOWELS


def across(word: str) -> set[str]:
    """How the word would be written on the other side of the Atlantic, if it is one of those; not all are words."""
    return {
        word[: match.start(1)] + put + word[match.end(1) :]
        for before, british, american, behind in _ATLANTIC
        for written, put in ((british, american), (american, british))
        for match in re.finditer(f"{before}({written})(?={behind})", word)
    }


def _row(source: str, target: str) -> list[float]:
    """The distance of `source` from each beginning of `target` (optimal string alignment). It stops where all are at
    least _FAR: those given may then be too small, but not smaller than that."""
    before: list[float] = []
    last = [float(n) for n in range(len(target) + 1)]
    for i, a in enumerate(source, 1):
        row = [float(i)]
        for j, b in enumerate(target, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (_CHANGED if a != b else 0))
            if i > 1 and j > 1 and a == target[j - 2] and b == source[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
        if min(row) >= _FAR:
            break
    return last
