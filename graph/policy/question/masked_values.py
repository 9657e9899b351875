"""What is masked in a question: values that its asker gave, told apart from placeholders that the asker typed."""

from collections.abc import Sequence
from typing import Any, TypedDict

from graph.policy import pii
from graph.policy.evidence.redaction import PLACEHOLDER

# The option by which a door that masks before the graph hands on what `of` gives. A client's own is taken out there.
OPTION = "masked_before_admission"
_KINDS = frozenset(rule.type for rule in pii.RULES + pii.MORE)


class MaskedValues(TypedDict):
    kinds: list[str]  # of the values, sorted
    placeholder: bool  # a placeholder stands in the question as it was asked


def from_question(question: str, found: Sequence[pii.Span]) -> MaskedValues:
    """What masking takes out of the question, in which this was found."""
    return {"kinds": sorted({span.type for span in found}), "placeholder": PLACEHOLDER in question}


def handed_on(options: Any) -> MaskedValues | None:
    """What a door handed on, or None; of the kinds only those there are."""
    said = options.get(OPTION) if isinstance(options, dict) else None
    if not isinstance(said, dict) or not isinstance(said.get("kinds"), list):
        return None
    kinds = sorted(kind for kind in _KINDS if kind in said["kinds"])
    return {"kinds": kinds, "placeholder": said.get("placeholder") is not False}
