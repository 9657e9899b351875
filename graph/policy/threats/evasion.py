"""The guarded middle (requirement D4): wishes to get round a rule that deserve the rule's explanation, not a recipe."""

import re

from graph.policy.rubric import Finding
from graph.policy.threats.lazy import pattern
from graph.policy.threats.rule import rule

_EVADE = r"(?:avoid|evade|bypass|circumvent|get (?:a)?round|get past|trick|fool|beat|cheat|escape|defeat|hide from|outsmart|dodge|work (?:a)?round|sneak past|game|slip past|throw off)"
_CONTROL = r"(?:turnitin|detect(?:ion|or|ors|ed|ing)?|plagiarism|ai[- ]?(?:check(?:er|s)?|detect\w*|score)|proctor\w*|similarity (?:check|score|report)|originality (?:check|report)|monitoring|audits?|inspections?|supervision|invigilat\w*|approval|ethics (?:review|committee|approval|board)|safety (?:check|rule|interlock|inspection)s?|interlocks?|booking (?:rules?|limits?)|quota|limits?|compliance|export controls?|retention|logging|licen[cs]e|the (?:rules?|polic(?:y|ies)|committee|deadline|check(?:s|er)?))"

_RULES = (
    rule("policy_evasion", 0.5, "asks how to get round a control",
         rf"\b(?:how|way|ways|trick|tricks|method|methods|tips?|help|can i|can we|want|need|like|without|best|possible|tool|tools|software|steps|hack)\b.{{0,60}}?\b{_EVADE}(?:ing)? (?:[\w'’-]+ ){{0,5}}?{_CONTROL}\b"),
    rule("policy_evasion", 0.5, "asks how not to be noticed",
         r"\b(?:without (?:getting|being|anyone|them|my (?:supervisor|professor|teacher|tutor)|the (?:supervisor|professor|examiner|committee|system|auditor)s?)(?: \w+){0,3}? ?(?:caught|detected|noticed|noticing|knowing|finding out|flagged|seeing)|(?:not|never|don'?t|won'?t) (?:to )?(?:get|be) (?:caught|detected|flagged)|(?:undetected|undetectable|undetectably|unnoticed)\b.{0,40}\b(?:essay|assignment|ai|chatgpt|submission|exam|thesis|paper|copy|text))\b|\b(?:make|so that|ensure|rewrite|paraphrase|humani[sz]e)\b.{0,60}\b(?:undetectable|pass(?:es)? (?:as human|turnitin|the (?:ai|plagiarism)|ai detection)|look(?:s)? human|not (?:be )?(?:detected|flagged))\b"),
    rule("policy_evasion", 0.5, "asks how to blind whoever checks",
         r"\b(?:stop|prevent|keep) (?:(?:the|my|our|a|any) )?(?:turnitin|(?:ai )?(?:detect|check)\w*|software|system|proctor\w*|professor|teacher|tutor|supervisor|examiner|marker|invigilator|committee|auditor|inspector)s? from (?:detect|notic|catch|flagg|see|find|spott|recogni[sz])ing\b"
         r"|\bhumani[sz](?:ers?|e|ing)\b.{0,60}\b(?:turnitin|detect\w*|undetect\w*|pass(?:es)?|essays?|assignments?|thesis)\b"),
    rule("policy_evasion", 0.5, "asks to have assessed work done",
         r"\b(?:write|do|complete|finish|solve|take) (?:my|the whole|the entire) (?:assignment|essay|thesis|dissertation|homework|exam|coursework|quiz|lab report|take-home)\b.{0,40}(?:for me)?"),
)  # fmt: skip

# "How do viruses escape detection": things and animals get round no rules.
_OF_THINGS = pattern(
    r"\bhow (?:do|does|did|can|could|would|will) (?:the |an? |some |these |our )?(?!i\b|we\b|you\b|one\b|students?\b|someone\b|"
    r"somebody\b|people\b|anyone\b|user|my\b|he\b|she\b|they\b|authors?\b|researchers?\b|employees?\b)\w+ \w+",
    re.I,
)
# "How do I avoid plagiarism": what is to be avoided is the wrong, not the check.
_AVOIDS_WRONG = pattern(
    r"\bavoid(?:ing)? (?:\w+[- ]){0,3}(?:plagiari\w+|false (?:alarms?|positives?|accusations?)|errors?|mistakes|"
    r"misconduct|exceeding|(?:being|getting) (?:wrongly|falsely|unfairly))",
    re.I,
)
_CHECKER = pattern(r"\b(?:check\w*|detector|detection|software|tool|turnitin|score|caught|report)\b", re.I)

# Who keeps others from getting round a rule is on its side. Whoever checks is not one of those others.
_GOING_ROUND = r"(?:bypass|evad|circumvent|cheat|avoid|fool|trick|dodg|get(?:ting)? (?:a)?round)"
_OTHERS = (
    r"(?!(?:(?:the|my|our|your|a|any) )?(?:me|us|i|we|turnitin|[\w-]*check\w*|[\w-]*detect\w*|filters?|guards?|software|system|"
    r"proctor\w*|professors?|teachers?|supervisors?|examiners?|auditors?)\b)(?:[\w'’-]{1,30} ){1,4}?"
)
_PREVENTS = pattern(
    rf"\b(?:prevent|stop|keep|deter|discourage|hinder)(?:s|ing)? {_OTHERS}from {_GOING_ROUND}|"
    rf"\b(?:make|making) sure (?:that )?{_OTHERS}(?:do not|does not|don['’]?t|doesn['’]?t|cannot|can['’]?t|never) {_GOING_ROUND}",
    re.I,
)
_MORE = pattern(r"[.?!;:]\s+\w", re.I)


def prevents(text: str) -> bool:
    """Whether all it asks is how others are kept from getting round a rule."""
    return _PREVENTS.search(text) is not None and not _MORE.search(text) and not find(text, "")


def find(text: str, tenant: str) -> list[Finding]:
    if _PREVENTS.search(text):
        text = _PREVENTS.sub(lambda match: " " * len(match.group()), text)  # offsets stay
    return [f for rule in _RULES for f in rule.find(text) if not _is_honest(text[f.start : f.end])]


def _is_honest(said: str) -> bool:
    return bool(_OF_THINGS.search(said) or (_AVOIDS_WRONG.search(said) and not _CHECKER.search(said)))
