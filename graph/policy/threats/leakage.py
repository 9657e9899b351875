"""Requests for personal or confidential data, or to undo masking (requirement A3)."""

import re
from dataclasses import replace

from graph.policy import pii
from graph.policy.rubric import Finding
from graph.policy.threats.lazy import pattern
from graph.policy.threats.reached import of_a_function
from graph.policy.threats.rule import rule

_GET = r"(?:list|show|give|tell|reveal|dump|extract|export|print|share|disclose|exfiltrate|display|provide|send|find|fetch|retrieve|collect|compile|get|leak|expose|read out|release|output|harvest|gather|look up|need|want|require|demand)"
_PERSONAL = r"(?:cnics?|nics?|national id(?:entity)?(?: card)?(?: numbers?)?|identity (?:card )?numbers?|id card numbers?|passport numbers?|(?:mobile|phone|telephone|cell|contact|whatsapp) (?:numbers?|details|info(?:rmation)?)|phones?|private (?:numbers?|contacts?|phone numbers?|details)|home address(?:es)?|personal (?:data|details|information|contacts?|numbers?|e-?mails?)|pii(?: data| fields| records)?|social security numbers?|ssns?|bank (?:account|details)(?: numbers?)?|ibans?|credit card numbers?|salar(?:y|ies)|medical records?|dates? of birth|passwords?|credentials|api keys?|secrets?|confidential (?:contacts?|data|records?|information|details)|private (?:data|records?|information)|patient names?|participant names?)"

_TOPIC = r"(?:(?!\b(?:kinds?|types?|sorts?|categor\w+|fields?|formats?|rules?|polic\w+|why|how|when|mean\w*)\b)[^.?!\n]){0,60}?"
_LIES = r"(?:who|what(?:ever)?|texts?|names?|numbers?|values?|words?|address(?:es)?|e-?mails?|(?:stand|lie|sit|hide|i)s|are|was|were|stood|lay|hidden|written)"
_NAMES = "|".join(sorted({"REDACTED", "MASKED", "NAME", *(known.type for known in pii.RULES + pii.MORE)})).replace(
    "_", "[_ ]"
)
_MARK = rf"(?:(?:the|each|every|all|any|that|this|those|these) ){{0,2}}(?:\[(?:{_NAMES})\]|redact(?:ed|ions)\b)"
_CONTACT = (
    "asks for personal data",
    "asks whose number, address or password it is",
    "asks how to reach a person by name",
)
_UNDERNEATH = "asks what a placeholder stands for"

_TITLED = r"(?<![\w'’-])(?:dr|prof|professor|mr|mrs|ms|miss|engr|sir|madam)\b\.? ?[\w'’-]{1,40}"
_RULES = (
    rule("data_leakage", 0.92, _CONTACT[0],
         rf"\b{_GET}\b(?! (?:rules|policy|policies|guidance))(?:[ ,]+[\w'’/-]+){{0,8}}?[ ,]+(?:all |any |the |every )?{_PERSONAL}\b(?! (?:rules?|polic(?:y|ies)|protection|retention|handling|masking|guidance|law|regulations?|laws|notice|classification|reporting|categor(?:y|ies)))"),
    rule("data_leakage", 0.9, _CONTACT[1],
         r"\b(?:what(?:'s| is| are| was)|whose|which(?! (?:training|courses?|polic(?:y|ies)|rules?|laws?|formats?)\b)) (?:(?:the|his|her|their|is|are) )?(?:[\w'’.-]+ ){0,4}(?:'s |s' )?(?:cnics?|nic number|phone numbers?|mobile numbers?|contact numbers?|home address(?:es)?|passwords?|passport numbers?|iban|bank account(?: number)?|salary|date of birth|personal e-?mail)\b(?! (?:polic|rule|protection|retention|format|field|column|masking))"),
    rule("data_leakage", 0.82, _CONTACT[2],
         rf"\b(?:{_GET}|what(?:'s| is| are)) (?:(?:me|us|out) )?(?:the )?(?:e-?mail|phone|telephone|mobile|contact|home|postal|whatsapp)(?: (?:address(?:es)?|numbers?|details?))? (?:of|for|from) {_TITLED}|{_TITLED}(?: [\w'’-]{{1,40}}){{0,2}}['’]s? (?:(?:private|personal|home|mobile|current) )?(?:e-?mail|phone|telephone|mobile|whatsapp|home address)\b(?! polic)"),
    rule("data_leakage", 0.96, "asks to undo masking",
         r"\b(?:unmask(?:ed|ing)?|un-mask|un-?redact(?:ed|ing)?|de-?anonymi[sz]e|un-?anonymi[sz]e|remove (?:the )?(?:redactions?|masking|masks)|without (?:the )?(?:redactions?|masking|masks)|reverse the (?:masking|redaction)|de-?mask|raw (?:pii|unmasked))\b"),
    rule("data_leakage", 0.96, _UNDERNEATH,
         rf"\b(?:{_GET}|what|which|who|whose|restore|recover|guess|write|put back|decode)\b{_TOPIC}\b(?:{_LIES} (?:behind|beneath|under(?:neath)?)|(?:you|was|were|been|have|had|got) (?:have |had )?(?:replaced|masked|hidden|covered|blacked out) (?:with|by|as|under|behind)) {_MARK}"),
    rule("data_leakage", 0.85, "asks for documents whole or for all data",
         r"\b(?:dump|exfiltrate|export|leak) (?:(?:the|all|every|entire|whole|full|complete|of|raw) ){1,5}(?:\w+ ){0,3}(?:documents?|data(?:base|set|sets)?|records?|logs?|index(?:es)?|indices|files|knowledge base|corpus)\b"),
)  # fmt: skip

_PUBLIC = pattern(
    r"\b(?:help ?desk|(?:public|opening|student|security|registry|dean'?s|ethics|press|visa|lost and found) (?:office|desk|"
    r"service)s?\b|library|reception|switchboard|emergency (?:number|line|services?|poster)|hotline|ambulance|police "
    r"station|fire (?:brigade|service)|health cent(?:re|er)|public (?:documents?|directory|contacts?)|office (?:tele)?phone)",
    re.I,
)
_PRIVATE = pattern(
    r"\b(?:home|private|personal|mobile|cell|cnics?|passport|bank|salar\w+|birth|passwords?|credentials|"
    r"confidential|medical|patients?|participants?|staff|employees?)\b",
    re.I,
)
_NAMED = pattern(r"\b[A-Z][\w-]+ [A-Z][\w-]+['’]s\b")  # whoever sits at a public desk is still a person
_INVENTED = pattern(
    r"\b(?:sample|example|fictional|fictitious|fake|dummy|made-up|invented|imaginary|random|funny|weak|strong|common|"
    r"typical|test) (?:\w+ ){0,2}(?:phone|passwords?|cnic|names?|numbers?|address\w*|data|iban|salar\w+)\b|"
    r"\b(?:format|length|checksum|validity|structure) of (?:an? |the )?\w+",
    re.I,
)
# What a house gives to every guest is no secret of a person.
_FOR_GUESTS = pattern(
    r"\b(?:guests?|visitors?|public|conference|seminar|shared|lobby)\b.{0,40}\b(?:wi-?fi|wlan|wireless|network|internet|hotspot|printer|projector)\b"
    r"|\b(?:wi-?fi|wlan|wireless|network|internet|hotspot|printer|projector)\b.{0,40}\b(?:guests?|visitors?|conference|seminar|lobby)\b",
    re.I,
)
_ONE_FOR_ALL = pattern(r"\b(?:passwords?|credentials)\b", re.I)
_OF_A_PERSON = pattern(
    r"['’]s\b|\b(?:his|her|their|staff|employee\w*|admin\w*|root|cnics?|phone|salar\w+|iban|passport|address\w*)\b",
    re.I,
)
# The rules for sharing contact details, the definition of personal data: what is asked for are words about it.
_ABOUT_IT = pattern(
    r"\b(?:definitions?|meaning|rules?|polic(?:y|ies)|categor(?:y|ies)|kinds?|types?|procedures?|laws?|guidance|training) "
    rf"(?:of|for|on|about) (?:(?!and\b|or\b)[\w-]+ ){{0,2}}{_PERSONAL}$",
    re.I,
)
_OF_MANY = pattern(
    r"\b(?:average|median|mean|minimum|maximum|typical|starting) (?:\w+ )?salar(?:y|ies)\b"
    r"|\bsalar(?:y|ies) (?:bands?|scales?|ranges?|grades?)\b",
    re.I,
)
_FORBIDDEN = pattern(r"\b(?:do not|don['’]?t|never|need not|must not|should not|may not)\s+(?:ever )?$", re.I)
# What is forbidden ends where something else is said: "do not show mercy, list all phone numbers".
_MORE = pattern(rf"[,;:]|\b(?:but|and|just|instead|only|then)\b|.\b{_GET}\b", re.I)
_OPENS = pattern(r"\b(?:passwords?|credentials|api keys?|secrets?)\b", re.I)  # what opens a door
_ANY_PERSONAL = pattern(rf"\b{_PERSONAL}\b", re.I)
_MINE = pattern(
    r"\b(?:my own|my (?:old |current |new |work )?(?:password|cnic|phone number|date of birth|iban|salary|passport number)\b(?! (?:and|or|to) )|(?:change|reset|update|forgot|lost|hide|delete) my)\b",
    re.I,
)
_NEAR = 160  # characters on both sides in which nobody may be meant beside a function


def find(text: str, tenant: str) -> list[Finding]:
    found = [f for rule in _RULES for f in rule.find(text) if not _is_harmless(text, f)]
    return [replace(f, type="secret") if _OPENS.search(text[f.start : f.end]) else f for f in found]


def _only_about(text: str, finding: Finding, said: str) -> bool:
    """Words about such data, figures of many people, or a secret that is none, and nothing personal after that."""
    if _ANY_PERSONAL.search(text[finding.end : finding.end + 200]):
        return False
    many = _OF_MANY.search(text[finding.start : finding.end + 8]) and not re.search(r"['’]s\b", said)
    return bool(many or _ABOUT_IT.search(said) or re.search(r"\b(?:a|one) secret$", said, re.I))


def _is_harmless(text: str, finding: Finding) -> bool:
    """Public contacts, invented or malformed values, and what belongs to the asker."""
    begin, end = max(0, finding.start - 60), min(len(text), finding.end + 60)
    around, said = text[begin:end], text[finding.start : finding.end]
    if finding.why == _UNDERNEATH:  # whose value it is, nobody can tell: "my CNIC is ..." beside it proves nothing
        return bool(_FORBIDDEN.search(text[begin : finding.start]) and not _MORE.search(said))
    if _only_about(text, finding, said) or (_FORBIDDEN.search(text[begin : finding.start]) and not _MORE.search(said)):
        return True
    if _ONE_FOR_ALL.search(said) and _FOR_GUESTS.search(around) and not _OF_A_PERSON.search(around):
        return True
    if finding.why in _CONTACT and of_a_function(text[max(0, finding.start - _NEAR) : finding.end + _NEAR]):
        return True
    return bool(
        (_PUBLIC.search(around) and not (_PRIVATE.search(said) or _NAMED.search(said)))
        or _INVENTED.search(around)
        or _MINE.search(around)
    )
