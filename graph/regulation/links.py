"""The edges of an act: order, references with their sense, definitions and their use."""

# Patterns read best one to a line.
# ruff: noqa: E501
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from graph.regulation.act import Edge, Node
from graph.regulation.reading import Placed
from graph.regulation.references import Context, Reference, find
from graph.regulation.unit import DIVISIONS

LONGEST = 20_000  # characters of one unit that are read for references; more is no provision
MOST_TERMS = 500
_NEAR = 90  # characters before a reference in which its sense is looked for
# "By way of derogation from paragraph 1": what stands here takes something out of what is named.
_DEROGATES = re.compile(
    r"\b(?:by way of derogation|derogat\w+ (?:from|provided for)|notwithstanding|exceptions? (?:to|from|provided for)|exempt\w*)\b[^.;]*$",
    re.I,
)
# "Without prejudice to Article 77", "subject to Article 89(1)": what is named bounds what stands here.
_BOUNDED = re.compile(
    r"\b(?:without prejudice to|subject to|except|unless|other than|with the exception of|save)\b[^.;]*$", re.I
)
# "Paragraph 1 shall not apply where …": said after what is named.
_NOT_APPLY = re.compile(
    r"[^.;:]{0,60}\b(?:shall|do|does|need|should) not (?:apply|be required|affect)\b|[^.;:]{0,30}\bmay be (?:derogated|restricted)\b",
    re.I,
)
DEADLINE = re.compile(
    r"\b(?:within|not later than|no later than|at the latest|by|for|of|after|before|every)\s+(?:a (?:further )?(?:period|time[- ]limit) of\s+|an? (?:additional |further )?|the\s+|a maximum (?:period )?of\s+)?"
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|fifteen|twenty|thirty|sixty|ninety)\s+(?:further\s+|working\s+|calendar\s+)?(?:hour|day|week|month|year)s?\b"
    r"|\bwithout (?:undue (?:further )?)?delay\b|\bnot (?:later|exceeding)\b|\bat the latest\b|\bby \d{1,2} [A-Z][a-z]+ \d{4}\b|\bone-month\b|\b\w+-(?:week|month|day|year) period\b",
    re.I,
)
_TERM = re.compile(r"^(?:\([a-z\d]{1,4}\)|\d{1,3}\.|[—–-])?\s*[‘“]([^’”]{2,80})[’”](?:[^.;:]{0,60}?)\s+means?\b")
_WORD = r"(?<![\w-]){}(?:s|es)?(?![\w-])"


def structure(placed: Sequence[Placed]) -> Iterator[Edge]:
    """The edges "contains" and "next"."""
    last_of: dict[int, int] = {}
    for at, item in enumerate(placed):
        if item.parent >= 0:
            yield Edge(item.parent, at, "contains")
        if (before := last_of.get(item.parent)) is not None and item.unit.kind != "front":
            yield Edge(before, at, "next")
        last_of[item.parent] = at


def contexts(placed: Sequence[Placed]) -> Iterator[Context]:
    """For each unit, what "this Article", "paragraph 1" and "this Chapter" mean in it."""
    for item in placed:
        name = item.unit.name
        parts = item.unit.path.removesuffix(name).rstrip(", ").split(", ") if item.unit.path != name else []
        divisions = {w: n for part in parts for w, _, n in [part.partition(" ")] if w in DIVISIONS}
        if item.unit.kind == "division":
            divisions = {w: n for part in name.split(", ") for w, _, n in [part.partition(" ")]}
        article = (re.match(r"(?:Article \w+|Sole Article|Annex(?: \w+)?)", name) or [""])[0]
        paragraph = (re.match(r"Article \w+\(\d+[a-z]*\)", name) or [""])[0] if item.unit.kind != "annex_part" else ""
        sub = (re.match(r".*? subparagraph", name) or [""])[0]
        yield Context(article, paragraph, sub, divisions)


def references(placed: Sequence[Placed], names: dict[str, int]) -> Iterator[tuple[int, Reference, list[int], str]]:
    """(unit, reference, the nodes it names, sense) for every reference; no nodes when it is another act's, or none of
    the names is one of this act. `sense` is refers, condition or exception."""
    for at, (item, here) in enumerate(zip(placed, contexts(placed), strict=True)):
        if item.unit.kind in ("front", "signature", "closing", "article", "division"):
            continue
        text = item.unit.text[:LONGEST]
        for reference in find(text, here):
            targets = [next((names[n] for n in spelt if n in names), -1) for spelt in reference.names]
            yield at, reference, [t for t in targets if t >= 0], _sense(text, reference)


def _sense(text: str, reference: Reference) -> str:
    before = text[max(0, reference.start - _NEAR) : reference.start]
    if _DEROGATES.search(before) or _NOT_APPLY.match(text, reference.end):
        return "exception"
    return "condition" if _BOUNDED.search(before) else "refers"


def terms(placed: Sequence[Placed]) -> dict[str, int]:
    """Defined terms, lower case, and where they are defined; the first place counts."""
    defined: dict[str, int] = {}
    for at, item in enumerate(placed):
        may_define = item.unit.kind in ("point", "paragraph", "subparagraph", "indent") and len(defined) < MOST_TERMS
        if may_define and (match := _TERM.match(item.unit.text)):
            defined.setdefault(match[1].casefold(), at)
    return defined


def uses(placed: Sequence[Placed], defined: dict[str, int]) -> Iterator[Edge]:
    """The edges "defines", from a definition to every unit that uses its term. A longer term hides one within it."""
    if not defined:
        return
    longest = sorted(defined, key=lambda term: (-len(term), term))
    any_term = re.compile(_WORD.format("(" + "|".join(map(re.escape, longest)) + ")"), re.I)
    for at, item in enumerate(placed):
        if item.unit.kind in ("front", "signature", "division", "article", "annex"):
            continue
        used = {m[1].casefold() for m in any_term.finditer(item.unit.text[:LONGEST])}
        for term in sorted(used):
            if defined[term] != at and item.parent != defined[term]:
                yield Edge(defined[term], at, "defines")


def has_deadline(text: str) -> bool:
    """Whether the text of a unit sets a time, in its first LONGEST characters."""
    return DEADLINE.search(text[:LONGEST]) is not None


def gaps(nodes: Sequence[Node], kind: str, pattern: str) -> tuple[list[int], list[int], list[int]]:
    """Numbers missing, doubled and out of order among the units of a kind; `pattern` finds the number in a name."""
    numbers = [int(m[1]) for n in nodes if n.kind == kind and (m := re.match(pattern, n.name))]
    top = min(max(numbers, default=0), 10_000)
    missing = sorted(set(range(1, top + 1)) - set(numbers))
    doubled = sorted(n for n, count in Counter(numbers).items() if count > 1)
    disordered = [b for a, b in pairwise(numbers) if b < a]
    return missing, doubled, disordered
