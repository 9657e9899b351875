"""Prose to claims: each sentence of what a model wrote, with the sources that it names."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from graph.models import wording
from graph.models.citation_parser import CitationParser
from graph.policy.text.sentences import split

MOST = 60  # claims, as many as the schema lets a model write
MOST_CHARS = 40_000  # of prose; what a model writes beyond that repeats itself
_TEXT = 4_000
_BULLET = re.compile(r"^\s*(?:>\s*)*(?:[-*•–▪◦]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__):?\s*$|[-=*_]{3,}\s*$|```)")
_SOURCES = re.compile(
    r"^\W*(?:sources?|references?|citations?|works cited|bibliography|footnotes?)(?: used| cited)?\W*(?:$|:)", re.I
)
_LABEL = re.compile(
    r"^\W*(?:(?:final|short|direct|brief)\s+)?(?:answer|response|result|conclusion|summary|in short)\W*:\W*\s", re.I
)
_EMPHASIS = re.compile(r"(\*\*|__|~~|`)(?=\S)(.{1,400}?)(?<=\S)\1|(?<!\w)([*_])(?=\S)([^*_\n]{1,400}?)(?<=\S)\3(?!\w)")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_WHOLE = re.compile(r"[.!?…。！？؟۔।][\"'”’»)\]]*\s*$")
_AMOUNT = re.compile(
    r"\W{0,3}(?:[$€£¥] ?\d[\d.,]*|\d[\d.,]* ?[%€£¥$]|\d+(?:[.,:/-]\d+)+)\W{0,3}"
)  # "(1)" and "114" are none
_SAYS_NOTHING = re.compile(r"yes|no(?:t|ne|thing)?|n/?a|null|true|false|unknown|\d{1,3}", re.I)
MOST_VALUE = 3  # words of a value
FEWEST_SIGNS = 3  # letters and figures of one; "P3" has enough
_CODE = re.compile(r"[A-Z]\d|\d[A-Z]")
_FEW = 4  # words: a shorter item of a list says nothing without the line above it


def parse(text: str, marks: CitationParser, sources: Sequence[int] = (), *, cut: bool = False) -> list[dict[str, Any]]:
    """Claims `{"text", "sources"}` in their order, none twice. `sources` are those of a sentence that names none.

    With `cut` the text broke off: what has no end at its end is no sentence, and is left out. An amount alone
    ("$73,500"), and a name or a value that stands in the evidence, is a claim where a model wrote nothing else.
    """
    cut = cut or len(text) > MOST_CHARS
    parsed: dict[str, dict[str, Any]] = {}
    statements = list(_statements(_EMPHASIS.sub(r"\2\4", text[:MOST_CHARS]), marks))
    if cut and statements and not _WHOLE.search(statements[-1][0]):
        statements.pop()
    for sentence, numbers in statements:
        statement, opening = marks.opening(sentence)
        key = " ".join(re.findall(r"\w+", statement.replace("[REDACTED]", "").casefold()))
        says = len(key.split()) > 1 and re.search(r"[^\W\d_]{2}", key)  # "null", "114": no sentence
        if len(parsed) < MOST and (says or wording.unknown(statement)):
            parsed.setdefault(key, {"text": statement[:_TEXT], "sources": list(numbers or opening or sources)})
    if not parsed and (_AMOUNT.fullmatch(text.strip()) or _written(text.strip(), marks)):
        return [{"text": text.strip(), "sources": list(sources)}]
    return list(parsed.values())


def _written(value: str, marks: CitationParser) -> bool:
    """Whether a text is a name or a value alone ("Monday", "135 V") that stands in the evidence."""
    bare = value.strip(" .,;:!\"'“”‘’*`")
    signs = len(re.findall(r"\w", bare)) + bool(_CODE.fullmatch(bare))
    if len(bare.split()) > MOST_VALUE or signs < FEWEST_SIGNS or _SAYS_NOTHING.fullmatch(bare):
        return False
    alone = re.compile(rf"(?<![\w.,]){re.escape(bare)}(?!\w|[.,]\d)", re.I)
    return any(alone.search(item["text"]) for item in marks.evidence)


def _statements(text: str, marks: CitationParser) -> Iterator[tuple[str, list[int]]]:
    header: list[str] = []
    lines = list(_lines(text, marks))
    for at, line in enumerate(lines):
        if _SOURCES.match(line) and not _sentence_like(line):
            return  # what follows names sources and says nothing
        if _HEADING.match(line) or _RULE.match(line):
            continue
        if line.count("|") >= 2:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if at + 1 < len(lines) and _RULE.match(lines[at + 1]):
                header = cells
            else:
                yield from _parted(_row(header, cells), marks)
            continue
        header = []
        yield from _parted(line, marks)


def _lines(text: str, marks: CitationParser) -> Iterator[str]:
    """The lines, items without their bullets. Short items ("Kenya", "Peru") follow the words that lead to them."""
    lead = ""
    short: list[str] = []
    for line in [*filter(str.strip, text.splitlines()), ""]:
        item = _BULLET.match(line)
        body = _LABEL.sub("", line[item.end() :] if item else line)
        plain = marks.taken(body)[0].strip()
        leads = plain.endswith((":", "：")) and not _HEADING.match(line) and not _SOURCES.match(line)
        if item and lead and not leads and len(re.findall(r"\w+", plain)) < _FEW:
            short.append(body.strip().rstrip(".;,"))
            continue
        if short:
            yield f"{lead}: {', '.join(short)}"
            short = []
        if leads:
            *before, (start, _) = split(plain)
            lead = plain[start:-1]
            yield from [plain[:start]] if before else []
            continue
        if not item and not _HEADING.match(line):
            lead = ""
        yield body


def _parted(line: str, marks: CitationParser) -> Iterator[tuple[str, list[int]]]:
    """The sentences of a line. A mark belongs to the sentence it follows, or, where the line begins with one and does
    not end with one, to what it leads, up to the next mark."""
    plain, citations = marks.taken(line)
    leads = bool(citations) and not plain[: citations[0][0]].strip() and bool(plain[citations[-1][0] :].strip())
    # Where marks lead, one before a capital begins a sentence, though nothing ended the one before it.
    begins = [place for place, _ in citations if leads and not plain[place:].lstrip()[:1].islower()]
    parts = [0, *(place for place in sorted({*begins}) if plain[:place].strip()), len(plain)]
    ranges = [(a + start, a + end) for a, b in pairwise(parts) for start, end in split(plain[a:b])]
    if not ranges:
        return
    numbers: list[list[int]] = [[] for _ in ranges]
    for place, sources in citations:
        if leads:
            at = next((i for i, (_, end) in enumerate(ranges) if end > place), len(ranges) - 1)
        else:
            at = max((i for i, (start, _) in enumerate(ranges) if start < place), default=0)
        numbers[at] += [n for n in sources if n not in numbers[at]]
    for (start, end), sources in zip(ranges, numbers, strict=True):
        sentence = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(plain[start:end].split()))
        if re.search(r"\w", sentence) and not marks.is_name(sentence):
            yield sentence, sources


def _row(header: list[str], cells: list[str]) -> str:
    """A row of a table as a line: each cell after the name of its column."""
    if len(header) != len(cells):
        return ", ".join(cell for cell in cells if cell)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in zip(header, cells, strict=True) if cell)


def _sentence_like(line: str) -> bool:
    """ "Sources of error are listed in the log." is a sentence, "Sources: memo.md" is none."""
    return ":" not in line and _WHOLE.search(line) is not None and len(re.findall(r"\w+", line)) > _FEW
