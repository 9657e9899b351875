"""What was changed where a claim nearly repeats a passage: words put in place of others, a negation, two that changed
places. In a near copy it is the small difference that counts."""

from dataclasses import dataclass
from difflib import SequenceMatcher

from graph.policy.grounding.tokens import Reading, Token
from graph.policy.grounding.words import MODALS, NEGATIONS, QUANTIFIERS, alike, opposed

LONGEST = 4  # tokens that stand in place of others; more is another wording
NEAR_FROM = 0.5  # share of the claim's tokens that stand in the passage in its order
LARGEST = 100_000  # product of the two lengths in tokens; the comparison takes the square of them at worst
_TURNS = frozenset("if unless without with before after until between from to not no".split())


@dataclass(frozen=True)
class Edits:
    """How near the claim is to the passage (0-1, 0 below NEAR_FROM), and what differs."""

    near: float = 0.0
    replaced: int = 0  # words for other words
    turned: int = 0  # numbers, names, contraries, or words that turn the sense, for others
    negated: bool = False
    exchanged: bool = False
    modal: bool = False


def edits(claim: Reading, passage: Reading) -> tuple[float, Edits]:
    """The likeness of the two, to choose among passages by, and the differences."""
    mine, theirs = claim.tokens, passage.tokens
    if len(mine) * len(theirs) > LARGEST:
        return 0.0, Edits()
    matcher = SequenceMatcher(None, [t.form for t in mine], [t.form for t in theirs], autojunk=False)
    codes = matcher.get_opcodes()
    same = sum(b - a for tag, a, b, *_ in codes if tag == "equal")
    likeness = 2 * same / (len(mine) + len(theirs))
    share = same / len(mine)
    if share <= NEAR_FROM:
        return likeness, Edits()
    replaced = turned = 0
    negated = modal = False
    out: list[frozenset[str]] = []
    put: list[frozenset[str]] = []
    for tag, a, b, c, d in codes:
        if tag == "equal":
            continue
        new, old = mine[a:b], theirs[c:d]
        negated |= _negations(new) != _negations(old) and (tag != "delete" or d - c <= LONGEST)
        if tag == "replace" and b - a <= LONGEST and d - c <= LONGEST:
            another = _another(new, old)
            turned += another and (_sharp(new) or _sharp(old) or _contrary(new, old))
            replaced += another and a > 0
            modal |= bool(_modals(new) and _modals(old) and _modals(new) != _modals(old))
        put.append(_weighty(new))
        out.append(_weighty(old))
    exchanged = any(put[i] & out[j] and put[j] & out[i] for i in range(len(put)) for j in range(i))
    return likeness, Edits((share - NEAR_FROM) / (1 - NEAR_FROM), replaced, turned, negated, exchanged, modal)


def _negations(tokens: tuple[Token, ...]) -> bool:
    return any(t.form in NEGATIONS or t.form == "even" for t in tokens)


def _sharp(tokens: tuple[Token, ...]) -> bool:
    return any(t.kind != "word" or t.form in _TURNS or t.form in QUANTIFIERS for t in tokens)


def _contrary(new: tuple[Token, ...], old: tuple[Token, ...]) -> bool:
    theirs = frozenset(t.form for t in old)
    return any(opposed(t.form, theirs) for t in new)


def _modals(tokens: tuple[Token, ...]) -> frozenset[str]:
    return frozenset(MODALS[t.form] for t in tokens if t.form in MODALS)


def _weighty(tokens: tuple[Token, ...]) -> frozenset[str]:
    return frozenset(t.form for t in tokens if t.content or t.form in _TURNS)


def _another(new: tuple[Token, ...], old: tuple[Token, ...]) -> bool:
    """Whether the one says something else: words with content on both sides, none of them alike."""
    mine, theirs = _weighty(new), _weighty(old)
    return bool(mine and theirs) and not any(alike(a, b) for a in mine for b in theirs)
