"""What kind of answer a question wants: a fact, what to do, what something is, two things side by side, or several."""

import re
from typing import Literal

from graph.policy.text import lexical

Wanted = Literal["fact", "steps", "definition", "comparison", "list"]
All = Literal["list", "count", "extreme", "sum", "summary"]

_STEPS = re.compile(
    r"\bhow (?:do|can|should|would|must|to|does one|am i|are we|is (?:it|this|that) done)\b|"
    r"\bwhat (?:do|should|must|shall|can|would) (?:i|we|you|one|they|someone|somebody|people|staff|\w+s)\b|"
    r"\bwhat (?:happens?|has to happen|needs? to|must|should)\b|"
    r"\bwhat (?:are|is) the (?:\w+ ){0,2}(?:steps?|process|procedure|way)\b|"
    r"\b(?:steps?|procedure|process|instructions?|checklist) (?:for|to|of|when|if)\b|\bwhat if\b|\bwalk me through\b|"
    r"\bwhat .{0,60}\b(?:before|after|when|if) (?:i|we|you|a|an|the|someone|somebody)\b|^\W*(?:how|where) (?:to|do)\b|"
    r"\b(?:how|what now|what next|what goes in (?:it|them|there))\W*$",
    re.I,
)
_AMOUNT = re.compile(r"\bhow (?:many|much|long|often|soon|far|old|big|large|late|early|fast|high|low)\b", re.I)
_DEFINITION = re.compile(
    r"^\W*(?:what(?:['’]s| is| are| does| do)|who (?:is|are)|define|explain|meaning of|definition of)\b"
    r"(?!.*\b(?:number|date|deadline|limit|minimum|maximum|size|address|version|name|cost|price|rate|age|time)\b)"
    r"(?:\W+[\w'’/&.-]+){1,6}\W*$|\b(?:stands? for|mean|means|meant by|definition of)\b",
    re.I,
)
_LIST = re.compile(
    r"\b(?:which (?:(?:of the|other|two|three|four|five|all|\w+ing|\w+al) )?\w{3,}s\b(?! (?:is|was|does|has)\b)|list|"
    r"what (?:are|were|kinds?|types?|sorts?)|"
    r"what (?:\w+ ){0,2}(?:documents|items|things|rules|roles|tools|options|requirements|reasons|examples|values)\b|"
    r"name (?:the|all)|who are|examples? of)\b",
    re.I,
)
_DIFFER = re.compile(
    r"\b(?:differences?|differ|compar\w+|versus|vs\.?|distinguish\w*|distinction|as opposed to|in contrast|"
    r"against|different|the same|agree)\b|"
    r"\b(?:same|more|less|fewer|\w{3,}er) (?:\w+ ){0,3}(?:than|as)\b|\bboth\b|\bor\b",
    re.I,
)
_BETWEEN = re.compile(r"\b(?:between|compare|comparing|distinguish)\s+(.+?)\s+(?:and|with|to|from)\s+(.+)", re.I)
_HALVES = re.compile(
    r"(.+?)\b(?:versus|vs\.?|compared (?:to|with)|as opposed to|(?:(?:the )?same|different) (?:as|from)|"
    r"than(?! (?:\d|an?\b|one\b|two\b|three\b|\w+ (?:days|weeks|months|hours|minutes|people)\b)))\b(.+)",
    re.I,
)
# "Can I lend my card or badge?" is one question; "Which is longer, A or B?" sets two things side by side.
_CHOICE = re.compile(
    r"^\W*(?:which|what|who)\b.*?\b(?:\w{3,}er|more|less|fewer|better|worse|first)\b\W+(.+?)\bor\b(.+)", re.I
)
_AND = re.compile(
    r"\b(?:do|does|did|are|is|how do)\s+(.+?)\s+and\s+(.+?)\s+"
    r"(?:differ|compare|agree|(?:give|show|say|set|have|require|state|list|name)s? (?:the same|different))\b",
    re.I,
)
_AGAINST = re.compile(r".*[,:–-] ?\b(.{2,40}?) against (.{2,40})$", re.I)  # "Leave in years, Lahore against Karachi?"
_OF_BOTH = re.compile(r"(?:[:;,]| [-–])\s+(?=(?:what|which|how|who|when|where|why|do|does|is|are)\b)", re.I)
_FROM = re.compile(r"\bhow (?:do|does|did) (.+?) differ from (.+?)(?: in (?:terms of )?.+)?$", re.I)
_COUNT = re.compile(r"\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|no|none", re.I)
_COUNTED = re.compile(
    r"\bhow many (.{1,80}?)"
    r"(?: (?:are|is|were|was|do|does|did|has|have|had|can|could|may|must|should|will|would|in|on|at)\b|\W*$)"
    r"|\b(?:number|count) of (.{1,80})",
    re.I,
)
_MANY = re.compile(r"[\w-]+s|people|staff|children|men|women|data|media|criteria", re.I)  # more than one
_BESIDE = 4  # words after a number among which the thing counted stands
_OF_COUNT = (
    r"(?:^|[,;:] ?|\b(?:an?|the|any|what|which|total|whole|full|exact|overall|current|average|mean|maximum|minimum|"
    r"planned|final|of|by|with|for|and|or|in|to|their|its|our|large|small|same|list|give|show|me|is|are) )"
)
_SPELLED = re.compile(r"(?:(?<=\w) \([A-Z]|(?<=[A-Z]) \([a-z])[^()]* [^()]*\)")
_WORD = re.compile(r"[\w'’/-]+")
_SMALL = frozenset(
    "a an the is are was were do does did be it its any that this of in on at to for from by with and i we you my our "
    "what which who when where how why can should would must there differ difference".split()
)

_NO_NOUN = (
    r"(?:is|was|are|were|does|do|did|has|have|had|can|may|goes|happens|comes|makes|this|these|the|a|an|of|in|on|for|to|i"
    r"|we|you)"
)
_ONE = r"(?:process|lens|gas|atlas|alias|bias|canvas|means)"  # and what ends in us, is and ss
_PLURAL = rf"(?!(?:{_NO_NOUN}|{_ONE})\b)[\w-]{{2,}}(?<!(?-i:[sui]))s"
_NOUNS = rf"(?:(?!{_NO_NOUN}\b)[\w-]+ ){{0,3}}?{_PLURAL}"  # of several things, with what stands before it
# Common verbs in the form that follows a plural: "Which cloud partners donate services?"
_VERBS = (
    "accept|allow|answer|apply|ask|attend|belong|bring|buy|call|carry|come|contain|cost|count|cover|depend|donate|end|"
    "exist|expire|fail|fall|finish|get|give|go|grant|help|hold|include|involve|keep|know|last|lead|leave|lie|list|live|"
    "make|mean|meet|mention|miss|name|offer|open|own|pay|play|produce|provide|qualify|receive|refer|remain|report|"
    "require|run|say|sell|send|serve|share|show|sit|stand|start|stay|support|take|teach|tell|use|vote|want|work|write"
)

# What is measured, not counted: a sentence says how many weeks there are.
_UNITS = (
    r"(?:[\w-]+ )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|times|percent|euros?|dollars?|rupees?|"
    r"crowns?|points|credits?|bytes|[kmgt]i?b|(?:kilo|mega|giga|tera)\w+|litres?|met(?:er|re)s?|k?m|k?g)\b"
)

# Of rows or items compared with each other, not "at least once a year". "First" and "maximum" ask for that less surely.
GREATEST = "highest|largest|biggest|longest|(?<!at )most|(?<!at the )latest|last|newest|dearest"
SMALLEST = "lowest|smallest|shortest|(?<!at )least|fewest|earliest|cheapest|simplest|oldest"

_ALL: tuple[tuple[All, re.Pattern[str]], ...] = (
    (
        "summary",
        re.compile(
            r"\b(?:summari[sz]e[sd]?"
            r"|(?<!['’]s )(?<!in the )(?<!in our )(?<!on the )summary"  # not a part of a document
            r"|sum up|(?:main|key) points|the gist of|in a nutshell|tl;?dr|in brief)\b",
            re.I,
        ),
    ),
    (
        "extreme",
        re.compile(
            r"(?:^|[-–:] )\W*(?:(?:of|in|from|among) .{1,80}, ?)?(?:(?:in|on|for|at|under|of) )?"
            r"(?:which|what|who|where|whose|when|name|find|show)\b.*"
            rf"\b(?:{GREATEST}|{SMALLEST}|very first)\b"
            rf"|^\W*(?:the )?(?:{GREATEST}|{SMALLEST}|first) ",
            re.I,
        ),
    ),
    ("sum", re.compile(r"\b(?:in total|al(?:l )?together|the total|sum (?:of|\w+ed)|adds? up|average)\b", re.I)),
    # "Is there a cap on how many rows …?" asks for the cap.
    (
        "count",
        re.compile(
            rf"(?<!\bcap on )(?<!\blimit on )(?<!\blimit to )(?<!\blimits on )\bhow many (?!{_UNITS})"
            # "the CAS number of ethanol" is a name
            rf"|(?:\bcount|{_OF_COUNT}(?:number|nb|no\.)) of (?!{_UNITS})",
            re.I,
        ),
    ),
    (
        "list",
        re.compile(
            r"^\W*(?:please |can you |could you )*(?:list|enumerate)\b|\blist (?:them|all|of all)\b|\bfull list\b"
            r"|\b(?:as a (?:full |complete )?list|which ones)\b"
            r"|\b(?:the|a) (?:full|complete|whole|entire) (?:\w+ ){0,2}list\b"
            r"|\b(?:every|each) (?:single )?(?:step|item|row|entry|point|one)\b|\b(?:step by step|one by one)\b"
            r"|\bin (?:the|their|which) (?:right )?order\b|\beverything (?:that|the|a|an|we|i|you|they|in|on|about)\b"
            r"|\blist (?:every|each|the|all)\b"
            r"|\b(?:give|tell|show|send) (?:me|us) (?:all|every|each|(?:just |only )?the ones)\b"
            r"|\b(?:only|just) (?:the|those) (?:[\w-]+ )?(?:that|which|whose|with|without|dates|ones)\b|\bjust those\b"
            r"|[-–:,] all (?:of them|pls|please|the)\b|\bthe full (?:run|set|list)\b"
            r"|\band what else\b|^\W*who (?:was|were) (?:\w+ )?(?:present|there|at)\b|^\W*who attended\b"
            r"|^\W*(?:the )?[\w-]+ ones (?:in|of|on|from|at)\b"
            rf"|\b(?:in|on|for|at|to|from|by|under|with) (?:which|what) {_NOUNS} (?:does|has|(?!\w+s\b)\w+)"
            r"|\b(?:name|show|give) (?:me |us )?(?:all|every|each)\b|\ball (?:of )?(?:the|our|my|their)\b"
            r"|(?:^|[-–:,.!?] )\W*(?:which|what) " + _NOUNS + " "
            # What follows a plural; "Which freezer holds the samples?" has none.
            r"(?:are|were|do|does|did|have|had|can|could|may|must|shall|should|will|would|need|apply|came|not|i|we|you|they|"
            r"in|of|on|for|from|that|with|where|who|whose)\b"
            # "Which lenders send a courier?": what one thing does ends in s.
            r"|^\W*which \w{2,}(?<![su])s (?!\w+s\b)\w+"
            rf"|(?:^|[-–:,.!?] )\W*(?:which|what) {_NOUNS} (?:does|has|{_VERBS})\b"
            # "Any courses that take a year?"
            rf"|^\W*(?:(?:are|is) there |do we have |have we )?any {_NOUNS} (?:that|which|with|without|over|under|"
            r"above|below|who|whose|where|due|longer|shorter|older|newer)\b"
            r"|^\W*who (?:are|were)\b|^\W*what (?:are|were)\b"
            # "Stages of a lesson from draft to mature?": no verb.
            r"|^\W*(?:the )?(?:(?!(?:do|does|did|are|is|can|may|must|should|why|when|how|explain)\b)[\w-]+ )?"
            r"(?:stages|phases|types|kinds|sorts|levels|categories|requirements|reasons|roles"
            r"|options|rules|tiers|ranks|grades) (?:an?|the|we|i|you|they|of|in|for|that)\b",
            re.I,
        ),
    ),
)


def kind(question: str) -> Wanted:
    """The kind of answer; a fact where nothing says more."""
    if sides(question):
        return "comparison"
    if _STEPS.search(question) and not _AMOUNT.search(question):
        return "steps"
    if _LIST.search(question):
        return "list"
    return "definition" if _DEFINITION.search(question) else "fact"


def all_of(question: str) -> All | None:
    """What a question wants to know of all items, or None where one passage may answer it."""
    question = plain(question)
    return next((kind for kind, pattern in _ALL if pattern.search(question)), None)


def plain(question: str) -> str:
    """Without the long forms of abbreviations, which search adds in brackets."""
    return _SPELLED.sub("", question)


def sides(question: str) -> tuple[str, str] | None:
    """What a question sets side by side ("leave in Lahore", "leave in Karachi"), or None where it compares nothing."""
    text = " ".join(question.split()).rstrip("?.! ")
    if not _DIFFER.search(text):
        return None
    pair = _BETWEEN.search(text) or _FROM.search(text) or _AND.search(text) or _AGAINST.match(text)
    match = pair or _HALVES.match(text) or _CHOICE.match(text)
    if match is None:
        return None
    left, right = (part.strip(" ,;:") for part in match.groups())
    right = _OF_BOTH.split(right, maxsplit=1)[0]  # "A versus B: how long is each?"
    return (left, right) if _words(left) and _words(right) else None


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _SMALL]


def stated(question: str, sentence: str) -> bool:
    """Whether a number stands beside a word for what the question counts: "24 lenders", "Visitors: 48,200"."""
    match = _COUNTED.search(question)
    counted = (match[1] or match[2]).split() if match else []
    nouns = [at for at, word in enumerate(counted) if _MANY.fullmatch(word)]
    wanted = {*lexical.stems(counted[nouns[0]] if nouns else " ".join(counted))}
    words = re.findall(r"\w[\w.,]*", sentence)
    at = [place for place, word in enumerate(words) if _COUNT.fullmatch(word.strip(".,"))]
    return any(wanted & {*lexical.stems(" ".join(words[max(0, n - 1) : n + _BESIDE]))} for n in at)
