"""A section that a question calls: by its number ("section 2.1", "Action Two") or its name ("the Meetings section",
"the part on meetings")."""

import re
from dataclasses import dataclass

from graph.policy.question import mentioning
from graph.policy.text import lexical

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_KIND = (
    r"section|clause|chapter|article|paragraph|part|appendix|annex|schedule|step|action|principle|rule|requirement|level"
    r"|§"
)
_NUMBERED = re.compile(
    rf"(?:\b|(?=§))(?P<kind>{_KIND}) ?(?:no\.? ?|number )?"
    rf"(?P<number>\d{{1,3}}(?:\.\d{{1,3}})*[a-z]?|[IVX]{{1,5}}|[A-H]|{'|'.join(_NUMBERS[1:])})\b",
    re.I,
)
_BARE = re.compile(
    r"\b(?:in|under|does|of|quote|read|show|explain|summari[sz]e) (?P<number>\d{1,3}(?:\.\d{1,3})+)(?![\w%])", re.I
)
_CALLED = re.compile(
    r"\b(?:the|its|in|under|of|,|policy) ?\b(?P<name>[\w'’&/-]+(?: [\w'’&/-]+){0,5}?)"
    r" (?:section|chapter|clause|paragraph)\b",
    re.I,
)
_ABOUT, _ABOUT_IN = (
    re.compile(
        r"\b(?:section|chapter|clause|paragraph|part|bit) (?:on|about|called|named|titled|concerning) (?:the )?"
        rf"(?P<name>[\w'’&/-]+(?: [\w'’&/-]+){{0,5}}?)(?={end})",
        re.I,
    )
    for end in (
        r" (?:say|says|state|states|cover|covers|require|requires)\b|[?.,;:]|$",
        rf" (?:in|of|within) (?:[^\s?.;:]+ ){{0,8}}?(?:{mentioning.KIND}|rules)\b",  # "on parking in our travel policy"
    )
)
# "What does the page say under lateral separation?"
_UNDER = re.compile(
    r"\b(?:say|says|said|state|states|stated|written|listed) under (?:the heading )?[\"“']?(?:the )?"
    r"(?P<name>[^\W\d][\w'’&/-]*(?: [\w'’&/-]+){0,5}?)[\"”']?(?= (?:in|of|on|about) |[?.,;:]|$)",
    re.I,
)
# "What does the page on the lab say about the whiteboards?" is what stands below that heading, if there is one.
_SAY_ABOUT = re.compile(
    r"^\W*what (?:does|do|is|are|did)\b[^?.;]*\b(?:say|says|said|state|states|stated|written) (?:about|on) "
    r"(?:the |our )?(?P<name>[^\W\d][\w'’&/-]*(?: [\w'’&/-]+){0,5}?)\W*$",
    re.I,
)
BEGINNING = 60  # characters of a heading or line that may hold its number
_ASKS = re.compile(
    r"\bwhat(?:['’]?s| is| does| do| did| are)?\b.*\b(?:say|says|said|state|states|require|requires|cover|covers|mean|"
    r"means|contain|contains|about|tell)\b|\bwhat(?:['’]?s| is| are) (?:(?:written|there|stated|all) )?in\b"
    r"|(?:^\W*|\b(?:please|you|to|and|then|just|i|we) |[,.;:!?] )(?:quote|read|show|give|summari[sz]e|explain)\b",
    re.I,
)


@dataclass(frozen=True)
class Named:
    """Called by `number` and `kind`, both in lower case, or by `name`; the others are "". With `whole` the name is all
    of the heading."""

    number: str = ""
    kind: str = ""
    name: str = ""
    whole: bool = False

    def fits(self, heading: str) -> bool:
        """Whether a heading, or a numbered line, is the one that is called."""
        if self.number:
            heading, spelled = heading[:BEGINNING], _spelled(self.number)
            written = (
                spelled,
                _NUMBERS[int(spelled)] if spelled.isdecimal() and int(spelled) < len(_NUMBERS) else spelled,
            )
            if not any(one in heading.casefold() for one in written):
                return False  # which is most lines of a document, at once
            opening = re.match(r"\W*(?:([^\W\d]+) )?(\d+(?:\.\d+)*[a-z]?|[IVX]+|[A-H])\b", heading, re.I)
            word = opening[1].casefold() if opening and opening[1] else ""
            another = word != self.kind and re.fullmatch(_KIND, word) is not None  # "Step 2" is no action
            if opening and opening[2].casefold() == self.number and not another and (self.number[0].isdigit() or word):
                return True
            return any(
                match["kind"].casefold() == self.kind and _spelled(match["number"].casefold()) == spelled
                for match in _NUMBERED.finditer(heading)
            )
        wanted, stems = lexical.stems(self.name), lexical.stems(heading)
        if self.whole:
            return {*wanted} == {stem for stem in stems if not stem.replace(".", "").isdecimal()}
        return (
            bool(wanted)
            and wanted[-1] in stems
            and len({*stems} - {*wanted}) <= 2
            and len({*wanted} & {*stems}) * 2 >= min(len(wanted), 2)
        )

    def overlap(self, heading: str) -> float:
        """How much of the heading is called, 0-1."""
        if self.number:
            return 1.0
        stems = {*lexical.stems(heading)}
        return len(stems & {*lexical.stems(self.name)}) / max(1, len(stems))


def find(question: str) -> Named | None:
    """None where the question calls no section, or wants something in it and not what it says."""
    if not _ASKS.search(question):
        return None
    if match := _NUMBERED.search(question):
        return Named(match["number"].casefold(), match["kind"].casefold())
    if match := _BARE.search(question):
        return Named(match["number"])
    if match := next(filter(None, (one.search(question) for one in (_ABOUT_IN, _ABOUT, _UNDER, _CALLED))), None):
        return Named(name=match["name"])
    return None


def about(question: str) -> Named | None:
    """The section that a question may mean by what it asks about, where a heading says just that."""
    match = _SAY_ABOUT.search(question)
    return Named(name=match["name"], whole=True) if match else None


def _spelled(number: str) -> str:
    return str(_NUMBERS.index(number)) if number in _NUMBERS else number
