"""The schema that a value is to fit. Using one reads no file and no address, whatever it refers to."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import regex
from jsonschema import ValidationError
from referencing import Registry, exceptions
from referencing.jsonschema import DRAFT202012

from graph.errors import BadInput

_PATTERN_S = 0.2  # for one string; some patterns take ages on some strings


def usable(schema: Any) -> None:
    """Raises BadInput, saying what is wrong, for what is no JSON Schema (draft 2020-12), and for one that refers to
    anything outside of itself."""
    try:
        if not isinstance(schema, dict):
            raise BadInput(f"the schema must be an object, not {type(schema).__name__}.")
        jsonschema.Draft202012Validator.check_schema(schema)
        root = DRAFT202012.create_resource(schema)
        _follow(schema, Registry().resolver_with_root(root), set())
    except jsonschema.SchemaError as error:
        where = ".".join(map(str, error.path))
        raise BadInput(f"the schema cannot be used{f' at {where}' if where else ''}: {error.message[:200]}.") from error
    except RecursionError as error:
        raise BadInput("the schema is nested too deep.") from error
    except (ValueError, TypeError, AttributeError, LookupError) as error:  # what the libraries say of odd references
        raise BadInput("the schema cannot be used: a reference or an identifier in it is none.") from error


def validator(schema: Any) -> Any:
    """A validator that fetches nothing and gives up on patterns that take too long."""
    return _Validator(schema, registry=Registry())


def _follow(schema: Any, resolver: Any, seen: set[int]) -> None:
    """Check a schema, and every one that it refers to."""
    jsonschema.Draft202012Validator.check_schema(schema)
    waiting = [(schema, resolver)]
    while waiting:
        schema, resolver = waiting.pop()
        if not isinstance(schema, dict) or id(schema) in seen:
            continue
        seen.add(id(schema))
        if {"patternProperties", "unevaluatedProperties"} <= schema.keys():
            raise BadInput("the schema has unevaluatedProperties beside patternProperties, which is not supported.")
        for keyword in ("$ref", "$dynamicRef"):
            if keyword in schema:
                target = _looked_up(schema[keyword], resolver)
                if id(target.contents) not in seen:
                    _follow(target.contents, target.resolver, seen)
        part = DRAFT202012.create_resource(schema)
        waiting += [(sub.contents, resolver.in_subresource(sub)) for sub in part.subresources()]


def _looked_up(reference: str, resolver: Any) -> Any:
    try:
        return resolver.lookup(reference)
    except exceptions.Unresolvable as error:
        raise BadInput(f"the schema refers to {reference[:200]!r}, which is not in it.") from error


def _matches(pattern: str, text: str) -> bool:
    try:
        return regex.search(pattern, text, timeout=_PATTERN_S) is not None
    except regex.error as error:
        raise BadInput(f"the schema's pattern {pattern[:200]!r} cannot be used: {error}.") from error
    except TimeoutError as error:
        raise BadInput(f"the schema's pattern {pattern[:200]!r} takes too long on a text of this value.") from error


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not _matches(pattern, value):
        yield ValidationError(f"{value[:100]!r} does not match {pattern[:100]!r}")


def _pattern_properties(validator: Any, patterns: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    for pattern, part in patterns.items() if isinstance(value, dict) else ():
        for key, item in value.items():
            if _matches(pattern, key):
                yield from validator.descend(item, part, path=key, schema_path=pattern)


def _additional_properties(validator: Any, rest: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    for key, item in value.items() if isinstance(value, dict) else ():
        if key in schema.get("properties", ()) or any(_matches(p, key) for p in schema.get("patternProperties", ())):
            continue
        if rest is False:
            yield ValidationError(f"{key[:100]!r} is not among the properties")
        else:
            yield from validator.descend(item, rest, path=key)


_Validator: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]  # the stubs leave out its types
    jsonschema.Draft202012Validator,
    {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    },
)
