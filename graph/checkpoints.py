"""What the checkpointer writes: every string masked first.

The raw question reaches the disk before any stage has run (LangGraph stores a run's input), so masking in a stage
comes too late for it.
"""

import re
import threading
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph import turn_cache
from graph.models.fair_semaphore import CURRENT_TENANT
from graph.policy import pii

# What holds nothing to mask and must stay as it is: UUIDs, run ids and digests, each with a letter in it; short words;
# times to the second; and LangGraph's versions of its channels, which begin with twenty zeros. Digits alone are masked:
# a person's number may be all that was asked.
_ID = re.compile(
    r"(?=.*[a-f])(?:[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    r"|[^\W\d]{1,12}|\d{4}(?:-\d\d){2}T\d\d(?::\d\d){2}(?:\.\d{3,6})?(?:Z|\+00:00)|0{20}\d{12}\.[\d.e-]{16,24}"
)


class MaskingSerializer(JsonPlusSerializer):
    """LangGraph's serializer, with every string masked before it is written."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return super().dumps_typed(masked(obj))


def masked(value: Any) -> Any:
    """The value with every string in it masked; lists and dicts are copied, other types stay."""
    if isinstance(value, str):
        return value if _ID.fullmatch(value) else _text(value)
    if isinstance(value, dict):
        return {key: masked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item) for item in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(masked(item) for item in value)
    return value


def note_masked(text: str) -> None:
    """Note a text that this turn has masked in full: it is not masked once more before it is stored."""
    turn_cache.entries()["masked", text] = True


# Texts that masking left as they were: those of the thread's memory come in every turn. By tenant, so that the time of
# an answer tells no tenant about another. The oldest goes.
_CLEAN: dict[tuple[str, str], None] = {}
_KEPT = 2_048
_FORGETTING = threading.Lock()


def _text(text: str) -> str:
    name = CURRENT_TENANT.get(), text
    if name in _CLEAN or ("masked", text) in turn_cache.entries():
        return text
    result = pii.mask(text).text
    if result == text:
        with _FORGETTING:
            if len(_CLEAN) >= _KEPT:
                del _CLEAN[next(iter(_CLEAN))]
            _CLEAN[name] = None
    return result
