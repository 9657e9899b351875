"""Documents that a question picks by what they say of themselves, as by the rows of a register: their fields, the
folder they lie in, a title that several of them have ("Which SOPs does the lab manager own?", "How many drafts?")."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from pathlib import PurePath

from graph.context import ReadScope
from graph.knowledge import dated
from graph.knowledge.index import STOP_WORDS, Hit, Index, content_words
from graph.knowledge.mentions import Name
from graph.policy.question import mentioning
from graph.policy.text import lexical, quantities

REGISTERED = "documents picked by their fields"  # what the state says is listed
_ASKED = re.compile(
    r"\W*(?:please )?(?:(?:what is the )?(?:total )?number of|which|what|how many|list|show(?: me)?|name|find|give me)"
    r"(?: (?:all|of|the|our|my|any|every))*"
    rf" (?P<noun>(?:[\w&/-]+ ){{0,2}}?{mentioning.KIND}(?=\s|\W*$)|(?:[\w.&/-]+ ){{0,3}}?[\w.&/-]+?"
    r"(?= (?:is|are|was|were|do|does|did|has|have|had|in|on|at|of|for|from|by|with|that|which|whose|there|we|i|due"
    r"|comes?|came|belongs?|needs?)\b|[?.,;:]?\W*$))",
    re.I,
)
_PARTS = re.compile(r"\s*[,;|]\s*|\s[/+&]\s|\s*\([^()]*\)\s*")  # of a value that holds several
# "in May 2026", "before 2026", "since 2025"
_PERIOD = re.compile(
    r"(?:\b(?P<how>before|until|by|after|since|from|later than|earlier than|older than|newer than) )?"
    r"\b(?:(?P<month>[a-z]{3,9}) )?(?P<year>(?:19|20)\d\d)\b",
    re.I,
)
_NOT_TOLD = re.compile(
    r"\b(?:between|overdue|missing|lacks?|except|other than|apart from|oldest|newest|latest)\b", re.I
)
_LONGEST = 60  # characters of a value that a question may name
# What stands for a document of any kind, and words that say nothing of which.
_ANYTHING = frozenset(
    lexical.stems("documents document files file filed pages page entries entry records record items")
)
_IDLE = frozenset(
    lexical.stems(
        "total altogether currently now still today list listed mark marked status recorded have name named names "
        "state stated states say says said show shown give given top header heading title page beginning themselves"
    )
)
SMALL = frozenset(map(lexical.stem, STOP_WORDS)) - {"own"}
_DATE = lexical.stem("date")
MOST_DOCUMENTS = 10_000  # that are looked through for a question
MOST_BEYOND = 1  # words of the question that no condition explains
SHORTEST, SUFFIX = 3, 3  # letters of a stem, and of what may follow it
FEWEST_ALIKE = 2  # documents of one title


def asks(question: str) -> bool:
    """Whether it may be a question for documents; cheap. What is not so is in no field."""
    if mentioning.find(question) is not None or mentioning.no_longer_in_force(question) is not None:
        return False
    return dated.asks(question) or _by_values(question)


def _by_values(question: str) -> bool:
    return not (_ASKED.match(question) is None or lexical.negated(question) or _NOT_TOLD.search(question))


def hits(index: Index, reader: ReadScope, question: str, limit: int) -> list[Hit]:
    """The first chunk of each document that the question picks, by id: at most `limit` of the tenant's own, else of the
    public ones."""
    stored = [(where, space, *named) for where, space in index.visible(reader) for named in space.document_names()]
    if len(stored) > MOST_DOCUMENTS:
        return []
    for public in (False, True):
        of = [one for one in stored if (one[0] == "public") == public]
        names, today = [name for *_, name in of], datetime.now(UTC).date()
        places = dated.picked(question, names, today) or (picked(question, names) if _by_values(question) else [])
        chosen = [of[at] for at in places][:limit]
        openings = [(where, space.opening(doc_id), doc_id) for where, space, doc_id, _ in chosen]
        if openings:
            return [Hit(where, chunk, doc_id, 1.0, 1.0, 1.0) for where, chunk, doc_id in openings if chunk]
    return []


def picked(question: str, documents: Sequence[Name]) -> list[int]:
    """Which of the documents the question asks for, by their places; nothing where it asks for something else.

    Every condition is a value, a folder or a title that the question names as it stands, or a year or month of a date.
    What is asked for must be one of them, or any document, and hardly a word may be left that none explains."""
    match = _ASKED.match(question)
    if match is None:
        return []
    asked, noun = lexical.stems(question), lexical.stems(match["noun"])
    kind = {*noun[-1:], lexical.stem(mentioning.singular(match["noun"].rpartition(" ")[2].lower()))}
    conditions = _longest(_named(question, documents))
    names = {name for one in documents for name, _ in one.fields}
    conditions = {words: columns for words, columns in conditions.items() if not _relates(words, conditions)}
    taken = {word for words in conditions for word in words} | {*noun} | SMALL
    free = [word for word in asked if word not in taken]
    wanted = {word: {name for name in names if any(_akin(word, own) for own in _stems(name))} for word in free}
    fits = {*range(len(documents))}
    explained = {word for word in free if wanted[word]}
    for words, columns in conditions.items():
        whole = {name for name in columns if {*_stems(name)} <= {*asked}}
        if whole and all(len(_stems(name)) == 1 for name in whole):  # "Review": also a "Review cycle"
            whole |= {name for name in columns if _stems(name)[0] in {_stems(one)[0] for one in whole}}
        meant = whole or {name for word in free for name in wanted[word] if name in columns} or {*columns}
        for word in free:
            wanted[word] = set() if wanted[word] & meant else wanted[word]
        fits &= {row for name in meant for row in columns[name]}
        explained |= {*words}
    if any(wanted.values()):
        return []  # "owned by the board" is not what the board approved
    kinds = [words for words in conditions if noun and noun[-1] in words]
    if not (kinds or {*noun[-1:]} & _ANYTHING):
        fits = {
            row for row in fits if kind & {*_stems(lexical.apart(f"{documents[row].title} {documents[row].filename}"))}
        }
        explained |= {*noun[-1:]} if fits and mentioning.is_kind(match["noun"]) else set()
    beyond = {*lexical.stems(" ".join(content_words(question)))} - explained - _ANYTHING - _IDLE
    only_kind = len(conditions) == len(kinds) and all(len(words) == 1 for words in kinds)
    told = conditions and not (only_kind and not any("Type" in columns for columns in conditions.values()))
    if not told or len(beyond) > (0 if only_kind else MOST_BEYOND) or len(fits) == len(documents):
        return []
    return sorted(fits)


def _named(question: str, documents: Sequence[Name]) -> dict[tuple[str, ...], dict[str, set[int]]]:
    """The documents with each value that the question names, by its stems and by the name of the field."""
    asked = lexical.stems(question)
    text = f" {' '.join(asked)} "
    periods = [(_stems(match.group()), *_days(match)) for match in _PERIOD.finditer(question)]
    titles = Counter(one.title for one in documents)
    named_field = cache(lambda name: any(_akin(word, own) for word in {*asked} - SMALL for own in _stems(name)))
    named: dict[tuple[str, ...], dict[str, set[int]]] = {}
    for row, one in enumerate(documents):
        alike = titles[one.title] >= FEWEST_ALIKE
        for name, value in (*_cells(one.filename, one.fields), *([("Title", one.title)] if alike else [])):
            words = _stems(value)
            by_name = named_field(name)
            sayable = by_name or not all(word.isdigit() for word in words)
            # "HR" is also who is called "HR Manager", where the question names the field.
            for end in range(1 if by_name else len(words), len(words) + 1) if words and sayable else ():
                part = words[:end]
                if f" {' '.join(part)} " in text and not {*part} <= SMALL | _IDLE:
                    named.setdefault(part, {}).setdefault(name, set()).add(row)
            days = quantities.dates(value) if periods else []
            for period, first, last in periods if by_name or _DATE in _stems(name) else ():
                if any(first <= day <= last for day in days):
                    named.setdefault(period, {}).setdefault(name, set()).add(row)
    return named


def _days(match: re.Match[str]) -> tuple[int, int]:
    """The ordinals of the first and the last day that the question means by a year or month."""
    year = int(match["year"])
    named = quantities.dates(f"1 {match['month']} {year}")
    month = date.fromordinal(named[0]).month if any(named) else 0
    first = date(year, month or 1, 1).toordinal()
    last = date(year + (month in (0, 12)), month % 12 + 1, 1).toordinal() - 1
    how = (match["how"] or "").casefold()
    if how in ("before", "earlier than", "older than"):
        return 1, first - 1
    if how in ("until", "by"):
        return 1, last
    if how in ("after", "later than", "newer than"):
        return last + 1, date.max.toordinal()
    return first, date.max.toordinal() if how in ("since", "from") else last


@lru_cache(maxsize=MOST_DOCUMENTS)
def _cells(filename: str, fields: tuple[tuple[str, ...], ...]) -> list[tuple[str, str]]:
    """Each short value of a field, each part of one that holds several, and the folders the file lies in."""
    cells = [(name, part) for name, value in fields for part in dict.fromkeys((value, *_PARTS.split(value)))]
    folders = [("Folder", folder) for folder in PurePath(filename).parts[:-1]]
    return [(name, part) for name, part in cells if 1 < len(part) <= _LONGEST] + folders


def _longest(named: dict[tuple[str, ...], dict[str, set[int]]]) -> dict[tuple[str, ...], dict[str, set[int]]]:
    """Without those whose words are in a longer one."""
    texts = {words: f" {' '.join(words)} " for words in named}
    return {
        words: columns
        for words, columns in named.items()
        if not any(words != other and texts[words] in text for other, text in texts.items())
    }


def _relates(words: tuple[str, ...], conditions: dict[tuple[str, ...], dict[str, set[int]]]) -> bool:
    """Whether a word that is a value, too, names the field of another condition: "approved by the board"."""
    others = {name for other, columns in conditions.items() if other != words for name in columns}
    return len(words) == 1 and any(_akin(words[0], own) for name in others for own in _stems(name))


def _akin(word: str, other: str) -> bool:
    """Whether two stems are forms of one word: "own" and "owner"."""
    short, long = sorted((word, other), key=len)
    return word == other or (len(short) >= SHORTEST and long.startswith(short) and len(long) - len(short) <= SUFFIX)


@lru_cache(maxsize=50_000)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(lexical.stems(text))
