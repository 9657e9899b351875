"""Raised signs of a PDF line: "10^-6" and "m^2" keep what they say, the number of a footnote goes."""

import re

from graph.knowledge.loaders.pdf_lines import Line

_POWER = re.compile(r"[-−–+]?\d{1,3}")
_MARK = re.compile(r"(?:\d{1,3}|[*†‡§])(?:[,;] ?\d{1,3})*")
# What a power stands behind: 10, a sign of a quantity, a unit.
_BASE = re.compile(
    r"(?:^|[^\w,.]|(?<=\d))(?:10|[A-Za-zµμ]|[dckmµμn]m|k?g|ft|in|yd|min|mol|Pa|Hz|sec)$", re.ASCII | re.IGNORECASE
)
_SIGNED = re.compile(r"[\d)]$|\b(?:[A-Za-zµμ]{1,3})$")


def without_raised(line: Line) -> Line:
    """The line with its powers written out and the marks of its footnotes taken out."""
    for start, end in reversed(line.scripts):
        before, raised = line.text[:start], line.text[start:end]
        if not before.strip():
            continue  # the mark of the note itself
        power = _POWER.fullmatch(raised) is not None
        if power and (_BASE.search(before) or (raised[0] in "-−–+" and _SIGNED.search(before))):
            line.replace(start, end, "^" + re.sub("[−–]", "-", raised))
        elif _MARK.fullmatch(raised):
            line.replace(start, end, "")
    line.scripts = []
    return line
