"""The lists that are open while a provision is read, and where the next mark belongs."""

from dataclasses import dataclass, field

from graph.regulation import marks
from graph.regulation.marks import Mark
from graph.regulation.unit import Kind, ordinal

MAX_DEPTH = 8  # lists in lists; deeper ones are read as text


@dataclass(frozen=True, slots=True)
class Open:
    """A list: the mark it has reached, and the name of the part that goes by it."""

    mark: Mark
    name: str


@dataclass
class OpenLists:
    """`levels` goes from the outermost list, the paragraphs of an article, to the innermost."""

    base: str = ""  # what holds them: "Article 14", "Annex I"
    sub: str = ""  # the second or a later subparagraph, when in one
    levels: list[Open] = field(default_factory=list)

    def place(self, readings: list[Mark], before: str) -> Mark | None:
        """The reading of a mark that fits after the text `before`, or None. Closes the lists that the mark leaves."""
        firsts = [m for m in readings if marks.first(m) and not (m.style == "paragraph" and self.levels)]
        if before.rstrip().endswith((":", "—", "–")) and firsts:
            fresh = [m for m in firsts if all(one.mark.style != m.style for one in self.levels)] or firsts
            return self._nested(fresh)
        for at in range(len(self.levels) - 1, -1, -1):
            for mark in readings:
                if marks.follows(mark, self.levels[at].mark):
                    del self.levels[at + 1 :]
                    return mark
        if paragraphs := [m for m in readings if m.style == "paragraph"]:
            return self._skipping(paragraphs[0])
        for at in range(len(self.levels) - 1, -1, -1):  # a point is missing
            for mark in readings:
                if _later(mark, self.levels[at].mark):
                    del self.levels[at + 1 :]
                    return mark
        return self._nested(firsts) if firsts else self._nested(readings[:1]) if not self.levels else None

    def _skipping(self, mark: Mark) -> Mark | None:
        """A paragraph that is not the next: a gap, or out of order. It is taken, and the report tells of it."""
        if self.base.startswith("Annex") and self.levels and self.levels[0].mark.style != "paragraph":
            return None
        self.levels = [one for one in self.levels[:1] if one.mark.style == "paragraph"]
        return mark

    def _nested(self, readings: list[Mark]) -> Mark | None:
        """A new list inside the innermost; (i) is Roman here, since a list of letters opens with a."""
        if len(self.levels) >= MAX_DEPTH:
            return None
        return readings[0] if len(readings) == 1 else next((m for m in readings if marks.first(m)), readings[0])

    def enter(self, mark: Mark) -> tuple[str, Kind]:
        """Name and kind of the part that a placed mark opens."""
        at = next((n for n, one in enumerate(self.levels) if one.mark.style == mark.style), None)
        count = 0
        if at is not None:
            last = self.levels[at].mark
            if marks.follows(mark, last) or mark.value > last.value or mark.style == "paragraph":
                count = last.value
                del self.levels[at:]
        if mark.style == "paragraph":
            self.sub = ""
        if mark.style == "indent":
            mark = Mark("indent", mark.text, count + 1)
        name, kind = self._name(mark)
        self.levels.append(Open(mark, name))
        return name, kind

    def _name(self, mark: Mark) -> tuple[str, Kind]:
        annex = self.base.startswith("Annex")
        if mark.style == "paragraph" and not self.levels:
            if annex:
                return f"{self.base}, point {mark.text}", "annex_part"
            return f"{self.base}({mark.text})", "paragraph"
        inner = bool(self.levels) and self.levels[-1].mark.style != "paragraph"
        holder = self.levels[-1].name if inner or (self.levels and not self.sub) else self.sub or self.base
        if mark.style == "indent":
            return f"{holder}, {ordinal(mark.value)} indent", "indent"
        if mark.style == "paragraph":
            return f"{holder}, point {mark.text}", "point"
        apart = holder.endswith("subparagraph") or (annex and holder == self.base)
        return f"{holder}, point ({mark.text})" if apart else f"{holder}({mark.text})", "point"

    @property
    def paragraph(self) -> str:
        """The name of the numbered paragraph that is open, or ""."""
        return self.levels[0].name if self.levels and self.levels[0].mark.style == "paragraph" else ""

    @property
    def inside(self) -> bool:
        """Whether in a point, or in a numbered part of an annex, which is set like one."""
        points = any(one.mark.style != "paragraph" for one in self.levels)
        return points or (bool(self.levels) and self.base.startswith("Annex"))

    def leave_points(self) -> None:
        """Close every list but the paragraph."""
        self.levels = self.levels[:1] if self.paragraph else []


def _later(mark: Mark, last: Mark) -> bool:
    """Whether a mark comes later in the list that reached `last`; a letter that is no likely numeral counts as none."""
    roman = mark.style != "roman" or len(mark.text) > 1 or mark.text in "ivx"
    return mark.style == last.style and mark.value > last.value and roman
