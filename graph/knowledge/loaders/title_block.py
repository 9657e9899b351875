"""What a document says of itself in the block at its beginning: "Owner: QA", "Version: 3.2", a table of such pairs."""

import re
from collections.abc import Iterator, Sequence

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
    r"(?:(?!the_|an?_|its_|your_)\w{1,20}_)?owners?|authors?|editors?|maintainers?|contacts?|contact_(?:person|email)|department|team|"
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
_COLON = re.compile(r"(?<=\w): ")
_WORD = re.compile(r"[A-Za-z]+")
_VERSION = re.compile(r"\b(?:Version|Rev(?:ision)?\.?) (\d[\w.]{0,12})\b")
LONGEST_LINE, MOST_RUNNING = 400, 6  # characters, and blocks from the beginning
LONGEST_NAME, MOST_WORDS = 40, 3  # of a field in such a line
MOST_BLOCKS = 25  # from the beginning, in which a title block stands


def fields(text: str, blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """Name and value of each known field. A name with two values is one of the columns of a table, and no field."""
    begun: dict[str, set[str]] = {}  # what stands above the first heading below it: further values are of tables
    values: dict[str, set[str]] = {}
    for at, block in enumerate(blocks[:MOST_BLOCKS]):
        if not begun and (block.kind == "heading" or at == MOST_RUNNING):
            begun = {**values}
        pairs = () if block.sheet else _pairs(text[block.start : block.end], running=at < MOST_RUNNING)
        for name, value in pairs:
            name = name_of(key_of(name))
            if KNOWN.fullmatch(key_of(name)) and value and name not in begun:
                values.setdefault(name, set()).add(value)
    yield from ((name, value) for name, (value, *others) in values.items() if not others)


def _pairs(text: str, *, running: bool) -> Iterator[tuple[str, str]]:
    """The pairs of lines that hold nothing else; with `running` also of lines that hold several one after the other."""
    for line in text.split("\n"):
        names = _names(line) if running and len(line) <= LONGEST_LINE else []
        if len(names) > 1 or (names and " | " in line):
            ends = [*(start for start, _, _ in names[1:]), len(line)]
            for (_, end, name), limit in zip(names, ends, strict=True):
                yield name, line[end:limit].partition(" | ")[0].strip(" |;,·•")
            if version := _VERSION.search(line):
                yield "Version", version[1]
        elif _PAIR.fullmatch(line):
            yield from cells(line)


def _names(line: str) -> list[tuple[int, int, str]]:
    """Where names end with a colon in a line, and these: the most words before it that name a known field, else those
    from the last capital on. Nothing where no name is known."""
    names = []
    for colon in _COLON.finditer(line):
        words = [*_WORD.finditer(line, max(0, colon.start() - LONGEST_NAME), colon.start())][-MOST_WORDS:]
        begins = [word.start() for word in words if word.group()[0].isupper()]
        known = [at for at in begins if KNOWN.fullmatch(key_of(line[at : colon.start()]))]
        if begins:
            start = known[0] if known else begins[-1]
            names.append((start, colon.end(), line[start : colon.start()]))
    return names if any(KNOWN.fullmatch(key_of(name)) for _, _, name in names) else []


def key_of(name: str) -> str:
    """A name in one form: reviewDate, review-date, "Review date" and review_date are the same."""
    return re.sub(r"[\s_-]+", "_", _WORD_WITHIN.sub("_", name.strip()[:60])).strip("_").lower()


def name_of(key: str) -> str:
    """As people write it: "Review date"."""
    words = [_SHORT.get(word, word) for word in key.split("_")]
    return " ".join([words[0][0].upper() + words[0][1:], *words[1:]])
