"""Two questions in one: "Who keeps the keys, and what does parking cost?"."""

import re

from graph.policy.question import answer_type
from graph.policy.text import lexical

MOST = 3  # questions in one; more are read as one
_ASKS = r"(?:what|who|whom|whose|when|where|how|which|why|is|are|was|were|can|could|do|does|did|may|must|should)\b"
_WITH = r"(?:(?:in|on|at|from|by|for|to|since|until|of|with|under) )?"
_BORDER = re.compile(rf"[?;]\s+(?:and\s+)?(?={_WITH}{_ASKS})|,?\s+and\s+(?:also\s+)?(?={_WITH}{_ASKS})", re.I)
# What both questions are about: "In the severe scenario, how much …, and how long …?", "Memo 4: who …, and when …?"
_ABOUT = re.compile(
    rf"\W*(?:(?P<in>(?:in|on|at|for|from|during|under|after|before|with|according to) [^,?;]{{3,80}}),"
    rf"|(?P<thing>[^:?;,.!]{{2,60}}):) (?={_ASKS})",
    re.I,
)
_OPENS = re.compile(
    rf"\W*(?:(?:please|and|so|also|hi|hello)\W+)*{_WITH}{_ASKS}",
    re.I,
)
# Words that refer to the other question.
_LEANS = re.compile(
    r"\b(?:it|its|they|their|theirs|them|he|him|his|she|her|hers|this|that|these|those|such|same|ones?|then|afterwards|"
    r"before|after|else|other|another|both|either|instead|each|next|not)\b",
    re.I,
)
# Of these two do not: "before I read them", and what refers to something in the same question.
_OWN = re.compile(
    r"\b(?:before|after) (?=(?:i|we|you|they|he|she|somebody|someone|the|an?)\b)"
    r"|(?<=\b(?:the|our) )[\w-]+\b.*\b(?:it|its|they|their|them)\b",
    re.I,
)
_SAYS = 2  # words of its own, at least
_SMALL = frozenset(
    "a an the what who whom whose when where how which why is are was were can could do does did may must should there "
    "of in on at to for from by with i we you my our your us me many much long often any some all also and or have has "
    "be been will would get please still now under since until during".split()
)


def parts(question: str) -> list[str]:
    """The questions that one question joins, each complete by itself; [] where there is only one, or where a later one
    needs the one before it ("and how long does it take?")."""
    about = _ABOUT.match(question)
    cut = [part.strip(" ,;?\n") for part in _BORDER.split(question[about.end() :] if about else question)]
    if not 1 < len(cut) <= MOST or answer_type.kind(question) == "comparison":
        return []
    words = [{lexical.stem(word) for word in lexical.words(part) if word.lower() not in _SMALL} for part in cut]
    shared = set.intersection(*words)
    leans = any(_LEANS.search(_OWN.sub(" ", part)) for part in cut[1:])
    says = 1 if about else _SAYS  # "Camden circuits: what height, and which way round?"
    complete = all(map(_OPENS.match, cut)) and all(len(own - shared) >= says + bool(shared) for own in words)
    above = f"{about['in'] or about['thing']}, " if about else ""
    return [f"{above}{part}?" for part in cut] if complete and not leans else []
