"""A question in the words of the documents: its spelling mended, its accents set, its abbreviations told, its amounts
written as they are there (`rephrasing`).

A word is looked at when neither the asker's two spaces hold it in any inflection nor a dictionary knows it
(dictionaries.py); one that is British is looked for as Americans write it, and the other way. Candidates are the stems
of those spaces' own word indexes: nothing is kept beside them, so what a document brings or takes away shows at the
next question, and no other space has a say. What is put in is read from passages that may be read now, as they look
once masked.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graph.knowledge import dictionaries
from graph.knowledge.readable import around, readable
from graph.knowledge.rephrasing import rephrased
from graph.policy.question.spelling import across, distance, hyphened, meant, roots, second_letter, slips, starts, words
from graph.stores.spaces import Words

READ, MENDED = 32, 6  # words of a question that are looked up, and that are looked for among the others' neighbours
_CANDIDATES = 12  # stems
_PASSAGES = 12  # of each in which its written forms are looked for
_WORD = re.compile(r"[^\W\d_]+")
_PREFIX = 7  # letters before a hyphen, less than
_SHORT = re.compile(r"\b[A-Za-z]{2,6}\b")
_MANY = 5  # words of what is abbreviated


@dataclass(frozen=True)
class Reading:
    """`text` is the question with what is written otherwise put right; `searches` are what to look for instead."""

    text: str
    searches: tuple[str, ...]
    spelling: dict[str, str] = field(default_factory=dict)
    abbreviations: dict[str, str] = field(default_factory=dict)


def read(spaces: Sequence[Words], question: str) -> Reading:
    """The question as the documents of these spaces write it."""
    if not spaces:
        return unread(question)
    spelling = _unhyphened(spaces, question)
    question = _put(question, hyphened(question), spelling)
    tried = 0
    folded = {word: word.casefold() for word in list({match[0]: None for match in words(question)})[:READ]}
    known = set[str]().union(*(space.present(list(folded.values())) for space in spaces))
    right = dictionaries.known({*folded.values()} - known, {match[0].casefold() for match in _WORD.finditer(question)})
    accented = _accented(spaces, [typed for typed in dict.fromkeys(folded.values()) if typed in known])
    written = _across(spaces, [typed for typed in folded.values() if typed not in known])
    for word, typed in folded.items():
        put = accented.get(typed, "") or written.get(typed, "")
        if not put and typed not in known | right and tried < MENDED:
            tried += 1
            put = _mended(spaces, typed, question, _is_name(word, question))
        if put and put != typed:
            spelling[word] = put
    text = words_put(question, spelling)
    for amount, put in rephrased(spaces, text).items():
        text = text.replace(amount, put, 1)
        spelling[amount] = put
    abbreviations, searches = _abbreviations(spaces, text)
    for short, long in abbreviations.items():
        text = re.sub(rf"(?<!\w){re.escape(short)}(?!\w)", f"{short} ({long})", text, count=1)
    return Reading(text, searches, spelling, abbreviations)


def unread(question: str) -> Reading:
    """The question as it stands."""
    return Reading(question, (question,))


def words_put(question: str, spelling: dict[str, str]) -> str:
    """The question with other words in the places that may be corrected."""
    return _put(question, words(question), spelling)


def _put(question: str, places: Sequence[re.Match[str]], spelling: dict[str, str]) -> str:
    for match in reversed(places):
        if put := spelling.get(match[0]):
            put = put.capitalize() if match[0][0].isupper() else put
            question = question[: match.start()] + put + question[match.end() :]
    return question


def _mended(spaces: Sequence[Words], typed: str, question: str, name: bool) -> str:
    """The nearest word of the spaces, "" for none; for a name, one that the documents write as a name. Of words equally
    near, the one that stands beside the question's other words, then the one that stands in more passages."""
    counts: Counter[str] = Counter()
    variants = set(spaces[0].stemmed([*sorted(second_letter(typed)), typed]))
    for space in spaces:
        for start in starts(typed):
            counts.update(dict(space.stems(start, 2, len(typed) + slips(typed))))
        counts.update(space.counts(variants))
    near = roots(typed, counts)
    near |= {stem: distance(typed, stem) for stem in variants & counts.keys()}
    candidates: dict[str, tuple[float, str]] = {}
    for stem in sorted(near, key=lambda stem: (near[stem], -len(stem), stem))[:_CANDIDATES]:
        passages = [text for space in spaces for _, text in space.holding(stem, _PASSAGES)]
        forms = sorted({word for text in passages for word in _alike(typed, text) if meant(typed, word)})
        candidates |= {
            word: (distance(typed, word), stem)
            for word, of in zip(forms, spaces[0].stemmed(forms), strict=True)
            if of == stem
        }
    if not candidates:
        return ""
    if len({apart for apart, _ in candidates.values()}) < len(candidates):
        also = [m[0] for m in _WORD.finditer(question) if len(m[0]) > 3 and m[0].casefold() != typed]
        beside = {stem: sum(space.beside(stem, also) for space in spaces) for _, stem in candidates.values()}
        candidates = dict(sorted(candidates.items(), key=lambda f: (-beside[f[1][1]], -counts[f[1][1]], f[0])))
    for word, (_, stem) in sorted(candidates.items(), key=lambda f: f[1][0]):
        near_it = around((passage for space in spaces for passage in space.holding(stem, _PASSAGES)), word)
        if any(
            word.capitalize() in _WORD.findall(text) if name else word in _words(text) for text in readable(near_it)
        ):
            return word
    return ""


def _is_name(word: str, question: str) -> bool:
    """Whether a word is written with a capital where a question need not have one."""
    first, *others = _WORD.findall(question)
    return word[0].isupper() and word != first and any(other.islower() for other in others)


def _across(spaces: Sequence[Words], unknown: Sequence[str]) -> dict[str, str]:
    """How the documents write words that are spelt otherwise on the other side of the Atlantic, or with a hyphen; of
    the first MENDED words."""
    forms = {
        typed: [*sorted(across(typed)), *(f"{typed[:at]}-{typed[at:]}" for at in range(1, min(len(typed), _PREFIX)))]
        for typed in unknown[:MENDED]
    }
    there = _written_so(spaces, [form for every in forms.values() for form in every])
    return {typed: form for typed, every in forms.items() for form in every[::-1] if form in there}


def _unhyphened(spaces: Sequence[Words], question: str) -> dict[str, str]:
    """The words of a question that the documents write without their hyphen ("e-mail": "email"), with how they do."""
    joined = {match[0]: match[0].replace("-", "").casefold() for match in hyphened(question)[:MENDED]}
    there = _written_so(spaces, [*joined, *joined.values()])
    return {word: form for word, form in joined.items() if form in there and word not in there}


def _written_so(spaces: Sequence[Words], forms: Sequence[str]) -> set[str]:
    """Those of the forms that readable passages have, whole."""
    indexed = set[str]().union(*(space.present(forms) for space in spaces)) if forms else set()
    passages = {
        form: [row for space in spaces for rows in space.matching([form], _PASSAGES) for row in rows]
        for form in indexed
    }
    return {
        form
        for form, rows in passages.items()
        if any(_stands(form, text) for text in readable(around(rows, form.casefold())))
    }


def _stands(form: str, text: str) -> bool:
    """Whether the text has the word so, whole."""
    return re.search(rf"(?<![^\W_-]){re.escape(form)}(?![^\W_-])", text, re.I) is not None


def _accented(spaces: Sequence[Words], typed: Sequence[str]) -> dict[str, str]:
    """The words to which the documents always set accents ("resume"), with these ("résumé")."""
    spellings: dict[str, str] = {}
    plain = [word for word in typed if _without_accents(word) == word]
    for word, rows in zip(
        plain, zip(*(space.matching(plain, _PASSAGES) for space in spaces), strict=True), strict=True
    ):
        passages = [row for of in rows for row in of]
        if any(word in text.casefold() for _, text in passages):
            continue
        accented = (form for _, text in passages if not text.isascii() for form in _words(text) if not form.isascii())
        forms = Counter(form for form in accented if _without_accents(form) == word)
        for form, _ in forms.most_common():
            if any(form in _words(text) for text in readable(around(passages, form))):
                spellings[word] = form
                break
    return spellings


def _abbreviations(spaces: Sequence[Words], question: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """What the question abbreviates or spells out, as the documents say it the other way, and the question with it."""
    expansions: dict[str, str] = {}
    rewritten = question
    for short in list(dict.fromkeys(_SHORT.findall(question)))[:READ]:
        long = _spelt_out(spaces, short) if short.isupper() or short.casefold() not in dictionaries.english() else ""
        if long and long.casefold() not in question.casefold():
            expansions[short] = long
            rewritten = re.sub(rf"\b{short}\b", long, rewritten)
    for long, short in _indexed(spaces, list(_initials(question))):
        definitions = (space.matching([f"{long} {short}"], 1, f"({short})") for space in spaces)
        if not re.search(rf"\b{short}\b", question, re.I) and any(rows for [rows] in definitions):
            expansions[long] = short
            rewritten = re.sub(re.escape(long), short, rewritten)
            break
    return expansions, (question, rewritten) if expansions else (question,)


def _spelt_out(spaces: Sequence[Words], short: str) -> str:
    upper = short.upper()
    for space in spaces:
        [passages] = space.matching([short], _PASSAGES, f"({upper})")
        for text in readable(around(passages, f"({upper.casefold()})")):
            at = text.find(f"({upper})")
            before = re.findall(r"[^\W\d_]+", text[max(0, at - 120) : at])[-len(upper) :]
            if "".join(word[0] for word in before).upper() == upper:
                return text[text.rindex(before[0], 0, at) : at].strip().replace("\n", " ")
    return ""


def _initials(question: str) -> Iterable[tuple[str, str]]:
    """Runs of words with their first letters, the longest first."""
    matches = list(_WORD.finditer(question))[:READ]
    for many in range(_MANY, 1, -1):
        for at in range(len(matches) - many + 1):
            run = matches[at : at + many]
            yield question[run[0].start() : run[-1].end()], "".join(word[0][0] for word in run).upper()


def _indexed(spaces: Sequence[Words], runs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those whose letters any document holds as a word: few do, and to look for a run takes a while."""
    shorts = sorted({short for _, short in runs})
    stems = dict(zip(shorts, spaces[0].stemmed(shorts), strict=True))
    known = {stem for space in spaces for stem in space.counts(set(stems.values()))}
    return [(long, short) for long, short in runs if stems[short] in known or not stems[short]]


def _alike(typed: str, text: str) -> set[str]:
    """The words of a text that begin and are about as long as what was typed."""
    most = slips(typed)
    shape = rf"(?<![^\W\d_])[{typed[:2]}][^\W\d_]{{{len(typed) - most - 1},{len(typed) + most - 1}}}(?![^\W\d_])"
    return {word.casefold() for word in re.findall(shape, text, re.I)}


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _without_accents(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
