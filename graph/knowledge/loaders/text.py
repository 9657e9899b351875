"""Plain text: its encoding, its paragraphs, its lists and what looks like a heading."""

import re

from graph.errors import Quarantined
from graph.knowledge.loaders import normalise
from graph.knowledge.loaders.build import Builder

BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
SAMPLE = 64 * 1024  # bytes from which an encoding is guessed
BULLET = re.compile(rf"\s*(?:[-–{normalise.BULLETS}]\s+|[{normalise.BULLETS[1:]}])(?=\S)")
MARK = re.compile(rf"{BULLET.pattern}|\s*(?:[(\[]?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}}|[IVX]{{1,5}})[.)\]])\s+(?=\S)")
_PART = r"(?i:section|chapter|part|article|appendix|annex)\s+(?:\d+|[A-Z]{1,5})[.:]?"
NUMBERED = re.compile(
    rf"(?:{_PART}|(\d{{1,2}}(?:\.\d{{1,2}}){{0,4}})[.)]?|[A-Z][.)]|[IVX]{{1,5}}[.)])\s+[\"“(]?[^\W\d_a-z]"
)
_MARKED = re.compile(r"\s{0,3}(#{1,6}) +(\S.*?)[ #]*")
_UNDERLINE = re.compile(r"\s*(={3,}|-{3,}|~{3,})\s*")
_TITLE = re.compile(r"\s*title\s*:\s*(\S.*)", re.IGNORECASE)


def decode(data: bytes) -> str:
    """Text of bytes in UTF-8, UTF-16, UTF-32 or an old 8-bit encoding. Raises Quarantined "encoding"."""
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return _readable(data[len(bom) :].decode(encoding, errors="replace"))
    try:
        return _readable(data.decode("utf-8"))
    except UnicodeDecodeError:
        pass
    if (wide := _wide(data)) is not None:
        return _readable(wide)
    text = data.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd")
    if damaged * 20 < sum(len(run) for run in re.findall(r"[^\x00-\x7f\ufffd]+", text)):
        return _readable(text)  # UTF-8 with a few bad bytes: guessing would spoil all the rest
    return _readable(data.decode(_guess(data), errors="replace"))


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of Western text is zero."""
    sample = data[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) < len(sample) * 0.2 or min(even, odd) > len(sample) * 0.02:
        return None
    try:
        return data.decode("utf-16-le" if odd > even else "utf-16-be")
    except UnicodeDecodeError:
        return None


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    # Beyond ASCII a few letters decide; sample where they are, not only the beginning.
    first = next((i for i, byte in enumerate(data) if byte > 127), 0)
    start = max(0, first - SAMPLE // 4)
    matches = from_bytes(data[start : start + SAMPLE], cp_exclusion=["utf_7", "utf_16", "utf_32"])
    best = matches.best()
    if best is None:
        return "cp1252"
    # Short Western text also reads as Czech or Turkish. Where little speaks against Windows-1252, by far the most
    # common of these (and Latin-1 with letters where that has controls), it is that.
    for match in matches:
        western = match.encoding in ("cp1252", "latin_1") or "cp1252" in match.could_be_from_charset
        if western and match.chaos <= best.chaos + 0.04 and match.coherence >= best.coherence - 0.02:
            return "cp1252"
    return best.encoding


def _readable(text: str) -> str:
    sample = text[:200_000]
    odd = sum(map(len, re.findall("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd\ufffe\uffff]+", sample)))
    if odd > 5 and odd > len(sample) * 0.005:
        raise Quarantined("encoding", "the bytes of this file are not text in any encoding", hint="save it as UTF-8")
    return text


def read(data: bytes, out: Builder) -> None:
    """An empty line ends a paragraph; a first line "Title: …" names the document."""
    lines = normalise.clean(text := decode(data)).split("\n")
    for words in normalise.smuggled(text):
        out.hide(words)
    if (match := _TITLE.fullmatch(next((line for line in lines if line.strip()), ""))) is not None:
        out.title = match.group(1)
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            _paragraph(paragraph, out)
            paragraph = []


def _paragraph(lines: list[str], out: Builder) -> None:
    if len(lines) >= 2 and _UNDERLINE.fullmatch(lines[1]) and not _UNDERLINE.fullmatch(lines[0]):
        out.heading(lines[0], 1 if "=" in lines[1] else 2)
        lines = lines[2:]
    elif marked := _MARKED.fullmatch(lines[0]):
        out.heading(marked[2], len(marked[1]))
        lines = lines[1:]
    elif len(lines) == 1 and (level := heading_level(lines[0])):
        out.heading(lines[0], level)
        return
    elif len(lines) > 1 and _heads(lines[0], lines[1]):
        out.heading(lines[0], heading_level(lines[0]))
        lines = lines[1:]
    plain: list[str] = []
    listed: list[list[str]] = []
    for line in lines:
        if _UNDERLINE.fullmatch(line):
            continue
        if MARK.match(line):
            listed.append([line])
        elif listed:
            listed[-1].append(line)
        else:
            plain.append(line)
    if len(listed) == 1 and not plain and len(listed[0]) > 1 and not listed[0][1][:1].isspace():
        plain, listed = listed[0], []  # one mark and unindented lines below: "1. Scope" and its text
    out.paragraph(normalise.unwrap(plain))
    out.items((_depth(item[0]), " ".join(item)) for item in listed)


def _heads(line: str, below: str) -> bool:
    """Whether a line is the heading of the lines right under it: capitals, or a number and clearly shorter."""
    if not heading_level(line) or MARK.match(below) or below.strip()[0].islower() or heading_level(below):
        return False
    return line.isupper() or len(line.strip()) < 0.6 * len(below.strip())


def _depth(line: str) -> int:
    indent = line.expandtabs(4)
    return (len(indent) - len(indent.lstrip())) // 2


def heading_level(line: str) -> int:
    """Level of a line that stands alone and reads like a heading, from 1; 0 for any other."""
    text = line.strip()
    if not 3 <= len(text) <= 80 or text[-1] in ".,;!?。" or text.endswith(" -"):
        return 0
    if (match := NUMBERED.match(text)) is not None and not text.endswith(":"):
        return 1 + (match.group(1) or "").count(".")
    letters = [letter for letter in text if letter.isalpha()]
    return 1 if len(letters) >= 4 and all(letter.isupper() for letter in letters) else 0
