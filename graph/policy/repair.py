"""From what a model wrote to the object that was asked for: a ladder of deterministic steps.

Valid JSON passes unchanged. Otherwise: take the object out of prose and fences, mend the syntax, fit fields to the
schema. What no step can mend is reported in words that a model can act on.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

MAX_CHARS, MAX_DEPTH = 2_000_000, 200
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n```|\Z)", re.S)


@dataclass
class Repaired:
    """`ok` says that `value` is there (and fits the schema, if one was given). `steps` names what was needed."""

    ok: bool
    value: Any = None
    steps: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def repair(text: str, schema: dict[str, Any] | None = None) -> Repaired:
    """Parse, mend and fit. Never raises for any text."""
    result = Repaired(ok=False)
    found, value = _strict(text)
    if not found:
        inner = _take_out(text)
        if inner != text:
            result.steps.append("extracted")
            found, value = _strict(inner)
        if not found:
            found, value = _mend(inner)
            result.steps.append("mended" if found else "unreadable")
    if not found:
        result.errors.append("It is not JSON, and cannot be read as JSON.")
        return result
    if schema is not None:
        problems = _problems(value, schema)
        if problems:
            value = _coerce(value, schema)
            result.steps.append("coerced")
            problems = _problems(value, schema)
        if problems:
            result.errors = problems
            return result
    result.ok, result.value = True, value
    return result


def _strict(text: str) -> tuple[bool, Any]:
    if len(text) > MAX_CHARS or _too_deep(text):
        return False, None
    try:
        return True, json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False, None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _too_deep(text: str) -> bool:
    """Whether brackets open more than MAX_DEPTH deep; every parser below recurses."""
    depth = deepest = 0
    for match in re.finditer(r"[\[{]|[\]}]", text):
        depth = depth + 1 if match.group() in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
        if deepest > MAX_DEPTH:
            return True
    return False


def _take_out(text: str) -> str:
    """The fenced block, or the text from the first opening bracket on."""
    fence = _FENCE.search(text)
    if fence and re.search(r"[\[{]", fence[1]):
        return fence[1].strip()
    begin = re.search(r"[\[{]", text)
    if begin is None:
        return text
    end = max(text.rfind("}"), text.rfind("]"))
    return text[begin.start() : end + 1] if end > begin.start() else text[begin.start() :]


def _mend(text: str) -> tuple[bool, Any]:
    if len(text) > MAX_CHARS or not re.search(r"[\[{]", text) or _too_deep(text):
        return False, None
    import json_repair

    try:
        value = json_repair.loads(text)
    except (ValueError, RecursionError, IndexError, TypeError):
        return False, None
    return value not in ("", None, [], {}), value


def _problems(value: Any, schema: dict[str, Any]) -> list[str]:
    import jsonschema

    errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(value), key=lambda e: list(map(str, e.path)))
    return [f"{'.'.join(map(str, e.path)) or 'the object'}: {e.message[:200]}" for e in errors[:8]]


def _coerce(value: Any, schema: dict[str, Any]) -> Any:
    """Fit a value to the schema where only the form is off: "30" for 30, one item for a list of one."""
    kind = schema.get("type")
    if kind == "object":
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, dict):
            return value
        parts = schema.get("properties", {})
        low = {str(key).lower().replace(" ", "_"): item for key, item in value.items()}
        return {key: _coerce(low[key], part) for key, part in parts.items() if key in low}
    if kind == "array":
        items = value if isinstance(value, list) else [value]
        fitted = [_coerce(item, schema.get("items", {})) for item in items if item not in (None, "")]
        return fitted[: schema.get("maxItems", len(fitted))]
    if kind == "integer" and isinstance(value, str | float) and not isinstance(value, bool):
        match = re.search(r"-?\d{1,9}", str(value))
        return int(match.group()) if match else value
    if kind == "boolean" and isinstance(value, str) and value.strip().lower() in ("true", "false", "yes", "no"):
        return value.strip().lower() in ("true", "yes")
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value
