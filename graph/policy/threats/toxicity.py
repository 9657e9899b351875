"""Abuse and hatred, in tiers: hatred and threats block, insults at the reader are guarded (requirement C4)."""

import re

from graph.policy.rubric import Finding
from graph.policy.threats.lazy import pattern
from graph.policy.threats.rule import rule

_GROUP = r"(?:women|men|gays?|lesbians?|muslims?|jews?|christians?|hindus?|sikhs?|blacks?|whites?|asians?|arabs?|africans?|immigrants?|refugees?|foreigners?|disabled people|trans(?:gender)? people|pakistanis?|indians?|mexicans?|chinese people|minorities|poor people|old people)"
_RULES = (
    rule("toxicity", 0.95, "calls for violence against people",
         rf"\b(?:kill|murder|exterminate|gas|lynch|shoot|burn|eradicate|beat up|deport|wipe out|hang) (?:all |every |the |those |these )*{_GROUP}\b|\b(?:i(?:'ll| will| am going to|'m gonna)|let'?s|we should) (?:kill|murder|stab|shoot|hurt|beat) (?:you|him|her|them)\b|\bkill yourself\b|\bgo (?:and )?die\b"),
    rule("toxicity", 0.9, "demeans people for what they are",
         rf"\b{_GROUP} (?:are|r) (?:all |just |nothing but |so |such )*(?:inferior|subhuman|vermin|animals|scum|trash|filth\w*|disgusting|stupid|parasites|criminals|terrorists|worthless|a disease|savages|dirty|garbage|idiots)\b|\bhate (?:all |every |the |those |these )*{_GROUP}\b"),
    rule("toxicity", 0.85, "abuses the reader",
         r"\b(?:you|u|ur|you'?re|you are|your)(?: \w+){0,3} (?:fuck(?:ing|er|tard)?|motherfucker|cunt|bitch|whore|slut|bastard|asshole|retard(?:ed)?|dickhead|piece of shit|faggot|moron|imbecile)\b|\b(?:fuck|screw) (?:you|off|u)\b|\bshut (?:the fuck )?up,? (?:you|bitch|idiot)\b"),
    rule("toxicity", 0.5, "insults the reader",
         r"\b(?:you(?:'re| are)?|u r|ur|this)(?: (?:a|an|so|such|really|just|total|complete|bloody|damn|stupid|fucking))+ (?:idiot|stupid|useless|dumb|moron|fool|trash|garbage|worthless|pathetic|loser|shit|crap)\b"),
)  # fmt: skip

# Hatred of a group, threats, obscenity: what makes abuse more than rudeness.
_GRAVE = pattern(
    rf"\b(?:{_GROUP}|sikhs?|shias?|sunnis?|ahmadis?|homosexuals?|queers?|migrants?|romani?|gyps\w+|atheists?|tribes?|girls|"
    r"kill\w*|die|dead|death|shoot\w*|shot|stab\w*|burn\w*|hang\w*|lynch\w*|rape\w*|murder\w*|beat\w*|smash\w*|drown\w*|slaughter\w*|"
    r"throats?|blood\w*|bullets?|gas(?:sed)?|exterminat\w*|vermin|subhuman|cockroach\w*|fuck\w*|motherfuck\w*|cunts?|whor\w+|"
    r"sluts?|bitch\w*|retard\w*|faggots?|nigg\w+|piece of shit)\b",
    re.I,
)


def is_grave(text: str) -> bool:
    return bool(_GRAVE.search(text))


def find(text: str, tenant: str) -> list[Finding]:
    return [finding for rule in _RULES for finding in rule.find(text)]
