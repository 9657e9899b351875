"""Whether a reader of a web page sees an element, as far as its own attributes and simple rules tell."""

import re
from collections.abc import Mapping

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]*)\}")
_SIMPLE = re.compile(r"(?:[a-z0-9]*)([.#][\w-]+)", re.IGNORECASE)
_LENGTH = re.compile(r"(-?[\d.]+)(px|pt|em|rem|%|)")
_POINTS = {"px": 0.75, "pt": 1.0, "em": 12.0, "rem": 12.0, "%": 0.12, "": 0.75}
_WHITE = re.compile(
    r"white|#f{3,4}|#f{6}(?:ff)?|rgba?\(255,255,255(?:,1(?:\.0)?)?\)|transparent|rgba?\([\d,]+,0(?:\.0)?\)"
)
SMALLEST = 4.0  # points; nobody reads smaller letters
FAR = 500.0  # points off the page


def declarations(style: str) -> dict[str, str]:
    """The properties of a style attribute, in small letters and without spaces."""
    parts = (part.split(":", 1) for part in _COMMENT.sub("", style)[:5000].lower().split(";") if ":" in part)
    return {name.strip(): re.sub(r"\s+|!important", "", value) for name, value in parts}


def conceals(style: Mapping[str, str]) -> bool:
    """Whether these declarations take an element out of sight, whatever is behind it."""
    if style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse"):
        return True
    if (opacity := _points(style.get("opacity"))) is not None and opacity < 0.05:
        return True
    size = _points(style.get("font-size"))
    if size is not None and size < SMALLEST:
        return True
    if style.get("overflow") == "hidden" and any(
        (length := _points(style.get(side))) is not None and length < 2 for side in ("height", "width", "max-height")
    ):
        return True
    if style.get("clip", "").startswith(("rect(0,0,0,0", "rect(0000", "rect(1px,1px,1px,1px")):
        return True
    sides = ("left", "top", "right", "bottom") if style.get("position") in ("absolute", "fixed") else ()
    lengths = (_points(style.get(name)) for name in ("text-indent", *sides))
    return any(length is not None and length < -FAR for length in lengths)


def white(style: Mapping[str, str]) -> bool:
    """Whether letters have the colour of paper, or no colour."""
    return bool(_WHITE.fullmatch(style.get("color", "")))


def coloured(style: Mapping[str, str]) -> bool:
    """Whether something other than white is painted behind the element."""
    value = style.get("background-color") or style.get("background") or ""
    return bool(value) and not _WHITE.fullmatch(value) and value not in ("none", "inherit", "initial")


def concealed_names(sheet: str) -> set[str]:
    """The classes (".x") and ids ("#x") that a style sheet hides always. Rules for some media only do not count."""
    names: set[str] = set()
    for selectors, body in _RULE.findall(_without_media(_COMMENT.sub("", sheet))):
        if conceals(declarations(body)):
            for selector in selectors.split(","):
                if match := _SIMPLE.fullmatch(selector.strip()):
                    names.add(match.group(1))
    return names


def _without_media(sheet: str) -> str:
    """The sheet without its @-blocks, whose braces are nested."""
    parts, position = [], 0
    while (start := sheet.find("@", position)) >= 0:
        parts.append(sheet[position:start])
        opening, ending = sheet.find("{", start), sheet.find(";", start)
        if opening < 0 or 0 <= ending < opening:
            position = ending + 1 if ending >= 0 else len(sheet)
            continue
        depth, position = 1, opening + 1
        for brace in re.finditer(r"[{}]", sheet[position:]):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                position = opening + 1 + brace.end()
                break
        else:
            position = len(sheet)
    return "".join((*parts, sheet[position:]))


def _points(value: str | None) -> float | None:
    match = _LENGTH.fullmatch(value or "")
    try:
        return float(match.group(1)) * _POINTS[match.group(2)] if match else None
    except ValueError:
        return None
