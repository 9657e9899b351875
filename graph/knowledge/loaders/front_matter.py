"""What a document says of itself above its text: who owns it, which version it is, when it is to be reviewed."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from graph.errors import DocumentError
from graph.knowledge.loaders import data_files

# Of a front matter most is for whoever builds the site: paths, layouts, menus. These are for readers.
_ABOUT = "document|doc|policy|procedure|process|sop|content|file|record|form|standard|guideline"
_DONE = (
    "created|updated|issued|published|reviewed|approved|effective|valid|expires|expiry|revised|adopted|retention|prepared|"
    "written|checked|verified|authori[sz]ed|signed|released|superseded|replaced|archived"
)
_TURN = "review|update|reviewed|updated|modified|revision|revised|change|changed"
_SHOWN = re.compile(
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
_GROUP = re.compile(
    rf"(?:{_ABOUT})(?:_(?:control|info|information))?|meta|metadata|extra|params|custom|properties|approval|governance"
)
_SHORT = {"id": "ID", "sop": "SOP"}
_LINE = re.compile(r"([A-Za-z][\w -]{0,40}?)[ \t]*[:=][ \t]*(.*)")
_LISTED = re.compile(r"[ \t]*-[ \t]+(.+)")
_WORD_WITHIN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
MOST_LINES = 200
MOST_VALUES = 30  # of a field
DEEPEST = 3  # levels of values within values


def shown(source: str, *, toml: bool = False) -> Iterator[tuple[str, str]]:
    """Name and value of the fields of YAML or TOML that are for readers. What has another form by mistake, such as a
    colon in a value, is read line by line."""
    source = "\n".join(source.split("\n")[:MOST_LINES])
    try:
        documents = [tomllib.loads(source)] if toml else data_files.yaml_values(source)
    except (DocumentError, ValueError, RecursionError):
        documents = []
    if documents and isinstance(documents[0], dict):
        yield from _of(documents[0])
    else:
        yield from _line_by_line(source)


def _of(fields: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        key = _key(str(name))
        if _SHOWN.fullmatch(key):
            if text := ", ".join(_flat(value, 0)):
                yield _name(key), text
        elif isinstance(value, dict) and _GROUP.fullmatch(key):
            for inner, text in _of({one: of for one, of in value.items() if not isinstance(of, dict)}):
                yield inner, text


def _flat(value: Any, depth: int) -> list[str]:
    """The texts in a value, which may be a list or hold names of its own."""
    if isinstance(value, dict | list):
        if depth == DEEPEST:
            return []
        inner = list(value.values() if isinstance(value, dict) else value)[:MOST_VALUES]
        return [text for one in inner for text in _flat(one, depth + 1)][:MOST_VALUES]
    text = _bare("" if value is None or isinstance(value, bool) else str(value))
    return [text] if text else []


def _line_by_line(source: str) -> Iterator[tuple[str, str]]:
    name, values = "", list[str]()
    for line in [*source.split("\n"), "end: "]:
        field = _LINE.fullmatch(line.rstrip())
        if field is None:
            if (listed := _LISTED.fullmatch(line.rstrip())) and name:
                values.append(_bare(_uncommented(listed[1])))
            elif line.strip() and not line.strip().startswith("#"):
                name = ""  # something nested
            continue
        if name and any(values):
            yield name, ", ".join(filter(None, values))
        key = _key(field[1])
        name = _name(key) if _SHOWN.fullmatch(key) else ""
        value = _uncommented(field[2])
        values = [_bare(one) for one in value.strip("[] ").split(",")] if value.startswith("[") else [_bare(value)]


def _key(name: str) -> str:
    """A name in one form: reviewDate, review-date, "Review date" and review_date are the same."""
    return re.sub(r"[\s_-]+", "_", _WORD_WITHIN.sub("_", name.strip()[:60])).strip("_").lower()


def _name(key: str) -> str:
    """As people write it: "Review date"."""
    words = [_SHORT.get(word, word) for word in key.split("_")]
    return " ".join([words[0][0].upper() + words[0][1:], *words[1:]])


def _uncommented(value: str) -> str:
    return re.sub(r"\s+#\s.*$", "", value.strip())


def _bare(value: str) -> str:
    value = " ".join(value.split()).strip("\"'")
    empty = value in ("|", ">", "{}", "[]", "null", "~", "true", "false")
    return "" if empty or "{{" in value or "{%" in value else value  # nor what a site builder fills in
