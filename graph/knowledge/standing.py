"""Which documents are no longer in force, by what they say of themselves ("This directive has been revoked. It is
superseded by BOD 19-02.") or what a later one says of them ("This directive supersedes BOD 15-01 …").

Ingestion notes such sentences in the record; search brings the passages that hold them; whoever reads the evidence
finds them there again, masked and judged like any other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import PurePath
from typing import Any, NamedTuple

from graph.knowledge import versions
from graph.knowledge.mentions import LAPSED, LIMITED, MENTIONED, REPLACES, Name, codes, name, says
from graph.policy.text import lexical
from graph.policy.text.quantities import dates
from graph.policy.text.sentences import split

IN_FORCE = "says what is in force"  # what a handle says of why it is there
OPENING = 6_000  # characters in which a document says so of itself
HEAD = 1_000  # characters in which a line that begins so is a field of the document: "Superseded by: …"
READ = 400_000  # characters in which it is looked for what a document replaces
MOST = 5  # documents that one says it replaces
_LONGEST = 400  # characters of such a sentence
_LIKE = 0.8  # share of the words of what is replaced that a document's name must hold
_KINDS = """
    act agreement bulletin charter circular code directive document edition form framework guide guidance guideline
    guidelines handbook instruction instructions manual memo memorandum notice order paper plan policy procedure process
    protocol regulation regulations release rule rules sop specification standard statement template terms version
    """.split()
_KIND = rf"(?:{'|'.join(_KINDS)})"
_THIS = rf"\b(?:this|the present|these) (?:[\w-]+ ){{0,3}}?{_KIND}\b(?: \([^()]{{1,40}}\))?"
_DONE = (
    r"(?:revoked|superseded|replaced|withdrawn|repealed|rescinded|retired|cancell?ed|annulled|obsolete|outdated|"
    r"no longer (?:in force|in effect|in use|valid|current|applicable|effective|applies|apply|used|maintained))"
)
_ITSELF = re.compile(
    rf"{_THIS} (?:has been|have been|is|are|was|were)(?: (?:now|hereby|since|formally|therefore|also))* {_DONE}|"
    rf"{_THIS} no longer appl(?:y|ies)\b",
    re.I,
)
_STATUS = re.compile(
    r"[\s*_#>|]*(?:(?:document |policy )?status\W{1,3}(?:superseded|withdrawn|obsolete|repealed|revoked|rescinded|"
    r"expired|retired|cancell?ed|no longer in force)\W*$|"
    r"(?:superseded|replaced|repealed|revoked|rescinded) (?:by|on)\b\W*\S|"
    r"(?:superseded|withdrawn|obsolete|repealed|revoked|rescinded)\W*$)",
    re.I,
)
# "Valid until: 31 December 2024", as a field, and as what it says of itself. It is over when the last day is.
_UNTIL = re.compile(
    r"[\s*_#>|]*(?:(?:valid|effective|in force|in effect|applicable)\W{1,3}(?:until|till|through|to)\b|"
    r"(?:(?:expiry|expiration)(?: date)?|expires(?: on)?|end of validity)\W{1,3}(?=\w))",
    re.I,
)
_LIMITED = re.compile(
    rf"{_THIS} (?:(?:is|are|remains?|stays?) )?(?:(?:expires?|expired) on\b|"
    r"(?:valid|in force|in effect|effective|applicable|applies)\b[^.;]{0,40}?\b(?:until|till|through)\b)",
    re.I,
)
_NOT_SO = re.compile(
    r"\b(?:if|until|unless|once|when(?:ever)?|should|may|might|can|will|shall|would|before|not)\b", re.I
)
_REPLACES = re.compile(
    rf"{_THIS}(?: (?:hereby|also|formally|therefore))* "
    r"(?:(?:supersedes?|replaces?|revokes?|rescinds?|repeals?|cancels?)(?:,? and )?(?: hereby)?){1,2} |"
    r"^\W*(?:supersedes|replaces|repeals|rescinds)\W{1,4}",
    re.I,
)
# Lines without any of these are not looked at: most texts have none.
_IN_PLACE = ("supersede", "replace", "revoke", "rescind", "repeal", "cancel")
_OVER = (
    *_IN_PLACE, "withdrawn", "retired", "annulled", "obsolete", "outdated", "no longer", "expir", "valid", "in force",
    "in effect", "effective", "applicable", "applies",
)  # fmt: skip
_GOES_ON = re.compile(r"(?:It|They|See|Use|Please)\b")
# What is replaced is named up to here: "BOD 15-01, Critical Vulnerability Mitigation … (May 21, 2015), which is …".
_ENDS = re.compile(
    r"[,;(]|\. |\.$|\b(?:which|that|issued|dated|effective|in (?:its|their) entirety|with effect)\b|\s[-–—]\s"
)
_PLAIN = frozenset(lexical.stems("the a an all any of on for and our its earlier previous former prior old existing"))
_VAGUE = frozenset(map(lexical.stem, [*_KINDS, "versions", "editions", "documents", "policies"]))


class Lapse(NamedTuple):
    """Of a source: the number of the source that says it, and the sentence."""

    n: int
    sentence: str


class Replaced(NamedTuple):
    """What a document says it replaces: the stems of its words, its codes ("15-01"), and the sentence."""

    words: frozenset[str]
    codes: tuple[str, ...]
    sentence: str


def fields(text: str) -> Iterator[tuple[str, str]]:
    """What a document's text says of what is in force, as fields of its record: sentences as they stand."""
    if sentence := lapse(text[:OPENING], 0):
        yield LAPSED, sentence
    elif sentence := lapse(text[:OPENING], date.max.toordinal()):
        yield LIMITED, sentence
    for one in list(replaced(text[:READ]))[:MOST]:
        yield REPLACES, one.sentence


def lapse(opening: str, today: int, begin: int = 0) -> str:
    """The sentence in which a document says that it is no longer in force on this day (an ordinal), with one that goes
    on ("It is superseded by …"); "" for none. `begin` is where the text begins in the document."""
    for offset, line, spans in _lines(opening, _OVER):
        heads = begin + offset < HEAD and len(line) <= _LONGEST and ";" not in line  # a field of it, and no row
        if heads and (_STATUS.match(line) or (_UNTIL.match(line) and _past(line, today))):
            return line
        for at, (start, end) in enumerate(spans):
            if end - start > _LONGEST:
                continue
            if _LIMITED.search(line, start, end) and _past(line[start:end], today):
                return line[start:end].strip()
            match = _ITSELF.search(line, start, end)
            if match and not _NOT_SO.search(line, start, match.end()):
                after = spans[at + 1] if at + 1 < len(spans) else (end, end)
                return line[start : after[1] if _GOES_ON.match(line, *after) else end].strip()
    return ""


def now() -> int:
    """The ordinal of today, UTC."""
    return datetime.now(UTC).date().toordinal()


def replaced(text: str) -> Iterator[Replaced]:
    """Each thing that a document says it replaces; nothing of "all earlier versions"."""
    for _, line, spans in _lines(text, _IN_PLACE):
        for start, end in spans:
            match = _REPLACES.search(line, start, end)
            if match is None or end - start > _LONGEST or _NOT_SO.search(line, start, match.end()):
                continue
            what = line[match.end() : end]
            stop = _ENDS.search(what)
            what = what[: stop.start()] if stop else what
            named = re.split(r"[-/]", what)  # in a file's name, "15-01" is 15 and 01
            words = frozenset(word for part in named for word in lexical.stems(part)) - _PLAIN
            if any(any(c.isdigit() for c in word) for word in words) or len(words - _VAGUE) > 1:
                yield Replaced(words, tuple(codes(what)), line[start:end].strip())


def replaces(text: str) -> bool:
    """Whether the text says that a document replaces another one."""
    return _REPLACES.search(text) is not None


def _past(text: str, today: int) -> bool:
    """Whether the last day that the text names is over."""
    return 0 < max(dates(text), default=0) < today


def _lines(text: str, gate: Sequence[str]) -> Iterator[tuple[int, str, list[tuple[int, int]]]]:
    """The lines with something of the gate: where each begins, it, and where its sentences stand."""
    if not _has(text, gate):
        return
    for line in re.finditer(r"[^\n]+", text):
        if _has(line[0], gate):
            yield line.start(), line[0].strip(), list(split(line[0].strip()))


def _has(text: str, gate: Sequence[str]) -> bool:
    lower = text.lower()
    return any(word in lower for word in gate)


def speaks_of(what: frozenset[str], known: Name) -> bool:
    """Whether these words name the document: nearly all of them are in its name."""
    return known.holds(what) >= _LIKE


def asked_for(question: str, evidence: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the question asks for a document that is no longer in force by its name or its number, or how things
    were: then such documents answer it."""
    lapses = lapsed(evidence)
    gone = [item for item in evidence if item["n"] in lapses]
    names = [name(item["title"], item["filename"]) for item in gone]
    called = any(known.has_code(code) for known in names for code in codes(question))
    return called or versions.compares(question) or any(item.get("why") == MENTIONED for item in gone)


def lapsed(evidence: Sequence[Mapping[str, Any]]) -> dict[int, Lapse]:
    """The sources that are no longer in force by what stands in the evidence, by their numbers."""
    today = now()
    of_itself = {
        _document(item): Lapse(item["n"], sentence)
        for item in evidence
        if item["start"] < OPENING and (sentence := lapse(item["text"], today, item["start"]))
    }
    later = [(item, one) for item in evidence for one in replaced(item["text"])]
    if not of_itself and not later:
        return {}
    lapses: dict[int, Lapse] = {}
    for item in evidence:
        known = name(item["title"], item["filename"])
        by = (
            Lapse(other["n"], one.sentence)
            for other, one in later
            if _document(other) != _document(item) and speaks_of(one.words, known)
        )
        if lapse_of := of_itself.get(_document(item)) or next(by, None):
            lapses[item["n"]] = lapse_of
    return lapses


def lapsed_codes(evidence: Sequence[Mapping[str, Any]]) -> dict[str, Lapse]:
    """What documents that are no longer in force are called by ("15-01"), by what stands in the evidence."""
    lapses = lapsed(evidence)
    named: dict[str, Lapse] = {}
    for item in evidence:
        if item["n"] in lapses:
            own = codes(f"{item['title']} {PurePath(item['filename']).stem}")
            named |= dict.fromkeys(own, lapses[item["n"]])
        for one in replaced(item["text"]):
            named |= dict.fromkeys(one.codes, Lapse(item["n"], one.sentence))
    return named


def lapse_named(text: str, named: Mapping[str, Lapse]) -> Lapse | None:
    """Of `lapsed_codes` the one that a sentence names: it tells what was in force. None where it says that itself."""
    if not named or replaces(text) or _ITSELF.search(text):
        return None
    return next((lapse for code, lapse in named.items() if says(text, code)), None)


def _document(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["where"], item["doc_id"]
