"""The guarded middle (requirement D4): wishes to get round a rule that deserve the rule's explanation, not a recipe."""

from graph.policy.rubric import Finding
from graph.policy.threats import literal_prefilter
from graph.policy.threats.rule import Table

_TABLE = Table("evasion")
_OF_THINGS = _TABLE.pattern("of_things")
_AVOIDS_WRONG = _TABLE.pattern("avoids_wrong")
_CHECKER = _TABLE.pattern("checker")
_PREVENTS = _TABLE.pattern("prevents")
_MORE = _TABLE.pattern("more")


def prevents(text: str) -> bool:
    """Whether the text asks only how others are kept from getting round a rule."""
    return literal_prefilter.search(_PREVENTS, text) is not None and not _MORE.search(text) and not find(text, "")


def find(text: str, tenant: str) -> list[Finding]:
    """What the table's rules match, except honest wishes and what is said of keeping others from it."""
    if literal_prefilter.search(_PREVENTS, text):
        text = _PREVENTS.sub(lambda match: " " * len(match.group()), text)  # offsets stay
    return [f for f in _TABLE.find(text) if not _is_honest(text[f.start : f.end])]


def _is_honest(wish: str) -> bool:
    return bool(_OF_THINGS.search(wish) or (_AVOIDS_WRONG.search(wish) and not _CHECKER.search(wish)))
