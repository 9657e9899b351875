"""What is masked in a question: values that its asker gave, told apart from placeholders that the asker typed."""

from collections.abc import Sequence
from typing import Any, TypedDict

from graph.policy import pii
from graph.policy.evidence.redaction import PLACEHOLDER

# The option with which an entry that masks before the graph hands on MaskedValues; it removes one that a client sent.
OPTION = "masked_before_admission"
_KINDS = frozenset(rule.type for rule in pii.RULES + pii.MORE)


class MaskedValues(TypedDict):
    """`kinds` of the masked values, sorted; `placeholder` where the asker typed one."""

    kinds: list[str]
    placeholder: bool


def from_question(question: str, spans: Sequence[pii.Span]) -> MaskedValues:
    """`spans` are what masking found in the question."""
    return {"kinds": sorted({span.type for span in spans}), "placeholder": PLACEHOLDER in question}


def handed_on(options: Any) -> MaskedValues | None:
    """What OPTION holds, without kinds that no rule has; None where it holds nothing usable."""
    masked = options.get(OPTION) if isinstance(options, dict) else None
    if not isinstance(masked, dict) or not isinstance(masked.get("kinds"), list):
        return None
    kinds = sorted(kind for kind in _KINDS if kind in masked["kinds"])
    return {"kinds": kinds, "placeholder": masked.get("placeholder") is not False}
