"""From printed paragraphs to the units of an act, by the Union's drafting rules.

An act has a title, citations ("Having regard to …"), recitals after "Whereas:", an enacting part after "HAVE ADOPTED
THIS …" with divisions, articles, paragraphs, points, sub-points and indents, a final clause, signatures, annexes.
One pass; the only state is the list of parts that are open.
"""

import re
from collections.abc import Sequence

from graph.regulation import marks
from graph.regulation.lines import Line, ended, stopped
from graph.regulation.lists import OpenLists
from graph.regulation.unit import Kind, Unit, ordinal

MAX_TITLE = 300
MAX_QUOTED = 400  # lines; a quotation that is never closed must not swallow the act
_CLOSING = {"‘": "’", "“": "”"}
_CLOSES = re.compile(r"[’”]\s*[.;,]?(?:\s+(?:and|or))?$")
_ACT = re.compile(
    r"(?:(?:COMMISSION|COUNCIL|EUROPEAN PARLIAMENT)\b.{0,40}?)?\b(?:REGULATION|DIRECTIVE|DECISION|RECOMMENDATION)\s*\(",
    re.I,
)
_NUMBER = re.compile(
    r"(REGULATION|DIRECTIVE|DECISION|RECOMMENDATION)\s*(\((?:EU|EC|EEC|Euratom|EU, Euratom)\))\s+"
    r"(?:No\s+)?(\d{1,5}/\d{1,5})",
    re.I,
)
_INSTITUTION = re.compile(r"THE (?:EUROPEAN|COUNCIL|COMMISSION|GOVERNING)\b.{0,120},$")
_WHEREAS = re.compile(r"whereas:?$", re.I)
_ADOPTED = re.compile(r"(?:HAS|HAVE) (?:ADOPTED|DECIDED|AGREED)\b.{0,60}:?$")
_ADOPTED_AT_END = re.compile(r"\s+((?:HAS|HAVE) ADOPTED THIS [A-Z ]{4,40}:?)$")
_NUMERAL = r"(?:[IVXLC]{1,8}|\d{1,3}[a-z]?|[A-Z]|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN)"
_DIVISION = re.compile(
    rf"(PART|TITLE|CHAPTER|SUB-?SECTION|SECTION)\s+({_NUMERAL})(?:\s*[—–:-]\s*(\S.*)|\s+([A-Z].*))?$", re.I
)
_ARTICLE = re.compile(r"(?:Article\s+(\d{1,4}[a-z]{0,3}|[IVX]{1,6})|(Sole) Article)(?:\s*[—–:]\s*(\S.*))?$", re.I)
_ANNEX = re.compile(r"ANNEX(?:\s+([IVXLC]{1,8}|\d{1,3}|[A-Z]))?(?:\s*[—–:]\s*(\S.*))?$", re.I)
_BINDING = re.compile(r"This (?:Regulation|Directive|Decision) (?:shall be binding|is addressed to)\b")
_DONE = re.compile(r"Done at \w.{0,80}\d{4}\.?$")
_ORDER = ("Part", "Title", "Chapter", "Section", "Subsection")


def parse(lines: Sequence[Line]) -> tuple[str, list[Unit]]:
    """Title of the act, and its units in order. A part that does not follow the rules becomes text of the unit before,
    so that nothing readable is lost."""
    reader = _Reader()
    for at, line in enumerate(lines):
        reader.take(line, lines[at + 1] if at + 1 < len(lines) else None)
    reader.finish()
    return reader.title, reader.units


class _Reader:
    """Takes the lines of an act one by one. After `finish` its title and units are there."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.title = ""
        self.state = "front"  # front, recitals, enacting, closing, annex
        self.divisions: dict[str, str] = {}
        self.recital = 0
        self.heading: Unit | None = None  # waiting for its title
        self.lists = OpenLists()
        self.tail: list[str] = []  # parts that continue the text of the last unit
        self.parts = 0  # unnumbered paragraphs of the article, or subparagraphs of the paragraph, so far
        self.lone: Line | None = None  # a mark that stands on a line of its own
        self.quoted = 0  # lines that an open quotation may still hold

    # -- one line at a time -------------------------------------------------------------------------------

    def take(self, line: Line, after: Line | None) -> None:
        """`after` is the line that follows, None at the end."""
        text = line.text.strip()
        if not text:
            return
        if self.lone is not None:
            mark, self.lone = self.lone, None
            if not self._structural(text, line) and not marks.read(text)[0]:
                line = Line(f"{mark.text} {text}", mark.page, mark.depth, None)
                text = line.text
            else:
                self._body(mark)
        if self.quoted and self._resumes(text, line):
            self.quoted, line.heading = 0, True  # its closing mark was lost
        if self.quoted and self.state == "enacting":  # the words of another act, put in by this one
            self.quoted = 0 if _CLOSES.search(text) else self.quoted - 1
            self._grow("\n", text)
            return
        readings, begin = marks.read(text)
        if readings and begin >= len(text) and self.state != "front":
            self.lone = Line(text, line.page, line.depth, line.heading)
            return
        if self.state == "front":
            self._front(text, line)
        elif self.state == "recitals":
            self._recitals(text, line)
        elif not self._structure(text, line, after):
            self._body(line)

    def _resumes(self, text: str, line: Line) -> bool:
        """Whether a heading is the act's own though a quotation is open: marked up as one, or the one that is due."""
        own = re.match(r"Article (\d+)", self.lists.base)
        match = self._article(text)
        return line.role in ("article", "division") or bool(own and match and match[1] == str(int(own[1]) + 1))

    def finish(self) -> None:
        """Write what is still open."""
        if self.lone is not None:
            self._body(self.lone)
        self._flush()

    def _front(self, text: str, line: Line) -> None:
        if _WHEREAS.match(text):
            self.state = "recitals"
        elif _ADOPTED.match(text):
            self.state = "enacting"
        elif self._article(text) or (_DIVISION.match(text) and line.heading is not False):
            self.state = "enacting"
            self._structure(text, line, None)
            return
        elif line.role == "recital" or re.match(r"\(1\)\s", text):
            self.state = "recitals"
            self._recitals(text, line)
            return
        self._add("front", "Preamble", "Preamble", text, line.page)
        if not self.title and (_INSTITUTION.match(text) or text.startswith("Having regard")):
            self.title = self._title_of_act()

    def _title_of_act(self) -> str:
        """ "General Data Protection Regulation (Regulation (EU) 2016/679)", from what stands before the citations."""
        texts: list[str] = []
        for unit in self.units:
            if texts and (_INSTITUTION.match(unit.text) or unit.text.startswith("Having regard")):
                return _title(" ".join(texts))
            if texts or _ACT.match(unit.text):
                texts.append(unit.text)
        return ""

    def _recitals(self, text: str, line: Line) -> None:
        if _ADOPTED.match(text):
            self.state = "enacting"
            self._add("front", "Preamble", "Preamble", text, line.page)
            return
        if self._article(text) and line.heading is not False and ended(self._last()):
            self.state = "enacting"
            self._structure(text, line, None)
            return
        closing = _ADOPTED_AT_END.search(text)
        if closing:
            text = text[: closing.start()]
        readings, begin = marks.read(text)
        number = next((m.value for m in readings if m.style == "number"), 0)
        if number and begin < len(text) and self._next_recital(number, line):
            self.recital = number
            self._add("recital", f"Recital {number}", f"Recital {number}", text, line.page)
        else:
            self._more(text, line)
        if closing:
            self.state = "enacting"
            self._add("front", "Preamble", "Preamble", closing[1], line.page)

    def _next_recital(self, number: int, line: Line) -> bool:
        """Whether it is the one after the last, or, where the last has ended, one after a gap or out of order."""
        return number == self.recital + 1 or (
            stopped(self._last()) and (line.role == "recital" or line.depth is not None or number > self.recital)
        )

    # -- headings -----------------------------------------------------------------------------------------

    def _structural(self, text: str, line: Line) -> bool:
        return self.state in ("enacting", "closing", "annex") and bool(
            _DIVISION.match(text) or self._article(text) or _ANNEX.match(text)
        )

    def _article(self, text: str) -> re.Match[str] | None:
        return _ARTICLE.match(text) if len(text) < MAX_TITLE else None

    def _structure(self, text: str, line: Line, after: Line | None) -> bool:
        """Takes headings, titles and what closes the act; False for all else."""
        signed = bool(self.units) and self.units[-1].kind in ("signature", "closing")
        free = line.heading or signed or ended(self._last()) or self.heading is not None
        if len(text) < MAX_TITLE and free and line.heading is not False:
            if (match := _ANNEX.match(text)) and (text.startswith("ANNEX") or line.role or line.heading):
                return self._annex(match, line)
            if self.state != "annex" and (match := self._article(text)):
                number = "Sole Article" if match[2] else f"Article {match[1]}"
                return self._open("article", number, match[3] or "", line, text)
            if self.state != "annex" and (match := _DIVISION.match(text)) and self._is_division(match, text, line):
                return self._division(match, line)
        if self.heading is not None and self._is_title(text, line, after):
            self.heading.title = f"{self.heading.title} {text}".strip()
            self.heading.text = f"{self.heading.text}\n{text}"
            return True
        if self.state != "annex" and ended(self._last()):
            if _BINDING.match(text) and self._closes(after):
                self.state, self.heading, self.lists = "closing", None, OpenLists()
                self._add("closing", "Final provision", "Final provision", text, line.page)
                return True
            if _DONE.match(text):
                self.state, self.heading, self.lists = "closing", None, OpenLists()
                self._add("signature", "Signature", "Signature", text, line.page)
                return True
        if self.state == "closing":
            kind: Kind = "signature" if self.units[-1].kind == "signature" else "closing"
            name = "Signature" if kind == "signature" else "Final provision"
            self._add(kind, name, name, text, line.page)
            return True
        self.heading = None
        return False

    def _closes(self, after: Line | None) -> bool:
        """Whether a clause on binding force is the act's own last one: place and date come next, or nothing."""
        return (
            after is None or _DONE.match(after.text) is not None or after.text.startswith(("Done at", "This ", "ANNEX"))
        )

    def _is_division(self, match: re.Match[str], text: str, line: Line) -> bool:
        return bool(match[4] is None or line.heading or line.role) and (
            text[:3].isupper() or line.heading is True or line.role == "division" or match[4] is None
        )

    def _is_title(self, text: str, line: Line, after: Line | None) -> bool:
        """Whether a line names the article or chapter opened just before."""
        assert self.heading is not None
        if line.role == "title":
            return True
        if marks.read(text)[0] or len(text) + len(self.heading.title) > MAX_TITLE:
            return False
        if self.heading.title:  # a title of more than one line
            return line.heading is True and self.heading.kind != "annex"
        if self.heading.kind == "division":
            return True
        if line.heading is not None:
            return line.heading
        return not re.search(r"[.;:,]$", text) and after is not None

    def _division(self, match: re.Match[str], line: Line) -> bool:
        word = match[1].replace("-", "").capitalize()
        number = match[2].upper() if not match[2][0].isdigit() else match[2]
        level = _ORDER.index(word)
        self.divisions = {w: n for w, n in self.divisions.items() if _ORDER.index(w) < level} | {word: number}
        path = ", ".join(f"{w} {n}" for w, n in self.divisions.items())
        self.lists, self.parts = OpenLists(), 0
        title = match[3] or match[4] or ""
        self.heading = self._add("division", path, path, line.text.strip(), line.page, title)
        self.state = "enacting"
        return True

    def _annex(self, match: re.Match[str], line: Line) -> bool:
        self.divisions, self.state = {}, "annex"
        name = f"Annex {match[1]}" if match[1] else "Annex"
        return self._open("annex", name, match[2] or "", line, line.text.strip())

    def _open(self, kind: Kind, name: str, title: str, line: Line, text: str) -> bool:
        self.lists, self.parts = OpenLists(name), 0
        self.heading = self._add(kind, self._within(name), name, text, line.page, title)
        if kind == "article":
            self.state = "enacting"
        return True

    # -- provisions ---------------------------------------------------------------------------------------

    def _body(self, line: Line) -> None:
        text = line.text.strip()
        readings, begin = marks.read(text)
        if text[begin : begin + 1] in _CLOSING and text.count(text[begin]) > text.count(_CLOSING[text[begin]]):
            self.quoted = MAX_QUOTED
        if readings and self.lists.base and ended(self._last()):
            mark = self.lists.place(readings, self._last())
            if mark is not None:
                name, kind = self.lists.enter(mark)
                self.parts = 1 if kind == "paragraph" else self.parts
                self._add(kind, self._within(name), name, text, line.page)
                return
        self._more(text, line)

    def _more(self, text: str, line: Line) -> None:
        """Text without a mark: the rest of a sentence, or a new subparagraph."""
        last, base = self.units[-1] if self.units else None, self.lists.base
        if last is None or (not base and self.state != "recitals" and last.kind != "front"):
            self._add("front", "Preamble", "Preamble", text, line.page)
            return
        heads, before = last.kind in ("article", "annex", "division"), self._last()
        if not heads and (self.state == "recitals" or not stopped(before) or before.endswith(";")):
            self._grow("\n" if self.state == "recitals" and stopped(before) else " ", text)
            return
        if line.depth is not None and line.depth > 4 and self.lists.inside and not heads:
            self._grow("\n", text)  # set in like the point before: the point goes on
            return
        self.parts += 1
        if base.startswith("Annex"):
            self.lists.leave_points()
            name = self.lists.paragraph or base
            self._add("annex_part", self._within(name), name, text, line.page)
        elif paragraph := self.lists.paragraph:
            self.lists.leave_points()
            self.lists.sub = f"{paragraph}, {ordinal(self.parts)} subparagraph"
            self._add("subparagraph", self._within(self.lists.sub), self.lists.sub, text, line.page)
        else:
            self.lists.leave_points()
            name = base if self.parts == 1 else f"{base}, {ordinal(self.parts)} paragraph"
            self._add("paragraph", self._within(name), name, text, line.page)

    # -- writing ------------------------------------------------------------------------------------------

    def _within(self, name: str) -> str:
        return ", ".join([*(f"{w} {n}" for w, n in self.divisions.items()), name])

    def _last(self) -> str:
        """The end of the text before; "" after a heading, which the next line does not continue."""
        heading = not self.units or self.units[-1].kind in ("article", "division", "annex")
        return "" if heading else self.tail[-1] if self.tail else self.units[-1].text

    def _grow(self, joint: str, text: str) -> None:
        """Continue the last unit. `_flush` joins all parts at once: one by one they would take its length squared."""
        self.tail += (joint, text)

    def _flush(self) -> None:
        if self.tail:
            self.units[-1].text += "".join(self.tail)
            self.tail = []

    def _add(self, kind: Kind, path: str, name: str, text: str, page: int | None, title: str = "") -> Unit:
        self._flush()
        unit = Unit(kind, path, name, text, title, page)
        self.units.append(unit)
        if kind not in ("article", "division", "annex"):
            self.heading = None
        return unit


def _title(text: str) -> str:
    """The name people use, with the number; else the number and what it is about."""
    number = _NUMBER.search(text)
    named = re.findall(r"\(([^()]{4,100}\b(?:Act|Regulation|Directive|Decision|Code|Law))\)", text)
    plain = f"{number[1].capitalize()} {number[2]} {number[3]}" if number else ""
    if named and plain:
        return f"{named[-1]} ({plain})"
    subject = re.search(r"\b(?:on|laying down|establishing|concerning|amending)\b.{3,140}", text)
    return f"{plain} {subject[0]}".strip()[:180] if plain and subject else plain or text[:180]
