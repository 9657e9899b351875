"""Fit a value to a JSON Schema where only its form is off: "30" for 30, one item for a list of one."""

import json
import re
from typing import Any

from graph.errors import CordonError

_YES, _NO = ("true", "yes", "y", "1"), ("false", "no", "n", "0")
_NUMBER = re.compile(r"\s*([-+]?\d{1,15}(?:\.\d{1,15})?)\s*%?\s*\Z")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+", re.M)
_MOST = 8  # problems reported


def problems(value: Any, schema: dict[str, Any]) -> list[str]:
    """What does not fit, in words; [] when it fits. A schema that cannot be used is one problem.

    Raises BadInput for a pattern that takes too long."""
    from graph.policy.repair.schema import validator

    try:
        errors = sorted(validator(schema).iter_errors(value), key=lambda e: list(map(str, e.path)))
    except CordonError:
        raise
    except Exception as error:  # a part of a schema, taken alone, can refer to what is not in it
        return [f"the schema cannot be used ({type(error).__name__})."]
    return [f"{'.'.join(map(str, e.path)) or 'the object'}: {e.message[:200]}" for e in errors[:_MOST]]


def coerce(value: Any, schema: Any) -> Any:
    """The value in the form the schema asks for, as far as that is clear; else as it is."""
    if not isinstance(schema, dict):
        return value
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            return _one_of(value, schema[keyword])
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if any(_is(value, kind) for kind in kinds):
        return _within(value, schema)
    for kind in kinds:
        fitted = _to(value, kind, schema)
        if _is(fitted, kind):
            return _within(fitted, schema)
    return _within(value, schema)


def uncut(value: Any, schema: Any) -> Any:
    """Without the last item of each list where that one does not fit: a text that was cut off ends in half an item."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, dict):
        parts = schema.get("properties")
        parts = parts if isinstance(parts, dict) else {}
        return {key: uncut(item, parts.get(key)) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(items := schema.get("items"), dict):
        last = uncut(value[-1], items)
        return value[:-1] if problems(last, items) else [*value[:-1], last]
    return value


def _one_of(value: Any, schemas: list[Any]) -> Any:
    for schema in schemas:
        if isinstance(schema, dict) and not problems(value, schema):
            return value
    for schema in schemas:
        if isinstance(schema, dict) and not problems(fitted := coerce(value, schema), schema):
            return fitted
    return value


def _is(value: Any, kind: Any) -> bool:
    if isinstance(value, bool):
        return bool(kind == "boolean")
    types: dict[Any, Any] = {
        "object": dict, "array": list, "string": str, "integer": int, "number": int | float, "null": type(None),
    }  # fmt: skip
    return kind in types and isinstance(value, types[kind])


def _to(value: Any, kind: Any, schema: dict[str, Any]) -> Any:
    if kind == "object":
        value = _parsed(value, "{")
        return value[0] if isinstance(value, list) and len(value) == 1 else value
    if kind == "array":
        value = _parsed(value, "[")
        return value if isinstance(value, list) else _listed(value, schema)
    if kind in ("integer", "number"):
        return _numeric(value, kind)
    if kind == "boolean":
        word = str(value).strip().strip("\"'.").lower() if isinstance(value, str | int) else ""
        return True if word in _YES else False if word in _NO else value
    if kind == "null" and isinstance(value, str) and value.strip().lower() in ("", "null", "none", "n/a"):
        return None
    if kind == "string":
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int | float):
            return str(value)
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return " ".join(value)
    return value


def _parsed(value: Any, begins: str) -> Any:
    """The value of a string that holds JSON; any other value as it is."""
    if isinstance(value, str) and value.strip().startswith(begins):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _listed(value: Any, schema: dict[str, Any]) -> list[Any]:
    if value in (None, ""):
        return []
    items = schema.get("items", {})
    kind = items.get("type") if isinstance(items, dict) else None
    if isinstance(value, str):
        if len(_BULLET.findall(value)) > 1:
            return [line for part in _BULLET.split(value) if (line := part.strip())]
        if kind in ("integer", "number") and re.fullmatch(r"[\d\s,;.\[\]+-]+", value):
            return re.findall(r"[-+]?\d+(?:\.\d+)?", value)
    return [value]


def _numeric(value: Any, kind: str) -> Any:
    if isinstance(value, float) and kind == "integer":
        return int(value) if value.is_integer() else value
    if not isinstance(value, str):
        return value
    match = _NUMBER.match(re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", value))
    if match is None:
        # "Source 3", "[3]": one whole number among words.
        alone = re.findall(r"(?<![\d.,-])\d{1,9}(?![\d.,]*\d)", value)
        return int(alone[0]) if kind == "integer" and len(alone) == 1 else value
    number = float(match[1])
    if number.is_integer() and (kind == "integer" or "." not in match[1]):
        return int(match[1].partition(".")[0])
    return number if kind == "number" else value


def _within(value: Any, schema: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return _object(value, schema)
    if isinstance(value, list):
        return _array(value, schema)
    if isinstance(value, str) and isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        same = [e for e in schema["enum"] if isinstance(e, str) and _bare_name(e) == _bare_name(value)]
        return same[0] if len(same) == 1 else value
    return value


def _object(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Fields under the schema's own names, each fitted; unknown ones only where the schema lets them be."""
    parts = schema.get("properties")
    parts = parts if isinstance(parts, dict) else {}
    named = {_bare_name(key): key for key in parts}
    known: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for key, item in value.items():
        if key in parts:
            known[key] = item
        elif _bare_name(key) in named:
            known.setdefault(named[_bare_name(key)], item)
        else:
            unknown[key] = item
    required = schema.get("required")
    missing = [key for key in (required if isinstance(required, list) else []) if key not in known]
    if missing and not known and len(unknown) == 1 and isinstance(inner := next(iter(unknown.values())), dict):
        return _object(inner, schema)  # {"answer": {...}}: the object asked for, in a wrapper
    fitted = {key: coerce(known[key], part) for key, part in parts.items() if key in known}
    for key in missing:
        if isinstance(parts.get(key), dict) and "default" in parts[key]:
            fitted[key] = parts[key]["default"]
    rest = schema.get("additionalProperties", True)
    if parts and rest is False:
        return fitted
    return fitted | {key: coerce(item, rest) for key, item in unknown.items()}


def _array(value: list[Any], schema: dict[str, Any]) -> list[Any]:
    items = schema.get("items", {})
    has_schema = isinstance(items, dict)
    fitted = [coerce(i, items) for i in value if i not in (None, "") or (has_schema and not problems(i, items))]
    most = schema.get("maxItems")
    return fitted[:most] if isinstance(most, int) else fitted


def _bare_name(name: Any) -> str:
    return re.sub(r"[\W_]+", "", str(name)).casefold()
