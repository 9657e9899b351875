"""A follow-up question as the whole question it stands for ("and in Lahore?", "how long does it last?").

What is missing is taken from the question before it: the noun phrase for a pronoun, the verb and frame for a fragment
that only puts another thing in the place of one of its kind. A question with a subject of its own is left alone. There
is no grammar here but lists of English function words and common verbs, so what is read wrong stays near the words.
"""

import re
from dataclasses import dataclass

from graph.policy.text.lexical import stem

_DETERMINERS = frozenset("a an the my our your his her its their this that these those some any each every all".split())
_ADJUNCTS = frozenset("in at by during on before after within under with since until per from into".split())
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
_CONNECTED = re.compile(r"^\W*(?:(?:and|or|but|so|also|then|plus)\b[\s,]*)+", re.I)
_INSTEAD = re.compile(r"^\W*(?:(?:what|how) about|what of)\s+", re.I)
_CLOSING = re.compile(r"(?:[\s,]+(?:then|too|instead|though|as well))*\s*[?.!]*\s*$", re.I)
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
    r"\d{4}|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|spring|summer|autumn|winter|today|yesterday|tomorrow|"
    r"(?:years?|quarters?|months?|weeks?|weekends?|mornings?|evenings?|holidays?))$",
    re.I,
)
_LONG = 25  # words from which a question is taken to say what it is about


@dataclass(frozen=True)
class _Phrase:
    start: int
    end: int
    text: str
    after: str  # the preposition before it, or ""


def complete(question: str, earlier: str, topic: str) -> tuple[str, str]:
    """The question with what it leaves out, from the `earlier` one and what that was about; and what a pronoun in it
    stands for. The question itself and "" where it leaves nothing out."""
    text = " ".join(question.split())
    if len(text.split()) > _LONG:
        return text, ""
    rest = _CONNECTED.sub("", text)
    connected = len(rest) < len(text)
    fragment = _CLOSING.sub("", _INSTEAD.sub("", rest))
    if earlier and (connected or _INSTEAD.match(rest)) and _lacks_a_verb(fragment):
        return _in_the_frame(fragment, earlier), ""
    pointer = _pointer(rest)
    if not topic:
        return text, ""
    if pointer:
        put = (f"{topic}'" if _many(topic) else f"{topic}'s") if pointer["whose"] else topic
        whole = f"{rest[: pointer.start()]}{put}{rest[pointer.end() :]}"
        return whole[:1].upper() + whole[1:], topic
    if part := _PART.search(rest):
        return f"{rest[: part.end()]} of {topic}{rest[part.end() :]}", topic
    if connected and not any(_self_contained(phrase) for phrase in _phrases(rest)):
        return f"About {topic}: {rest[:1].lower()}{rest[1:]}", topic
    return text, ""


def antecedent(question: str, answer: str = "") -> str:
    """The noun phrase that a question is about, of its answer where it has none, or ""."""
    if phrases := _phrases(question):
        return re.sub(r"^(?:its|their|his|her)\s+", "", max(phrases, key=_weight).text, flags=re.I)
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
        if match["whose"] and any(_many(p.text) or p.text.lower().startswith(("the ", "a ")) for p in _phrases(before)):
            return None  # "how do companies pay their staff"
        edges = [edge.start() for edge in _BOUNDARY.finditer(question, 0, match.start())]
        singular = match[0].lower() == "it"
        own = [p for p in _phrases(before[: edges[-1]] if edges else "") if not (singular and _many(p.text))]
        return None if own else match
    return None


def _lacks_a_verb(fragment: str) -> bool:
    words = [word.lower() for word in _WORD.findall(fragment)]
    verbal = _AUXILIARIES | _ASKING | (_PRONOUNS - {"one", "ones", "us"}) | {"if"}
    return bool(words) and len(words) <= 8 and not verbal & set(words)


def _in_the_frame(fragment: str, earlier: str) -> str:
    """The earlier question with the fragment in the place of one phrase: one with a word in common, else one after the
    same preposition, else the last that is no time; at the end where there is none. An attribute ("and the income?")
    becomes a question of its own about the same time."""
    words = _WORD.findall(fragment)
    small = words[0].lower() if words[0].lower() in _PREPOSITIONS else ""
    thing = fragment[_WORD.search(fragment).end() :].strip() if small else fragment  # type: ignore[union-attr]
    phrases = _phrases(earlier)
    alike = [p for p in phrases if _shares(thing, p.text)] or [p for p in phrases if small and p.after == small]
    end = earlier.rstrip(" ?.!")
    if small == "of" and not alike and (whole := [p for p in phrases if " of " in p.text]):
        at = whole[-1].start + whole[-1].text.rindex(" of ") + len(" of ")
        return f"{earlier[:at]}{thing}{earlier[whole[-1].end :]}"
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

    for word in _WORD.finditer(text):
        low = word[0].lower()
        if run and re.search(r"[,;:.?!()]", text[run[-1].end() : word.start()]):
            close()
        determined = bool(small) and small[-1][0].lower() in _DETERMINERS
        passive = low.endswith("ed") and low == word[0]
        if low in _FUNCTION and not (word[0] in ("US", "IT") or (word[0] == "May" and word.start())):
            close(low)
            own = bool(small) and small[-1][0].lower() == "who"  # "who may vote": nothing stands between
            open_clause = (low in _MODALS and not own) or (open_clause and low not in _PRONOUNS | _AUXILIARIES)
            small.append(word)
        elif not run and not determined and (_verb(low) or passive):
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
