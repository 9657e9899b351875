"""Values as a spreadsheet shows them: 00734, €19.50, 27:15, (1,200), 12.5 mg, 1.5M (ECMA-376 part 1, 18.8.31)."""

import datetime
import operator
import re
from fractions import Fraction
from functools import lru_cache

# Literals in quotes or after a backslash, currencies in brackets, then what is skipped: colours, conditions, fills.
_PIECE = re.compile(
    r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|(\[[^\]]*\]|_.|\*.)'
    r"|([0#?][0#?,. ]*(?:/\s*(?:[0#?]+|[1-9]\d{0,3}))?(?:[Ee][+-]0+)?)|(.)",
    re.DOTALL,
)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?\d{1,15}(?:\.\d{1,15})?)\]")
_HOLDS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne}
_LONGEST = 200  # characters of a format that are read
KEPT = 500  # formats: those of a workbook are few
_NO_CLOCK = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|am/pm|a/p', re.IGNORECASE)
_CLOCK = re.compile(r"y+|m+|d+|h+|s+", re.IGNORECASE)


def shown(value: float, form: str) -> str:
    """The number in its format, as far as the format is about numbers; dates are not for here. Empty where the format
    shows nothing."""
    section, signed = _section(value, _sections(form[:_LONGEST]))
    if section is None:
        return plain(value)
    pieces = _pieces(section)
    patterns = [text for is_pattern, text in pieces if is_pattern]
    if any(not is_pattern and text.strip().lower() == "general" for is_pattern, text in pieces):
        return plain(value)
    if not patterns:
        literal = "".join(plain(abs(value)) if text == "@" else text for _, text in pieces).strip()
        return f"{'-' if signed else ''}{literal}" if literal or not section.strip() else plain(value)
    value = abs(value) * (100 if _percent(section) else 1)
    if len(patterns) > 1:
        numbers = _spread(value, patterns)
        if not numbers:
            return plain(-value if signed else value)
    else:
        numbers = ["" if value == 0 and "0" not in patterns[0] else _number(value, patterns[0])]
    joined = "".join(numbers.pop(0) if is_pattern else text for is_pattern, text in pieces)
    return " ".join(f"{'-' if signed else ''}{joined}".split())


def shown_text(value: str, form: str) -> str:
    """A text in its format; empty where the format shows nothing."""
    sections = _sections(form[:_LONGEST])
    section = sections[3] if len(sections) > 3 else sections[-1] if "@" in sections[-1] else "@"
    return "".join(value if text == "@" else text for _, text in _pieces(section))


def plain(value: float) -> str:
    """With 15 digits at most, as a sheet shows a number without a format."""
    whole = value == int(value) and abs(value) < 1e15 if abs(value) < 1e300 else False
    return repr(int(value)) if whole else f"{value:.15g}".replace("e", "E")


def duration(value: datetime.timedelta, form: str) -> str:
    """Hours beyond a day counted on: 27:15. Minutes where the format counts those: 95:03."""
    seconds = round(value.total_seconds())
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    if (counted := re.search(r"\[(m+|s+)\]", form, re.IGNORECASE)) is not None:
        return f"{sign}{seconds}" if counted[1][0] in "sS" else f"{sign}{seconds // 60}:{seconds % 60:02}"
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{sign}{hours}:{minutes:02}" + (f":{seconds % 60:02}" if "s" in form.lower() or seconds % 60 else "")


def moment(value: datetime.datetime | datetime.date, form: str) -> str:
    """A date as ISO writes it, no finer than its format: 2024-03 for "Mar 24". A day is given whole."""
    runs = [run[0].lower() for run in _CLOCK.findall(_NO_CLOCK.sub(" ", form[:_LONGEST]))]
    around = list(zip(["", *runs], runs, [*runs[1:], ""], strict=False))
    minutes = sum(run == "m" and (before == "h" or after == "s") for before, run, after in around)
    month, clock = runs.count("m") > minutes, "h" in runs or "s" in runs
    if isinstance(value, datetime.datetime):
        if clock and not month and not {"y", "d"} & {*runs}:
            return value.time().isoformat("seconds" if value.second else "minutes")
        if value.time() != datetime.time():
            return value.isoformat(" ", "seconds")
        value = value.date()
    if "y" in runs and "d" not in runs and not clock:
        return value.isoformat()[: 7 if month else 4]
    return value.isoformat()


@lru_cache(maxsize=KEPT)
def _sections(form: str) -> tuple[str, ...]:
    return (*re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', form),)


def _section(value: float, sections: tuple[str, ...]) -> tuple[str | None, bool]:
    """The part of a format that is for this number, and whether a minus is to be written before it."""
    numeric = sections[:3]
    conditions = [_CONDITION.search(section) for section in numeric]
    if any(conditions):
        for section, condition in zip(numeric, conditions, strict=True):
            if condition is None or _HOLDS[condition[1]](value, float(condition[2])):
                return section, value < 0
        return None, False
    if value < 0 and len(sections) > 1 and (sections[1].strip() or len(sections) > 2):
        return sections[1], False
    if value == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0] if sections[0] or len(sections) > 1 else None, value < 0


@lru_cache(maxsize=KEPT)
def _pieces(section: str) -> tuple[tuple[bool, str], ...]:
    """The pieces of a format in their order: whether each is a pattern of digits, and its text."""
    pieces: list[tuple[bool, str]] = []
    for quoted, escaped, currency, skipped, digits, other in _PIECE.findall(section):
        if digits and (pattern := digits.rstrip()).strip(" .,"):
            pieces += [(True, pattern), (False, digits[len(pattern) :])]
        elif not skipped:
            pieces.append((False, quoted or escaped or currency or digits or other))
    merged: list[tuple[bool, str]] = []
    for is_pattern, text in pieces:
        if merged and not is_pattern and not merged[-1][0] and text != "@" and merged[-1][1] != "@":
            merged[-1] = (False, merged[-1][1] + text)
        elif text:
            merged.append((is_pattern, text))
    return tuple(merged)


@lru_cache(maxsize=KEPT)
def _percent(section: str) -> bool:
    return any(other == "%" for *_, other in _PIECE.findall(section))


def _spread(value: float, patterns: list[str]) -> list[str]:
    """The digits of a number over several places, as in (555) 123-4567; none where these are not for whole numbers."""
    if value >= 1e15 or any(set(pattern) - set("0#?") for pattern in patterns):
        return []
    digits = str(round(value)).zfill(sum(pattern.count("0") for pattern in patterns))
    parts: list[str] = []
    for pattern in reversed(patterns[1:]):
        cut = max(0, len(digits) - len(pattern))
        parts.append(digits[cut:])
        digits = digits[:cut]
    return [digits, *reversed(parts)]


def _number(value: float, pattern: str) -> str:
    if (power := re.search(r"[Ee][+-]0+$", pattern)) is not None:
        decimals = len(pattern[: power.start()].partition(".")[2])
        mantissa, _, exponent = f"{value:.{decimals}E}".partition("E")
        return f"{mantissa}E{int(exponent):+03}"
    if "/" in pattern:
        return _fraction(value, pattern)
    whole, _, fraction = pattern.partition(".")
    scale = len(whole) - len(whole.rstrip(",")) if not fraction else len(fraction) - len(fraction.rstrip(","))
    fraction = re.sub(r"[^0#?]", "", fraction)
    text = f"{value / 1000**scale:,.{len(fraction)}f}"
    least = len(fraction.rstrip("#?"))
    head, _, tail = text.partition(".")
    while len(tail) > least and tail.endswith("0"):
        tail = tail[:-1]
    if "," not in whole.rstrip(","):
        head = head.replace(",", "").zfill(min(whole.count("0"), 30))
    return f"{head}.{tail}" if tail else head


def _fraction(value: float, pattern: str) -> str:
    above, _, below = (part.strip() for part in pattern.partition("/"))
    if below.isdecimal() and int(below):
        top, bottom = round(value * int(below)), int(below)
    else:
        top, bottom = Fraction(value).limit_denominator(10 ** min(4, len(below)) - 1).as_integer_ratio()
    units, top = divmod(top, bottom) if " " in above else (0, top)
    whole = [str(units)] if units or not top else []
    return " ".join([*whole, f"{top}/{bottom}"] if top else whole)
