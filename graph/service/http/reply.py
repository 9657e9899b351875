"""The shapes of what the service sends, for its OpenAPI document: an error, and the reply object of the contract.

Nothing is checked against them at run time; a test holds real answers against them.
"""

from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel, Field, create_model

from graph import state


def _model(kind: Any) -> Any:
    """A TypedDict of the graph as a model, so that the two stay the same; other types as they are. An annotation
    becomes the description; a key that may be left out has no default."""
    if get_origin(kind) is Annotated:
        inner, description = get_args(kind)
        return Annotated[_model(inner), Field(description=description)]
    if get_origin(kind) in (NotRequired, list, UnionType):
        inside = [_model(inner) for inner in get_args(kind)]
        return list[inside[0]] if get_origin(kind) is list else reduce(or_, inside)  # type: ignore[valid-type]
    if not is_typeddict(kind):
        return kind
    fields: dict[str, Any] = {
        name: (_model(inner), ... if name in kind.__required_keys__ else Field(default_factory=lambda: None))
        for name, inner in get_type_hints(kind, include_extras=True).items()
    }
    return create_model(kind.__name__, __doc__=kind.__doc__, **fields)


class Told(BaseModel):
    code: str = Field(description="a word for programs")
    message: str = Field(description="a sentence for people")
    request_id: str = Field("", description="also the header X-Request-ID; a 404 has none in its body")
    type: str = Field("", description="where OpenAI's clients call")
    param: str | None = Field(None, description="where OpenAI's clients call")


class Error(BaseModel):
    """Every answer from 400 up."""

    error: Told


Reply = _model(state.Reply)
