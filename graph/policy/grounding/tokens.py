"""A sentence as comparable tokens: numbers, dates, units and words each in one form, with what governs them.

"5 %", "five percent" and "5 per cent" are the tokens 5 and %; "May 25, 2018", "25 May 2018" and "2018-05-25" are 25,
month:5 and 2018; "2,417" is 2417 and "1.2 million" is 1200000; "9 a.m." is 9:00.
"""

import itertools
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from graph.policy.grounding.words import (
    ALWAYS,
    COMPARISONS,
    FUNCTION_WORDS,
    MODALS,
    MONTHS,
    NEGATIONS,
    NUMBER_WORDS,
    QUANTIFIERS,
    SCALES,
    UNITS,
)
from graph.policy.text.lexical import stem

Kind = Literal["word", "number", "name"]
REACH = 3  # content words that a negation, quantifier or modal governs at most

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
# Units that stand at their number without a blank: "50Hz", "1.5s". Not "k" and "m": thousand, million.
_GLUED = "[mkg]?hz|[kmgt]b|[kmµ]?g|[mµ]?l|[cmkµn]m|[mµn]?s|sec|min|hrs?|h|ch|kwh?|[km]?w|[km]?v|°c|ppm|px|pt"
_TOKEN = re.compile(
    rf"""(?P<iso>\b\d{{4}}-\d{{2}}-\d{{2}}\b)
    |(?P<dmy>\b\d{{1,2}}\.\d{{1,2}}\.\d{{4}}\b)
    |(?P<slashed>\b\d{{1,2}}/\d{{1,2}}/\d{{4}}\b)
    |(?P<dashed>\b\d{{1,2}}-(?:{_MONTH})-\d{{4}}\b)
    |(?P<glued>(?<![\w.])\d+(?:[.,]\d+)*(?=(?:{_GLUED})\b))
    |(?P<dayfirst>\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH})\b\.?(?:,?\s+\d{{4}}\b)?)
    |(?P<monthfirst>\b(?:{_MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?)
    |(?P<monthyear>\b(?:{_MONTH})\.?,?\s+(?:of\s+)?\d{{4}}\b)
    |(?P<clock>\b\d{{1,2}}[:.]\d{{2}}\s*(?:[ap]\.?\s?m\b\.?)|\b\d{{1,2}}\s*[ap]\.?\s?m\b\.?|\b[0-2]?\d:[0-5]\d\b)
    |(?P<number>(?<![\w.])[-−–]?\d[\d,]*(?:\.\d+)*(?:st|nd|rd|th)?(?![\w]))
    |(?P<percent>%|\bper\s+cent\b|\bpercent\b)
    |(?P<currency>[€$£₨])
    |(?P<word>[^\W_]+(?:['’.-][^\W_]+)*)
    |(?P<stop>[,;:.!?()\[\]—–|])""",
    re.X | re.I,
)


@dataclass(frozen=True, slots=True)
class Token:
    """`form` is what is compared; a function word is kept for order only (`content` False)."""

    form: str
    kind: Kind
    content: bool
    stop_before: bool  # punctuation stands between it and the token before


@dataclass(frozen=True)
class Reading:
    """A text as tokens, and what is said of them: token positions to what governs them."""

    tokens: tuple[Token, ...]
    forms: frozenset[str]  # of content tokens
    numbers: frozenset[str]
    names: frozenset[str]
    pairs: frozenset[tuple[str, str]]  # neighbouring content tokens
    negated: frozenset[str]  # forms under a negation
    quantified: dict[str, str]  # form → all, some, none, most, only
    modal: dict[str, str]  # form → may, must
    compared: dict[str, str]  # number → up (at least, more than) or down
    units: dict[str, str]  # number → unit
    passive: (
        bool  # a form of "be" stands before a word, and "by" somewhere: a guess, since participles are not recognised
    )


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """Cached for the latest 4,096 texts."""
    tokens = tuple(_tokens(text))
    content = [t for t in tokens if t.content]
    negated, quantified, modal = _governed(tokens)
    return Reading(
        tokens=tokens,
        forms=frozenset(t.form for t in content),
        numbers=frozenset(t.form for t in content if t.kind == "number"),
        names=frozenset(t.form for t in content if t.kind == "name"),
        pairs=frozenset((a.form, b.form) for a, b in itertools.pairwise(content)),
        negated=negated,
        quantified=quantified,
        modal=modal,
        compared=_compared(tokens),
        units=_units(tokens),
        passive=any(a.form in _BE and b.kind == "word" for a, b in itertools.pairwise(tokens))
        and any(t.form == "by" for t in tokens),
    )


_BE = frozenset("is are was were be been being".split())


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    stop = True
    begun = False  # whether a word of this sentence was seen: the first capital says nothing
    for match in _TOKEN.finditer(text.replace("’", "'")):
        kind, raw = match.lastgroup, match.group()
        if kind == "stop":
            stop = True
            begun = begun and raw not in ".!?"
            continue
        for form, what in _forms(str(kind), raw, begun, tokens):
            content = what != "word" or form not in FUNCTION_WORDS
            tokens.append(Token(form, what, content, stop))
            stop = False
        begun = True
    return tokens


def _forms(kind: str, raw: str, begun: bool, before: list[Token]) -> list[tuple[str, Kind]]:
    low = raw.casefold()
    if kind == "word":
        return _word(raw, low, begun, before)
    if kind in ("number", "glued"):
        return [(_number(low), "number")]
    if kind == "percent":
        return [("%", "word")]
    if kind == "currency":
        return [(raw, "word")]
    if kind == "clock":
        return [(_clock(low), "number")]
    return [(part, "number") for part in _date(kind, low)]


def _word(raw: str, low: str, begun: bool, before: list[Token]) -> list[tuple[str, Kind]]:
    if low.endswith("'s"):
        raw, low = raw[:-2], low[:-2]
    if low in SCALES and before and before[-1].kind == "number" and (value := _decimal(before[-1].form)) is not None:
        before.pop()
        return [(_digits(value * SCALES[low]), "number")]
    parts = low.split("-")
    if all(part in NUMBER_WORDS for part in parts):
        value = Decimal(sum(NUMBER_WORDS[part] for part in parts))
        last = before[-1] if before else None
        more = _decimal(last.form) if last and last.kind == "number" and not last.stop_before else None
        if more is not None and more % 10 == 0 and 20 <= more < 100 and value < 10:  # "twenty five"
            before.pop()
            value += more
        return [(_digits(value), "number")]
    if low.endswith("n't"):
        return [(stem(low[:-3]) or low, "word"), ("not", "word")]
    if low == "cannot":
        return [("can", "word"), ("not", "word")]
    named = raw[0].isupper() and begun and low not in FUNCTION_WORDS and low not in ALWAYS
    named = named or any(c.isdigit() for c in raw) or (len(raw) > 1 and raw.isupper())
    if len(parts) > 1 and not named:
        return [(_form(part), "word") for part in parts if part]
    return [(_form(low), "name" if named else "word")]


def _form(low: str) -> str:
    return low if low in FUNCTION_WORDS or low in ALWAYS else stem(low)


def _number(low: str) -> str:
    plain = re.sub(r"(?:st|nd|rd|th)\Z", "", low).replace("−", "-").replace("–", "")
    plain = re.sub(r",(?=\d{3}(?!\d))", "", plain).rstrip(",")
    value = _decimal(plain)
    return plain if value is None else _digits(value)


def _decimal(text: str) -> Decimal | None:
    return Decimal(text) if re.fullmatch(r"-?\d{1,30}(?:\.\d{1,30})?", text) else None


def _digits(value: Decimal) -> str:
    return format(value.normalize(), "f") if value else "0"


def _clock(low: str) -> str:
    hours, *rest = re.findall(r"\d+", low)
    hour = int(hours) % 12 + 12 * ("p" in low) if "m" in low else int(hours)
    return f"{hour}:{int(rest[0]) if rest else 0:02}"


def _date(kind: str, low: str) -> list[str]:
    """Day, month, year, as far as they are given, in this order."""
    digits = [int(n) for n in re.findall(r"\d+", low)]
    if kind == "iso":
        year, number, day = digits
    elif kind in ("dmy", "slashed"):
        day, number, year = digits
        if kind == "slashed" and number > 12:  # American: the month first
            day, number = number, day
    else:
        name = re.search(_MONTH, low)
        number = MONTHS[name.group()] if name else 0
        if kind == "monthyear":
            return [f"month:{number}", str(digits[0])]
        parts = [str(digits[0]), f"month:{number}"]
        return parts + ([str(digits[1])] if len(digits) > 1 else [])
    return [str(day), f"month:{number}", str(year)]


def _governed(tokens: tuple[Token, ...]) -> tuple[frozenset[str], dict[str, str], dict[str, str]]:
    """Which content forms stand behind a negation, a quantifier or a modal verb, within REACH of it."""
    negated: set[str] = set()
    quantified: dict[str, str] = {}
    modal: dict[str, str] = {}
    for at, token in enumerate(tokens):
        form = token.form
        previous = tokens[at - 1].form if at else ""
        following = tokens[at + 1].form if at + 1 < len(tokens) else ""
        if form in NEGATIONS and following not in ("only", "later", "more", "less", "fewer", "earlier"):
            negated.update(_behind(tokens, at, REACH))
        if form in QUANTIFIERS and not (form == "all" and previous == "at"):
            for behind in _behind(tokens, at, 1):
                quantified.setdefault(behind, QUANTIFIERS[form])
        if form in MODALS:
            for behind in _behind(tokens, at, 2):
                modal.setdefault(behind, MODALS[form])
    return frozenset(negated), quantified, modal


def _behind(tokens: tuple[Token, ...], at: int, most: int) -> list[str]:
    forms: list[str] = []
    for token in tokens[at + 1 : at + 2 + 2 * most]:
        if token.stop_before and forms:
            break
        if token.content and token.form not in NEGATIONS:
            forms.append(token.form)
            if len(forms) == most:
                break
    return forms


def _compared(tokens: tuple[Token, ...]) -> dict[str, str]:
    bounds: dict[str, str] = {}
    for at, token in enumerate(tokens):
        if token.kind == "number":
            before = [t.form for t in tokens[max(0, at - 4) : at]]
            for length in (3, 2, 1):
                way = COMPARISONS.get(" ".join(before[-length:])) or COMPARISONS.get(" ".join(before[-length - 1 : -1]))
                if way:
                    if NEGATIONS & {t.form for t in tokens[max(0, at - length - 3) : at - length]}:
                        way = "down" if way == "up" else "up"
                    bounds.setdefault(token.form, way)
                    break
    return bounds


def _units(tokens: tuple[Token, ...]) -> dict[str, str]:
    units: dict[str, str] = {}
    for at, token in enumerate(tokens):
        if token.kind == "number":
            around = [t.form for t in tokens[at + 1 : at + 2]] + [t.form for t in tokens[max(0, at - 1) : at]]
            for form in around:
                if form in UNITS:
                    units.setdefault(token.form, UNITS[form])
                    break
    return units
