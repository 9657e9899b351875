"""From the lines of PDF pages to headings, paragraphs, lists and tables."""

import re
from collections import Counter
from itertools import pairwise, takewhile
from statistics import mean, median

from graph.knowledge.loaders import table
from graph.knowledge.loaders.build import CONTENTS, MOST_OF_STAMP, STAMP, TURN, Builder, looks
from graph.knowledge.loaders.normalise import BULLETS
from graph.knowledge.loaders.pdf_lines import CLAUSE, NAMED, Line
from graph.knowledge.loaders.table_kinds import contrast, kinds_of
from graph.knowledge.loaders.text import BULLET, MARK, NUMBERED

_RULE = re.compile(r"\b(?:shall|must|may|will|is|are|has|have|can|cannot|should)\b")
_LABEL = re.compile(
    r"(?:article|section|chapter|part|annex|appendix)\s+(?:\d{1,3}[a-z]?|[IVXLC]{1,6}|[A-Z])", re.IGNORECASE
)
_DIVIDED = re.compile(r"([^\W\d_]{2,40})[-\u2010]$")
# The end of an entry of a table of contents.
_LEADER = re.compile(
    r"(?:(?:\.{4,}|(?:\. ){3,}|…{2,})\s*(?:(?:page )?\d{1,4}|[ivxlc]{1,6})?|_{3,}\s*(?:page )?\d{1,4})\s*$", re.I
)
_SECTION = re.compile(r"§+ ?\d[\w.-]{0,12}\.? \S.*\w\.$")
_LETTER = re.compile(r"\(([b-z])\) ")
_COUNT = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]+teen|hundred|thousand"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]{3,5})?)$",
    re.IGNORECASE,
)
_SAYS = re.compile(r"\w|[✓✔✗✘✕✖×☐☑☒⬜❏❑□■●○◯]")  # a tick says something, a dash or a dot does not
_GOES_ON = frozenset("a an and as at by for from in into is of on or that the to with which your our their".split())
_AROUND = ".,;:!?()[]\"'“”‘’"
_CONTACT = re.compile(r"\w@[\w-]+\.\w|\b\d{3}\)?[-. ]\d{3}[-. ]\d{4}\b")  # an address, a telephone number
_END = re.compile(r"[.!?:;。؟۔][\"'”’)\]]*$")
RUN = 4  # lines of one size that follow each other: running text, no heading
RUNNING_SHARE = 0.2  # of a document's letters in such runs: a size that it is written in, beside others
DOUBLED = 2.5  # times the size: two blanks after a sentence, spread to fill the line
FEWEST_ENTRIES = 5  # of a table of contents on one page
LONG_TITLE = 8  # words
MOST_OF_LABEL = 5  # words of a line that names what follows
LONGEST_HEADING = 60  # letters, of a column of numbers; what says more in large letters may be no heading
LARGER = 1.12  # times the size of the running text: a heading


def write(pages: list[list[Line]], out: Builder) -> None:
    """Lines in larger letters than the running text of their page are headings, of three levels at most."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    levels: dict[float, int] = {}
    level, last = 0, 0.0
    for size in sorted((size for size in sizes if size > body * LARGER), reverse=True):
        if abs(last - size) > 0.6:  # less is rounding, not another level
            level, last = level + 1, size
        levels[size] = min(3, level)
    vocabulary = {word.strip(_AROUND).lower() for lines in pages for line in lines for word in line.text.split()[:-1]}
    out.title = _title(pages[0]) if pages else ""
    _Layout(levels, _text_sizes(pages), vocabulary, out).run(pages)


def _title(lines: list[Line]) -> str:
    """The longest of the bold lines of one size at the top of a title page, where that is not what stands first: the
    name of an organisation does. Nothing elsewhere."""
    groups: list[list[Line]] = []
    lines = sorted(lines, key=lambda line: -line.bottom)  # a foot may stand first in the file
    for line in takewhile(lambda line: line.bold and not line.gaps and abs(line.size - lines[0].size) <= 0.6, lines):
        close = groups and 0 < groups[-1][-1].bottom - line.bottom < 1.35 * line.size
        groups = [*groups[:-1], [*groups[-1], line]] if close else [*groups, [line]]
    names = [running_text(group, set()) for group in groups]
    longest = max(names, key=lambda name: len(name.split()), default="")
    clear = len(longest.split()) >= max(LONG_TITLE, 2 * len(names[0].split())) if names else False
    return longest if clear and not _END.search(longest) else ""


def _text_sizes(pages: list[list[Line]]) -> dict[int, float]:
    """Of a page: the largest size that text runs on in it, where much of the document does. An annex in small print
    makes no headings of the pages before it."""
    runs: Counter[float] = Counter()
    on_page: dict[int, set[float]] = {}
    for lines in pages:
        start = 0
        for at in range(1, len(lines) + 1):
            if at < len(lines) and abs(lines[at].size - lines[at - 1].size) <= 0.6:
                continue
            if at - start >= RUN:
                for line in lines[start:at]:
                    runs[line.size] += len(line.text)
                    on_page.setdefault(line.page, set()).add(line.size)
            start = at
    written = {size for size, count in runs.items() if count > RUNNING_SHARE * runs.total()}
    return {page: max(sizes & written, default=0.0) for page, sizes in on_page.items()}


class _Layout:
    """Gathers lines into paragraphs, rows into tables, and writes each when it ends."""

    def __init__(
        self, levels: dict[float, int], text_sizes: dict[int, float], vocabulary: set[str], out: Builder
    ) -> None:
        """`levels` of the sizes of headings, `text_sizes` of the running text of pages."""
        self.levels, self.text_sizes, self.vocabulary, self.out = levels, text_sizes, vocabulary, out
        self.below = max(levels.values(), default=0)  # headings that only their words or their weight betray
        self.closest = 0.0  # a fifth of the lines of this page, or more, are as close to each other
        self.paragraph: list[Line] = []
        self.rows: list[Line] = []
        self.items: list[tuple[Line, str, list[int]]] = []
        self.pending: tuple[Line, str] | None = None  # a line that is a heading if anything stands below it
        self.contents = False  # whether the heading above is that of a table of contents
        self.numbered: dict[str, tuple[int, int]] = {}  # the last number of a heading behind each "2.3.", and its level

    def run(self, pages: list[list[Line]]) -> None:
        for lines in pages:
            distances = (above.bottom - line.bottom for above, line in pairwise(lines))
            steps = [distance for distance in distances if 0 < distance < 60]
            pitch = median(steps) if steps else 0.0
            self.closest = sorted(steps)[len(steps) // 5] if len(steps) > 3 else 0.0
            listed = _contents(lines)
            for at, line in enumerate(lines):
                if at in listed or _LEADER.search(line.text) or not re.search(r"\w", line.text):
                    continue
                if line.gaps and not stretched(line):
                    self.end_paragraph()
                    if self.rows and len(self.rows[-1].gaps) != len(line.gaps):
                        self.end_table()
                    self.rows.append(line)
                    continue
                self.end_table()
                if self.paragraph and not self.continues(self.paragraph[-1], line, pitch, lines):
                    self.end_paragraph()
                self.paragraph.append(line)
        self.end_table()
        self.end_paragraph()
        self.settle(followed=False)
        self.end_items()

    def continues(self, above: Line, line: Line, pitch: float, lines: list[Line]) -> bool:
        """Whether `line` belongs to the paragraph that `above` is in."""
        if (
            line.alone
            or above.alone
            or (MARK.match(line.text) and not self.mentions(line.text))
            or abs(above.size - line.size) > 0.6
            or _LABEL.fullmatch(above.text)
        ):
            return False
        first = self.paragraph[0]
        before, number = _number(line.text)
        counted = before != "" and _number(first.text) == (before, number - 1)
        if CLAUSE.match(line.text) and (counted or line.hung or _END.search(above.text) or above.text[-1] in ",;"):
            return False
        clause = first.hung or MARK.match(first.text) or CLAUSE.match(first.text)
        set_in = clause is not None and line.left > first.left + 3
        if above.page != line.page and set_in:
            return not _END.search(above.text)
        if above.page != line.page:
            open_end = above.text[-1] == "," or above.text.rsplit(" ", 1)[-1].lower() in _GOES_ON
            return not _END.search(above.text) and (line.text[:1].islower() or open_end)
        step = above.bottom - line.bottom
        if step < -2:  # the next column
            return line.left > above.left and not _END.search(above.text) and line.text[:1].islower()
        spaced = 1.15 * min(self.closest, 2.7 * line.size)  # up to double spacing
        if step > max(1.9 * line.size, spaced) or (pitch and step > 1.35 * max(pitch, line.size)):
            return False
        if self.large(above) or _DIVIDED.search(above.text):
            return True  # a heading of two lines, or a word that goes on
        if NAMED.match(above.text) and NAMED.match(line.text):
            return False  # one name with its value below another
        if set_in:
            return True  # below the words of its item or clause
        small = line.text[:1].islower()
        if above.bold and not line.bold and _heading_like(above.text) and len(self.paragraph) == 1 and not small:
            return False
        if line.bold and not above.bold and _END.search(above.text) and _heading_like(line.text):
            return False
        # A line that had room for the next word ends its paragraph; one nearly full may do so after a full stop.
        edge = max(other.right for other in lines if abs(other.left - first.left) < 40 or other is line)
        word, room = line.first_word(), edge - above.right
        if room < 1.1 * word + 2 * line.size:
            return not (_END.search(above.text) and room > word + line.size)
        # In a narrow column or cell there is no telling by its edge. A sentence goes on with a small letter.
        within = line.left > first.left - 3 and not _END.search(above.text)
        return within and (line.text[0].islower() or above.text.rsplit(" ", 1)[-1].lower() in _GOES_ON)

    def mentions(self, text: str) -> bool:
        """Whether a line that begins as an item does goes on with the paragraph: "(c) …" after "(a) …, (b) …" in its
        midst, "(3) …" after "three", or a dash between the words of an item with another sign."""
        first, last = self.paragraph[0].text, self.paragraph[-1].text
        if _END.search(last):
            return False
        if re.match(r"\(\d[\d,.]*\)", text) and _COUNT.search(last):
            return True
        if letter := _LETTER.match(text):
            return f" ({chr(ord(letter[1]) - 1)}) " in " ".join(line.text for line in self.paragraph)
        return text[:1] in "-–—" and text[2:3].islower() and first[:1] in BULLETS and last[-1] not in ",;"

    def end_table(self) -> None:
        rows, self.rows = self.rows, []
        if not rows:
            return
        cells = [[cell if _SAYS.search(cell) else "" for cell in row.cells()] for row in rows]
        rows = [row for row, filled in zip(rows, cells, strict=True) if any(filled)]
        cells = [row for row in cells if any(row)]
        if not cells or (self.contents and all(row[-1].isdecimal() for row in cells)):
            return
        self.settle(followed=True)
        self.end_items()
        rows, cells = _over_pages(rows, cells)
        starts = _heads_again(rows, cells)
        for start, end in pairwise([*starts, len(rows)]):
            self.table(rows[start:end], cells[start:end])

    def table(self, rows: list[Line], cells: list[list[str]]) -> None:
        self.out.table()
        if len(cells) > 1 and (rows[0].head or _headed(rows, cells)):
            for number, sentence in table.sentences(cells, header=True):
                self.out.page = rows[number - 1].page
                self.out.row(sentence)
        else:
            for line, filled in zip(rows, cells, strict=True):
                self.out.page = line.page
                self.out.row(_without_headings([cell for cell in filled if cell]))
        self.out.table()

    def end_paragraph(self) -> None:
        lines, self.paragraph = self.paragraph, []
        if not lines:
            return
        first, text = lines[0], running_text(lines, self.vocabulary)
        turns = [line.page for above, line in pairwise(lines) if above.page != line.page]
        counted = len(lines) > 1 and self.next_item(text)
        if counted or (MARK.match(text) and not self.heads(lines, text)):
            self.settle(followed=not counted)
            self.items.append((first, text, turns))
            return
        whole = len(lines) == 1 or (len(lines) <= 3 and all(line.bold for line in lines) and _number(text)[1] > 0)
        if len(lines) == 1 and first.bold and _closed_title(text):
            text = text[:-1]
        alone = whole and _heading_like(text)
        titled, label = self.titled(lines, text), alone and _LABEL.fullmatch(text) is not None
        heading, depth = titled or label or (alone and first.bold), _depth(text)
        self.settle(followed=not heading and (depth == 0 or self.pending is None or depth > _depth(self.pending[1])))
        if not heading and alone and _numbered_heading(text):
            self.pending = first, text
            return
        self.end_items()
        self.out.page = first.page
        if self.contents and first.text[:1].islower():
            return
        self.contents = CONTENTS.fullmatch(text) is not None
        if titled:
            self.head(text, self.levels[first.size] * 10)
        elif label:
            self.out.heading(text, self.below * 10 + 5)  # "Article 7": what it is about may stand in the next line
        elif heading:
            self.head(text)
        elif (
            len(lines) == 1
            and not first.alone
            and (look := looks(text, False) or ("underlined" if _label(text) else ""))
        ):
            self.out.standing_out(text, look)
        else:
            self.out.paragraph(text, turns)

    def head(self, text: str, level: int = 0) -> None:
        """A heading of a level, or of the one that its number, else its weight says: "3. Scope" that follows "2. Terms"
        stands at its side, whatever page made that one look larger."""
        before, number = _number(text)
        last, its_level = self.numbered.get(before, (0, 0))
        beside = its_level if number == last + 1 else 0
        level = level or beside or (self.below + 1) * 10 + _depth(text)
        if number:
            self.numbered[before] = number, level
        self.out.heading(text, level)

    def next_item(self, text: str) -> bool:
        """Whether its number of several parts follows that of the last item: "7.2.3. …" after "7.2.2. …"."""
        before, number = _number(text)
        last = self.pending[1] if self.pending else self.items[-1][1] if self.items else ""
        return before != "" and _number(last) == (before, number - 1)

    def settle(self, followed: bool) -> None:
        """The numbered line that waits: a heading where something stands below it, else an item of a list, such as
        "1.1 Minutes", "1.2 Reports" of an agenda."""
        pending, self.pending = self.pending, None
        if pending is None:
            return
        line, text = pending
        if not followed or (len(self.items) > 1 and self.next_item(text)):
            self.items.append((line, text, []))
            return
        self.end_items()
        self.out.page = line.page
        self.contents = False
        self.head(text)

    def large(self, line: Line) -> bool:
        """Whether a line is in larger letters than the running text."""
        return line.size in self.levels and line.size > LARGER * self.text_sizes.get(line.page, 0.0)

    def titled(self, lines: list[Line], text: str) -> bool:
        """Whether large letters say that lines are a heading: no statement, and not many."""
        if (
            not self.large(lines[0])
            or (lines[0].alone and NAMED.match(text))
            or len(text) > 200
            or not any(map(str.isalpha, text))
            or _stamp(text)
        ):
            return False
        stated = (_END.search(text) and text[-1] != ":") or _CONTACT.search(text)
        return len(lines) <= 6 and not (len(text) > LONGEST_HEADING and stated)

    def heads(self, lines: list[Line], text: str) -> bool:
        """Whether a line that begins as an item does is a heading: "1. Scope" in large or bold letters."""
        if BULLET.match(text):
            return False
        alone = len(lines) == 1 and _heading_like(text)
        return self.titled(lines, text) or (alone and (lines[0].bold or _numbered_heading(text)))

    def end_items(self) -> None:
        """A list: what stands further in is below what stands before it."""
        items, self.items = self.items, []
        if not items:
            return
        self.out.page = items[0][0].page
        lefts: list[float] = []
        listed: list[tuple[int, str]] = []
        pages: list[int] = []
        page = items[0][0].page
        for line, text, turns in items:
            if line.page != page:  # the list goes on over the end of a page
                listed[-1] = (listed[-1][0], listed[-1][1] + TURN)
                pages.append(line.page)
            pages += turns
            page = pages[-1] if pages else page
            while lefts and line.left < lefts[-1] - 6:
                lefts.pop()
            if not lefts or line.left > lefts[-1] + 6:
                lefts.append(line.left)
            listed.append((len(lefts) - 1, text))
        self.out.items(listed, pages)


def _contents(lines: list[Line]) -> range:
    """Of a page the lines from the first to the last entry of a table of contents, wrapped ones between them; none
    where fewer than half of these have a row of dots before a page number."""
    entries = [at for at, line in enumerate(lines) if _LEADER.search(line.text)]
    if len(entries) < FEWEST_ENTRIES or 2 * len(entries) < entries[-1] - entries[0] + 1:
        return range(0)
    return range(entries[0], entries[-1] + 1)


def ends_sentence(text: str) -> bool:
    """Whether it ends with a stop or colon, quotes and brackets behind that aside."""
    return _END.search(text) is not None


def stretched(line: Line) -> bool:
    """Whether the wide gaps of a line only fill it up to the edge: its pieces go on with small letters."""
    if line.row:
        return False
    cells = line.cells()[1:]
    return len(cells) >= 2 and sum(cell[:1].islower() for cell in cells) >= 0.6 * len(cells)


def justified(lines: list[Line]) -> list[Line]:
    """The lines of a page; a wide gap between two sentences of text that is set to both edges is no column."""
    for at, line in enumerate(lines):
        beside = [lines[other] for other in (at - 1, at + 1) if 0 <= other < len(lines)]
        if line.gaps and not line.row and any(_set_alike(line, other) for other in beside):
            narrow = all(right - left < DOUBLED * line.size for left, right in line.edges)
            if narrow and all(ends_sentence(cell) for cell in line.cells()[:-1]):
                line.gaps, line.edges = [], []
    return lines


def _set_alike(line: Line, other: Line) -> bool:
    """Whether a line without gaps stands right above or below, from the same left to the same right edge."""
    near = abs(line.bottom - other.bottom) < 2 * line.size and abs(line.size - other.size) <= 0.6
    return near and not other.gaps and abs(line.left - other.left) < 2 and abs(line.right - other.right) < 2


def _without_headings(row: list[str]) -> str:
    """A row whose columns have no headings: a name and its value, several of them, or its cells."""
    if len(row) % 2 == 0 and all(cell.endswith(":") for cell in row[::2]):
        return "; ".join(f"{name} {value}" for name, value in zip(row[::2], row[1::2], strict=True))
    key = len(row) == 2 and len(row[0]) <= 60 and row[0][-1] not in "!?;:"
    return (": " if key else "; ").join(row)


def _over_pages(rows: list[Line], cells: list[list[str]]) -> tuple[list[Line], list[list[str]]]:
    """The rows without headings that are repeated on the next page, and with the rows that a page end cuts in two: what
    stands below has no first cell, or only the rest of one."""
    whole: list[tuple[Line, list[str]]] = []
    for row, own in zip(rows, cells, strict=True):
        if whole and row.page != whole[-1][0].page:
            last = whole[-1][1]
            if own == cells[0] and len(own) > 1 and len(whole) > 1:
                continue
            both = [bool(one and other) for one, other in zip(last, own, strict=True)]
            rest = own[0][:1].islower() and not any(own[1:]) and all(last) and len(own) > 2
            if rest or (last[0] and not own[0] and not any(both) and not any(last[1:])):
                whole[-1] = whole[-1][0], [" ".join(filter(None, pair)) for pair in zip(last, own, strict=True)]
                continue
        whole.append((row, own))
    return [row for row, _ in whole], [own for _, own in whole]


def _heads_again(rows: list[Line], cells: list[list[str]]) -> list[int]:
    """Where a table, or another part of it with headings of its own, begins: each has a bold row over rows that are
    not bold."""
    bold = [row.bold and sum(map(bool, filled)) > 1 for row, filled in zip(rows, cells, strict=True)]
    again = [at for at in range(1, len(rows) - 1) if bold[at] and not bold[at - 1] and not bold[at + 1]]
    return [0, *(again if bold[0] else [])]


def _headed(rows: list[Line], cells: list[list[str]]) -> bool:
    """Whether the first row holds the headings of the others: it alone is bold, or it has words where these have
    numbers. A table of two columns is a list of names and values unless its first row is bold."""
    filled = sum(map(bool, cells[0]))
    named = max((at + 1 for at, cell in enumerate(cells[0]) if cell), default=0)
    rest = list(zip(rows, cells, strict=True))[1:]
    # Words over numbers in each column but the first, whose names may have no heading. The last ones may have none,
    # either: links, ticks.
    over_numbers = named > 2 and all(cells[0][1:named]) and contrast(kinds_of(cells)) == named - 1
    if over_numbers and max(map(len, cells[0])) <= LONGEST_HEADING:
        return table.looks_like_header(cells[0])
    if not table.looks_like_header(cells[0]) or filled < max(sum(map(bool, row)) for row in cells):
        return False
    word = cells[0][0].split(" ", 1)[0]
    if any(row.bold and own[0].startswith(f"{word} ") and not any(own[1:]) for row, own in rest):
        return False  # "Part 1 …" over "Part 2 …": the first of several parts
    if rows[0].bold and not rows[1].bold:
        return True
    if len(cells[0]) == 2 and max(map(len, cells[0])) < 30:
        return mean(len(row[0]) for row in cells[1:]) > 30  # no names, but text on both sides
    return len(cells[0]) > 2 and not any(map(str.isdecimal, "".join(cells[0])))


def _depth(text: str) -> int:
    """How many levels below the first its number says: 2 of "1.2.3 Scope", 0 without a number."""
    numbered = NUMBERED.match(text)
    return (numbered.group(1) or "").count(".") if numbered else 0


def _number(text: str) -> tuple[str, int]:
    """Its number of digits, as what stands before the last part of it and that part: ("1.2.", 3) of "1.2.3 Scope"; 0
    without one."""
    numbered = NUMBERED.match(text)
    parts = (numbered and numbered.group(1)) or ""
    before, last = parts[: parts.rfind(".") + 1], parts[parts.rfind(".") + 1 :]
    return before, int(last) if last else 0


def _numbered_heading(text: str) -> bool:
    """Whether a number of two parts or more and the words say heading: no rule, and no sentence that a list goes on
    with."""
    introduces = text.endswith(":") and text.count(" ") > 2
    return _depth(text) > 0 and not introduces and _RULE.search(text) is None


def _label(text: str) -> bool:
    """Whether it names what follows: "Physical Address Requirements:"."""
    words = text[:-1].split()
    return (
        text.endswith(":")
        and 0 < len(words) <= MOST_OF_LABEL
        and all(word[0].isupper() or len(word) < 4 for word in words)
    )


def _closed_title(text: str) -> bool:
    """Whether it is a title with a stop behind it: "Hours of Operation."."""
    words = text[:-1].split()
    small = all(word[0].isupper() or len(word) <= 4 for word in words)
    return text.endswith(".") and len(words) <= LONG_TITLE and small and words[0][0].isupper() and len(words[-1]) > 3


def _heading_like(text: str) -> bool:
    section = _SECTION.match(text) is not None  # "§ 10-105. Repealer."
    closed = text.endswith((".", ",", ";")) and not section
    return len(text) <= 100 and not closed and any(map(str.isalpha, text)) and not _stamp(text)


def _stamp(text: str) -> bool:
    return len(text) <= MOST_OF_STAMP and STAMP.fullmatch(text) is not None


def running_text(lines: list[Line], vocabulary: set[str]) -> str:
    """One line of text, with a TURN where a page ends. A word divided at a line end is put together, unless its hyphen
    looks like its own."""
    text = lines[0].text
    for above, line in pairwise(lines):
        turn = "" if above.page == line.page else TURN
        divided = _DIVIDED.search(text)
        if divided is None:
            named = not any(map(str.isspace, f"{above.text}{line.text}"))  # one below another, as in a list of files
            text += ("\n" if named else " ") + turn + line.text
            continue
        first, second = divided.group(1).lower(), line.text.split()[0].strip(_AROUND).lower()
        compound = first in vocabulary and second in vocabulary and first + second not in vocabulary
        known = first + second in vocabulary
        # "COVID-19", and "log-book" where both are words of this document
        keep = not known and (compound or not line.text[:1].islower())
        text = (text if keep else text[:-1]) + turn + line.text
    return text
