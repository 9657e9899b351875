"""Abuse and hatred, in tiers: hatred and threats block, insults at the reader are guarded (requirement C4)."""

from graph.policy.rubric import Finding
from graph.policy.threats import literal_prefilter
from graph.policy.threats.rule import Table

_TABLE = Table("toxicity")
_GRAVE = _TABLE.pattern("grave")


def is_grave(text: str) -> bool:
    """Whether it is more than an insult: hatred, a threat or an obscenity."""
    return literal_prefilter.search(_GRAVE, text) is not None


def find(text: str, tenant: str) -> list[Finding]:
    """What the table's rules match; offsets in `text`."""
    return _TABLE.find(text)
