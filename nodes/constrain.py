"""constrain: what a guarded answer may not do, and what is asked in place of the risky wording."""

import re

from graph.policy.question import rewrite
from graph.state import State

# The wish to get round a thing, as people phrase it; what follows is the thing.
_WISH = re.compile(
    r"\b(?:how (?:can|could|do|would|should|might) (?:i|we|one|you|somebody|students?)|(?:can|could) (?:i|we|you)|"
    r"(?:what is|what's|is there) (?:a|the|any)?\s*(?:best |easiest |good )?(?:way|method|trick)s?|help me(?: to)?|"
    r"show me how to|tell me how to|i (?:want|need|would like) to)\b",
    re.I,
)
_EVADE = re.compile(
    r"\b(?:to\s+)?(?:avoid(?:ing)?|evad(?:e|ing)|bypass(?:ing)?|circumvent(?:ing)?|(?:get|go|work|find a way)(?:ting|ing)? "
    r"(?:a)?round|trick(?:ing)?|fool(?:ing)?|beat(?:ing)?|cheat(?:ing)?(?: on)?|escap(?:e|ing)|defeat(?:ing)?|hid(?:e|ing)|"
    r"conceal(?:ing)?|outsmart(?:ing)?|dodg(?:e|ing)|skip(?:ping)?|get(?:ting)? past|sneak(?:ing)?|"
    r"without (?:[\w'’]+ ){0,3}(?:caught|detect(?:ed|ion)|notic(?:ed|ing)|know(?:n|ing)|found out|finding out|seen|seeing)|"
    r"undetected|unnoticed|secretly)\b",
    re.I,
)


def _topic(question: str) -> str:
    """What the question is about, without the wish to get round it: "how can I trick the scanner" is about the scanner,
    "I want to use a phone without being caught" about using a phone."""
    wish = _WISH.search(question)
    rest = question[wish.end() :].lstrip() if wish else ""
    verb = re.match(r"[a-z]+\b", rest)
    if wish and verb and not _EVADE.match(rest):
        question = f"{question[: wish.start()]} {_doing(verb.group())}{rest[verb.end() :]}"
    return " ".join(_EVADE.sub(" ", _WISH.sub(" ", question)).split()).strip(" ?.!")


def _doing(verb: str) -> str:
    if len(verb) > 2 and verb.endswith("e") and verb[-2] not in "eoy":
        verb = verb[:-1]
    elif re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb):
        verb += verb[-1]
    return f"{verb}ing"


def constrain(state: State) -> State:
    """Ask what the policy says, or the legitimate rest of a question that was partly an attack (`rewrite`)."""
    if safe := state["rewrite"]:
        return {"query": safe, "constraints": ["attack removed"], "flags": [*state["flags"], "safe_rewrite"]}
    limits: State = {
        "constraints": ["explain the policy", "no evasive or actionable steps"],
        "flags": [*state["flags"], "guarded"],
    }
    if not _EVADE.search(_WISH.sub(" ", state["query"])):
        return limits  # no wish to evade in its wording, as in "is there a trick": asked as it stands
    topic = _topic(state["query"])
    return {
        **limits,
        "query": f"What is allowed with {topic}, and what does the policy say?",
        "rewrite": rewrite.PREFIX.strip() + f" What does the policy say about {topic}?",
    }
