"""What of the evidence could answer, weighed: by the words it shares with the question, then read together with it.

Every sentence, item and row is weighed by how much of the question it holds, alone and with what stands around it, by
whether it has the kind of thing asked for, by how near its chunk was, and by how like its words are. The best READ go
to the reader (graph/extractive/reader.py), which knows how well a sentence answers.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from graph.extractive import bands
from graph.extractive.likeness import likeness
from graph.extractive.numbered import numbered
from graph.extractive.reader import Reader
from graph.extractive.units import Unit, units
from graph.knowledge import mentions, standing, versions
from graph.knowledge.index import content_words
from graph.knowledge.mentions import MENTIONED
from graph.policy.question import intent
from graph.policy.question.answer_type import kind
from graph.policy.text import lexical, quantities
from graph.policy.text.structure import without_marks

FEATURES = ("alone", "near", "fits", "chunk", "row", "like")
# By which READ are chosen. Listwise fit on questions of two collections of which the likeness had learned nothing (n =
# 1,138): a right unit is among 24 of fifteen passages in .73 and .75 of them, without the likeness in .66 and .73.
FIRST = np.array([0.18, 0.14, 0.07, 1.0, 0.05, 1.75])
READ = 24
# Beside the reader's log-odds. Rounded by hand, towards the reader, from a listwise fit on questions of three open
# collections and of the own corpus (n = 332), which gave 0.8, 3.8, 1.5, 8.8 and 0.6 with 0.9 for the reader.
WEIGHTS = np.array([0.8, 2.5, 1.0, 6.0, 0.3, 0.0])
LONG = 40  # characters from which an item that introduces others says something by itself
_CALL = re.compile(r"`?(?:def )?[\w.]+\((?=[^()]*[=_])[^()]*\)`?:?")  # the head of a function, alone
_OF_CODE = re.compile(
    r"\b(?:functions?|methods?|arguments?|parameters?|code|calls?|api|signature|syntax|commands?)\b|[a-z]_[a-z]|\(\)",
    re.I,
)
_OF_TABLES = re.compile(r"\b(?:tables?|figures?|fig|charts?|diagrams?|exhibits?|plots?)\b", re.I)
_CAPTION = re.compile(
    r"\W*(?:table|tab\.|figure|fig\.|exhibit)\s*[\dA-Z][\d.-]*\W*", re.I
)  # what stands before the words
DEFINES = 3.0  # what it is worth, as a thing of the kind asked for, to say what the thing asked about is
_LEAD = 6.0  # what the opening of a document is worth to an overview
_NEARLY = 2.0  # log-odds of the reader; by hand
_OUTDATED = 6.0  # what it costs to stand in a document of which there is a later version
_OF_ANOTHER = 4.0  # what it costs to stand in another document than the one that the question calls by its code or name
_CALLED = 2.0  # what it is worth to stand in the document that the question calls by what it is
CUES = (
    (re.compile(r"\b(?:when|what (?:date|day|time|year)|by when|deadline|until|how long|how often)\b", re.I),
     re.compile(r"\b(?:\d{1,2}:\d\d|\d{4}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|hours?|days?|weeks?|months?|years?|minutes?|(?:bi-?)?(?:weekly|monthly)|daily|annual(?:ly)?|quarterly|yearly)\b", re.I)),
    (re.compile(r"\b(?:how (?:many|much|large|big|high|low|fast|hot|cold|far|deep|old)|what (?:size|number|percentage|share|temperature|rate|budget|cost|price|limit|accuracy))\b", re.I),
     re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|once|twice|half)\b", re.I)),
    (re.compile(r"\b(?:who|whom|whose)\b", re.I),
     re.compile(r"\b(?:Dr|Prof|Ms|Mr|Mrs)\b\.?|\b[A-Z][a-z]+ [A-Z][a-z]+\b|\b(?:officer|manager|committee|head|coordinator)\b")),
    (re.compile(r"\bwhere\b", re.I), re.compile(r"\b(?:room|building|floor|lab|block|bench|store|cabinet|server|door|hall|cupboard|drawer|shelf|desk|gate|next to|beside|behind|under|at the|in the)\b", re.I)),
    (re.compile(r"\b(?:why|reason|because)\b", re.I), re.compile(r"\b(?:because|since|so that|due to|in order|caused)\b", re.I)),
    # Whether so much is allowed: what is allowed at most or at least, or by how much.
    (re.compile(r"^\W*(?:can|may|could|am|are|is|do|does|must|should|shall|would)\b.*\d", re.I),
     re.compile(r"\b(?:up to|at (?:most|least)|no (?:more|less|fewer|longer|later) than|not (?:more|exceed)|more than|maximum|minimum|limit(?:ed)?|only|within|below|above|exceed\w*|until)\b.*\d|\d.*\b(?:at (?:most|least)|or (?:more|less|fewer)|maximum|minimum)\b", re.I)),
    (re.compile(r"\bwhat (?:is|are|does|do)\b.*\b(?:mean|definition|defined|stand for)?", re.I),
     re.compile(r"\b(?:is|are|means?|refers? to|stands? for|defined)\b", re.I)),
)  # fmt: skip


@dataclass
class Candidate:
    """A unit of the evidence that could answer, with what speaks for it."""

    n: int  # number of the source
    unit: Unit
    text: str
    stems: frozenset[str]
    path: str  # title and nearest heading
    read: float = 0.0  # the reader's log-odds
    score: float = 0.0

    @property
    def at(self) -> int:
        """Where it begins in the text of its source, in characters."""
        return self.unit.start


def score(question: str, evidence: list[dict[str, Any]], reader: Reader) -> list[Candidate]:
    """Every unit of the evidence that could answer, best first."""
    candidates, table = weigh(question, evidence)
    if not candidates:
        return []
    called = {item["n"] for item in evidence if item.get("why") == MENTIONED}
    coded = _by_code(question, evidence) if called else {}
    elsewhere = of_others(question, evidence)
    for candidate in candidates:
        if (code := coded.get(candidate.n)) and not mentions.says(candidate.path, code):
            candidate.path = " - ".join(part for part in (code, candidate.path) if part)
    own = np.array([_CALLED if candidate.n in coded else 0.0 for candidate in candidates])
    first = np.argsort(-(table @ FIRST + own), kind="stable")[:READ]
    read = reader.scores(question, [(candidates[i].path, candidates[i].text) for i in first])
    for candidate in candidates:
        candidate.read = float(read.min())
    for at, value in zip(first, read, strict=True):
        candidates[at].read = float(value)
    overview = intent.overview(question)
    outdated = versions.outdated(question, evidence)
    lapsed = _lapsed(question, evidence, candidates)
    repeated = Counter(candidate.text for candidate in candidates)
    asked_for = numbered(question)
    on_scales = _on_scales(question, candidates)
    # Where a document begins, with the number of its statements so far.
    openings = {item["n"]: 0 for item in evidence if item["start"] == 0 and (item["n"] in called or not called)}
    for candidate, value, gone in zip(candidates, table @ WEIGHTS, lapsed, strict=True):
        lead = _CALLED if candidate.n in called else 0.0
        if coded and candidate.n not in called and not any(mentions.says(candidate.text, c) for c in {*coded.values()}):
            lead -= _OF_ANOTHER
        if candidate.n in elsewhere:
            candidate.read -= _OF_ANOTHER  # nor is it any surer an answer
            lead -= _OF_ANOTHER
        if overview and candidate.n in openings and (candidate.text[-1] in ".!" or "\n" in candidate.text):
            lead += _LEAD / (1 + openings[candidate.n] / 4)
            openings[candidate.n] += 1
        if named_row(question, candidate):
            lead += _CALLED
        lead += on_scales.get(id(candidate), 0.0)
        if asked_for and _other_number(asked_for, f"{candidate.path} {candidate.text}"):
            lead -= _OF_ANOTHER
        lead -= _OUTDATED if candidate.n in outdated or gone else 0.0
        # A line that stands in every document says nothing of this one.
        lead -= _LEAD if repeated[candidate.text] > 2 else 0.0
        candidate.score = round(candidate.read + float(value) + lead, 6)
    return sorted(candidates, key=lambda c: (-c.score, c.n, c.at))


def _other_number(asked: Mapping[str, set[int]], text: str) -> bool:
    """Whether a text is about another thing of the name and number asked about: "Phase 1" where "phase 2" is."""
    has = numbered(text)
    return any(noun in has and not has[noun] & numbers for noun, numbers in asked.items())


def _on_scales(question: str, candidates: Sequence[Candidate]) -> dict[int, float]:
    """What a line of a scale is worth, by `id`: a list, a table or lines of one passage that begin with ranges, in some
    of which an amount of the question lies and in others not. The reader, which reads no ranges, is as sure of the
    right line as of the surest, and SURER."""
    amounts = bands.asked(question)
    scales: dict[tuple[int, Any], list[tuple[Candidate, bool]]] = {}
    for candidate in candidates if amounts else ():
        band = bands.band(candidate.text)
        fits = bands.fits(amounts, band) if band and (candidate.unit.whole or band.begins) else None
        if fits is not None:
            scales.setdefault((candidate.n, candidate.unit.whole), []).append((candidate, fits))
    worth: dict[int, float] = {}
    for lines in scales.values():
        if len({fits for _, fits in lines}) == 1:
            continue
        surest = max(one.read for one, _ in lines)
        for one, fits in lines:
            worth[id(one)] = bands.WORTH if fits else -bands.WORTH
            one.read = surest + bands.SURER if fits else one.read
    return worth


def named_row(question: str, candidate: Candidate) -> bool:
    """Whether a candidate is a row that the question calls by its first cell, a name of several words or with capital
    letters or numbers only: "STORM 2", "GMH"."""
    cells = quantities.cells(candidate.text) if candidate.unit.kind == "row" else ()
    name = cells[0][1] if cells else ""
    stems = lexical.stems(name) if " " in name or (len(name) > 1 and name == name.upper() != name.lower()) else []
    return bool(stems) and f" {' '.join(stems)} " in f" {' '.join(lexical.stems(question))} "


def _by_code(question: str, evidence: list[dict[str, Any]]) -> dict[int, str]:
    """The code by which the question calls a source ("20-01"), by the number of the source."""
    codes = mentions.codes(question)
    named = [(item["n"], mentions.name(item["title"], item["filename"])) for item in evidence if codes]
    return {n: code for n, name in named for code in codes if name.has_code(code)}


def of_others(question: str, evidence: Sequence[Mapping[str, Any]]) -> set[int]:
    """The sources that are about another thing of the kind that the question names, and do not name it: what stands in
    "Darwin (YPDN)" where it asks of Perth and one is "Perth (YPPH)"."""
    called = {item["n"] for item in evidence if item.get("why") == MENTIONED}
    subjects = {item["n"]: mentions.subjects(item["title"]) for item in evidence if called}
    named = mentions.called(question, {one for n in called for one in subjects[n]})
    texts = [item["text"] for item in evidence] if named else []
    named = {one for one in named if mentions.is_name(one, texts)}
    if not named:
        return set()
    words = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, named))})(?!\w)", re.I)
    return {
        item["n"]
        for item in evidence
        if subjects[item["n"]]
        and not {*subjects[item["n"]]} & named
        and all(mentions.is_name(one, texts) for one in subjects[item["n"]])
        and not words.search(f"{item['section']} {item['text']}")
    }


def _lapsed(question: str, evidence: list[dict[str, Any]], candidates: list[Candidate]) -> list[bool]:
    """Of each candidate whether it stands in a document that is no longer in force, or tells of one; of none where the
    question asks for one of them, or what is in force does not answer nearly as well."""
    sources, named = standing.lapsed(evidence), standing.lapsed_codes(evidence)
    gone = [one.n in sources or standing.lapse_named(one.text, named) is not None for one in candidates]
    if not any(gone) or standing.asked_for(question, evidence):
        return [False] * len(candidates)
    best = {old: max((c.read for c, is_old in zip(candidates, gone, strict=True) if is_old == old), default=-np.inf)
            for old in (False, True)}  # fmt: skip
    return gone if best[False] >= best[True] - _NEARLY else [False] * len(candidates)


def weigh(question: str, evidence: list[dict[str, Any]]) -> tuple[list[Candidate], np.ndarray]:
    """Candidates in the order of the evidence and their features, float64 (len(candidates), len(FEATURES))."""
    wanted = frozenset(one for word in content_words(question) for one in folded_stems(word))
    cue = next((answer for ask, answer in CUES if ask.search(question)), None)
    defined = defines(question) if kind(question) == "definition" else None
    cut = [(item, [leaf for unit in units(item["text"]) for leaf in leaves(unit)]) for item in evidence]
    bags = [[folded_stems(item["text"][a:b]) for a, b in parts] for item, parts in cut]
    flat = [bag for group in bags for bag in group]
    rarity = {w: math.log(1 + len(flat) / (1 + sum(w in bag for bag in flat))) for w in wanted}
    total = sum(rarity.values()) or 1.0
    of_code, of_tables = (asks.search(question) is not None for asks in (_OF_CODE, _OF_TABLES))
    stems_of = cache(folded_stems)  # what stands above is the same for many
    candidates: list[Candidate] = []
    rows: list[list[float]] = []
    for (item, parts), group in zip(cut, bags, strict=True):
        above = stems_of(f"{item['title']} {item['section']}")
        for at, unit in enumerate(parts):
            statement = clean(item["text"][unit.start : unit.end])
            # A point of an act ("(2) ‘operator’ means any person by virtue of:") is one item, its letters are others.
            whole = statement.rstrip(":") if unit.kind == "item" and len(statement) > LONG else statement
            lead = item["text"][slice(*unit.lead)] if unit.lead else ""
            before = item["text"][parts[at - 1].start : parts[at - 1].end] if at else ""
            if not sayable(whole, item["title"], lead or (before if before.endswith(":") else "")):
                continue
            if (not of_code and _CALL.fullmatch(statement)) or (not of_tables and _caption(item["text"], unit)):
                continue
            text = f"{clean(lead)} {statement}" if lead and unit.kind != "sentence" else statement
            around = above | group[at] | (group[at - 1] if at else frozenset())
            around |= stems_of(f"{lead} {' '.join(unit.headings)}")
            rows.append(
                [
                    sum(rarity[w] for w in wanted & group[at]) / total,
                    sum(rarity[w] for w in wanted & around) / total,
                    (DEFINES if defined and defined.search(text) else 0.0) + bool(cue and cue.search(statement)),
                    float(item["score"]),
                    1.0 if unit.kind == "row" else 0.0,
                ]
            )
            heading = unit.headings[-1] if unit.headings else item["section"].rpartition(" > ")[2]
            path = " - ".join(dict.fromkeys(part for part in (item["title"], heading) if part))
            candidates.append(Candidate(item["n"], unit, text, group[at], path))
    like = likeness(question, [f"{one.path}: {one.text}" if one.path else one.text for one in candidates])
    return candidates, np.column_stack([np.array(rows).reshape(len(rows), len(FEATURES) - 1), like])


def _caption(text: str, unit: Unit) -> bool:
    """Whether it is what a table or figure is called: "Table 2. Codes used to identify covariates.", or its number."""
    line = text.rfind("\n", 0, unit.start) + 1
    ends = (unit.start, unit.end)
    return unit.kind == "sentence" and any(_CAPTION.fullmatch(text, line, end) for end in ends)


def folded_stems(text: str) -> frozenset[str]:
    """Stems of the words of a text; "carry" is one with "carried"."""
    return frozenset(one[:-1] if len(one) > 4 and one[-1] == "y" else one for one in lexical.stems(text))


_ADDRESS = re.compile(r"\S+://\S+")
_DEFINITION_WORDS = frozenset("mean means meaning meant stand stands definition define defined explain exactly".split())


def defines(question: str) -> re.Pattern[str] | None:
    """What a sentence looks like that says what the words asked about mean: "‘operator’ means", "Hone is"."""
    term = r"\W+".join(re.escape(word) for word in content_words(question) if word not in _DEFINITION_WORDS)
    if not term:
        return None
    return re.compile(
        rf"\b{term}\b\W{{0,3}}(?:\([^)]{{1,40}}\)\W{{0,2}})?(?:means?|is|are|refers? to|stands? for)\b|"
        rf"^\W*{term}\W{{0,2}}(?::| [-–—]) ?\w|\w \({term}\)",
        re.I,
    )


def leaves(unit: Unit) -> list[Unit]:
    """A list is weighed by its items: which of them answers decides whether it is quoted."""
    return [leaf for part in unit.parts for leaf in leaves(part)] if unit.kind == "list" and unit.parts else [unit]


def clean(text: str) -> str:
    """The words as they are weighed: without the mark of an item, a heading or code."""
    return without_item(without_marks(text))


def without_item(text: str) -> str:
    """Without the bullet or the number of an item at its beginning."""
    return re.sub(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+", "", text).strip()


def _bare(text: str) -> str:
    """A title without its mark: "# Memo 4", "Title: Memo 4" and "Memo 4." are one."""
    return re.sub(r"^(?:#+|title:)\s*", "", text.strip(), flags=re.I).strip(" .").casefold()


def sayable(text: str, title: str, lead: str = "") -> bool:
    """Whether it is a statement: not a heading, a title, a question, or a line that is only masks; a number or an
    address alone only below a `lead`, which says of what."""
    bare = text.replace("[REDACTED]", " ")
    words = re.search(r"\w", bare) and re.search(r"[^\W\d_]", lead + _ADDRESS.sub(" ", bare))
    return words is not None and _bare(text) != _bare(title) and not text.endswith(("?", ":"))
