"""A follow-up question as the whole question it stands for ("and in Lahore?", "how long does it last?").

What is missing is taken from the question before it: the noun phrase for a pronoun, the verb and frame for a fragment
that only puts another thing in the place of one of its kind. A question with a subject of its own is left alone. There
is no grammar here but lists of English function words and common verbs, so what is read wrong stays near the words.
"""

import re
from dataclasses import dataclass

from graph.policy.question import wishes
from graph.policy.text import lexical
from graph.policy.text.lexical import stem

_DETERMINERS = frozenset("a an the my our your his her its their this that these those some any each every all".split())
_ADJUNCTS = frozenset("in at by during on before after within under with since until per from into".split())
_PLACES = frozenset("in at on to from into".split())
_PREPOSITIONS = _ADJUNCTS | frozenset(
    "of for to about against between towards through over without as than like".split()
)
_AUXILIARIES = frozenset(
    """is are was were be been being do does did have has had can could may might must shall should will would am
    isn't aren't don't doesn't didn't can't won't wouldn't shouldn't""".split()
)
_BEING = frozenset("is are was were be been being".split())
_MODALS = frozenset("do does did can could may might must shall should will would".split())
_ASKING = frozenset("what which who whom whose when where why how".split())
_PRONOUNS = frozenset(
    """i we you he she it they me us him them one ones mine ours yours hers theirs there here something anything someone
    somebody anyone itself themselves myself""".split()
)
_OF_A_NAME = frozenset("for from of with by about".split())
_PROPER = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_SMALL = frozenset(
    """and or but if so then also people well fewer less altogether too not no yes because while just only even ever
    still again please ok okay more most much many few other else such very really first long often soon far old
    good best common possible default general instead usually now today away up out off down allowed able about
    kind kinds type types sort sorts way ways thing things lot example difference thanks thank interesting""".split()
)
_FUNCTION = _DETERMINERS | _PREPOSITIONS | _AUXILIARIES | _ASKING | _PRONOUNS | _SMALL
_VERBS = frozenset(
    stem(word)
    for word in """add affect allow apply approve ask become begin bring build buy call cancel carry cause change check
    choose claim clean collect come compare consider contain count cover create cut decide define delete depend
    describe develop differ do eat enter exclude explain expire fail feel file fill find follow get give go grow
    handle happen help hold include increase keep know last lead learn leave let list live look lose made make
    manage mean meet move need offer open own paid pay pick play prevent produce prove provide put raise read
    receive record reduce remove replace report request require return run save say see sell send set show sign
    start stay stop store submit take taken teach tell treat try turn understand use used visit want wear win work
    write written became began chose done found gave given gone got held kept knew known left lost met ran said saw
    seen sent set speak spoke stood thought told took went won wrote""".split()
)
_CONNECTED = re.compile(
    r"^\W*(?:(?:and|or|but|so|also|then|plus|"
    r"(?:even|only|just)(?= (?:if|when|for|in|at|on|with|by|after|before|during)\b))\b[\s,]*)+",
    re.I,
)
_INSTEAD = re.compile(r"^\W*(?:(?:what|how) about|what of)\s+", re.I)
_CLOSING = re.compile(r"(?:[\s,]+(?:then|too|instead|though|as well))*\s*[?.!]*\s*$", re.I)
_OPENERS = (
    r"^\W*(?:(?:no|nope|yes|ok(?:ay)?|sorry|oh|oops|wait|actually|well|hm+|ah|right|thanks?(?: you)?|great|my mistake|"
    r"and|but|so|please)\b[\s,.!;:–-]*)*"
)
# "No, I mean the annual one", "not the board, the council", "no, the large one".
_CORRECTION = re.compile(
    rf"{_OPENERS}(?:i (?:really |actually )?mean(?:t)?\b(?: to (?:ask|say)(?: about)?\b)?|"
    r"not (?P<not>[^,;]{2,40}?)[,;–-]|(?<=no, )(?=the |an? |for |in |at |on ))\s*(?:but |rather )?",
    re.I,
)
# "Even if it is raining?", "And unless they ask?", "What if they are off?"
_CONDITION = re.compile(
    r"^\W*(?P<what>what (?:about )?)?(?P<clause>(?:if|unless|in case|"
    rf"when(?! (?:exactly |else )?(?:{'|'.join(sorted(_AUXILIARIES))})\b))\s.+)",
    re.I,
)
_ASKS = re.compile(rf"[,;] *(?:\w+ ){{0,2}}?(?:{'|'.join(sorted(_ASKING | _MODALS | _BEING))})\b", re.I)
_THEY = re.compile(r"\b(?:it|they|them|their|its|he|she|his|her|one|this|that)\b|\b(?:it|they|he|she)['’]", re.I)
# "Say that in one sentence", "as a list please", "shorter": the same question, in another form.
_FORM_WORDS = frozenset(
    """say put give show make write tell repeat explain summarise summarize rephrase reformulate translate please can
    could would you me us that this it them all again the a an answer shorter short simply simpler simple list table
    bullets bullet points briefly brief in as into to now one both ok thanks and just more less words""".split()
)
_FORM = re.compile(
    r"\b(?:shorter|briefly|brief|simply|simpler|list|table|bullets?|rephrase|reformulate|repeat|summari[sz]e|translate|"
    r"again)\b",
    re.I,
)
_ALL_OF_THEM = re.compile(
    r"^\W*(?:please )?(?:put|show|give|list)(?: me)? (?:all|both|them|these|those|that|it)\b"
    r".*\b(?:list|table|bullets?)\b",
    re.I,
)
_WHICH_ONES = re.compile(r"^\W*(?:which(?: ones)?|(?:what|who|which) are they|(?:list|name) them(?: all)?)\W*$", re.I)
# About what the question before said as a whole, not about a thing in it: "Who does that?", "Why?", "Since when?"
_EVENT = re.compile(
    r"\b(?:do|does|did|done|doing)\s+(?:that|this|it|so)\b"
    r"(?=\s*[?.!,]|\s*$|\s+(?:for|in|at|on|by|to|with|after|before|every|each|and|or|then|again)\b)|"
    r"^\W*why\b(?:['’]s| is| was| not)?(?: that| this| it)?(?: so| the case)?\W*$|"
    r"^\W*(?:(?:since|until|till|by|from) when|by whom|how (?:so|come|often|long|much|many)|when|where|who|how)\W*$",
    re.I,
)
_END = r"(?=\s*[?.!,]|\s*$)"
# Words that mean something only with the question before: "that day", "which one", "the second", "… then?".
_LEANING = re.compile(
    rf"(?:^|\b(?:{'|'.join(sorted(_PREPOSITIONS | _AUXILIARIES | {'and', 'or', 'all'}))}) )(?:that|this|these|those) "
    r"(?!(?:is|are|was|were|can|may|must|should|will|would|we|you|i|they|it|years?|months?|weeks?|quarter|morning|"
    r"afternoon|evening|\w+ed|done|made|kept|held|run|paid|given|taken|sent|so|right|true|possible|enough)\b)[a-z]+|"
    r"\b(?:which|any|all|each|some|none|most|half|neither|either|both|many|few) of "
    r"(?:them|these|those|it|the (?:two|three|four|five))\b|"
    rf"\bwhich ones?\b|\b(?:for|of|with|to|without|get|need|have|use|has|having|be|is|by|from|on|at) ones?{_END}|"
    rf"\bthe (?:same|other|others|rest|former|latter|second|third|first|last)(?: (?:one|ones|two|three))?{_END}|"
    rf"\bthe (?:most|least|best|worst|\w{{3,}}est){_END}|\b(?:all|both|the) (?:two|three|four|five){_END}|"
    r"\b(?:then|too|instead|as well|either)\s*[?.!]*\s*$",
    re.I,
)
_SCALES = [
    frozenset(words.split())
    for words in (
        "low lower moderate medium high higher critical severe minor major mild serious",
        "daily weekly monthly quarterly annual yearly",
        "small large big long short", "internal external", "paid unpaid", "full-time part-time", "new old existing",
        "public private confidential restricted", "senior junior", "domestic international",
    )
]  # fmt: skip
_TELLS_WHICH = re.compile(r"\s(?:of|about|for|on) (?:what|who|which|that)\b", re.I)  # "the log of who went in"
_MOST_CONTEXT = 3  # things that a question takes along from the one before it
_GENERIC = (
    "dataset document memo rule policy experiment result protocol topic one ones method process thing plan rate "
    "place person group type system"
).replace(" ", "|")
_POINTER = re.compile(
    rf"\b(?P<whose>its|their|his|her(?=\s+(?!own\b)[a-z]))\b|\b(?:that|this|these|those|the same)\s+(?:{_GENERIC})\b"
    r"|\b(?:it|they|them|he|she|him)\b(?!['’])"
    r"|\b(?P<bare>this|that|these|those)\b(?=\s*[?.!,;]|\s*$|\s+(?:\w+(?:ed|ept|eld|one|ade|aid|ork|pply|ean)s?|is|are|was|were|"
    r"does|do|did|has|have|can|could|may|must|should|will|would|include|happen|and|or)\b)",
    re.I,
)
# The benefits, causes or exceptions of a thing that is not named.
_PART = re.compile(
    r"^(?:tell me (?:more )?about|describe|explain|list|what(?:['’]s| is| are| were| was))\s+"
    r"(?:(?:the|some|any)\s+)?(?:\w+\s+)?"
    r"(?:advantages?|alternatives?|benefits?|causes?|characteristics|consequences|costs?|deadlines?|differences?|"
    r"disadvantages?|downsides|(?:side )?effects?|exceptions?|features?|goals?|history|limits?|limitations?|origins?|"
    r"penalt(?:y|ies)|prices?|purposes?|reasons?|requirements?|risks?|steps?|symptoms?|treatments?|types?|uses?)(?=\s*[?.!]*$)",
    re.I,
)
# "Is it necessary to …", "how long does it take to …", "it is raining": nothing is pointed at.
_EXPLETIVE = re.compile(
    r"\b(?:is|was|would|will|might|may|could|can) (it)(?: be)? (?!(?:in|on|at|of|for)\b)(?:\w+ ){1,2}(?:for \w+ )?"
    r"(?:to|that|if)\b|\b(?:does|will|would|did) (it) (?:take|cost|make sense|matter)\b.*?\b(?:to|if|whether)\b|"
    r"\b(it)(?:['’]s| is| was) \w+ (?:to|that)\b",
    re.I,
)
# "What do they cost there?", not "are there any?".
_THERE = re.compile(rf"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )(?<!\bof )\bthere{_END}", re.I)
_WANTED = re.compile(rf"\W*(?:what|which|how (?:many|much))\b.*?\b(?=(?:{'|'.join(sorted(_AUXILIARIES))})\b)", re.I)
_BOUNDARY = re.compile(r"[,;.?!]|\b(?:and|if|when|because|but|then|so that|while|after|before|once)\b", re.I)
_WORD = re.compile(r"[^\W_]+(?:[-'’./&][^\W_]+)*")
_NAME = re.compile(r"^((?:[A-Z]\S*\s+)+[A-Z]\S*)\s.*", re.S)
# Attributes of a thing, and times: neither replaces the other, nor the thing.
_ATTRIBUTE = re.compile(
    r"\b(?:incomes?|revenues?|turnover|profits?|loss(?:es)?|costs?|prices?|fees?|fares?|budgets?|expenses?|expenditures?|"
    r"rents?|deposits?|numbers?|size|length|width|height|weight|depth|capacity|area|age|durations?|deadlines?|dates?|"
    r"opening (?:hours|times)|rates?|shares?|percentages?|amounts?|totals?|averages?|limits?|maximum|minimum|targets?|"
    r"results?|reasons?|causes?|purposes?|address|location|owners?|authors?|versions?|status|penalt(?:y|ies)|fines?|"
    r"attendance|temperatures?|pressure|speed|colou?rs?)$",
    re.I,
)
_TIME = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|spring|summer|autumn|winter|today|yesterday|tomorrow|"
    r"(?:years?|quarters?|months?|weeks?|weekends?|mornings?|evenings?|holidays?))$",
    re.I,
)
_ACTING = frozenset("i we you he she they".split())
_LONG = 25  # words from which a question is taken to say what it is about


@dataclass(frozen=True)
class _Phrase:
    start: int
    end: int
    text: str
    after: str  # the preposition before it, or ""


def complete(question: str, earlier: str, topic: str) -> tuple[str, str]:
    """The question with what it leaves out, from the `earlier` one and what that was about; and what it goes on about,
    "" for a fragment. The question itself and "" where it leaves nothing out."""
    text = " ".join(question.split())
    if len(text.split()) > _LONG:
        return text, ""
    if earlier:
        if (form := _in_another_form(text, earlier)) or (form := _which_ones(text, earlier)):
            return form, topic
        if corrected := _corrected(text, earlier):
            return corrected, ""
    rest = _CONNECTED.sub("", text)
    connected = len(rest) < len(text)
    fragment = _CLOSING.sub("", _INSTEAD.sub("", rest))
    if earlier and (under := _under_a_condition(rest, earlier, connected)):
        return under, topic
    if earlier and (connected or _INSTEAD.match(rest)) and _lacks_a_verb(fragment):
        return _in_the_frame(fragment, earlier), ""
    if not topic:
        return text, ""
    if placed := _in_its_place(rest, earlier):
        return placed, topic
    if earlier and _EVENT.search(rest):
        return _with_context(text, earlier), topic
    pointer = _pointer(rest)
    if pointer and len(_things(earlier)) > 1:
        return _with_context(text, earlier), topic  # which of them is meant, nobody knows
    if pointer:
        put = (f"{topic}'" if _many(topic) else f"{topic}'s") if pointer["whose"] else topic
        whole = f"{rest[: pointer.start()]}{put}{rest[pointer.end() :]}"
        return _with_context(whole[:1].upper() + whole[1:], earlier), topic
    if part := _PART.search(rest):
        return f"{rest[: part.end()]} of {topic}{rest[part.end() :]}", topic
    if connected and not any(_self_contained(phrase) for phrase in _phrases(rest)):
        return f"About {topic}: {rest[:1].lower()}{rest[1:]}", topic
    if earlier and (_LEANING.search(text) or (text.split()[0].lower() in _ASKING and not _phrases(text))):
        return _with_context(text, earlier), topic
    return text, ""


def _under_a_condition(rest: str, earlier: str, connected: bool) -> str:
    """The earlier question with the condition; "what if …" with a subject of its own is read beside it. "" where the
    text is no condition, or asks something itself."""
    match = _CONDITION.match(rest)
    if match is None or _ASKS.search(rest):
        return ""
    if not match["what"] or _THEY.search(rest):
        return f"{_open_end(earlier)} {_CLOSING.sub('', match['clause'])}?"
    return "" if connected else _with_context(rest, earlier)


def _in_its_place(question: str, earlier: str) -> str:
    """The question with the place of the earlier one for its "there"; "" where either has none."""
    there = _THERE.search(question)
    places = [p for p in _phrases(earlier) if p.after in _PLACES and not _TIME.search(p.text)]
    if there is None or not places:
        return ""
    put = f"{places[-1].after} {places[-1].text}"
    whole = f"{question[: there.start()]}{put}{question[there.end() :]}"
    return whole[:1].upper() + whole[1:]


def _with_context(question: str, earlier: str) -> str:
    """The question with what else the earlier one was about: "Who has to be told (a P2 incident)?"."""
    has = {*lexical.stems(re.sub(r"['’]s?\b", "", question))}
    things = [_thing(p.text) for p in _things(earlier)]
    context = [thing for thing in things if {*lexical.stems(thing)} - has][-_MOST_CONTEXT:]
    return f"{_open_end(question)} ({', '.join(context)})?" if context else question


def _thing(phrase: str) -> str:
    """Without what is done to it: "the vault counted"."""
    return re.sub(r"(?<=\w)\s[a-z]+ed$", "", phrase)


def _things(question: str) -> list[_Phrase]:
    """The noun phrases of a question that name a thing by themselves, without times."""
    phrases = [p for p in _phrases(question) if not _LEANING.match(p.text) and not _TIME.search(p.text)]
    return [p for p in phrases if _names_a_thing(p)]


def _names_a_thing(phrase: _Phrase) -> bool:
    """Whether it is surely no verb or adverb that the lists above lack: "fast", "react"."""
    if " " in phrase.text or phrase.after in _PREPOSITIONS - {"to"}:
        return True
    name = phrase.start > 0 and not phrase.text.islower()
    return not re.search(r"['’]", phrase.text) and (name or (_many(phrase.text) and not _verb(phrase.text)))


def _open_end(earlier: str) -> str:
    """The question without its mark at the end, to add something to it."""
    return earlier.rstrip(" ?.!")


def _in_another_form(text: str, earlier: str) -> str:
    """The earlier question with the wish, where the text is nothing but one; "" where it is more."""
    text = re.sub(r"[\s,]*\bplease\b\W*$", "", text, flags=re.I)
    wish = wishes.wish(text)
    left = {word.lower() for word in _WORD.findall(text.replace(wish, " ") if wish else text)}
    if not _ALL_OF_THEM.search(text) and ((left - _FORM_WORDS) or not (wish or _FORM.search(text))):
        return ""
    return f"{_open_end(earlier)}, {wish[:1].lower()}{wish[1:]}?" if wish else earlier


def _which_ones(text: str, earlier: str) -> str:
    """ "How many labs are there?", "Which ones?": "Which labs are there?"."""
    counted = re.search(r"\bhow many\b", earlier, re.I)
    if not counted or not _WHICH_ONES.match(text):
        return ""
    whole = f"{earlier[: counted.start()]}which{earlier[counted.end() :]}"
    return whole[:1].upper() + whole[1:]


def _corrected(text: str, earlier: str) -> str:
    """The earlier question about what it was meant to be about, "" where the text corrects nothing."""
    match = _CORRECTION.match(text)
    thing = _CLOSING.sub("", text[match.end() :]) if match else ""
    if not match or not thing:
        return ""
    if not _lacks_a_verb(thing):
        return _with_context(thing, earlier)
    wrong = re.search(rf"\b{re.escape(match['not'])}\b", earlier, re.I) if match["not"] else None
    if wrong:
        return f"{earlier[: wrong.start()]}{thing}{earlier[wrong.end() :]}"
    return _in_the_frame(thing, earlier)


def antecedent(question: str, answer: str = "") -> str:
    """The noun phrase that a question is about, of its answer where it has none, or ""."""
    if phrases := [p for p in _phrases(question) if not _LEANING.match(p.text)]:
        return _thing(re.sub(r"^(?:its|their|his|her)\s+", "", max(phrases, key=_weight).text, flags=re.I))
    first = _phrases(re.split(r"(?<=[.!?])\s", answer, maxsplit=1)[0])[:1]
    return _NAME.sub(r"\1", first[0].text) if first else ""


def _weight(phrase: _Phrase) -> tuple[float, int]:
    """How likely a phrase is what the question is about: by its words, a name more, an adjunct less; then the last."""
    edge = 0.5 if phrase.after in _ADJUNCTS else 1.0 if phrase.after in _BEING else 0.0
    words = [word for word in _WORD.findall(phrase.text) if word.lower() not in _FUNCTION]
    named = any(not word.islower() for word in words) and phrase.start > 0
    return len(words) + named - edge, phrase.start


def _self_contained(phrase: _Phrase) -> bool:
    """Whether a phrase says of itself what is meant: "the solar simulator"."""
    return phrase.text.split()[0].lower() in _DETERMINERS and _weight(phrase)[0] > 1


def _pointer(question: str) -> re.Match[str] | None:
    """The word that refers to an earlier turn, unless the question itself names what it refers to."""
    asking = _WANTED.match(question)  # blanked: "How many hours may they" asks about no hours
    blanked = " " * asking.end() + question[asking.end() :] if asking else question
    empty = [match.start(n) for match in _EXPLETIVE.finditer(question) for n in (1, 2, 3) if match[n]]
    for match in _POINTER.finditer(question):
        last = _WORD.findall(question[: match.start()].lower())[-1:]
        if match.start() in empty or (match["bare"] and not (_FUNCTION - _PRONOUNS - {"people"}).issuperset(last)):
            continue  # "people that have a badge"
        before = blanked[: match.start()]
        if match["whose"] and any(_many(p.text) or " " in p.text for p in _phrases(before)):
            return None  # "how do companies pay their staff"
        edges = [edge.start() for edge in _BOUNDARY.finditer(question, 0, match.start())]
        singular = match[0].lower() == "it"
        own = [p for p in _phrases(before[: edges[-1]] if edges else "") if not (singular and _many(p.text))]
        return None if own else match
    return None


def _lacks_a_verb(fragment: str) -> bool:
    """ "the log of who went in" has one only in what tells which log."""
    head = re.split(r"(?<=\w)\s+(?:(?:of|about|for|on) )?(?:what|who|which|that|where)\b", fragment, maxsplit=1)[0]
    words = [word.lower() for word in _WORD.findall(head)]
    verbal = _AUXILIARIES | _ASKING | (_PRONOUNS - {"one", "ones", "us"}) | {"if"}
    return bool(words) and len(words) <= 8 and not verbal & set(words)


def _in_the_frame(fragment: str, earlier: str) -> str:
    """The earlier question with the fragment in the place of one phrase: one with a word in common, else one after the
    same preposition, else the last that is no time; at the end where there is none. An attribute ("and the income?")
    becomes a question of its own about the same time."""
    if swapped := _of_a_kind(fragment, earlier):
        return swapped
    words = _WORD.findall(fragment)
    small = words[0].lower() if words[0].lower() in _PREPOSITIONS else ""
    thing = fragment[_WORD.search(fragment).end() :].strip() if small else fragment  # type: ignore[union-attr]
    phrases = _phrases(earlier)
    told = _TELLS_WHICH.search(earlier) if phrases else None
    if told and (before := [p for p in phrases if p.end <= told.start()]):
        phrases = [*before[:-1], _Phrase(before[-1].start, len(_open_end(earlier)), before[-1].text, before[-1].after)]
    alike = [p for p in phrases if _shares(thing, p.text)] or [p for p in phrases if small and p.after == small]
    end = earlier.rstrip(" ?.!")
    if small == "of" and not alike and (whole := [p for p in phrases if " of " in p.text]):
        at = whole[-1].start + whole[-1].text.rindex(" of ") + len(" of ")
        return f"{earlier[:at]}{thing}{earlier[whole[-1].end :]}"
    if not alike and small and (other := _another_name(small, thing, earlier)):
        return other
    if not alike and (small or not phrases):
        return f"{end} {fragment}?"
    if alike:
        old = alike[-1]
    else:
        when = [p for p in phrases if _TIME.search(p.text)]
        others = [p for p in phrases if p not in when]
        if when and others and not _TIME.search(thing):
            if _ATTRIBUTE.search(thing):
                time = f"{when[-1].after} {when[-1].text}".strip()
                past = re.search(r"\b(?:did|was|were|had)\b", earlier, re.I)
                be = ("were" if past else "are") if _many(thing) else "was" if past else "is"
                whose = "".join(p.text[p.text.rindex(" of ") :] for p in others[-1:] if " of " in p.text)
                return f"What {be} {thing}{whose} {time}?"
            phrases = others
        old = phrases[-1]
    return f"{earlier[: old.start]}{thing}{earlier[old.end :]}"


def _another_name(preposition: str, name: str, earlier: str) -> str:
    """The earlier question with a name in the place of the only one in it: "and from Lahore?" after "When does the
    Karachi office close?"; "" where there is none, or where the name may be that of another kind of thing."""
    names = [word for word in _PROPER.finditer(earlier) if word.start() and not _TIME.search(word[0])]
    if preposition not in _OF_A_NAME or len(names) != 1 or not _PROPER.fullmatch(name) or _TIME.search(name):
        return ""
    return f"{earlier[: names[0].start()]}{name}{earlier[names[0].end() :]}"


def _of_a_kind(fragment: str, earlier: str) -> str:
    """The earlier question with one word in the place of another of its kind: "P2" of "P1", "moderate" of "low"; ""
    where there is none. "the annual one" takes the place of "the monthly"."""
    words = [word for word in _WORD.findall(fragment) if word.lower() not in _FUNCTION]
    if len(words) != 1:
        return ""
    new, scale = words[0], next((words_of for words_of in _SCALES if words[0].lower() in words_of), frozenset())
    for old in reversed([*_WORD.finditer(earlier)]):
        shape = any(c.isdigit() for c in new) and any(c.isalpha() for c in new) and _shape(old[0]) == _shape(new)
        if old[0].lower() != new.lower() and (shape or old[0].lower() in scale):
            return f"{earlier[: old.start()]}{new}{earlier[old.end() :]}"
    return ""


def _shape(word: str) -> str:
    return re.sub(r"\d+", "0", word.lower())


def _phrases(text: str) -> list[_Phrase]:
    """The noun phrases: runs of words that are neither small words nor common verbs, with their determiner."""
    phrases: list[_Phrase] = []
    run: list[re.Match[str]] = []  # of words that may be a name
    small: list[re.Match[str]] = []  # the small words before it
    open_clause = False  # "does the fund pay …": the verb of the auxiliary is still to come

    def close(by: str = "") -> None:
        nonlocal open_clause
        if open_clause and len(run) > 1 and by not in _AUXILIARIES | {"of"}:
            verb = next(
                (at for at in range(1, len(run)) if _verb(run[at][0]) and not re.search(r"\w{3}ed$", run[at][0])),
                len(run) - 1,
            )
            del run[verb:]
            open_clause = False
        if run:
            words = [word[0].lower() for word in small[-2:]]
            determined = bool(words) and words[-1] in _DETERMINERS
            after = words[-2] if determined and len(words) > 1 else "" if determined else words[-1] if words else ""
            start = small[-1].start() if determined else run[0].start()
            end = run[-1].end()
            last = phrases[-1] if phrases else None
            if last and text[last.end : start].strip().lower() in ("and", "or", "&", "of"):
                phrases[-1] = _Phrase(last.start, end, text[last.start : end], last.after)
            else:
                phrases.append(_Phrase(start, end, text[start:end], after if after in _PREPOSITIONS | _BEING else ""))
            run.clear()
            small.clear()

    for word in _WORD.finditer(text):
        low = word[0].lower()
        if run and re.search(r"[,;:.?!()]", text[run[-1].end() : word.start()]):
            close()
        determined = bool(small) and small[-1][0].lower() in _DETERMINERS
        passive = low.endswith("ed") and low == word[0] and not open_clause
        # "do I autoclave the tips": what stands behind who does it is what is done.
        acts = bool(small) and small[-1][0].lower() in _ACTING and not text[small[-1].end() : word.start()].strip()
        if low in _FUNCTION and not (word[0] in ("US", "IT") or (word[0] in ("A", "May") and word.start())):
            close(low)
            own = bool(small) and small[-1][0].lower() == "who"  # "who may vote": nothing stands between
            open_clause = (low in _MODALS and not own) or (open_clause and low not in _PRONOUNS | _AUXILIARIES)
            small.append(word)
        elif not run and not determined and (_verb(low) or passive or acts):
            small.append(word)
            open_clause = False
        else:
            run.append(word)
    close()
    return phrases


def _verb(word: str) -> bool:
    return stem(word.lower()) in _VERBS


def _many(text: str) -> bool:
    return text.lower().endswith("s") and not text.lower().endswith(("ss", "us", "is"))


def _shares(thing: str, phrase: str) -> bool:
    stems = {stem(w.lower()) for w in _WORD.findall(thing)} - _FUNCTION
    return bool(stems & {stem(w.lower()) for w in _WORD.findall(phrase) if w.lower() not in _FUNCTION})
