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
    """From the outermost, the paragraphs of an article, to the innermost."""

    base: str = ""  # what holds them: "Article 14", "Annex I"
    sub: str = ""  # the second or a later subparagraph, when in one
    held: list[Open] = field(default_factory=list)

    def place(self, found: list[Mark], before: str) -> Mark | None:
        """Which reading of a mark fits, after the text `before`; lists that it leaves are closed. None for none."""
        firsts = [m for m in found if marks.first(m) and not (m.style == "paragraph" and self.held)]
        if before.rstrip().endswith((":", "—", "–")) and firsts:
            fresh = [m for m in firsts if all(one.mark.style != m.style for one in self.held)] or firsts
            return self._nested(fresh)
        for at in range(len(self.held) - 1, -1, -1):
            for mark in found:
                if marks.follows(mark, self.held[at].mark):
                    del self.held[at + 1 :]
                    return mark
        if paragraphs := [m for m in found if m.style == "paragraph"]:
            return self._skipping(paragraphs[0])
        for at in range(len(self.held) - 1, -1, -1):  # a point is missing
            for mark in found:
                if _later(mark, self.held[at].mark):
                    del self.held[at + 1 :]
                    return mark
        return self._nested(firsts) if firsts else self._nested(found[:1]) if not self.held else None

    def _skipping(self, mark: Mark) -> Mark | None:
        """A paragraph that is not the next: a gap, or something out of order. Status reports it; it is not lost."""
        if self.base.startswith("Annex") and self.held and self.held[0].mark.style != "paragraph":
            return None
        self.held = [one for one in self.held[:1] if one.mark.style == "paragraph"]
        return mark

    def _nested(self, found: list[Mark]) -> Mark | None:
        """A new list inside the innermost; (i) is Roman here, since a list of letters opens with a."""
        if len(self.held) >= MAX_DEPTH:
            return None
        return found[0] if len(found) == 1 else next((m for m in found if marks.first(m)), found[0])

    def enter(self, mark: Mark) -> tuple[str, Kind]:
        """Name and kind of the part that a placed mark opens."""
        at = next((n for n, one in enumerate(self.held) if one.mark.style == mark.style), None)
        count = 0
        if at is not None:
            last = self.held[at].mark
            if marks.follows(mark, last) or mark.value > last.value or mark.style == "paragraph":
                count = last.value
                del self.held[at:]
        if mark.style == "paragraph":
            self.sub = ""
        if mark.style == "indent":
            mark = Mark("indent", mark.text, count + 1)
        name, kind = self._name(mark)
        self.held.append(Open(mark, name))
        return name, kind

    def _name(self, mark: Mark) -> tuple[str, Kind]:
        annex = self.base.startswith("Annex")
        if mark.style == "paragraph" and not self.held:
            return (
                (f"{self.base}, point {mark.text}", "annex_part")
                if annex
                else (f"{self.base}({mark.text})", "paragraph")
            )
        inner = bool(self.held) and self.held[-1].mark.style != "paragraph"
        holder = self.held[-1].name if inner or (self.held and not self.sub) else self.sub or self.base
        if mark.style == "indent":
            return f"{holder}, {ordinal(mark.value)} indent", "indent"
        if mark.style == "paragraph":
            return f"{holder}, point {mark.text}", "point"
        apart = holder.endswith("subparagraph") or (annex and holder == self.base)
        return f"{holder}, point ({mark.text})" if apart else f"{holder}({mark.text})", "point"

    @property
    def paragraph(self) -> str:
        """The name of the numbered paragraph that is open, or ""."""
        return self.held[0].name if self.held and self.held[0].mark.style == "paragraph" else ""

    @property
    def inside(self) -> bool:
        """Whether in a point, or in a numbered part of an annex, which is set like one."""
        return any(one.mark.style != "paragraph" for one in self.held) or bool(
            self.held and self.base.startswith("Annex")
        )

    def leave_points(self) -> None:
        self.held = self.held[:1] if self.paragraph else []


def _later(mark: Mark, last: Mark) -> bool:
    """Whether a mark comes later in the list that reached `last`; a letter that is no likely numeral counts as none."""
    roman = mark.style != "roman" or len(mark.text) > 1 or mark.text in "ivx"
    return mark.style == last.style and mark.value > last.value and roman
