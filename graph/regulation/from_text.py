"""Plain text copied from the PDF (hard lines, running heads, footnotes in between) or from the web page (a paragraph a
line, marks on lines of their own)."""

# Patterns read best one to a line.
# ruff: noqa: E501
import re
from collections.abc import Iterator, Sequence

from graph.knowledge.loaders import normalise
from graph.knowledge.loaders.text import decode
from graph.regulation import marks
from graph.regulation.from_pdf import HEAD
from graph.regulation.joining import join, vocabulary
from graph.regulation.lines import Line, ended, stopped

WRAPPED_AT_MOST = 160  # characters of nearly every line of a text whose lines are those of a printed page
NOTE = "\ue000"  # stands before a line that is known to begin a footnote
_RAISED_OWN = re.compile(r"(?m)^\(\s*\n\s*(\d{1,3})\s*\n\s*\)")
_RAISED = re.compile(r" ?\(\s*\n\s*\d{1,3}\s*\n\s*\)")
_NOTE_MARK = re.compile(rf"{NOTE}|\((\d{{1,3}})\)\s")
_SOURCE = re.compile(r"\bOJ [LCS]\b|not yet published in the Official Journal|\bECLI:")
_SOURCE_END = re.compile(r"\bp\. ?\d{1,4}\)?\.$")
_INLINE = re.compile(r"(?<=[\w’'”)]) \((\d{1,3})\)(?=[\s,.;:)]|$)")
_NAMES_A_PART = re.compile(r"\b(?:points?|paragraphs?|and|or|to)$|\([a-z\d]{1,4}\)[,]?$", re.I)
_HEADING = re.compile(
    r"(?:Article\s+\d{1,4}[a-z]{0,3}|Sole Article|(?:PART|TITLE|CHAPTER|SUB-?SECTION|SECTION)\s+[A-Z\d]{1,8}|ANNEX(?:\s+[A-Z\d]{1,8})?)$",
    re.I,
)
_ALONE = re.compile(r"Whereas:?$|(?:HAS|HAVE) (?:ADOPTED|DECIDED)\b|Done at\b|Having regard to\b", re.I)


def read(data: bytes) -> list[Line]:
    """The paragraphs, without running heads and footnotes. Their pages and headings are not known."""
    text = normalise.clean(decode(data).replace("\ufffe", "-\n"))
    text = _RAISED.sub("", _RAISED_OWN.sub(NOTE + r"(\1)", text))
    rows = [" ".join(row.split()) for row in text.split("\n")]
    rows = [row for row in rows if not (row and HEAD.fullmatch(row))]
    lengths = sorted(len(row) for row in rows if row)
    wrapped = bool(lengths) and lengths[int(len(lengths) * 0.97) if len(lengths) > 30 else -1] <= WRAPPED_AT_MOST
    width = lengths[int(len(lengths) * 0.9)] if wrapped else 0
    known = vocabulary(rows)
    groups = list(_wrapped(rows, width)) if wrapped else [[row] for row in rows if row]
    texts, notes = _without_notes([join(group, known) for group in groups])
    return [Line(text) for text in _unmarked(texts, notes)]


def _wrapped(rows: Sequence[str], width: int) -> Iterator[list[str]]:
    """Lines of one paragraph each."""
    current: list[str] = []
    under_heading = False
    for row in rows:
        if current and (not row or _opens(current[-1], row, width, under_heading or current[0].startswith(NOTE))):
            yield current
            under_heading = bool(_HEADING.match(current[0])) or (under_heading and not marks.read(row)[0] and bool(row))
            current = []
        if row:
            current.append(row)
    if current:
        yield current


def _opens(above: str, row: str, width: int, free: bool) -> bool:
    """Whether `row` begins a paragraph; `free` when what is above need not end like a sentence."""
    if free and _SOURCE_END.search(above):
        return True
    if row.startswith(NOTE) or _HEADING.match(above) or (_ALONE.match(row) and ended(above)):
        return True
    room = len(above) + 1 + len(row.split(" ", 1)[0]) < width - 2
    if _HEADING.match(row) and (ended(above) or room):
        return True
    if marks.read(row)[0] and (free or ended(above)):
        return True
    if free and not stopped(above):
        return room and row[:1].isupper()
    return stopped(above) and room


def _without_notes(paragraphs: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paragraphs that are no footnotes, and the numbers of those that are, in order."""
    texts: list[str] = []
    numbers: list[str] = []
    for text in paragraphs:
        match = _NOTE_MARK.match(text)
        if match is not None and (text.startswith(NOTE) or _is_note(text, match[1], numbers)):
            numbers.append(match[1] or re.sub(r"\D.*", "", text[2:]))
        else:
            texts.append(text)
    return texts, numbers


def _is_note(text: str, number: str, before: Sequence[str]) -> bool:
    """A footnote names where an act was published, which the text of an act does not; its number is the next, or 1."""
    due = {"1", str(int(before[-1]) + 1)} if before else {"1"}
    return number in due and _SOURCE.search(text) is not None


def _unmarked(texts: Sequence[str], notes: Sequence[str]) -> Iterator[str]:
    """The texts without the marks of the footnotes, which stand in the same order."""
    at = 0
    for text in texts:
        parts, begin = [], 0
        for match in _INLINE.finditer(text):
            if (
                at < len(notes)
                and match[1] == notes[at]
                and not _NAMES_A_PART.search(text[max(0, match.start() - 40) : match.start()])
            ):
                parts.append(text[begin : match.start()])
                begin = match.end()
                at += 1
        yield "".join([*parts, text[begin:]])
