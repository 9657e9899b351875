"""Lines of one paragraph put together, with the words that were divided at their ends."""

import re
from collections.abc import Iterable, Sequence

_DIVIDED = re.compile(r"([^\W\d_]{1,40})[-\u2010\u00ad\ufffe\x02]$")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def vocabulary(lines: Iterable[str]) -> frozenset[str]:
    """The words of the lines, lower case, without those that a line end may have divided."""
    vocabulary: set[str] = set()
    for line in lines:
        words = _WORD.findall(line.lower())
        vocabulary.update(words[:-1] if line.endswith(("-", "\u2010", "\u00ad")) else words)
    return frozenset(vocabulary)


def join(lines: Sequence[str], known: frozenset[str]) -> str:
    """One line of text. A divided word is put together unless the act writes it with a hyphen elsewhere, or only its
    parts ("cross-" and "border" where "crossborder" never stands)."""
    parts = list(lines[:1])
    for line in lines[1:]:
        divided = _DIVIDED.search(parts[-1])
        if divided is None:
            parts.append(" " + line)
            continue
        before, after = divided[1].lower(), (_WORD.match(line.lower()) or [""])[0]
        first = after.split("-")[0]
        whole = before + first in known or before + after in known
        hyphened = f"{before}-{after}" in known or (before in known and first in known)
        keep = not line[:1].islower() or (hyphened and not whole)
        parts[-1] = parts[-1][:-1] + ("-" if keep else "")
        parts.append(line)
    return "".join(parts)


def closed_up(text: str, known: frozenset[str]) -> str:
    """A heading whose letters were set apart, put together: "dat a" where the act has the word "data" and no "dat"."""
    words = text.split(" ")
    at = 0
    while at + 1 < len(words):
        a, b = words[at].lower(), words[at + 1].lower()
        if a + b in known and not (a in known and b in known):
            words[at : at + 2] = [words[at] + words[at + 1]]
        else:
            at += 1
    return " ".join(words)
