"""Questions for the places that speak of something: "Which policies mention contractors?"."""

import re
from dataclasses import dataclass

_ANY = r"documents?|docs?|files?|pages?|texts?|places?"
KIND = (
    rf"(?P<kind>{_ANY}|agreements?|articles?|bulletins?|bylaws?|charters?|circulars?|contracts?|directives?|emails?|"
    r"guid(?:es?|elines?)|handbooks?|letters?|logs?|mails?|manuals?|memos?|minutes|notebooks?|notes?|notices?|"
    r"playbooks?|policies|policy|presentations?|procedures?|protocols?|records?|regulations?|reports?|sheets?|slides?|"
    r"sops?|specifications?|standards?|summaries|templates?)"
)
_ASKED = (
    r"\W*(?:please )?(?:(?:which|what|how many)(?: of)?|(?:list|show(?: me)?|name|find)(?: all)?|all)"
    r"(?: (?:the|our|my))?"
)
_SPEAK = (
    r"(?:mention(?:s|ed)?|discuss(?:es)?|talks? (?:about|of)|speaks? (?:about|of)|refers? to|"
    r"says? (?:any|some)thing (?:about|on)|(?:are|is)(?: there)? about|deals? with|covers?|"
    r"(?:i|we|you|they) have (?:on|about)|contains? the (?:words?|terms?|phrase|name))"
)
_WHAT = r"(?:the (?:words?|terms?|phrase|name) )?(?P<what>[^?.!;]{2,80}?)"
_END = r"(?: (?:at all|anywhere))?\W*$"
_QUESTIONS = (
    re.compile(rf"{_ASKED} {KIND}(?: (?:that|which|do|does))* {_SPEAK} {_WHAT}{_END}", re.I),
    re.compile(
        rf"\W*(?:where|in (?:which|what|how many) {KIND}) (?:is|are|was|were|do|does|did) {_WHAT}"
        rf" (?:mentioned|named|discussed|referred to|talked about|appear|occur|come up){_END}",
        re.I,
    ),
)
_DONE = (
    r"(?:superseded|replaced|revoked|repealed|rescinded|withdrawn|retired|cancell?ed|expired|lapsed|obsolete|outdated)"
)
_STATE = r"(?:in force|in effect|in use|valid|current|applicable|effective|apply|applies)"
_GONE = rf"(?:(?:have|has|are|is|were|was|been|now|already|do|does) ){{0,3}}(?:{_DONE}|(?:no longer|not) {_STATE})"
_LATER = r"(?: (?:any ?more|any longer|now|already|today|by (?:a|another|newer|later|other)\b[\w ]*))?"
_NO_LONGER = (
    re.compile(rf"{_ASKED}(?: any)? {KIND}(?: (?:that|which))? {_GONE}{_LATER}{_END}", re.I),
    re.compile(rf"\W*(?:are|is) there (?:any )?{KIND}(?: (?:that|which))? {_GONE}{_LATER}{_END}", re.I),
    re.compile(
        rf"(?:{_ASKED}|\W*(?:are|is) there any|\W*do (?:i|we) have(?: any)?) {_DONE} {KIND}(?: (?:are|is) there)?"
        rf"{_END}",
        re.I,
    ),
)


@dataclass(frozen=True)
class Mentioning:
    """`what` is spoken of; `kind` of document is asked for, "" for any."""

    what: str
    kind: str


def find(question: str) -> Mentioning | None:
    """None where the question asks for no mentions. The kind is in the singular, lower case."""
    match = next(filter(None, (pattern.match(question) for pattern in _QUESTIONS)), None)
    if match is None:
        return None
    return Mentioning(match["what"].strip(" '\"“”‘’"), _kind(match))


def no_longer_in_force(question: str) -> str | None:
    """The kind of document, in the singular, lower case, "" for any, where the question is which documents are no
    longer in force ("Which directives have been superseded?"); None for any other question."""
    match = next(filter(None, (pattern.match(question) for pattern in _NO_LONGER)), None)
    return None if match is None else _kind(match)


def is_kind(noun: str) -> bool:
    """Whether it is, or ends with, a kind of document: "standard operating procedures"."""
    return re.fullmatch(KIND, noun.rpartition(" ")[2], re.I) is not None


def _kind(match: re.Match[str]) -> str:
    kind = (match["kind"] or "").lower()
    return "" if re.fullmatch(_ANY, kind) else singular(kind)


def singular(kind: str) -> str:
    """Of a kind of document in lower case: "policy" for "policies"; the minutes stay many."""
    return {"policies": "policy", "summaries": "summary", "minutes": "minutes"}.get(kind, kind.removesuffix("s"))
