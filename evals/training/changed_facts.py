"""Sentences of real documents in slightly other words, and the same with one fact changed.

True ones are edited as well, so that an edit tells nothing; a changed one that still stands in its passage is left out.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence

from evals.material import data_directory
from evals.training.support_texts import Row
from graph.errors import BadInput, DocumentError
from graph.knowledge import chunking, loaders
from graph.policy.grounding.words import NUMBER_WORDS, OPPOSITE_PAIRS
from graph.policy.text.sentences import split

LEARNED = ("sourcegraph", "guides18f", "federal_security", "research_teams")
JUDGED = ("openchain", "openjs", "hcph")
SUFFIXES = (".md", ".pdf", ".docx", ".xlsx", ".tsv", ".html", ".txt")
SHORTEST, LONGEST = 40, 260  # characters of a sentence
PASSAGE = 500  # tokens of about four characters
_SPELLED = {number: word for word, number in NUMBER_WORDS.items()}

# Other words for the same, as pairs; the first may stand with an ending that the second takes over.
_SAME = """must|have to; should|ought to; cannot|can't; do not|don't; is not|isn't; are not|aren't; within|in;
    at least|no fewer than; up to|no more than; before|prior to; in order to|to; such as|like; for example|for instance;
    because|since; also|; please|; approximately|about; every|each; need to|have to; ensure|make sure; contact|reach;
    provide|give; obtain|get; require|need; purchase|buy; assist|help; select|choose; submit|send in; receive|get;
    additional|further; multiple|several; however,|; therefore,|; currently|now; people|persons; team|group;
    document|file; create|make; review|look at; request|ask for; during|in the course of; staff|employees"""
_OTHER_WORDS = [tuple(part.strip() for part in pair.split("|")) for pair in _SAME.split(";")]
_UNITS = (
    "seconds minutes hours days weeks months years", "KB MB GB TB", "mm cm m km", "mg g kg",
    "January February March April June July August September October November December",
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday", "daily weekly monthly quarterly annually",
    "second minute hour day week month year",
)  # fmt: skip
_TURNS = """at least|at most; at most|at least; more than|less than; less than|more than; all|none of the;
    must|need not; may|must; can|cannot; unless|if; before|after; after|before; only|not only; never|always;
    always|never; required|optional; optional|required; should|should not; will|will not; every|no; first|last"""
_TURNED = [tuple(part.strip() for part in pair.split("|")) for pair in _TURNS.split(";")]
_NUMBER = re.compile(r"(?<![\w.,/-])\d{1,3}(?:,\d{3})*(?:\.\d+)?(?![\w/-]|[.,]\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w&-]+(?: [A-Z][\w&-]+)*")
_BE = re.compile(r"\b(is|are|was|were|has been|have been)\b(?! not)")
_NOT = re.compile(r"(?: not\b|n't\b)")
_IF = re.compile(r"\A(If|When|Where|Unless) ([^,;:]{8,120}), ([^;:]{12,})\.\Z")
_LEAD = re.compile(
    r"\A(?:In addition|Additionally|However|Therefore|Also|Finally|Furthermore|Note that|Please note that),? "
)
_CELL = re.compile(r"(?:\A|; )([^:;]{2,40}): ([^;]{1,60})(?=;|\Z)")
_TRUE_ROW = (
    "The {head} of {name} is {value}.", "{name} has {value} as its {head}.", "For {name}, the {head} is {value}.",
    "{head} of {name}: {value}.", "{name} is listed with {value} ({head}).", "{value} is the {head} given for {name}.",
)  # fmt: skip

Change = Callable[[random.Random, str, str], str]  # sentence, passage; "" where there is nothing to change


def passages(collection: str) -> Iterator[tuple[str, str]]:
    """Document and text of each chunk of a collection, in order."""
    folder = data_directory() / "collections" / collection
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES):
        try:
            document = loaders.load(path.read_bytes(), path.name)
        except (BadInput, DocumentError):
            continue
        for part in chunking.chunk(document, lambda text: len(text) // 4 + 1, size=PASSAGE):
            yield str(path.relative_to(folder)), document.text[part.start : part.end]


def rows(collections: Sequence[str], each: int, seed: int = 0) -> list[Row]:
    """About `each` rows of a collection, half of them true."""
    made: list[Row] = []
    for collection in collections:
        rng = random.Random(f"{seed} {collection}")
        drawn = list(passages(collection))
        rng.shuffle(drawn)
        here: list[Row] = []
        for document, text in drawn:
            group = f"{collection}/{document}"
            here += [Row(claim, text, label, "changed", group, kind) for claim, label, kind in _of_passage(rng, text)]
            if len(here) >= each:
                break
        made += here[:each]
    return made


def _of_passage(rng: random.Random, text: str) -> Iterator[tuple[str, str, str]]:
    """Claim, label and kind of up to three sentences and two rows."""
    whole = [text[a:b].strip() for a, b in split(text)]
    sentences = [s for s in whole if SHORTEST <= len(s) <= LONGEST and s.endswith(".") and " " in s and s[0].isupper()]
    for sentence in rng.sample(sentences, min(3, len(sentences))):
        true = said_otherwise(rng, sentence)
        yield true, "supported", "edited"
        changes = sorted(CHANGES.items(), key=lambda item: rng.random() * (0.3 if item[0] in RARE else 1.0))
        for kind, change in changes:
            false = change(rng, true if rng.random() < 0.7 else sentence, text)
            if false and is_other(false, true, text):
                yield false, "neutral" if kind == "condition" else "contradicted", kind
                break
    yield from _of_rows(rng, [s for s in whole if s.count(": ") >= 2 and "; " in s])


def _of_rows(rng: random.Random, lines: list[str]) -> Iterator[tuple[str, str, str]]:
    parsed = [(line.split("; ")[0].split(": ")[-1], dict(_CELL.findall(line))) for line in lines]
    for name, cells in rng.sample(parsed, min(2, len(parsed))):
        head = rng.choice(list(cells)) if cells else ""
        if not head or cells[head] == name or not 2 < len(name) < 60:
            continue
        template = rng.choice(_TRUE_ROW)
        yield template.format(head=head.lower(), name=name, value=cells[head]), "supported", "row"
        there = [c[head] for n, c in parsed if head in c and n != name and c[head] not in cells.values()]
        there += [v for h, v in cells.items() if h != head and v != cells[head] and v != name]
        if there:
            yield template.format(head=head.lower(), name=name, value=rng.choice(there)), "contradicted", "row"


def said_otherwise(rng: random.Random, sentence: str) -> str:
    """The sentence with up to four edits that change nothing it says."""
    text = _LEAD.sub("", sentence)
    text = text[:1].upper() + text[1:]
    if (parts := _IF.match(text)) and rng.random() < 0.6:
        word, condition, rest = parts.groups()
        text = f"{rest[0].upper()}{rest[1:]} {word.lower()} {condition}."
    if rng.random() < 0.5:
        text = re.sub(r" \([^()]{1,60}\)", "", text, count=1)
    for old, new in rng.sample(_OTHER_WORDS, len(_OTHER_WORDS))[:20]:
        if rng.random() < 0.6:
            text = re.sub(rf"\b{re.escape(old)}(?!\w) ?", f"{new} " if new else "", text, count=1).strip()
    if rng.random() < 0.5:
        text = _NUMBER.sub(lambda m: _SPELLED.get(int(m[0]), m[0]) if m[0].isdigit() else m[0], text)
    return text.replace(" .", ".")


def _other_number(rng: random.Random, sentence: str, passage: str) -> str:
    numbers = list(_NUMBER.finditer(sentence))
    if not numbers:
        return _spelled_number(rng, sentence)
    at = rng.choice(numbers)
    old: str = at[0]
    there = sorted({n for n in _NUMBER.findall(passage) if n != old and abs(len(n) - len(old)) < 2})
    value = float(old.replace(",", ""))
    changed = rng.choice([value + 1, value * 2, value + 10, value * 10, max(1.0, value // 2)])
    new = rng.choice(there) if there and rng.random() < 0.6 else f"{changed:,.0f}" if "," in old else f"{changed:g}"
    return "" if new == old else sentence[: at.start()] + new + sentence[at.end() :]


def _spelled_number(rng: random.Random, sentence: str) -> str:
    found = [w for w in NUMBER_WORDS if re.search(rf"\b{w}\b", sentence)]
    if not found:
        return ""
    old = rng.choice(found)
    return re.sub(rf"\b{old}\b", rng.choice([w for w in NUMBER_WORDS if w != old]), sentence, count=1)


def _other_unit(rng: random.Random, sentence: str, _: str) -> str:
    for line in rng.sample(_UNITS, len(_UNITS)):
        words = line.split()
        found = [w for w in words if re.search(rf"\b{w}\b", sentence)]
        if found:
            old = rng.choice(found)
            return re.sub(rf"\b{old}\b", rng.choice([w for w in words if w != old]), sentence, count=1)
    return ""


def _other_name(rng: random.Random, sentence: str, passage: str) -> str:
    names = list(_NAME.finditer(sentence))
    there = sorted(set(_NAME.findall(passage)) - {name[0] for name in names})
    there = [name for name in there if name not in sentence]
    if not names or not there:
        return ""
    at = rng.choice(names)
    return f"{sentence[: at.start()]}{rng.choice(there)}{sentence[at.end() :]}"


def _exchanged(rng: random.Random, sentence: str, _: str) -> str:
    """Two names or numbers of the sentence in each other's place."""
    for pattern in (_NUMBER, _NAME):
        places = list(pattern.finditer(sentence))
        if len({p[0] for p in places}) >= 2:
            a, b = sorted(rng.sample(places, 2), key=lambda p: p.start())
            if a[0] != b[0] and not re.fullmatch(r",? (?:and|or|to) ", sentence[a.end() : b.start()]):
                return sentence[: a.start()] + b[0] + sentence[a.end() : b.start()] + a[0] + sentence[b.end() :]
    return ""


def _negated(rng: random.Random, sentence: str, _: str) -> str:
    if _NOT.search(sentence):
        return _NOT.sub("", sentence, count=1)
    return _BE.sub(r"\1 not", sentence, count=1) if _BE.search(sentence) else ""


def _turned(rng: random.Random, sentence: str, _: str) -> str:
    for old, new in rng.sample(_TURNED, len(_TURNED)):
        if re.search(rf"\b{old}\b", sentence):
            return re.sub(rf"\b{old}\b", new, sentence, count=1)
    return ""


def _opposite(rng: random.Random, sentence: str, _: str) -> str:
    for pair in rng.sample(OPPOSITE_PAIRS, len(OPPOSITE_PAIRS)):
        old, new = rng.sample(pair, 2)
        if re.search(rf"\b{old}\b", sentence):
            return re.sub(rf"\b{old}\b", new, sentence, count=1)
    return ""


def _unconditional(rng: random.Random, sentence: str, _: str) -> str:
    if parts := _IF.match(sentence):
        return f"{parts[3][0].upper()}{parts[3][1:]}."
    found = re.search(r",? (?:unless|except|only if|provided that|if) [^.;]{8,}(?=\.)", sentence)
    return sentence[: found.start()] + sentence[found.end() :] if found and found.start() > 25 else ""


CHANGES: dict[str, Change] = {
    "number": _other_number, "unit": _other_unit, "name": _other_name, "swap": _exchanged, "negation": _negated,
    "turned": _turned, "opposite": _opposite, "condition": _unconditional,
}  # fmt: skip


RARE = ("number", "unit", "condition", "swap")  # there is seldom one to change: tried first, mostly


def is_other(changed: str, claim: str, passage: str) -> bool:
    """Whether a changed claim is another one, and does not stand in the passage all the same."""
    return _bare(changed) not in _bare(passage) and _bare(changed) != _bare(claim)


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
