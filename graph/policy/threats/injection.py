"""Attempts to override instructions, to escape a role, or to read the prompt (requirement A2)."""

import re

from graph.policy.rubric import Finding
from graph.policy.threats import tongues
from graph.policy.threats.lazy import pattern
from graph.policy.threats.rule import rule

_RULES_WORDS = r"(?:instructions?|prompts?|rules?|guidelines?|directives?|polic(?:y|ies)|guardrails?|safeguards?|safety (?:rules|filters?|measures)|filters?|restrictions?|constraints?|protocols?|programming|training|orders|commands|context|messages?|guard|guards|acl|access controls?)"
_DROP = r"(?:ignore|disregard|forget|override|overrule|bypass|circumvent|discard|neglect|skip|drop|abandon|disable|turn off|switch off|deactivate|suspend|stop following|do not follow|don'?t follow|pay no attention to|never mind|unlearn|erase|delete|remove|lift|break|violate|set aside)"
_WHICH = r"(?:(?:all|any|every|each|the|your|my|our|these|those|this|that|of|previous|prior|preceding|above|earlier|former|existing|current|original|initial|given|past|foregoing|other|system|internal|hidden|default|safety|security|content|access|injection|detection|standard|usual|developer'?s?|openai'?s?|company'?s?) ){0,6}"

_RULES = (
    rule(
        "prompt_injection",
        0.85,
        "asks to set all rules aside",
        rf"(?:^|[.!?;:,\n] ?|\b(?:and|then|please|now|just) )(?:ignore|disregard|forget|override|bypass) (?:all|any|every|your|these|those)(?: of)?(?: the| your| these)? ?{_RULES_WORDS}\b",
    ),
    rule("prompt_injection", 0.97, "asks to set earlier instructions aside",
         rf"\b{_DROP} {_WHICH}(?:previous|prior|preceding|above|earlier|former|existing|current|original|initial|system|hidden|internal|your|safety)(?: {_WHICH})? ?{_RULES_WORDS}\b"),
    rule("prompt_injection", 0.95, "asks to forget everything said before",
         r"\b(?:forget|ignore|disregard) (?:about )?(?:everything|all|anything|what(?:ever)?)(?: (?:that )?(?:you|i|we|they|was|were|has|have|is|it))?.{0,30}\b(?:above|before|told|said|instructed|learned|know|far|previous(?:ly)?|prior|earlier)\b"),
    rule("prompt_injection", 0.8, "drops what came before and gives an order",
         r"\b(?:forget|ignore|disregard|drop|erase) (?:about )?(?:it all|all (?:of )?(?:it|this|that)|everything)(?: (?:you know|i said|i wrote|else))? ?(?:[,.;:!-]+ ?)?(?:(?:and|then|now|instead|just|please|simply) ){0,3}(?:write|say|print|output|answer|respond|reply|repeat|state|claim|act|become|pretend|do only|praise|insult)\b"),
    rule("prompt_injection", 0.88, "asks to set a rule aside and show what it keeps back",
         rf"\b(?:override|overrule|set aside|suspend|waive|skip|drop|forget|disregard|ignore|bypass|lift|break) (?:(?:the|your|this|that|all|any|every|our|of) ){{1,3}}(?:\w+ ){{0,2}}?{_RULES_WORDS}[ ,]+(?:(?:and|then|to|now) ){{0,2}}(?:show|give|list|print|reveal|tell|display|hand|share|output|send|open)(?: (?!not\b|never\b)\w+){{0,4}}? (?:hidden|secret|private|confidential|restricted|internal|withheld|blocked|masked|protected|unpublished)\b"),
    rule("prompt_injection", 0.92, "asks to switch a safeguard off",
         r"\b(?:bypass|disable|turn off|switch off|deactivate|override|circumvent|evade|remove|lift|suspend|get around) (?:(?:the|your|all|any|this|its|every) ){0,2}(?:\w+ ){0,2}(?:guard|guards|guardrails?|safeguards?|filters?|masking|redaction|moderation|acl|access controls?|injection detection|content polic(?:y|ies)|safety (?:checks?|settings?|features?|protocols?)|restrictions?|censorship)\b"),
    rule("prompt_injection", 0.9, "gives new instructions in place of the system's",
         r"(?:^|[\n.;:!] ?)(?:new|updated|revised|real|actual|additional) (?:system )?(?:instructions?|prompt|rules?|directives?|task) ?(?:[:=]|are|is|follow)|\b(?:your|the) (?:new|real|actual|true) (?:instructions?|task|goal|objective|purpose|orders) (?:is|are)\b"),
    rule("prompt_injection", 0.5, "says how to answer from now on",
         r"\bfrom (?:now|this point|here) on,? (?:you (?:will|are|must|shall|should)|ignore|respond|answer|act|never|always|do not)\b"),
    rule("prompt_injection", 0.9, "imitates a system or developer message",
         r"(?:^|\n) ?(?:\[|<|#{1,3}|\*\*|<\|)? ?(?:system|developer|admin(?:istrator)?)(?: (?:message|prompt|override|note|update|instruction))? ?(?:\]|>|\||\*\*|:) ?\S|<\|(?:im_start|im_end|system|endoftext)\|>|\[/?INST\]|<</?SYS>>|\bsystem override\b"),
    rule("prompt_extraction", 0.95, "asks for the system prompt or hidden instructions",
         r"\b(?:reveal|show|print|display|output|repeat|tell|give|share|disclose|expose|leak|dump|recite|write|copy|paste|return|list|provide|send|echo|summari[sz]e|translate|encode|quote|spell|state|what (?:is|are|was|were)) (?:\w+[ ,]+){0,5}?(?:(?:your|the|all|any|hidden|secret|internal|initial|original|full|exact|entire|complete) ){1,4}(?:system[ -]?|initial |original |hidden |secret |internal |base |developer |starting |pre)*(?:prompts?|system messages?|system instructions?|hidden instructions|internal instructions|initial instructions|original instructions|instructions (?:above|you were given|you received))\b"),
    rule("prompt_extraction", 0.92, "asks to repeat the text before the question",
         r"\b(?:repeat|print|output|copy|recite|write(?: out)?|return|echo|show)(?: me)? (?:(?:everything|all|the|of|text|words?|content|lines?|what'?s|whatever|is|that) ){1,6}(?:above|before (?:this|my)|preceding|at the (?:top|beginning|start))\b"),
    rule("prompt_extraction", 0.9, "asks to dump memory or context",
         r"\b(?:dump|export|print|exfiltrate|leak|extract|output|reveal) (?:(?:the|your|all|entire|whole|full|complete|any|raw|buffer|and|summary|conversation|internal|session) ){0,6}(?:memory|memories|memory contents|context(?: window)?|conversation history|chat history|buffer|session state|internal state|embeddings|vector (?:store|index))\b"),
    rule("jailbreak", 0.93, "asks to play a role without rules",
         r"\b(?:you are|you'?re|act as|pretend(?: to be| you are| that you are)?|become|behave (?:like|as)|role-?play as|simulate|imagine (?:you are|being)|play the role of|enter|switch to|activate|enable|emulate|respond as|answer as)\b.{0,80}?\b(?:dan|do anything now|stan|dude|jailbroken|unrestricted|uncensored|unfiltered|no (?:restrictions?|rules|limits|limitations|filters?|guidelines|ethics|morals|boundaries)|without (?:any )?(?:restrictions?|rules|limits|limitations|filters?|guidelines|ethics|censorship|morals)|developer mode|god mode|debug mode|admin mode|maintenance mode|root access|sudo mode|evil|amoral|free (?:from|of) (?:all |any )?(?:rules|restrictions))\b"),
    rule("jailbreak", 0.9, "claims that the rules no longer apply",
         r"\b(?:you (?:have|are) (?:been )?(?:freed|liberated|no longer (?:bound|restricted|limited))|(?:rules|restrictions|policies|guidelines|safeguards) (?:do not|don'?t|no longer) apply|you (?:can|may|must|will) (?:now )?(?:do|say|answer|generate) anything|stay in character (?:at all|no matter)|do anything now|jailbreak(?:en)? (?:mode|yourself|prompt:))\b"),
)  # fmt: skip

# In a document the rules on roles and switches would strike policies and manuals.
DOCUMENT_RULES = tuple(r for r in _RULES if r.why in (
    "asks to set earlier instructions aside",
    "asks to forget everything said before",
    "asks for the system prompt or hidden instructions",
    "asks to repeat the text before the question",
    "claims that the rules no longer apply",
))  # fmt: skip

# "Forget what I said about the projector" takes back the asker's own words.
_CORRECTION = pattern(
    r"^(?:forget|ignore|disregard) (?:about )?what i (?:just |had )?(?:said|told|asked|wrote|sent)\b", re.I
)


# "Never override the interlock" forbids what the rules look for. "Do not hesitate to override" does not.
_FORBIDDEN = pattern(
    r"\b(?:do not|don['’]?t|never|must not|mustn['’]?t|should not|shouldn['’]?t|may not|cannot|not to|without)\s+"
    r"(?:ever\s+|just\s+|simply\s+)?$",
    re.I,
)


def find(text: str, tenant: str) -> list[Finding]:
    found = [f for rule in (*_RULES, *tongues.RULES) for f in rule.find(text)]
    return [f for f in found if not _is_harmless(text, f)]


def _is_harmless(text: str, finding: Finding) -> bool:
    before, said = text[max(0, finding.start - 30) : finding.start], text[finding.start : finding.end]
    return bool(_CORRECTION.search(said) or _FORBIDDEN.search(before))
