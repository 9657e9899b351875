"""Which entries of a list fulfil what a question says of them: a value that it names ("done on the VidaFit", "labelled
Not Applicable"), words that tell entries apart, a column that says yes or no."""

import re
from collections.abc import Mapping, Sequence

from graph import turn_cache
from graph.extractive.enumerations import Entry, Enumeration
from graph.knowledge.index import content_words
from graph.policy.text import lexical

SHORT = 60  # characters of a value that a question may name; what is longer describes
MOST_WORDS = 4  # of each value in a cell that holds several
_BEGINS = re.compile(r"\w{1,3}")  # of a value: a question that names it has as much of it, whatever its form
_DAYS = re.compile(r"(?<=\d)-(?=\d)")  # between the year, the month and the day
_PARTS = re.compile(r"\s*[,;/|\n]\s*")  # of a cell that holds several values
_JOINED = re.compile(r"\s*(?:[,;:?+&]|\b(?:and|plus|as well as|with)\b)+\s*", re.I)  # between things that are added up
_NUMBERED = re.compile(r"\b([^\W\d_][\w-]*) (?:no\.? |number |id )?(\d{1,5})\b", re.I)  # "analysis 10", "week 3"
_NOT = re.compile(r"\b(?:not|except|without|excluding|other than|apart from)\b((?: [\w'’-]+){1,3})", re.I)
_CONDITION = re.compile(r"^\W*which\b.*\b(?:is|are|was|were|has|have|needs?|requires?|can|must|only)\b", re.I)
_EITHER = re.compile(r"[\w-]+(?: ?[,/] ?|,? (?:and|or) )[\w-]+", re.I)
_ONLY = re.compile(r"\bonly (?:the )?([^\s?.,;]+)", re.I)
_HAS = re.compile(r"(?:yes|y|true|x|✓|✔|✅|☑|\[x\]|done|required|always)\W*(?:\(.*\))?", re.I | re.S)
_OFTEN = re.compile(r"always|never", re.I)  # which no question says without meaning it
_HAS_NOT = re.compile(r"(?:(?:no|n|false|✗|✘|❌|☐|\[ \]|none|never|n/?a|[-–—])\W*(?:\(.*\))?)?", re.I | re.S)
_LACKS = re.compile(r"\b(?:no|not|without|lacks?|missing|don't|doesn't|haven't|hasn't)\b", re.I)


def stems(text: str) -> frozenset[str]:
    """Each once, without their order."""
    return frozenset(lexical.stems(text))


def name_stems(name: str) -> frozenset[str]:
    """Of a title or heading, also of the words that are written as one: "schedule-wave2" is of wave 2, too."""
    return stems(name) | stems(lexical.apart(name))


def fulfilling(question: str, listed: Enumeration, entries: Sequence[Entry], noun: Sequence[str]) -> list[Entry]:
    """Those of the entries that fulfil what the question says beyond what the list is; all where it says nothing of the
    kind. `noun` are the stems of what is asked for."""
    if listed.kind == "items" and not _CONDITION.search(question):
        return [*entries]
    entries = _of_kind(listed, entries, noun) if listed.kind == "rows" else entries
    values = _beyond_its_name(question, listed, named_values(question, entries, noun)) if listed.kind == "rows" else {}
    named = {part for parts in values.values() for part in parts}
    refused = _refused(question, named)
    if named:
        out = {part for part in named if stems(part) & refused}
        left = [one for one in entries if not any(has_value(one, columns, out) for columns in values)]
        named_of = {columns: parts - out for columns, parts in values.items() if parts - out}
        fit = [one for one in left if all(has_value(one, columns, parts) for columns, parts in named_of.items())]
        return _with_the_rest(question, listed, fit, named, noun)
    if listed.kind == "rows" and (single := _only(question, listed, entries) or _marked(question, listed, entries)):
        return single
    question_stems = stems(question)
    about = name_stems(" ".join([*listed.path[:1], *listed.path[-2:], lead_of(listed), *listed.headings]))
    beyond = stems(" ".join(content_words(question))) - about - {*noun[-1:]}
    says = [_telling(entry, question_stems) for entry in entries]
    telling = {word for word in beyond if 0 < sum(word in one for one in says) < len(entries)}
    if listed.kind != "rows":
        telling = {word for word in telling if word[0].isdigit() or len(word) > 4}
    wanted = telling - refused
    if listed.kind == "rows" and not wanted:
        return _having(question, listed, entries, refused, noun)
    most = max(len(one & wanted) for one in says)
    fits = [len(one & wanted) == most and not one & refused & telling for one in says]
    return [entry for entry, one in zip(entries, fits, strict=True) if one]


def _with_the_rest(
    question: str, listed: Enumeration, entries: Sequence[Entry], named: set[str], noun: Sequence[str]
) -> list[Entry]:
    """Those of the entries that also have all further words of the question, where some have them and others have not:
    a kind of gull, the year of a date. All where none has all of them."""
    says = [_said(one) for one in entries]
    further = _further(question, listed, named, noun)
    telling = {word for word in further if 0 < sum(word in one for one in says) < len(entries)}
    fit = [entry for entry, one in zip(entries, says, strict=True) if telling <= one]
    return fit or [*entries]


def unmet(
    question: str, listed: Enumeration, entries: Sequence[Entry], chosen: Sequence[Entry], noun: Sequence[str]
) -> set[str]:
    """The words of the question that some of the rows have in their cells and none of those that were chosen has."""
    named = {part for parts in named_values(question, entries, noun).values() for part in parts}
    further = _further(question, listed, named, noun) - {word for one in chosen for word in _said(one)}
    begins = {word: re.compile(rf"(?<!\w){re.escape(word)}", re.I) for word in further}  # to read few rows in full
    return {word for word in further if any(word in _said(one) for one in entries if begins[word].search(one.text))}


def _further(question: str, listed: Enumeration, named: set[str], noun: Sequence[str]) -> set[str]:
    """The words of a question beyond what is asked for, what the table says of itself and the values that are named."""
    about = name_stems(" ".join([*listed.path[:1], *listed.path[-2:], *listed.headings]))
    further = stems(" ".join(content_words(question))) - about - {*noun[-1:]} - stems(" ".join(named))
    return {word for word in further - _refused(question, named) if word[0].isdigit() or len(word) > 3}


def _said(entry: Entry) -> frozenset[str]:
    """The stems of the short cells of a row; the year, the month and the day each for itself."""
    return stems(_DAYS.sub(" ", " ".join(value for _, value in entry.cells if len(value) <= SHORT)))


def _of_kind(listed: Enumeration, entries: Sequence[Entry], noun: Sequence[str]) -> Sequence[Entry]:
    """The rows with a cell that has what is asked for, in as many words ("carboxylic acids"), where only some have one
    and the table is not called so; else all."""
    if len(noun) < 2 or noun[-1] in name_stems(" ".join([*listed.path[-1:], *listed.headings])):
        return entries
    words = f" {' '.join(noun)} "
    fit = [
        entry
        for entry in entries
        if any(words in f" {' '.join(lexical.stems(value))} " for _, value in entry.cells if len(value) <= SHORT)
    ]
    return fit or entries


def named_values(question: str, entries: Sequence[Entry], noun: Sequence[str] = ()) -> dict[frozenset[str], set[str]]:
    """The values that the question names, by the columns in one of which they are asked for: whole ones, or whole parts
    of a cell that holds several, which some rows have and others have not; a number where the word before it is one of
    the column's. Of several columns with one value those
    count that the question names ("closed on Sunday"), else all."""
    stemmed = f" {' '.join(lexical.stems(question))} "
    numbers = {(lexical.stem(match[1].casefold()), match[2]) for match in _NUMBERED.finditer(question)}
    holding: dict[str, set[str]] = {}
    rows: dict[tuple[str, str], int] = {}
    text = question.casefold()
    for entry in entries:
        for column, part in {
            (name, part)
            for name, value in entry.cells
            for part in (value, *_parts(value))
            if (begins := _BEGINS.search(part)) and begins[0].casefold() in text
        }:
            rows[column, part] = rows.get((column, part), 0) + 1
    called = {(name, part) for name, part in rows for word, number in numbers if number == part and word in stems(name)}
    for (column, part), times in rows.items():
        words = lexical.stems(part) if part in _parts(part) and part not in {value for _, value in called} else []
        names = bool(words) and words != [*noun[-1:]] and f" {' '.join(words)} " in stemmed
        if times < len(entries) and (names or (column, part) in called):
            holding.setdefault(part, set()).add(column)
    named: dict[frozenset[str], set[str]] = {}
    for part, columns in holding.items():
        meant = {name for name in columns if stems(name) and stems(name) <= stems(question)}
        named.setdefault(frozenset(meant or columns), set()).add(part)
    return {columns: _longest(parts) for columns, parts in named.items()}


def _beyond_its_name(
    question: str, listed: Enumeration, values: dict[frozenset[str], set[str]]
) -> dict[frozenset[str], set[str]]:
    """The values without those that the table is called by, where its column has another that is named: "of the
    military table those shared with civil traffic"."""
    name = name_stems(" ".join([*listed.path[-1:], *listed.headings]))
    joined = {word for match in _EITHER.finditer(question) for word in lexical.stems(match[0])}
    return {
        columns: {part for part in parts if not stems(part) <= name or stems(part) & joined} or parts
        for columns, parts in values.items()
    }


def added(question: str, listed: Enumeration, entries: Sequence[Entry]) -> list[Entry] | None:
    """The rows of the things that the question joins ("the boat, food and walking tours"), each by a value of one
    column of which it has half of the words. Nothing where it is not clear which rows these are; None where it joins
    nothing that the table names."""
    parts = [part for part in _JOINED.split(question) if part]
    named: list[dict[int, str]] = []
    for column in listed.headings:
        values = {
            value: name_stems(" ".join(content_words(value))) for entry in entries if (value := entry.value(column))
        }
        values = {value: words for value, words in values.items() if words and len(value) <= SHORT}
        which = {
            at: value for at, part in enumerate(parts) if (value := _named_by(name_stems(part), frozenset(), values))
        }
        if which:  # "boat, food and walking tours" are three tours
            last = parts[max(which)]
            shared = stems(" ".join(word for word in lexical.words(last) if word.endswith("s")))
            shared &= values[which[max(which)]]
            which = {
                at: value for at, part in enumerate(parts) if (value := _named_by(name_stems(part), shared, values))
            }
        named.append(which)
    most = max((len({*which.values()}) for which in named), default=0)
    if most < 2:
        return None
    column, which = next(
        (column, which) for column, which in zip(listed.headings, named, strict=True) if len({*which.values()}) == most
    )
    if max(which) - min(which) + 1 != most:
        return []
    return [entry for entry in entries if entry.value(column) in which.values()]


def _named_by(words: frozenset[str], shared: frozenset[str], values: Mapping[str, frozenset[str]]) -> str:
    """The value with most of these words, of which at least half are there and one of its own; "" for none or two."""
    rated = [
        (len(own & (words | shared)), len(own & (words | shared)) / len(own), value)
        for value, own in values.items()
        if own & words and len(own & (words | shared)) * 2 >= len(own)
    ]
    rated.sort(reverse=True)
    return rated[0][2] if rated and (len(rated) == 1 or rated[0][:2] != rated[1][:2]) else ""


def _refused(question: str, named: set[str]) -> frozenset[str]:
    """The stems of what the question leaves out ("without the flights"); a value called "Not Applicable" is none."""
    text = question.casefold()
    for part in filter(_NOT.search, named):
        text = text.replace(part, " ")
    return stems(" ".join(match[1] for match in _NOT.finditer(text)))


def lead_of(listed: Enumeration) -> str:
    """What introduces the list, empty where nothing does."""
    return listed.lead.text if listed.lead else ""


def _parts(value: str) -> frozenset[str]:
    """As `_divided`, once in a turn for each value: no cache of cells outlives it."""
    known = turn_cache.entries()
    if (key := ("parts", value)) not in known:
        known[key] = _divided(value)
    parts: frozenset[str] = known[key]
    return parts


def _divided(value: str) -> frozenset[str]:
    """The values of a cell that a question can name: a short one, and each of a list of some words; no yes or no."""
    parts = _PARTS.split(value)
    if "://" in value or any(len(part.split()) > MOST_WORDS for part in parts):
        parts = []  # an address or a sentence, which list nothing
    return frozenset(
        part.casefold().strip(" .")
        for part in [value, *parts]
        if 1 < len(part.strip(" .")) <= SHORT and content_words(part) and (not _is_mark(part) or _OFTEN.search(part))
    )


def _longest(parts: set[str]) -> set[str]:
    """Without those that are words of another: "Not Applicable" is named, "Applicable" is not."""
    return {one for one in parts if not any(one != other and f" {one} " in f" {other} " for other in parts)}


def has_value(entry: Entry, columns: frozenset[str], parts: set[str]) -> bool:
    """Whether one of these columns has one of the values, in whole or as a part."""
    return any({entry.value(column), *_parts(entry.value(column))} & parts for column in columns)


def _only(question: str, listed: Enumeration, entries: Sequence[Entry]) -> list[Entry]:
    """The rows that have what one column is of and no other one ("which does only B have"); nothing where the question
    asks for no such thing."""
    match = _ONLY.search(question)
    name = match and next((one for one in listed.headings if one and stems(one) <= stems(match[1])), None)
    if not name:
        return []
    marks = [[(column == name, value) for column, value in entry.cells if _is_mark(value)] for entry in entries]
    return [
        entry
        for entry, row in zip(entries, marks, strict=True)
        if len(row) > 1 and all(bool(_HAS.fullmatch(value)) == own for own, value in row)
    ]


def _is_mark(value: str) -> bool:
    """Whether it says yes or no."""
    return bool(value and (_HAS.fullmatch(value) or _HAS_NOT.fullmatch(value)))


def _marked(question: str, listed: Enumeration, entries: Sequence[Entry]) -> list[Entry]:
    """The rows with the marks that the question asks for: of columns of yes and no, ticks and crosses of which it has
    half of the name ("still get bug fixes but no new features"); nothing where there is none."""
    question_stems = stems(question) - stems(" ".join(listed.path))
    wanted: list[tuple[str, bool]] = []
    for name in listed.headings:
        words = stems(name) & question_stems
        values = [entry.value(name) for entry in entries]
        if len(words) * 2 < len(stems(name)) or not words or not all(map(_is_mark, values)):
            continue
        wanted.append((name, not _lacking(question, words)))
    right = [all(bool(_HAS.fullmatch(entry.value(name))) == yes for name, yes in wanted) for entry in entries]
    return [entry for entry, one in zip(entries, right, strict=True) if one] if wanted and not all(right) else []


def _lacking(question: str, words: frozenset[str]) -> bool:
    """Whether a word of the question says that something is not so, shortly before one of these stems."""
    question_stems = lexical.stems(question)
    at = [n for n, word in enumerate(question_stems) if word in words]
    return any(_LACKS.search(" ".join(question_stems[max(0, n - 3) : n])) for n in at[:1])


def _having(
    question: str, listed: Enumeration, entries: Sequence[Entry], refused: frozenset[str], noun: Sequence[str]
) -> list[Entry]:
    """Of the rows those that have what a column is of ("have a charter"): where the question names one whose cells are
    empty in some rows; else all."""
    question_stems = stems(question) - stems(" ".join(listed.path))
    for name in listed.headings:
        words = stems(name)
        if not words or not words <= question_stems or words <= {*noun}:
            continue
        has = [_HAS_NOT.fullmatch(entry.value(name)) is None for entry in entries]
        if any(has) and not all(has) and not all(entry.value(name) for entry in entries):
            wanted = not words & refused and not _lacking(question, words)
            return [entry for entry, yes in zip(entries, has, strict=True) if yes == wanted]
    return [*entries]


def _telling(entry: Entry, question_stems: frozenset[str]) -> frozenset[str]:
    """The words by which an entry is told from others: of the columns that the question names, else of short cells."""
    if entry.cells:
        named = [value for name, value in entry.cells if name and stems(name) <= question_stems]
        return stems(" ".join(named or [value for _, value in entry.cells if len(value) <= SHORT]))
    return stems(" ".join([entry.text, *(line.text for line in entry.below)]))
