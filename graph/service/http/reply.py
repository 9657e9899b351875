"""The shapes of what the service sends, for its OpenAPI document: an error, and the reply object of the contract.

Nothing is checked against them at run time; a test holds real answers against them.
"""

from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel, Field, create_model

from graph import state
from graph.options import MemoryType
from graph.policy.question.intent import Intent


def _model(given: Any, without: frozenset[str] = frozenset()) -> Any:
    """A TypedDict of the graph as a model, so that the two cannot part; other types as they are."""
    if get_origin(given) is list:
        return list[_model(get_args(given)[0])]  # type: ignore[misc]
    if not is_typeddict(given):
        return given
    fields: dict[str, Any] = {}
    for name, kind in get_type_hints(given).items():
        if name not in without:
            fields[name] = (_model(kind), ... if name in given.__required_keys__ else None)
    return create_model(given.__name__, __doc__=given.__doc__, **fields)


class Told(BaseModel):
    code: str = Field(description="a word for programs")
    message: str = Field(description="a sentence for people")
    request_id: str = Field("", description="also the header X-Request-ID; a 404 has none in its body")
    type: str = Field("", description="where OpenAI's clients call")
    param: str | None = Field(None, description="where OpenAI's clients call")


class Error(BaseModel):
    """Every answer from 400 up."""

    error: Told


class Refusal(BaseModel):
    code: str
    text: str


class Candidate(BaseModel):
    chunk_id: str
    doc_id: str
    score: float = Field(description="0-1")
    withheld: int = Field(0, description="sentences of the passage left out because they try to give instructions")
    masked: int = Field(0, description="places in the passage masked as personal data or a secret")


class Retrieval(BaseModel):
    confidence: Literal["high", "low"] | list[Any] = Field(description="[] when nothing was searched")
    candidates: list[Candidate]


class Remembered(BaseModel):
    type: MemoryType
    turns_used: int


class Reply(BaseModel):
    """The reply object, version 1. A refusal, and "not in the documents", are replies too."""

    version: Literal[1]
    run_id: str
    timestamp: str = Field(description="UTC")
    tenant_id: str
    user_id: str
    thread_id: str
    question: str = Field(description="masked")
    intent: _model(Intent)  # type: ignore[valid-type]
    verdict: _model(state.Verdict, frozenset({"turn"}))  # type: ignore[valid-type]
    decision: state.Decision
    refusal: Refusal | None
    answer: str
    sentences: list[_model(state.Sentence)]  # type: ignore[valid-type]
    citations: list[_model(state.Citation)]  # type: ignore[valid-type]
    confidence: Literal["high", "medium", "low"]
    safety_flags: list[str]
    reasoning: str
    retrieval: Retrieval
    memory: Remembered
    usage: _model(state.Usage)  # type: ignore[valid-type]
    timings_ms: dict[str, float]
    artifacts: dict[str, str] = Field(description="their names")
    draft: Literal["verified", "partly dropped", "dropped"] | None = Field(
        None, description="what became of the model's draft; left out where it said that it has no answer"
    )
    rewrite: str = Field("", description="how the question was put to the documents instead, when it was guarded")
    understood: _model(state.Understood) | None = Field(  # type: ignore[valid-type]
        None, description="how the question was read, where that is not word by word"
    )
    assessment: dict[str, Any] | None = Field(None, description="of an assessment that was asked for")
