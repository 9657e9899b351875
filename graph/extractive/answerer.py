"""The embedded answerer: chooses the evidence sentences that answer, and says nothing of its own."""

import re
from typing import Any

import numpy as np

from graph.extractive import occurrences, revisions, sections, siblings, whole
from graph.extractive.candidates import CUES, Candidate, clean, sayable, score
from graph.extractive.choice import choose
from graph.extractive.reader import Reader
from graph.extractive.units import units
from graph.knowledge import dated
from graph.knowledge.extensions import ROWS, SAYS, SECTION
from graph.knowledge.index import content_words
from graph.knowledge.mentions import MENTIONED
from graph.knowledge.standing import IN_FORCE
from graph.options import Style
from graph.policy.answer import counted
from graph.policy.answer.schemas import MOST_CHARS, MOST_SOURCES
from graph.policy.evidence.audience import for_others
from graph.policy.question import intent, wishes
from graph.policy.question.answer_type import all_of
from graph.policy.question.parts import parts
from graph.policy.text import lexical
from graph.policy.text.structure import quoted
from graph.regulation import asking

# The chance that the evidence answers: logistic in the best log-odds of the reader and the best chunk's score. Fitted
# on questions of the five open collections and of the own corpus, those with and those without an answer counting the
# same (n = 496, 91). At ANSWERED_FROM .07 of those that could be answered get no answer, and .66 of the others. Nothing
# else that was tried told the two apart better on both: the words that no passage has, the kind of thing asked for, the
# length of the question, the second best passage.
SIGNS, BIAS = np.array([0.63, 4.45]), -1.68
ANSWERED_FROM = 0.25
NAMELESS_FROM = 0.5  # the same where the best place has not the post that is asked for; by hand
# The same where an amount is asked for and no quote has one. Of 514 questions over eleven collections six had such an
# answer, all wrong; four of the six are below it.
AMOUNTLESS_FROM = 0.65
PRICELESS_FROM = 0.9  # the same where a price is asked for; by hand
AMOUNT_NEAR = 1.5  # of the score: a candidate so near that has an amount is quoted before one that has none; by hand
# The same where all of something is asked for and no list was read as a whole. `python -m evals.training.lists`: of 52
# such questions sentences answered 10 of 36 above it, none of 16 below; 9 of these ask for what is not there.
ALL_ANSWERED_FROM = 0.45
SAYS_IT_FROM = 0.0  # log-odds of the reader from which a quote answers a part of a question; by hand
SPOKEN_TO = 3.0  # what it costs a guarded answer to speak to others than the asker; set by hand
_SAYS = re.compile(r"[^\W\d_]{2}")  # a word; a number or a letter alone stands in any document
_TITLE_WORDS = 4
DATED_CHARS = 400  # from the title of a document to the line with its date, or the other way
MOST_LINES = 30  # of a document, from which those of one title are told apart
_POST = re.compile(
    r"\W*(?:who(?:['’]s| is| are| was| were)|what is the name of) (?:the|our|your|its) (?:[\w-]+ ){0,3}?([\w-]+)"
    r"(?= (?:of|for|in|at|on|from|here)\b|\W*$)",
    re.I,
)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|large|big|high|low|fast|hot|cold|far|deep|old)\b"
    r"|\bwhat (?:do|does|did|will|would)\b.*\bcosts?\b"
    r"|\bwhat (?:is the |are the |is our )?(?:current |exact |total |average |annual |maximum |minimum ){0,2}"
    r"(?:size|number|percentage|share|temperature|rate|budget|cost|price|fee|amount|salary)\b(?! to\b)",
    re.I,
)
_COSTS = re.compile(
    r"\bwhat (?:do|does|did|will|would)\b.*\bcosts?\b|\bhow much (?:do|does|did|will|would)\b.*\bcosts?\b", re.I
)
_PRICE = re.compile(
    r"[$€£¥₨]|\b(?:USD|EUR|GBP|CHF|PKR|INR|JPY|Rs|dollars?|euros?|pounds?|rupees?|francs?|crowns?|cents?)\b"
    r"|\b(?:free|no (?:cost|charge|fee|additional cost)s?|at cost)\b"
    r"|\b(?:costs?|price|fees?|rates?|charges?|dues)\b[^.;]{0,40}\d|\d[\d,.]*\b[^.;]{0,30}\b(?:costs?|price|fees?|rates?|charges?|dues)\b",
    re.I,
)
_NUMBERED = re.compile(r"^\W*\d[\d.]*[.)]?\s")
_HAS_AMOUNT = re.compile(
    r"\d|\b(?:no|none|nothing|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|dozens?|once|twice|half|thirds?|quarters?"
    r"|single|any|each|an? (?:\w+ )?(?:day|week|month|quarter|year)|free|unlimited)\b",
    re.I,
)
_POINTERS = frozenset("one ones first second third fourth fifth sixth seventh eighth last latter former final".split())


def answer(task: dict[str, Any], reader: Reader) -> dict[str, Any]:
    """The reply object of prompts/answer.md for a task (graph/models/task.py). "sure" is in it where a list or
    a section was read as a whole: whether it surely is the one that is asked about."""
    question, evidence, about = wishes.bare(task["question"]), task["evidence"], task["about"]
    if task["listing"]:
        counts = all_of(question) in ("count", "sum") and not task["cut"]  # "How many … in total?"
        names = _dated(question, evidence) or _names(evidence, counts)
        return _reply(names, counts and len(names) == len(evidence))
    if provisions := _provisions(question, evidence):
        return _reply(provisions)
    places, counts = occurrences.answer(question, evidence, task.get("cut", False))
    if places:
        return _reply(places, counts)
    if not about and not any(_SAYS.search(word) for word in content_words(question)):
        return _reply([])
    own = len([word for word in content_words(question) if word not in _POINTERS])
    # "the first one" says nothing of its own: what it stands for is asked about. "And who is its steward?" says what is
    # wanted, and the evidence is of the thing meant already: its name would only draw the sentences that name it.
    query = f"tell me about {about}" if about and own == 0 and not _wants(question) else question
    if not about and evidence and _titles(question, evidence[0]["title"]):
        query = f"tell me about {question}"
    candidates = score(query, evidence, reader)
    if who := task.get("meant_for"):
        for candidate in candidates:
            candidate.score -= SPOKEN_TO * for_others(f"{candidate.path}\n{candidate.text}", who)
        candidates.sort(key=lambda c: -c.score)
    called = intent.overview(question) and any(item.get("why") == MENTIONED for item in evidence)
    least = max(task.get("least", 0.0), ANSWERED_FROM)
    called = called or (all_of(question) == "summary" and sections.called(question, evidence) is not None)
    if not candidates:
        return _reply([])
    if _another_post(question, candidates[0]):
        least = max(least, NAMELESS_FROM)
    likely = 1.0 if about or called else chance(signs(candidates, evidence))
    unlikely = likely < least
    excerpts, sure = (
        ([], True) if who else _as_a_whole(query, evidence, candidates, reader, unlikely, task.get("cut", False))
    )
    if excerpts:
        return {"answered": True, "sentences": [{"text": text, "sources": n} for n, text in excerpts], "sure": sure}
    several = [] if who or task.get("planned") else parts(question)
    silent = unlikely or task.get("planned") or (all_of(question) and not called and likely < ALL_ANSWERED_FROM)
    texts = {item["n"]: item["text"] for item in evidence}
    quotes = [] if silent else choose(query, candidates, texts, task["style"], bool(who))
    has, least_sure = (_has_price, PRICELESS_FROM) if _COSTS.search(question) else (_has_amount, AMOUNTLESS_FROM)
    if quotes and _AMOUNT.search(question) and not any(has(text) for _, text in quotes):
        near = [one for one in candidates if one.score >= candidates[0].score - AMOUNT_NEAR and has(one.text)]
        if near:
            quotes = choose(query, near, texts, task["style"], bool(who))
        elif likely < least_sure:
            quotes = []
    if not several:
        return _reply(quotes)
    quotes, complete = _each(several, quotes, evidence, texts, task["style"], reader, least)
    return _reply(quotes) | {"sure": complete}


def _has_price(text: str) -> bool:
    """Whether it says an amount of money, or that there is nothing to pay."""
    return _PRICE.search(text) is not None


def _has_amount(text: str) -> bool:
    """Whether it says an amount, apart from the number of a clause at its beginning."""
    return _HAS_AMOUNT.search(_NUMBERED.sub("", text)) is not None


def _each(
    questions: list[str],
    quotes: list[tuple[int, str]],
    evidence: list[dict[str, Any]],
    texts: dict[int, str],
    style: Style,
    reader: Reader,
    least: float,
) -> tuple[list[tuple[int, str]], bool]:
    """The quotes that answer a question of several parts, with what answers those that they do not, by a chance of
    `least`; and whether all parts are answered."""
    above = {item["n"]: f"{item['title']} - {item['section'].rpartition(' > ')[2]}" for item in evidence}
    complete = True
    for part in questions:
        if quotes and max(reader.scores(part, [(above[n], text) for n, text in quotes])) >= SAYS_IT_FROM:
            continue
        candidates = score(part, evidence, reader)
        if candidates and chance(signs(candidates, evidence)) >= least:
            further = choose(part, candidates, texts, style)
            quotes = [*quotes, *(one for one in further if not any(one[1] in quote for _, quote in quotes))]
        else:
            complete = False
    return quotes, complete


def _as_a_whole(
    question: str,
    evidence: list[dict[str, Any]],
    candidates: list[Candidate],
    reader: Reader,
    unlikely: bool,
    cut: bool,
) -> tuple[list[tuple[list[int], str]], bool]:
    """(sources, text) of a section that the question names, of what changed between editions, of a list or table; and
    whether that is surely the one that is asked about. Nothing where an extension chose the passages: it knows how its
    documents are divided."""
    if {item.get("why") for item in evidence} - {None, "", MENTIONED, SECTION, ROWS, SAYS, IN_FORCE}:
        return [], True
    if said := siblings.answer(question, evidence):
        return said, True
    if unlikely:  # no sentence answers; the rows of a table need not
        summary = all_of(question) == "summary"
        return ([], True) if summary else whole.answer(question, evidence, candidates, reader, cut)
    if change := revisions.row(question, evidence):
        return [([change[0]], change[1])], True
    excerpts = sections.named(question, evidence) or sections.changed(question, evidence)
    return (excerpts, True) if excerpts else whole.answer(question, evidence, candidates, reader, cut)


def _reply(quotes: list[tuple[int, str]], count: bool = False) -> dict[str, Any]:
    if count and len(quotes) > 1:
        text = counted.count([text.split("\n", 1)[0] for _, text in quotes])
        if len(text) <= MOST_CHARS:
            return {"answered": True, "sentences": [{"text": text, "sources": [n for n, _ in quotes][:MOST_SOURCES]}]}
    sources: dict[str, list[int]] = {}  # what several documents say alike is said once, of all of them
    for n, text in quotes:
        sources.setdefault(text, []).append(n)
    sentences = [{"text": text, "sources": numbers[:MOST_SOURCES]} for text, numbers in sources.items()]
    return {"answered": bool(quotes), "sentences": sentences}


def _another_post(question: str, best: Candidate) -> bool:
    """Whether it asks who holds a post ("Who is the director of the museum?") of which the best place says nothing."""
    post = _POST.match(question)
    return post is not None and lexical.stem(post[1].lower()) not in lexical.stems(f"{best.path} {best.text}")


def _titles(question: str, title: str) -> bool:
    """Whether a question is nothing but words of a title ("leave?")."""
    words = lexical.stems(question)
    return 0 < len(words) <= _TITLE_WORDS and {*words} <= {*lexical.stems(title)} and bool(content_words(question))


def _wants(question: str) -> bool:
    """Whether it asks for a kind of thing: a date, a number, a person, a place, a reason."""
    return any(ask.search(question) for ask, _ in CUES[:5])


def signs(candidates: list[Candidate], evidence: list[dict[str, Any]]) -> np.ndarray:
    """What `chance` weighs, float64 (2,)."""
    return np.array([max(c.read for c in candidates), max(item["score"] for item in evidence)])


def chance(values: np.ndarray) -> float:
    """Of an answer in the evidence, 0-1, for the signs of a question."""
    return float(1 / (1 + np.exp(-(values @ SIGNS + BIAS))))


def _names(evidence: list[dict[str, Any]], counted: bool) -> list[tuple[int, str]]:
    """(source, what it calls itself): its title where the text has it, else the name of its file; where they are
    counted its first statement, since what is counted stands in the text. Where all are called alike each is told
    by its first line that the others have not: its date."""
    names = []
    alike = len({item["title"] for item in evidence}) == 1 < len(evidence)
    for item in evidence:
        if item["title"] and item["title"] in item["text"]:
            names.append((item["n"], _own_line(item, evidence) if alike else item["title"]))
        elif not counted:
            names.append((item["n"], item["filename"]))
        else:
            texts = [clean(item["text"][a:b]) for a, b in units(item["text"])]
            names += [(item["n"], text) for text in texts if sayable(text, item["title"])][:1]
    return names


def _dated(question: str, evidence: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """(source, its title and its date) of documents that the question picks by their dates; nothing for others, or
    where one does not say it near its beginning."""
    if not dated.asks(question):
        return []
    names = []
    for item in evidence:
        text = item["text"]
        lines = text.split("\n")[:MOST_LINES]
        at = dated.line_of(question, lines)
        if at is None:
            return []
        titled = next((n for n, line in enumerate(lines) if item["title"] and item["title"] in line), at)
        first, last = sorted((at, titled))
        begin, end = (len("\n".join(["", *lines[:n]])) for n in (first, last + 1))
        whole = end - begin <= DATED_CHARS
        names.append((item["n"], quoted(text, begin, end - 1) if whole else lines[at].strip()))
    return names


def _own_line(item: dict[str, Any], evidence: list[dict[str, Any]]) -> str:
    """Its title where it has no line that the others have not."""
    others = {line for one in evidence if one is not item for line in _lines(one)}
    return next((line for line in _lines(item) if line not in others), item["title"])


def _lines(item: dict[str, Any]) -> list[str]:
    return [line for line in item["text"].split("\n")[:MOST_LINES] if line.strip() and not line.startswith("#")]


def _provisions(question: str, evidence: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """(source, text) of the provisions that a question names and nothing else ("Article 17"), in their order."""
    named = [item for item in evidence if item.get("why") == "named"]
    if not named or not asking.names_only(question):
        return []
    named.sort(key=lambda item: (item["doc_id"], item["start"]))
    return [(item["n"], clean(item["text"][a:b])) for item in named for a, b in units(item["text"])]
