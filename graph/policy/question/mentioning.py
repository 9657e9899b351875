"""Questions for the places that speak of something: "Which policies mention contractors?"."""

import re
from dataclasses import dataclass

_ANY = r"documents?|docs?|files?|pages?|texts?|places?"
_KIND = (
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
    re.compile(rf"{_ASKED} {_KIND}(?: (?:that|which|do|does))* {_SPEAK} {_WHAT}{_END}", re.I),
    re.compile(
        rf"\W*(?:where|in (?:which|what|how many) {_KIND}) (?:is|are|was|were|do|does|did) {_WHAT}"
        rf" (?:mentioned|named|discussed|referred to|talked about|appear|occur|come up){_END}",
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
    kind = (match["kind"] or "").lower()
    return Mentioning(match["what"].strip(" '\"“”‘’"), "" if re.fullmatch(_ANY, kind) else singular(kind))


def singular(kind: str) -> str:
    """Of a kind of document in lower case: "policy" for "policies"; the minutes stay many."""
    return {"policies": "policy", "summaries": "summary", "minutes": "minutes"}.get(kind, kind.removesuffix("s"))
