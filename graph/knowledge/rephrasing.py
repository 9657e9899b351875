"""Amounts and posts of a question as the asker's documents write them: "1500 euros" is "EUR 1,500.00" there, and who
keeps the kiln is its keeper."""

import re
from collections.abc import Iterator, Sequence

from graph.knowledge.readable import around, readable
from graph.policy.question import amounts
from graph.stores.spaces import Words

_PASSAGES = 12  # in which an amount is looked for, of each way to write it
_WHO = re.compile(r"^\W*who (?!is\b|was\b|has\b|does\b)([a-z]{3,20}s) (.+)", re.I)
_OBJECT = re.compile(r"[^\W\d_]{4,}")


def rephrased(spaces: Sequence[Words], question: str) -> dict[str, str]:
    """Words of the question with what to put in their place; nothing where the documents say it in the same words."""
    return dict(_amounts(spaces, question)) | dict(_post(spaces, question))


def _amounts(spaces: Sequence[Words], question: str) -> Iterator[tuple[str, str]]:
    for amount in amounts.asked(question):
        written: set[str] = set()
        for words, literal in amounts.phrases(amount):
            for space in spaces:
                [passages] = space.matching([words], _PASSAGES, literal)
                for text in readable(around(passages, literal)):
                    written |= {one.written for one in amounts.find(text) if one.same(amount)}
        if written and amount.written not in written:
            yield amount.written, max(written, key=lambda one: (len(one), one))


def _post(spaces: Sequence[Words], question: str) -> Iterator[tuple[str, str]]:
    """ "who keeps the kiln" as "who is the keeper of the kiln", where "keeper" stands beside "kiln", and "keep" does
    not."""
    match = _WHO.match(question)
    if not match:
        return
    verb = match[1].lower()
    objects = [word.lower() for word in _OBJECT.findall(match[2])]
    known = set[str]().union(*(space.present(_nouns(verb)) for space in spaces))
    for noun in (noun for noun in _nouns(verb) if noun in known and objects):
        [same, other] = spaces[0].stemmed([verb, noun])
        if (
            same != other
            and any(s.beside(other, objects) for s in spaces)
            and not any(s.beside(same, objects) for s in spaces)
        ):
            yield match[1], f"is the {noun} of"
            return


def _nouns(verb: str) -> list[str]:
    """What somebody may be called who does this: "keeps" is done by a keeper, "supervises" by a supervisor."""
    if verb.endswith("ies"):
        return [f"{verb[:-3]}ier"]
    bases = [verb[:-1], *([verb[:-2]] if verb.endswith("es") else [])]
    stems = [base.removesuffix("e") for base in bases]
    return [*dict.fromkeys(f"{stem}{ending}" for stem in stems for ending in ("er", "or"))]
