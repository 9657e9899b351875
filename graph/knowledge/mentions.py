"""Documents that a question mentions by what they are: "the AI policy", "the minutes of 9 March", "our freezer memo".

People seldom know a title. They say a kind of document with words before it or after it; the document meant has these
in its title or its file's name. A title also answers to its initials: "artificial intelligence" to "AI"; one with a
date to that day, however it is written. Where each site, product or person has a document of its own, the title is the
name of it, and a question calls the document by that: "At Perth, where ...?" the one titled "Perth (YPPH)".
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from graph.policy.text import lexical as lexical
from graph.policy.text import quantities

MENTIONED = "the document asked for"  # what a handle says of why it is there
# Fields of a record (graph/knowledge/standing.py).
LAPSED, LIMITED, REPLACES = "No longer in force", "In force until", "What it replaces"

# Kinds of document that a title names too, and kinds that say only that it is one.
_KINDS = frozenset(
    lexical.stem(kind)
    for kind in """
    policy policies plan schedule protocol procedure handbook guide guidance guideline guidelines notice sop minutes
    register roster notebook agreement contract rubric outline inventory budget induction manual charter
    syllabus calendar log report summary contacts rules bylaw bylaws constitution statutes terms directive standards
    appendix annex attachment exhibit amendment
    """.split()
)
# Of these a letter says which: "Appendix B".
_LETTERED = frozenset(lexical.stem(kind) for kind in "appendix annex attachment exhibit schedule".split())
_LETTER = re.compile("[a-z]")
_ANY = frozenset(
    lexical.stem(kind) for kind in "document file sheet page memo paper text note notes spreadsheet".split()
)
# What ends the words that belong to a kind: closed-class words, verbs of asking.
_ENDS = frozenset(
    """
    a an and any are as at be by can could did do does every for from give has have how i if in into is it its many me
    my no not of on or our out per say says said shall she should show some summarise summarize sum up describe tell
    than that the their there these they this those to under was we were what when where which who whom whose why will
    with would you your about according please
    """.split()
)
_AFTER = frozenset("of on for about from and".split())
# What tells one document from another: "15-01", "SP-114", "POL 07"; no amount, version or year.
_CODE = re.compile(
    r"(?<![^\s(])(?![vVrR]\d|(?:19|20)\d\d[-/])(?:[A-Za-z]+[-/.]?\d|\d+[-/]\w*\d)(?:[\w/.-]*\w)?|"
    r"(?<![^\s(])[A-Z]{2,} \d{2,}(?![\w,./-]*\d)"
)
_OWN_CODE = re.compile(r"\b(?:ids?|numbers?|no|nr|codes?|refs?|references?|identifiers?)\b", re.I)  # names of fields
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")
_BEFORE, _BEHIND = 4, 6  # words that may belong to a kind, before and after it
_LEAST = 0.65  # the share of these that the name must hold
_OF_DAY = 1.2  # of a document that is named after the day: more than any words
_KIND = 0.1  # what a name that says the kind as well is worth more
_MOST = 3  # documents; where more answer to the words of one mention, it means none
# Titles that name a part of any collection, and not what it is about.
_PARTS = frozenset(
    "index readme home overview introduction about general faq faqs contents appendix other help".split()
)
_TITLE_ENDS = re.compile(r"\s*[()\[\]|–—:]\s*|\s+-\s+")
_SUBJECT = 4  # words of a name at most
_SHORTEST = 3  # letters of it
_MOST_CODED = 8  # the same for a code: a directive, its annexes, and the page about it


class Name(NamedTuple):
    """What a document answers to, in stems: the words of its title and file name, and what stands in them less plainly:
    parts of hyphenated words, and initials of two to four words in a row of the title. `dates` are ordinals of days.
    `lapsed` and `replaces` are sentences on what is in force (graph/knowledge/standing.py)."""

    words: frozenset[str]
    within: frozenset[str]
    dates: frozenset[int] = frozenset()
    lapsed: str = ""
    replaces: tuple[str, ...] = ()
    parts: str = ""  # letters and digits of the title, the file's name and its number, apart: " sop 014 cleaning "
    subjects: tuple[str, ...] = ()  # words of a title that may be the name of a thing: "perth", "ypph"
    title: str = ""
    filename: str = ""
    fields: tuple[tuple[str, ...], ...] = ()

    def has_code(self, code: str) -> bool:
        """Whether it is called by this: "SOP-014", "SOP 014" and "SOP014" are one."""
        return f" {_apart(code)} " in self.parts

    def holds(self, wanted: Collection[str]) -> float:
        """The share of the words that are in the name; what stands in it less plainly counts 0.9."""
        return sum(1.0 if w in self.words else 0.9 * (w in self.within) for w in wanted) / len(wanted)


def name(title: str, filename: str, fields: Iterable[Sequence[str]] = ()) -> Name:
    """What a document of this title answers to; `fields` are those of its record."""
    own = tuple((key, value) for key, value in fields)
    numbers = [value for key, value in own if _OWN_CODE.search(key) and _CODE.fullmatch(value)]
    whole = lexical.words(title)
    parts = [part for word in lexical.words(lexical.apart(title)) for part in re.split(r"[-/]", word) if part]
    parts = [part for part in parts if part not in _ENDS]
    stem = re.sub(r"[\W_]+", " ", filename.rpartition(".")[0] or filename)
    runs = ("".join(word[0] for word in parts[at : at + n]) for n in (2, 3, 4) for at in range(len(parts) - n + 1))
    return Name(
        frozenset(map(lexical.stem, [*whole, *lexical.words(stem), *lexical.words(lexical.apart(stem))])),
        frozenset([*map(lexical.stem, parts), *runs]),
        frozenset(quantities.dates(f"{title} {stem.replace(' ', '-')}")),
        next((value for key, value in own if key in (LAPSED, LIMITED)), ""),
        tuple(value for key, value in own if key == REPLACES),
        f" {_apart(' '.join([title, stem, *numbers]))} ",
        tuple(subjects(title)),
        title,
        filename,
        own,
    )


def subjects(title: str) -> list[str]:
    """What a title may name, in lower case: its words, and what stands in brackets or behind a dash or colon. None of a
    title that is a sentence, or says which kind of document it is: others are about the same."""
    if {*lexical.stems(title)} & (_KINDS | _ANY):
        return []
    parts = [lexical.words(part) for part in _TITLE_ENDS.split(title)]
    names = [" ".join(words) for words in parts if len(words) <= _SUBJECT and not {*words} & (_ENDS | _PARTS)]
    return [name for name in dict.fromkeys(names) if len(name) >= _SHORTEST and not name.isdecimal()]


def called(question: str, names: Iterable[str]) -> set[str]:
    """Of these names of things those that the question says, the longest at each place. Where it is written with
    capitals, names have them, too."""
    spoken = _spoken(question)
    in_question = {name for name in names if f" {name} " in spoken}
    written = [text for at, text in enumerate(question.split()) if text[:1].isupper() and (at or text[1:2].isupper())]
    capitals = {word for text in written for word in lexical.words(text)} - {"i"}
    if capitals or question.lstrip()[:1].isupper():
        in_question = {name for name in in_question if {*name.split()} & {*map(_unowned, capitals)}}
    return {name for name in in_question if not any(f" {name} " in f" {one} " for one in in_question - {name})}


def _spoken(question: str) -> str:
    return f" {' '.join(map(_unowned, lexical.words(question)))} "


def _unowned(word: str) -> str:
    return word.removesuffix("'s")


def is_name(subject: str, texts: Iterable[str]) -> bool:
    """Whether these texts write it as a name: none has one of its words with a small letter."""
    small = re.compile("|".join(rf"(?<![\w./@-]){re.escape(word)}(?![\w/@])" for word in subject.split()))
    return not any(small.search(text) for text in texts)


def codes(question: str) -> list[str]:
    """What the question may call documents by, as it stands: "BOD 19-02" gives "19-02"."""
    return _CODE.findall(question)


def says(text: str, code: str) -> bool:
    """Whether the code stands in the text, however its letters and digits are joined."""
    return f" {_apart(code)} " in f" {_apart(text)} "


def _apart(text: str) -> str:
    return " ".join(_LETTERS_OR_DIGITS.findall(text.casefold()))


class Names:
    """What the documents of one space answer to; made anew only for those whose record says something else."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, tuple[tuple[str, ...], ...]], Name] = {}

    def of(self, documents: Iterable[tuple[str, str, str, Iterable[Sequence[str]]]]) -> list[tuple[str, Name]]:
        """Ids and names, in the order of the documents: id, title, file name and fields of each."""
        before, self._made = self._made, {}
        named = []
        for doc_id, title, filename, fields in documents:
            key = title, filename, tuple(map(tuple, fields))
            self._made[key] = before.get(key) or self._made.get(key) or name(*key)
            named.append((doc_id, self._made[key]))
        return named


class Phrase(NamedTuple):
    """Words that may say which document is meant; `anchor` is the one next to the kind and must be in the name. `at` is
    the place of the kind in the question."""

    anchor: str
    words: tuple[str, ...]
    kind: str
    at: int


def phrases(question: str) -> list[Phrase]:
    """For each kind of document in the question: with the words before it, with those after it, and with both."""
    words = [part for word in lexical.words(question) for part in re.split(r"[-/]", word) if part]
    result = []
    for at, word in enumerate(words):
        kind = lexical.stem(word)
        if kind not in _KINDS | _ANY:
            continue
        before = _run(reversed(words[max(0, at - _BEFORE) : at]))
        behind = words[at + 1 : at + 1 + _BEHIND]
        after = _run(w for w in behind[1:] if w not in ("the", "our")) if behind[:1] and behind[0] in _AFTER else []
        after = after or list(takewhile(str.isdecimal, behind))  # "bylaw 3"
        if not after and len(behind) > 1 and behind[1].isdecimal() and behind[0] not in _ENDS:
            after = behind[:2]  # "amendment INT-4"
        after = after or [letter for letter in behind[:1] if kind in _LETTERED and _LETTER.fullmatch(letter)]
        own = [] if kind in _ANY else [kind]
        both = [*before, *after] if before and after else []
        result += [
            Phrase(lexical.stem(run[0]), tuple(dict.fromkeys([*map(lexical.stem, run), *own])), kind, at)
            for run in (before, after, both)
            if run
        ]
    return result


def _run(words: Iterable[str]) -> list[str]:
    """The words up to one that cannot belong to a name."""
    return list(takewhile(lambda word: word not in _ENDS, words))


def may_mention(question: str) -> bool:
    """Whether the question has words, or a day, that may say which document is meant."""
    return bool(phrases(question) or quantities.dates(question) or codes(question))


def meant(question: str, names: Iterable[tuple[str, Name]]) -> list[str]:
    """Ids of the documents that the question mentions; `names` are ids and what `name` gives for each."""
    names, days = list(names), {*quantities.dates(question)}
    mentions: dict[int, list[Phrase]] = {}
    for phrase in phrases(question):
        mentions.setdefault(phrase.at, []).append(phrase)
    ids: set[str] = set()
    for code in codes(question):
        coded = [doc_id for doc_id, known in names if known.has_code(code)]
        ids |= {*coded} if len(coded) <= _MOST_CODED else set()
    for mention in mentions.values() or [[]]:
        scores: dict[str, float] = {}
        for doc_id, known in names:
            shares = [
                known.holds(p.words) + _KIND * (p.kind in known.words) for p in mention if known.holds([p.anchor])
            ]
            shares += [_OF_DAY] if days & known.dates else []
            if shares and max(shares) >= _LEAST:
                scores[doc_id] = round(max(shares), 6)
        most = max(scores.values(), default=0.0)
        best = [doc_id for doc_id, score in scores.items() if score == most]
        ids |= {*best} if len(best) <= _MOST else set()
    return sorted(ids)


_COLON = re.compile(r"\W*([^:?;,.!\n]{2,60}): (?=\w)")


def before_colon(question: str, names: Iterable[tuple[str, Name]]) -> list[str]:
    """Ids of the documents whose titles have all words that a question says before a colon ("Montague: what do I pay
    …?"); `names` as for `meant`."""
    match = _COLON.match(question)
    words = {*lexical.words(match[1])} if match else set()
    ids = [doc_id for doc_id, known in names if words <= {*lexical.words(known.title)}] if words else []
    return ids if len(ids) <= _MOST else []


def titled(question: str, names: Iterable[tuple[str, Name]]) -> list[str]:
    """Ids of the documents whose title is the name of a thing that the question names; `names` as for `meant`."""
    spoken = _spoken(question)
    by_subject: dict[str, list[str]] = {}
    for doc_id, known in names:
        for subject in known.subjects:
            if f" {subject} " in spoken:
                by_subject.setdefault(subject, []).append(doc_id)
    named = (by_subject[subject] for subject in called(question, by_subject))
    return sorted({doc_id for ids in named if len(ids) <= _MOST for doc_id in ids})
