"""Words, numbers and negation, as grounding and the embedded answerer count them."""

import re

_WORD = re.compile(r"[^\W_]+(?:['’.,:/-]?[^\W_]+)*%?")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|\w+n['’]t|unless|except|prohibited|forbidden)\b", re.I
)
_JOINED = re.compile(r"[_\-./&]+|(?<=[a-z])(?=[A-Z\d])|(?<=\d)(?=[A-Za-z])")
_SUFFIXES = ("ations", "ation", "ingly", "ments", "ment", "edly", "ings", "ies", "ing", "ed", "es", "ly", "s")


def stem(word: str) -> str:
    """A crude common form: `storing`, `stored` and `stores` meet. Words of up to 4 letters and numbers stay."""
    if len(word) <= 4 or (not word.isalpha() and any(c.isdigit() for c in word)):
        return word[:-1] if len(word) == 4 and word.endswith("s") and not word.endswith("ss") else word
    for suffix in _SUFFIXES if word.endswith(_SUFFIXES) else ():
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word.rstrip("e").rstrip("i") if len(word) > 4 else word


def words(text: str) -> list[str]:
    """Lower-case words in order; numbers keep their inner points and commas, thousands separators go."""
    return [_number(match.group()) for match in _WORD.finditer(text.casefold().replace("’", "'"))]


def stems(text: str) -> list[str]:
    """The stem of each of `words`, in order."""
    return [stem(word) for word in words(text)]


def apart(name: str) -> str:
    """A name with the words that are written as one apart: "AppendixB", "schedule-wave2"."""
    return _JOINED.sub(" ", name)


def numbers(text: str) -> set[str]:
    """Every number in the text, without thousands separators: "2,417" and "2417" are one."""
    return {word.rstrip("%") for word in words(text) if word[:1].isdigit()}


def negated(text: str) -> bool:
    """Whether the text holds a word of negation, prohibition or exception."""
    return _NEGATION.search(text) is not None


def _number(word: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", word) if word[:1].isdigit() else word
