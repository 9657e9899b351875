"""What the checkpointer writes: every string masked first.

The raw question reaches the disk before any stage has run (LangGraph stores a run's input), so masking in a stage
comes too late for it.
"""

import re
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph.policy import pii

# What holds nothing to mask and must stay as it is: UUIDs, run ids and digests, by their very form and with a letter in
# them, and short words. Digits alone are an id to nobody: a person's number may be all that was asked.
_ID = re.compile(
    r"(?=.*[a-f])(?:[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    r"|[^\W\d]{1,12}"
)


class MaskingSerializer(JsonPlusSerializer):
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


_CLEAN: dict[str, None] = {}  # texts that masking left as they were; a chunk's comes in every turn that shows it


def _text(text: str) -> str:
    if text in _CLEAN:
        return text
    found = pii.mask(text).text
    if found == text:
        if len(_CLEAN) >= 2_048:
            _CLEAN.clear()
        _CLEAN[text] = None
    return found
