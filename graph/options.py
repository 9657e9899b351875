"""What a caller may choose about a turn: the words, their defaults, and the one check of them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, get_args

from graph.errors import BadInput

MemoryType = Literal["none", "buffer", "summary"]
Mode = Literal["baseline", "agent", "graph"]
Style = Literal["concise", "detailed", "bullet"]
MOST_TOP_K = 50
MOST_EXCHANGES, EXCHANGE_CHARS = 8, 4_000  # that are read of a conversation, the latest; of each side


class Exchange(TypedDict):
    """An earlier question and its answer, as a client sent them along."""

    question: str
    answer: str


class Choices(TypedDict, total=False):
    """What a caller says. None is the same as left out."""

    memory: MemoryType | None
    mode: Mode | None
    style: Style | None
    top_k: int | None  # 1-50, passages given to the generator; CORDON_TOP_K where nothing is said
    capstone: bool | None
    conversation: Sequence[Exchange] | None  # the oldest first; what a follow-up leans on where no thread remembers


class Options(TypedDict, total=False):
    """What a turn goes by. Behind `settled` all of it is there."""

    memory: MemoryType
    mode: Mode
    style: Style
    top_k: int
    capstone: bool
    stream: bool  # let verified sentences go while the model is still writing


DEFAULTS: Options = {"memory": "none", "mode": "baseline", "style": "concise", "capstone": False, "stream": False}


def known(choices: Mapping[str, Any]) -> None:
    """Raises BadInput for an option that there is not, such as a tenant."""
    if unknown := choices.keys() - Choices.__annotations__:
        raise BadInput(f"unknown option {sorted(unknown)[0]!r}.", hint=f"{', '.join(Choices.__annotations__)}.")


def conversation(choices: object) -> list[Exchange]:
    """The latest exchanges of a conversation that was sent along, each side cut short. What is no exchange is left out:
    it may come from outside."""
    exchanges = choices.get("conversation") if isinstance(choices, Mapping) else None
    pairs = [
        (exchange.get("question"), exchange.get("answer", ""))
        for exchange in (exchanges[-MOST_EXCHANGES:] if isinstance(exchanges, list | tuple) else ())
        if isinstance(exchange, Mapping)
    ]
    return [
        {"question": question[:EXCHANGE_CHARS], "answer": answer[:EXCHANGE_CHARS]}
        for question, answer in pairs
        if isinstance(question, str) and isinstance(answer, str) and question.strip()
    ]


def settled(choices: object, top_k: int) -> Options:
    """The choices with the defaults filled in, `top_k` for one. Unknown keys are ignored.

    Raises BadInput for a value there is not.
    """
    chosen: dict[str, Any] = {**DEFAULTS, "top_k": top_k}
    if isinstance(choices, dict):
        chosen |= {key: value for key, value in choices.items() if key in chosen and value is not None}
    for key, allowed in (("memory", MemoryType), ("mode", Mode), ("style", Style)):
        if chosen[key] not in get_args(allowed):
            raise BadInput(f"{key} {str(chosen[key])[:40]!r} is not one of {', '.join(get_args(allowed))}.")
    if type(chosen["top_k"]) is not int or not 1 <= chosen["top_k"] <= MOST_TOP_K:
        raise BadInput(f"top_k {str(chosen['top_k'])[:40]!r} is not a whole number from 1 to {MOST_TOP_K}.")
    return {
        "memory": chosen["memory"],
        "mode": chosen["mode"],
        "style": chosen["style"],
        "top_k": chosen["top_k"],
        "capstone": chosen["capstone"] is True,
        "stream": chosen["stream"] is True,
    }
