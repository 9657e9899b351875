"""What a model says of itself in place of an answer: that it does not know, or that it will not say."""

import re

from graph.policy.text import lexical

_THEM = (
    r"(?:the |these |this |those |any of the |your |my |our )?"
    r"(?:(?:provided|given|supplied|available|above|retrieved|following|source) )?"
    r"(?:documents?|documentation|evidence|context|sources?|passages?|texts?|information|excerpts?|materials?|files?)"
)
_TELL = (
    r"(?:contain|mention|include|provide|specify|state|say|give|answer|address|discuss|cover|tell|indicate|list|have|"
    r"describe|detail|name|identify|offer|clarify)"
)
_NOT = r"(?:n['’]t| not)"
_UNKNOWN = re.compile(
    rf"\b(?:i|we) (?:(?:do|can|could|did)(?:{_NOT})|cannot|(?:am|was|are|were)(?:{_NOT} able| unable) to)"
    r"(?: \w+){0,2} (?:know|find|answer|determine|tell|say|locate|see|have)\b"
    rf"|\b{_THEM}(?: (?:provided|given|above|here|available|supplied))? (?:(?:do|does|did){_NOT} (?:\w+ ){{0,2}}{_TELL}"
    rf"|cannot {_TELL}"
    rf"|lacks?|{_TELL}s? (?:no|nothing)|(?:has|have) no)\b"
    r"|\b(?:no|not (?:enough|sufficient)|insufficient|not any)(?: (?:relevant|specific|such|direct|explicit|further))?"
    r" (?:information|mention|evidence|answer|details?|data|context|reference)\b"
    rf"|\b(?:is|are|was|were){_NOT} (?:\w+ ){{0,2}}(?:mentioned|specified|stated|contained|found|provided|given|"
    rf"included|addressed|answered|available|discussed|covered|listed|present|described)"
    rf" (?:\w+ )?(?:in|by|within) {_THEM}\b"
    r"|^\W*you (?:do not|don['’]t) know\b"  # as it was asked to say
    r"|^\W*(?:unknown|none|n/?a|no answer|not (?:found|known|available|specified|mentioned|stated|given)"
    rf"|not (?:\w+ )?in {_THEM})\W*$",
    re.I,
)
_DECLINED = re.compile(
    r"\b(?:i|we)(?: am|['’]m| are|['’]re)?(?: sorry,? but i)?"
    r"(?: can(?:not|['’]t)|(?: am|['’]m)? (?:unable|not able|not allowed|not permitted) to| won['’]t| will not"
    r"| (?:must|have to) decline(?: to)?| decline to)"
    r"(?: \w+){0,2} (?:assist|help|comply|provide|fulfill?|discuss|share|engage|support|do|give|continue|respond)\b",
    re.I,
)
_ASKS_WHAT = re.compile(r"\b(?:who|whom|whose|what|when|where|which|why|how)\b", re.I)
_EMPTY = frozenset(
    lexical.stems(
        "the a an is are was were be been being do does did of in on at to for from by with and or our we you i it its "
        "there this that these those as will can could must shall should may might has have had us your my their they"
    )
)
_REACH = 400  # characters looked at: it is said at once, or not at all


def unknown(text: str) -> bool:
    """Whether it says that the answer is not known, or not in the documents."""
    return _UNKNOWN.search(text[:_REACH]) is not None


def echoes(text: str, question: str) -> bool:
    """Whether it only repeats a question of who, what or how as a statement: "The membership costs a company." does not
    say how much. A number, or a word that the question has not, makes it more than that."""
    if not _ASKS_WHAT.search(question):
        return False  # "Does it cost a company?" is answered so
    question_stems = {*lexical.stems(question)}
    return not {word for word in lexical.stems(text) if word not in question_stems and word not in _EMPTY}


def declined(text: str) -> bool:
    """Whether it refuses to answer."""
    return _DECLINED.search(text[:_REACH]) is not None
