"""From what a model wrote to the object that was asked for: a ladder of deterministic steps.

Valid JSON passes unchanged. Otherwise: take the object out of prose and fences (`extract`), mend the syntax
(json-repair), fit fields to the schema (`fit`). What no step can mend is reported in words that a model can act on.
"""

from dataclasses import dataclass, field
from typing import Any

from graph.policy.repair import extract, fit, mend
from graph.policy.repair.numbers import decode
from graph.policy.repair.shape import MAX_DEPTH, deeper_than


@dataclass
class Repaired:
    """`ok` says that `value` is there (and fits the schema, if one was given). `steps` names what was needed:
    extracted, mended, coerced; unreadable when nothing was found, and `value` is "" then."""

    ok: bool
    value: Any = None
    steps: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def repair(text: str, schema: dict[str, Any] | None = None) -> Repaired:
    """Parse, mend and fit. Never raises for any text; a value nested deeper than MAX_DEPTH, or broken and
    longer than mend.MAX_CHARS, counts as unreadable."""
    readable, value, steps = _read(text, schema)
    result = Repaired(ok=False, steps=steps)
    if not readable:
        result.value = ""
        result.errors.append("It is not JSON, and cannot be read as JSON.")
        return result
    if schema is not None:
        problems = fit.problems(value, schema)
        if problems:
            value = fit.coerce(value, schema)
            if "mended" in steps:
                value = fit.uncut(value, schema)
            result.steps.append("coerced")
            problems = fit.problems(value, schema)
        if problems:
            result.errors = problems
            return result
    result.ok, result.value = True, value
    return result


def _read(text: str, schema: dict[str, Any] | None) -> tuple[bool, Any, list[str]]:
    try:
        value = decode(text)
        if not deeper_than(value, MAX_DEPTH):
            return True, value, []
        return False, None, ["unreadable"]
    except (ValueError, RecursionError):
        pass
    if len(text) > mend.MAX_CHARS:
        return False, None, ["unreadable"]
    inner = extract.inner(text)
    steps = ["extracted"] if inner != text.strip() else []
    values = extract.values(inner)
    if values:
        return True, extract.chosen(values, schema), ["extracted"]
    readable, value = mend.mend(inner)
    return readable, value, [*steps, "mended" if readable else "unreadable"]


__all__ = ["MAX_DEPTH", "Repaired", "repair"]
