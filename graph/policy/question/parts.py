"""Two questions in one: "Who keeps the keys, and what does parking cost?"."""

import re

from graph.policy.question import answer_type
from graph.policy.text import lexical

MOST = 3  # questions in one; more are read as one
_ASKS = r"(?:what|who|whom|whose|when|where|how|which|why|is|are|was|were|can|could|do|does|did|may|must|should)\b"
_BORDER = re.compile(rf"[?;]\s+(?:and\s+)?(?={_ASKS})|,?\s+and\s+(?:also\s+)?(?={_ASKS})", re.I)
_OPENS = re.compile(
    rf"\W*(?:(?:please|and|so|also|hi|hello)\W+)*(?:(?:in|on|at|from|by|for|to|since|until|of|with|under) )?{_ASKS}",
    re.I,
)
# Words that refer to the other question.
_LEANS = re.compile(
    r"\b(?:it|its|they|their|theirs|them|he|him|his|she|her|hers|this|that|these|those|such|same|ones?|then|afterwards|"
    r"before|after|else|other|another|both|either|instead|each|next|not)\b",
    re.I,
)
_SAYS = 2  # words of its own, at least
_SMALL = frozenset(
    "a an the what who whom whose when where how which why is are was were can could do does did may must should there "
    "of in on at to for from by with i we you my our your us me many much long often any some all also and or have has "
    "be been will would get please still now".split()
)


def parts(question: str) -> list[str]:
    """The questions that one question joins, each complete by itself; [] where there is only one, or where a later one
    needs the one before it ("and how long does it take?")."""
    cut = [part.strip(" ,;?\n") for part in _BORDER.split(question)]
    if not 1 < len(cut) <= MOST or answer_type.kind(question) == "comparison":
        return []
    words = [{lexical.stem(word) for word in lexical.words(part) if word.lower() not in _SMALL} for part in cut]
    apart = not any(_LEANS.search(part) for part in cut[1:]) and not set.intersection(*words)
    complete = all(map(_OPENS.match, cut)) and all(len(own) >= _SAYS for own in words)
    return [f"{part}?" for part in cut] if apart and complete else []
