"""How to reach a function, such as a desk, an office or a hotline: that is no person's data.

The phone number of the service desk is for everybody; that of somebody who sits there is not. So the words must lead
from the number straight to the function, and nobody may be named or meant beside it.
"""

from graph.policy.threats import literal_prefilter
from graph.policy.threats.lazy import pattern
from graph.policy.threats.rule import Table

_TABLE = Table("organisational_contacts")
_STRAIGHT = _TABLE.pattern("straight")
_SOMEBODY = _TABLE.pattern("somebody")
_NAME = pattern(r"(?<=[\w,;] )[A-Z][a-z]+")


def of_a_function(text: str, *, beside: int = 1_000) -> bool:
    """Whether the contact that the text asks for is that of a function, and of nobody; with at most `beside`
    characters of other words."""
    text = " ".join(text[:2_000].split())
    if not literal_prefilter.search(_STRAIGHT, text):
        return False
    rest = _STRAIGHT.sub(" ", text)
    return rest != text and len(rest) <= beside and not _SOMEBODY.search(rest) and not _NAME.search(rest)
