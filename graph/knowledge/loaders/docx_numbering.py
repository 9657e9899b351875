"""The numbers that Word counts: what stands before a paragraph of a list (ECMA-376 part 1, 17.9)."""

import re
from dataclasses import dataclass, field
from typing import Any

from graph.knowledge.loaders.docx_styles import W, indent_of, value_of

LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MOST = 32_767  # the greatest start that Word takes


@dataclass(frozen=True)
class Level:
    """`restart` is the level, from 1, whose use begins this one anew: None for any above it, 0 for none."""

    form: str = "decimal"
    text: str = ""
    start: int = 1
    restart: int | None = None
    legal: bool = False  # numbers of other levels are written as 1, 2, 3
    style: str = ""  # of the paragraphs that are on this level
    indent: int | None = None  # from the left, in twips


@dataclass
class _List:
    """A numbering instance: its levels, and which counts it shares with others of the same definition."""

    definition: str
    levels: dict[int, Level]
    starts: dict[int, int] = field(default_factory=dict)  # levels that it begins anew when it is first used


class Numbering:
    """Marks of numbered paragraphs, in the order in which they are asked for."""

    def __init__(self, root: Any = None) -> None:
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, dict[int, int]] = {}
        if root is not None:
            self._read(root)

    def mark(self, number: str, depth: int) -> str:
        """What stands before the next paragraph on a level, from 0, of a list: "2.1", "(a)", "-" for a bullet, "" for
        nothing."""
        numbered = self._lists.get(number)
        if numbered is None or depth not in numbered.levels:
            return "-"
        counts = self._counts.setdefault(numbered.definition, {})
        level = numbered.levels[depth]
        for at in [at for at in numbered.starts if at <= depth]:
            counts[at] = numbered.starts.pop(at) - 1
            self._end_below(numbered, counts, at)
        counts[depth] = counts[depth] + 1 if depth in counts else level.start
        for above in range(depth):
            counts.setdefault(above, numbered.levels[above].start if above in numbered.levels else 1)
        self._end_below(numbered, counts, depth)
        if level.form == "bullet":
            return "-"

        def written(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            form = numbered.levels[at].form if at in numbered.levels else "decimal"
            return formatted(counts.get(at, 1), "decimal" if level.legal and form != "decimalZero" else form)

        return " ".join(_PLACE.sub(written, level.text).split())

    def indent(self, number: str, depth: int) -> int | None:
        """How far in from the left a level of a list stands, in twips; None where the list does not say."""
        numbered = self._lists.get(number)
        level = numbered.levels.get(depth) if numbered is not None else None
        return level.indent if level is not None else None

    def level_of(self, number: str, style: str) -> int:
        """The level of a list that belongs to a style of paragraphs; 0 where none does."""
        one = self._lists.get(number)
        return next((at for at, level in one.levels.items() if level.style == style), 0) if one else 0

    def _end_below(self, numbered: _List, counts: dict[int, int], depth: int) -> None:
        for at in [at for at in counts if at > depth]:
            restart = numbered.levels[at].restart if at in numbered.levels else None
            if restart is None or 0 < depth + 1 <= restart:
                del counts[at]

    def _read(self, root: Any) -> None:
        definitions = {element.get(f"{W}abstractNumId"): element for element in root.iter(f"{W}abstractNum")}
        linked = {style: key for key, element in definitions.items() if (style := value_of(element, "styleLink"))}
        levels = {key: _levels(element) for key, element in definitions.items()}
        for key, element in definitions.items():
            if (style := value_of(element, "numStyleLink") or "") in linked:
                levels[key] = levels[linked[style]]
        for number in root.iter(f"{W}num"):
            definition = value_of(number, "abstractNumId") or ""
            numbered = _List(definition, dict(levels.get(definition, {})))
            for change in number.iter(f"{W}lvlOverride"):
                at = _whole(change.get(f"{W}ilvl"), 0)
                if (level := change.find(f"{W}lvl")) is not None:
                    numbered.levels[at] = _level(level)
                if (start := value_of(change, "startOverride")) is not None:
                    numbered.starts[at] = _whole(start, 1)
            self._lists[number.get(f"{W}numId") or ""] = numbered


def formatted(count: int, form: str) -> str:
    """A number in a format of Word (ST_NumberFormat): 4 is "iv" in lowerRoman. Decimal for any other format."""
    if form in ("lowerLetter", "upperLetter"):
        letter = chr(65 + (count - 1) % 26) * ((count - 1) // 26 + 1) if count > 0 else ""
        return letter.lower() if form == "lowerLetter" else letter
    if form in ("lowerRoman", "upperRoman"):
        letters, left = "", count
        for value, sign in _ROMAN:
            letters += sign * (left // value)
            left %= value
        return letters if form == "lowerRoman" else letters.upper()
    if form == "none":
        return ""
    if form == "decimalZero":
        return f"{count:02}"
    if form == "ordinal":
        ending = {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th") if count % 100 not in (11, 12, 13) else "th"
        return f"{count}{ending}"
    return str(count)


def _levels(definition: Any) -> dict[int, Level]:
    levels = {_whole(level.get(f"{W}ilvl"), 0): _level(level) for level in definition.iter(f"{W}lvl")}
    return {at: level for at, level in levels.items() if at < LEVELS}


def _level(element: Any) -> Level:
    restart, legal = value_of(element, "lvlRestart"), element.find(f"{W}isLgl")
    return Level(
        form=value_of(element, "numFmt") or "decimal",
        text=(value_of(element, "lvlText") or "")[:100],
        start=_whole(value_of(element, "start"), 1),
        restart=None if restart is None else _whole(restart, 0),
        legal=legal is not None and legal.get(f"{W}val") not in ("0", "false"),
        style=value_of(element, "pStyle") or "",
        indent=indent_of(element.find(f"{W}pPr")),
    )


def _whole(value: str | None, otherwise: int) -> int:
    return min(int(value), _MOST) if value and value.isdecimal() and len(value) < 7 else otherwise
