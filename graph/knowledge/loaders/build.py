"""What a loader writes to: it keeps offsets, headings and limits, and gives the document at the end."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import dropwhile, groupby, islice, pairwise, takewhile

from graph.errors import Quarantined
from graph.knowledge.document import Block, BlockKind, Document
from graph.knowledge.loaders import normalise, title_block
from graph.policy.text import structure
from graph.policy.text.structure import SEPARATOR

MAX_BLOCKS = 200_000
MAX_HIDDEN, HIDDEN_LENGTH = 50, 500
TITLE_LENGTH = 200
MAX_NOTES, MAX_FIELDS = 20, 30
LONGEST_FIELD = 300  # characters of its value
_DEEPER = 1_000  # more than the level of any heading: those of a file inside stand below its name
_NOUN = re.compile(r"(.*?)((?: without .*| on .*)?)$")  # what takes the "s" of many, and what follows it
CONTENTS = re.compile(r"(?:\d+\.? )?(?:table of )?contents", re.IGNORECASE)  # the heading of a table of them
# What stands out as a whole and may head what follows, by how it looks, the more striking first.
LOOKS = ("bold capitals", "capitals", "bold", "underlined")
_BELOW_HEADINGS = 50  # more than the level of any heading that the file marks as one
LONGEST_OF_LOOKS = 100  # characters of such a line
_FEWEST_WORDS = 8  # of a paragraph below "Purpose:" that is no mere value of it
_STOP = re.compile(r"[.!?:;]\W*$")
_NO_HEADING = re.compile(
    r"\W*(?:note|notes|nb|warning|caution|important|attention|example|tip|hint|remember|e\.g\.|answer|question)\b"
    r"|\W*(?:table|tab\.|figure|fig\.|exhibit|listing|chart)\s*\d|.*: \S|.*[.,;!?]\W*$|(?:\S+ ){3,}\S+:$"
    r"|(?:\d{1,2}\.? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? (?:\d{1,2},? )?\d{4}$"
    r"|\W*\d[\d\W]*$|.*@|.*://",
    re.IGNORECASE | re.DOTALL,
)
# What names a part of any document, or what is to be filled in, and no document.
_NO_TITLE = re.compile(
    r"\\.*|\W*(?:introduction|purpose|scope|overview|general|background|summary|abstract|objectives?"
    r"|sample|draft|final|template|confidential|[\[(<](?:insert|name|your|title|company|organi[sz]ation)\b[^\])>]*)\W*",
    re.I,
)
# What says when a document was decided on, and names nothing: "Last Revised January 2024".
STAMP = re.compile(
    r"\W*(?:(?:last|date) )?(?:revised|revision|amended|approved|adopted|posted|ratified|updated|issued)\b.*"
    r"(?:\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}-\d\d-\d\d"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?,? (?:\d{1,2}(?:st|nd|rd|th)?,? )?\d{4})\W*",
    re.I | re.S,
)
MOST_OF_STAMP = 60  # characters
_PART = re.compile(r"(?:article|section|chapter|part|annex|appendix) [\w.-]{1,8}", re.I)
_OPENING = 3  # blocks among which the title of a document stands, apart from those that say no title
_LOOKED_AT = 20  # blocks for these
_SHORT_TITLE = 2  # words
_FIRST, _SECOND = re.compile(r"(?:1(?:\.0?)?|I\.)\s+\S"), re.compile(r"(?:2(?:\.0?)?|II\.)\s+\S")  # parts of a document
TURN = "\ufdd0"  # in a text for `paragraph` and `items`: here a page ends


def looks(text: str, bold: bool, underlined: bool = False) -> str:
    """Which of LOOKS a paragraph has, all of it `bold` or `underlined`; "" for none."""
    letters = sum(map(str.isupper, text))
    if (
        text.isupper()
        and 2 * letters > sum(map(str.isalpha, text))
        and (letters > 3 if bold else letters > 5 and " " in text.strip())
    ):
        return "bold capitals" if bold else "capitals"
    return "bold" if bold else "underlined" if underlined else ""


class Builder:
    """Takes blocks in reading order. `page`, `sheet` and the section apply to whatever is added next."""

    def __init__(
        self, *, max_text: int, recognised: "dict[int, list[tuple[str, float, float, float, float]]] | None" = None
    ) -> None:
        self.recognised = recognised  # by page; empty where text recognition is there and was not asked yet
        self.title = ""
        self.page: int | None = None
        self.sheet: str | None = None
        self._max_text = max_text
        self._pieces: list[str] = []
        self._blocks: list[Block] = []
        self._hidden: list[str] = []
        self._turns: list[tuple[int, int]] = []
        self._notes: list[str] = []
        self._fields: list[tuple[str, str]] = []
        self._length = 0
        self._path: list[tuple[int, str]] = []
        self._levels: dict[int, int] = {}  # as written, of the first headings by where they begin
        self._section = ""
        self._in_table = False
        self._below = 0  # files inside files
        self._inside = ""  # the name of the one that is being read
        self._front = 0  # blocks before the document's own text
        self._ahead: list[int] = []  # pages that begin at the next turns of the text that is being added
        # Lines that stand out, their looks and pages, until what follows is known.
        self._standing: list[tuple[str, str, int | None]] = []

    def heading(self, text: str, level: int) -> None:
        """`level` from 1 as written; a level that was skipped does not count in the section."""
        self._settle(followed=False)
        self._heading(text, level)

    def _heading(self, text: str, level: int) -> None:
        self._seen(text)
        text = normalise.line(text)
        if not text:
            return
        level += self._below * _DEEPER
        # What follows a table of contents does not stand below it.
        self._path = [(depth, name) for depth, name in self._path if depth < level and not CONTENTS.fullmatch(name)]
        self._path.append((level, structure.name(text)))
        self._section = SEPARATOR.join(name for _, name in self._path)
        self._add("heading", f"{structure.mark(len(self._path))} {text}")
        if len(self._blocks) <= self._front + _LOOKED_AT:
            self._levels[self._blocks[-1].start] = level

    def standing_out(self, text: str, look: str) -> None:
        """A paragraph that stands out as a whole, with one of LOOKS: a heading below those that the file marks, where
        it is short and text follows it; "2. Scope" with its number. Of several that look alike only the last one is,
        and at the beginning of a document the longest."""
        line = normalise.line(text)
        if not line or len(line) > LONGEST_OF_LOOKS or sum(map(str.isalpha, line)) < 3 or _NO_HEADING.match(line):
            look = ""  # text that looks so
        if look or self._standing:
            self._standing.append((text, look, self.page))
        else:
            self._paragraph(text, ())

    def _settle(self, *, followed: bool) -> None:
        """Writes the lines that stood out, `followed` by text."""
        lines, self._standing = self._standing, []
        if not lines:
            return
        own_looks = [look for _, look, _ in lines]
        heads = [bool(one) and one != other for one, other in pairwise(own_looks)] + [followed and own_looks[-1] != ""]
        levels = [_BELOW_HEADINGS + 1 + LOOKS.index(look) if look else 0 for look in own_looks]
        if self._front == len(self._blocks) and len(lines) > 1 and not self.title:
            first = max(range(len(lines) - heads[-1]), key=lambda at: len(lines[at][0]) if own_looks[at] else 0)
            heads[first], levels[first] = own_looks[first] != "", _BELOW_HEADINGS
        page = self.page
        for (text, _, own), is_heading, level in zip(lines, heads, levels, strict=True):
            self.page = own
            if is_heading:
                self._heading(text, level)
            elif structure.ITEM.match(text):
                self._items([(0, text)])
            else:
                self._paragraph(text, ())
        self.page = page

    def paragraph(self, text: str, pages: Sequence[int] = ()) -> None:
        """A single "\n" in `text` is a line break that the reader sees. Lines that begin with bullets are a list.
        `pages` are those that begin at each TURN in the text."""
        if text.strip():
            # "Date:" and below it the date
            value = len(text.split()) < _FEWEST_WORDS and not _STOP.search(text)
            named = bool(self._standing) and self._standing[-1][0].rstrip().endswith(":")
            self._settle(followed=not (named and value))
        self._paragraph(text, pages)

    def _paragraph(self, text: str, pages: Sequence[int]) -> None:
        self._seen(text)
        self._ahead = list(pages)
        lines = structure.without_line_marks(normalise.filled(normalise.flow(text))).split("\n")
        if sum(map(normalise.bulleted, lines)) < 2:
            self._add("paragraph", "\n".join(lines))
            self._ahead = []
            return
        for bulleted, group in groupby(lines, normalise.bulleted):
            if bulleted:
                self._items([(0, line) for line in group])
            else:
                self._add("paragraph", "\n".join(group))
        self._ahead = []

    def items(self, items: Iterable[tuple[int, str]], pages: Sequence[int] = ()) -> None:
        """A list: depth from 0 and text of each item, with its mark. A further paragraph of an item has no mark. Where
        an item begins a page, the TURN stands at the end of the one before; `pages` as for `paragraph`."""
        items, self._ahead = list(items), list(pages)
        if items:
            self._settle(followed=True)
        self._items(items)
        self._ahead = []

    def _items(self, items: list[tuple[int, str]]) -> None:
        self._seen("\n".join(text for _, text in items))
        lines = (
            ("  " * min(depth, 8), normalise.item(normalise.filled(normalise.line(text)))) for depth, text in items
        )
        self._add("list", structure.without_line_marks("\n".join(indent + text for indent, text in lines if text)))

    def code(self, text: str) -> None:
        """Between fences; a tab is four blanks."""
        self._settle(followed=True)
        self._seen(text)
        lines = (row.rstrip() for row in normalise.clean(text).expandtabs(4).split("\n"))
        self._add("code", structure.fenced("\n".join(lines).strip("\n")))

    def table(self) -> None:
        """The rows that follow belong to a new table."""
        self._in_table = False

    def row(self, text: str, number: int | None = None) -> None:
        """A row of a table; `number` is what a spreadsheet shows at its left, from 1."""
        self._settle(followed=True)
        self._seen(text)
        self._add("row", structure.without_line_marks(normalise.filled(normalise.line(text))), number)

    def placed(self, kind: BlockKind, text: str, section: str, *, joined: bool = False) -> None:
        """A block whose place its loader knows: `section` as given, lines kept. `joined` puts it right below the one
        before, as the point of a list is."""
        self._settle(followed=True)
        self._seen(text)
        self._section = section
        self._add(kind, normalise.flow(text), joined=joined)

    def begin(self) -> None:
        """What was added so far (headers, fields) stands before the document's own text: its title comes below."""
        self._settle(followed=False)
        self._front = len(self._blocks)

    def leave_sections(self) -> None:
        """What follows stands below no heading but the name of the file inside, if it is in one."""
        self._settle(followed=False)
        self._path = self._path[: self._below]
        self._section = SEPARATOR.join(name for _, name in self._path)

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        """What is added inside belongs to a file of this name in the file: below a heading with it, and with pages,
        sheets and a title of its own."""
        self._settle(followed=False)
        title, self.page, self.sheet = self.title, None, None
        recognised, self.recognised = self.recognised, None  # it knows the pages of the file outside
        if not self._blocks:
            self._front = MAX_BLOCKS  # the name of a file inside is no title of the whole
        self._path = self._path[: self._below]
        self.heading(name, 1)
        self._below += 1
        self._inside = name
        try:
            yield
        finally:
            self._settle(followed=False)
            self._below -= 1
            self.recognised = recognised
            self.title, self.page, self.sheet, self._inside = title, None, None, ""
            self.leave_sections()

    def hide(self, text: str) -> None:
        """Text that the file carries and a reader does not see."""
        self._seen(text)
        text = normalise.line(text)
        for start in range(0, len(text), HIDDEN_LENGTH):
            if len(self._hidden) >= MAX_HIDDEN:
                return
            entry = text[start : start + HIDDEN_LENGTH]
            if entry not in self._hidden:
                self._hidden.append(entry)

    def note(self, text: str) -> None:
        """What of the file was not read, for whoever ingests it: "2 of 12 pages are pictures". Never part of the
        text. Quote no more than a few words of the file."""
        text = f"{self._inside}: {text}" if self._inside else text
        if (text := normalise.line(text)[:200]) and text not in self._notes and len(self._notes) < MAX_NOTES:
            self._notes.append(text)

    def note_counts(self, counts: Mapping[str, int]) -> None:
        """Notes how many there are of each thing that was not read: {"hidden sheet": 2} is "2 hidden sheets"."""
        for thing, count in counts.items():
            noun, rest = _NOUN.match(thing).groups()  # type: ignore[union-attr]
            if count:
                self.note(f"{count} {noun}{'s' if count > 1 else ''}{rest}")

    def field(self, name: str, value: str) -> None:
        """What the document says of itself (owner, version, status): a row of the text, and kept with the document; a
        long text is a paragraph alone."""
        name, value = normalise.line(name)[:60], normalise.line(value)
        if len(value) > LONGEST_FIELD:
            self.paragraph(f"{name}: {value}")
            return
        if name and value and (name, value) not in self._fields and len(self._fields) < MAX_FIELDS:
            self._fields.append((name, value))
            leading = self._front == len(self._blocks)
            self.row(f"{name}: {value}")
            self._front += leading

    @property
    def empty(self) -> bool:
        """Whether nothing was added yet."""
        return not self._blocks and not self._standing

    @property
    def only_headings(self) -> bool:
        """Whether the first 20 blocks are headings: the text has not begun."""
        return all(block.kind == "heading" for block in self._blocks[:20])

    def finish(self, filename: str, media_type: str) -> Document:
        """Raises Quarantined "empty" when no text was added."""
        self._settle(followed=False)
        if self.empty:
            raise Quarantined(
                "empty", f"there is no text to read in {filename!r}", hint="check that it is the right file"
            )
        text = "".join(self._pieces)
        title = normalise.line(self.title) or self._first_heading(text) or re.sub(r"\.[^.]*$", "", filename) or filename
        return Document(
            title=title[:TITLE_LENGTH],
            text=text,
            blocks=tuple(self._blocks),
            media_type=media_type,
            hidden=tuple(self._hidden),
            turns=tuple(self._turns),
            notes=tuple(self._notes),
            fields=tuple(self._fields or islice(title_block.fields(text, self._blocks), MAX_FIELDS)),
        )

    def _seen(self, raw: str) -> None:
        """Reports what is written in invisible characters inside visible text."""
        for words in normalise.smuggled(raw):
            self.hide(words)

    def _first_heading(self, text: str) -> str:
        """Of the headings among the first few blocks the one of the highest level, a short one with the first of them,
        which is the name of an organisation or a kind of document. Not a later one, which names a part, not one of a
        sheet or a table of contents, and not that of the first part: "Purpose", "1. Scope" before "2. Duties"."""

        def names(block: Block) -> bool:
            own = text[block.start : block.end]
            stamp = block.kind != "heading" and len(own) <= MOST_OF_STAMP and STAMP.fullmatch(own)
            return not stamp and not (block.kind == "heading" and CONTENTS.fullmatch(_own_heading(block)))

        opening = islice(filter(names, self._blocks[self._front : self._front + _LOOKED_AT]), _OPENING)
        from_heading = dropwhile(lambda block: block.kind != "heading", opening)
        heads = [*takewhile(lambda block: block.kind == "heading" and block.sheet is None, from_heading)]
        heads = [block for block in heads if not _PART.fullmatch(_own_heading(block))] or heads
        title = _own_heading(min(heads, key=self._level_of)) if heads else ""
        if heads and title != (above := _own_heading(heads[0])) and len(title.split()) <= _SHORT_TITLE:
            title = f"{above.rstrip(' :')}: {title}"  # "Harbour Society: Bylaws"
        second = any(block.kind == "heading" and _SECOND.match(_own_heading(block)) for block in self._blocks)
        return "" if _NO_TITLE.fullmatch(title) or (second and _FIRST.match(title)) else title

    def _level_of(self, heading: Block) -> int:
        """As written; by the headings above it where its loader gave only these."""
        return self._levels.get(heading.start, heading.section.count(SEPARATOR))

    def _add(self, kind: BlockKind, text: str, row: int | None = None, *, joined: bool = False) -> None:
        turns, text = _turned(text)
        if not text.strip():
            return
        divider = "" if not self._blocks else "\n" if joined or (kind == "row" and self._in_table) else "\n\n"
        self._in_table = kind == "row"
        start = self._length + len(divider)
        self._length = start + len(text)
        if self._length > self._max_text or len(self._blocks) >= MAX_BLOCKS:
            raise Quarantined(
                "oversize",
                f"the document has more than {self._max_text:,} characters or {MAX_BLOCKS:,} paragraphs and rows",
                hint="split it into smaller documents",
            )
        self._pieces += (divider, text)
        block_page = self.page
        for at in turns[: len(self._ahead)]:
            self.page = self._ahead.pop(0)
            self._turns.append((start + at, self.page))
        self._blocks.append(Block(start, self._length, kind, block_page, self.sheet, row, self._section))


def _own_heading(block: Block) -> str:
    """The heading that a block is, without those above it."""
    return block.section.rsplit(SEPARATOR, 1)[-1]


def _turned(text: str) -> tuple[list[int], str]:
    """Where pages end in a text, as offsets in the text without the marks, and that text."""
    if TURN not in text:
        return [], text
    parts = text.split(TURN)
    offsets, length = [], 0
    for part in parts[:-1]:
        length += len(part)
        offsets.append(length)
    return offsets, "".join(parts)
