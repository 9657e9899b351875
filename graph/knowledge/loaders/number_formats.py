"""Numbers as a spreadsheet shows them: 00734, €19.50, 27:15, (1,200), 12.5 mg (ECMA-376 part 1, 18.8.31)."""

import datetime
import re
from fractions import Fraction

# Literals in quotes or after a backslash, currencies in brackets, then what is skipped: colours, conditions, fills.
_PIECE = re.compile(
    r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|(\[[^\]]*\]|_.|\*.)'
    r"|([0#?][0#?,. ]*(?:/\s*[0#?]+)?(?:[Ee][+-]0+)?)|(.)",
    re.DOTALL,
)
_BEYOND = re.compile(r"\[[<>=]|/\s*[1-9]")  # conditions, and fractions of a given denominator: shown as plain numbers
_LONGEST = 200  # characters of a format that are read


def shown(value: float, form: str) -> str:
    """The number in its format, as far as the format is about numbers; dates are not for here."""
    if _BEYOND.search(form):
        return plain(value)
    sections = _sections(form[:_LONGEST])
    section = sections[0]
    signed = value < 0
    if value < 0 and len(sections) > 1 and sections[1].strip():
        section, value, signed = sections[1], -value, False
    elif value == 0 and len(sections) > 2 and sections[2].strip():
        section = sections[2]
    before, pattern, after = _parts(section)
    if not pattern:
        return f"{'-' if signed else ''}{before}{after}".strip() if before or after else plain(value)
    if "%" in before + after:
        value *= 100
    number = "" if value == 0 and "0" not in pattern else _number(abs(value), pattern)
    return " ".join(f"{'-' if signed else ''}{before}{number}{after}".split())


def plain(value: float) -> str:
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15g}"


def duration(value: datetime.timedelta, form: str) -> str:
    """Hours beyond a day counted on: 27:15."""
    seconds = round(value.total_seconds())
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{sign}{hours}:{minutes:02}" + (f":{seconds % 60:02}" if "s" in form.lower() or seconds % 60 else "")


def _sections(form: str) -> list[str]:
    return re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', form)


def _parts(section: str) -> tuple[str, str, str]:
    """What stands before the number, its pattern, and what stands after it."""
    before, pattern, after = "", "", ""
    for quoted, escaped, currency, _, digits, other in _PIECE.findall(section):
        if digits and pattern and digits.strip(" .,"):
            return "", "", ""  # a number in parts, such as one of a telephone
        if digits and not pattern:
            pattern = digits.rstrip()
            after = digits[len(pattern) :]
            continue
        literal = quoted or escaped or currency or (other if other not in "@" else "") or digits
        if pattern:
            after += literal
        else:
            before += literal
    if before.strip().lower() == "general":
        return "", "", ""
    return before, pattern, after


def _number(value: float, pattern: str) -> str:
    if (power := re.search(r"[Ee][+-]0+$", pattern)) is not None:
        decimals = len(pattern[: power.start()].partition(".")[2])
        mantissa, _, exponent = f"{value:.{decimals}E}".partition("E")
        return f"{mantissa}E{int(exponent):+03}"
    if "/" in pattern:
        limit = 10 ** min(4, len(pattern.partition("/")[2].strip())) - 1
        units, rest = divmod(Fraction(value).limit_denominator(limit), 1)
        parts = [str(units)] if units or not rest else []
        return " ".join([*parts, str(rest)] if rest else parts)
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
