"""From what a model wrote to claims that can be checked: JSON as asked for, JSON in another shape, or prose."""

import re
from collections.abc import Sequence
from typing import Any

from graph.models import claims, shape, thought
from graph.models.citation_parser import CitationParser
from graph.policy import repair
from graph.policy.answer.schemas import ANSWER

_OBJECT = re.compile(r"[{]|\[\s*[{\"']")


def read(text: str, schema: dict[str, Any], evidence: Sequence[Any], *, cut: bool = False) -> repair.Repaired:
    """The object of the schema, or why there is none. `steps` names what was needed; with `cut` the text broke off.

    Only an answer may be told in another shape or as prose: a design has too many parts to guess at.
    """
    strict = repair.repair(text, schema)
    if strict.ok and not strict.steps and not _hollow(strict.value):
        return strict
    answer, thoughts = thought.divided(text)
    repaired = _object(answer, schema, evidence, cut)
    if repaired is None and schema is ANSWER and (prose := _outside(answer)):
        statements = claims.parse(prose, CitationParser(evidence), cut=cut)
        repaired = repair.Repaired(True, {"answered": True, "sentences": statements}, ["prose"]) if statements else None
    if repaired is None and not answer:
        repaired = _object(thoughts, schema, evidence, cut)  # some servers take the whole answer for a thought
    if repaired is None:
        errors = strict.errors or ["It has no sentence in it."]
        return repair.Repaired(ok=False, errors=errors, steps=strict.steps)
    repaired.steps = (["thought"] if thoughts.strip() else []) + repaired.steps
    return repaired


def _object(text: str, schema: dict[str, Any], evidence: Sequence[Any], cut: bool) -> repair.Repaired | None:
    if not _OBJECT.search(text):
        return None
    repaired = repair.repair(text, schema)
    if repaired.ok and not _hollow(repaired.value):
        return repaired
    if schema is not ANSWER:
        return None
    loose = repair.repair(text)
    value = (
        shape.fitted(loose.value, CitationParser(evidence), cut=cut or "mended" in loose.steps) if loose.ok else None
    )
    return repair.Repaired(True, value, [*loose.steps, "reshaped"]) if value is not None else None


def _hollow(value: Any) -> bool:
    """Whether it claims to answer and says nothing."""
    return isinstance(value, dict) and value.get("answered") is True and not value.get("sentences")


def _outside(text: str) -> str:
    """What stands outside of braces: the prose around an object, or all of it when there is none."""
    outside, depth, at = [], 0, 0
    for match in re.finditer(r"[{}]", text):
        if match.group() == "{":
            if depth == 0:
                outside.append(text[at : match.start()])
            depth += 1
        elif depth:
            depth -= 1
            at = match.end()
    if depth == 0:
        outside.append(text[at:])
    return "\n".join(outside)
