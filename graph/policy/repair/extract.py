"""Where the JSON is in what a model wrote around it: prose, fences, tags, several values in a row."""

import json
import re
from typing import Any

from graph.policy.repair import fit, numbers
from graph.policy.repair.shape import MAX_DEPTH, deeper_than, tokens

_FENCE = re.compile(r"```[\w-]*[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)", re.S)
_BRACKET = re.compile(r"[\[{]|[\]}]")
_MARKER = re.compile(r"\[\s*\d{1,3}(?:\s*,\s*\d{1,3})*\s*\]")  # "[1]", "[2, 3]": a citation in prose
_TRIES = 200  # places at which a strict value is looked for
_EAGER = 200_000  # characters; above it only a tenth of the tries, since a failed one may read to the end
_DECODER = json.JSONDecoder(parse_float=numbers.number, parse_int=numbers.number, parse_constant=numbers._no_constant)


def inner(text: str) -> str:
    """The fenced block, or the text from the first opening bracket to the last closing one."""
    text = text.strip().lstrip("\ufeff")
    fences = [m[1] for m in _FENCE.finditer(text) if re.search(r"[\[{(]", m[1])]
    if fences and not text.startswith(("{", "[")):
        return (fences[0] if len(fences) == 1 else "\n".join(fences)).strip()
    begin = re.search(r"[\[{]", text)
    if begin is None or text.startswith("("):
        return text
    end = max(text.rfind("}"), text.rfind("]"))
    # A cut object ends behind its last bracket: what follows belongs to it when brackets are left open.
    whole = text[begin.start() : end + 1]
    if not whole or sum(map(whole.count, "[{")) > sum(map(whole.count, "]}")):
        return text[begin.start() :]
    return whole


def values(text: str) -> list[Any]:
    """The strict JSON objects and arrays that stand in `text` outside of any other bracket, in order.

    Empty when brackets do not pair: then they may be parts of a broken whole.
    """
    parsed: list[tuple[str, Any]] = []
    at = tries = 0
    while (match := _BRACKET.search(text, at)) is not None:
        tries += 1
        if match.group() in "]}" or tries > (_TRIES if len(text) <= _EAGER else _TRIES // 10):
            return []
        begin = match.start()
        try:
            value, at = _DECODER.raw_decode(text, begin)
            if deeper_than(value, MAX_DEPTH):
                return []
            parsed.append((text[begin:at], value))
        except (ValueError, RecursionError):
            at = _paired(text, begin)
            if at < 0:
                return []
    likely = [value for source, value in parsed if value and not (len(parsed) > 1 and _MARKER.fullmatch(source))]
    return likely or [value for _, value in parsed[:1]]


def _paired(text: str, begin: int) -> int:
    """Behind the bracket that closes the one at `begin`, or -1."""
    depth = 0
    for match in tokens(text, begin):
        mark = match.group()
        depth += (mark in "[{") - (mark in "]}")
        if not depth and mark in "]}":
            return match.end()
        if depth > MAX_DEPTH:
            return -1
    return -1


def chosen(values: list[Any], schema: dict[str, Any] | None) -> Any:
    """One value as it is; of several, the last that fits the schema best, or all of them where no object is asked."""
    if len(values) == 1:
        return values[0]
    if schema is None or schema.get("type") != "object":
        return values
    ranked = [(len(fit.problems(fit.coerce(value, schema), schema)), -at) for at, value in enumerate(values)]
    return values[-min(ranked)[1]]
