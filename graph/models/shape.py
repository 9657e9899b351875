"""JSON that does not keep to the schema: "response" for "sentences", a text for a list, a name for a number."""

import re
from typing import Any

from graph.models import claims
from graph.models.citation_parser import CitationParser

_TEXT_KEYS = (
    "sentences", "answer", "answers", "response", "responses", "text", "sentence", "statement", "statements", "claim",
    "claims", "content", "reply", "result", "results", "output", "final_answer", "summary", "message", "points",
    "items",
)  # fmt: skip
_SOURCE_KEYS = (
    "sources", "source", "citations", "citation", "references", "reference", "refs", "cited", "evidence", "ids", "n",
)  # fmt: skip
_WRAPPER_KEYS = ("arguments", "parameters", "input", "function", "tool_calls", "properties", "data", "json")
_ANSWERED_KEYS = ("answered", "found", "is_answered", "answerable", "has_answer")
_YES_NO = {**dict.fromkeys(("false", "no", "none", "null", "0"), False), **dict.fromkeys(("true", "yes", "1"), True)}
_DEPTH = 6


def fitted(value: Any, marks: CitationParser, *, cut: bool = False) -> dict[str, Any] | None:
    """The object that was asked for (`{"answered", "sentences"}`), or None where nothing in `value` answers.

    With `cut` the text broke off, so a last claim without sources and without an end is no claim.
    """
    if isinstance(value, list) and len(value) > 1 and all(isinstance(v, dict) for v in value):
        whole = [reply for v in value if (reply := fitted(v, marks, cut=cut)) and "answered" in _bare_keys(v)]
        if whole:
            return whole[-1]  # several objects: the last is what the model came to
    statements = _claims_in(value, marks, [], cut, 0)
    answered = _answered(value)
    if answered is False:
        return {"answered": False, "sentences": []}
    unique = {re.sub(r"\W+", " ", c["text"]).casefold(): c for c in reversed(statements)}
    ordered = list(reversed(unique.values()))[: claims.MOST]
    return {"answered": True, "sentences": ordered} if ordered else None


def _bare_keys(value: dict[str, Any]) -> dict[str, Any]:
    return {re.sub(r"[\W_]+", "_", str(key)).strip("_").casefold(): item for key, item in value.items()}


def _answered(value: Any, depth: int = 0) -> bool | None:
    """What it says about having an answer; None when it says nothing of that."""
    if not isinstance(value, dict) or depth > _DEPTH:
        return None
    parts = _bare_keys(value)
    for key in _ANSWERED_KEYS:
        if key in parts:
            return _YES_NO.get(str(parts[key]).strip().casefold())
    inner = [_answered(item, depth + 1) for item in parts.values() if isinstance(item, dict)]
    return next((verdict for verdict in inner if verdict is not None), None)


def _claims_in(value: Any, marks: CitationParser, sources: list[int], cut: bool, depth: int) -> list[dict[str, Any]]:
    """The claims in a value that stands where a text may stand."""
    if depth > _DEPTH or value is None:
        return []
    if isinstance(value, str):
        return claims.parse(value, marks, sources, cut=cut)
    if isinstance(value, list):
        last = len(value) - 1
        return [
            c for at, v in enumerate(value[:500]) for c in _claims_in(v, marks, sources, cut and at == last, depth + 1)
        ]
    if not isinstance(value, dict):
        return []
    parts = _bare_keys(value)
    named = next((parts[key] for key in _SOURCE_KEYS if key in parts), None)
    own = marks.numbers(named) or sources
    values = [parts[key] for key in _TEXT_KEYS if key in parts]
    values = values or [parts[key] for key in _WRAPPER_KEYS if isinstance(parts.get(key), dict | list)]
    # Its sources stand behind the text: where they do, the text is whole.
    broken = cut and not isinstance(named, list | str | int)
    return next((inner for item in values if (inner := _claims_in(item, marks, own, broken, depth + 1))), [])
