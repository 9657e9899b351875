"""What a document says of itself in the block at its beginning: "Owner: QA", "Version: 3.2", a table of such pairs."""

import re
from collections.abc import Iterable, Iterator, Sequence

from graph.knowledge.document import Block
from graph.policy.text.quantities import cells

_ABOUT = "document|doc|policy|procedure|process|sop|content|file|record|form|standard|guideline"
_DONE = (
    "created|updated|issued|published|reviewed|approved|effective|valid|expires|expiry|revised|adopted|retention|prepared|"
    "written|checked|verified|authori[sz]ed|signed|released|superseded|replaced|archived"
)
_TURN = "review|update|reviewed|updated|modified|revision|revised|change|changed"
# The names of fields that tell of a document, in the form of `key_of`.
KNOWN = re.compile(
    rf"(?:{_ABOUT})_(?:id|number|no|code|type|authors?|version|status|classification|title)|id|number|no|"
    r"(?:\w{1,20}_)?owners?|authors?|editors?|maintainers?|contacts?|contact_(?:person|email)|department|team|"
    r"division|business_unit|organi[sz]ation|committee|edition|(?:version|revision)(?:_(?:number|no|date))?|status|state|"
    r"classification|confidentiality|sensitivity|security_level|supersedes|replaces|purpose|responsible|accountable|"
    r"applies_to|applicability|scope|audience|jurisdiction|language|approvers?|reviewers?|date|lastmod|"
    rf"(?:{_DONE})(?:_(?:on|by|at|date|from|until|to|through|period|version))?|"
    rf"(?:date_)?(?:last|next)_(?:{_TURN})(?:_(?:date|on|by|at|due))?|date_(?:{_DONE})|"
    r"(?:review|approval|issue|effective|expiry|expiration|publication|release|revision|start|end|due)_?"
    r"(?:date|by|on|cycle|period|frequency|interval|due|status)?",
    re.IGNORECASE,
)
_SHORT = {name: name.upper() for name in ("id", "sop", "cas", "pi", "doi", "isbn", "sku", "orcid")}
_WORD_WITHIN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PAIR = re.compile(r"[A-Z][\w /&()-]{1,40}: \S.{0,150}")
MOST_BLOCKS = 25  # from the beginning, in which a title block stands


def fields(text: str, blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """Name and value of each known field. A name with two values is one of the columns of a table, and no field."""
    values: dict[str, set[str]] = {}
    for name, value in _pairs(text[block.start : block.end] for block in blocks[:MOST_BLOCKS] if not block.sheet):
        if KNOWN.fullmatch(key_of(name)) and value:
            values.setdefault(name_of(key_of(name)), set()).add(value)
    yield from ((name, value) for name, (value, *others) in values.items() if not others)


def _pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        for line in text.split("\n"):
            if _PAIR.fullmatch(line):
                yield from cells(line)


def key_of(name: str) -> str:
    """A name in one form: reviewDate, review-date, "Review date" and review_date are the same."""
    return re.sub(r"[\s_-]+", "_", _WORD_WITHIN.sub("_", name.strip()[:60])).strip("_").lower()


def name_of(key: str) -> str:
    """As people write it: "Review date"."""
    words = [_SHORT.get(word, word) for word in key.split("_")]
    return " ".join([words[0][0].upper() + words[0][1:], *words[1:]])
