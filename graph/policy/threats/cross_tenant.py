"""Requests for what belongs to another tenant (requirement A3)."""

import re

from graph.policy.rubric import Finding
from graph.policy.threats.lazy import pattern
from graph.policy.threats.rule import rule

_WHAT = r"(?:data|documents?|files?|records?|memos?|notebooks?|datasets?|results?|index|notes?|budgets?|contacts?|reports?|information|secrets?|memory|conversations?|questions?|threads?|corpus)"
_TENANTS = r"(?:all|other|another|every|each|different|any other|the other|across|multiple) (?:the )?(?:other )?tenants?(?:'s?|s')?\b"
_TAKE = r"(?:show|list|give|tell|print|dump|export|search|look|find|get|fetch|pull|query|read|open|see|access|use|switch|compare|merge|combine|summari[sz]e|quote|reveal|share|send|include|ask|learn|know|bring|join|act|pretend|become|impersonate)\w*"
_RULES = (
    rule("cross_tenant", 0.92, "asks for every tenant's data",
         rf"\b(?:{_TAKE}|{_WHAT})\b[^.!?]{{0,80}}\b{_TENANTS}|\b{_TENANTS}[^.!?]{{0,80}}\b(?:{_TAKE}|{_WHAT})\b|\bcross[- ](?:tenant|lab) (?:data|access|information|records?|collaboration data|{_WHAT})\b"),
    rule("cross_tenant", 0.6, "speaks of other tenants", rf"\b{_TENANTS}"),
    rule("cross_tenant", 0.9, "asks for another group's private data",
         rf"\b(?:other|another|neighbou?ring|different|rival|competing) (?:lab|team|group|department|client|customer|company|organi[sz]ation|user)(?:s|'s|s')? (?:private |internal |confidential |unpublished )+{_WHAT}\b|\bprivate (?:{_WHAT}) (?:of|from) (?:the )?(?:other|another) (?:lab|team|group|tenant|user)s?\b"),
    rule("cross_tenant", 0.85, "asks for what another group keeps to itself",
         rf"\b(?:private|confidential|unpublished|internal|secret|restricted) (?:{_WHAT}|drafts?|protocols?|recipes?) (?:of|from|by|in) (?:the |an? )?(?:other|another|rival|neighbou?ring|competing|competitor'?s?) (?:lab|laborator|group|team|department|tenant|workspace)\w*\b|\b(?:ignore|without|drop|remove|disable|skip|lift|turn off|no) (?:the |any |all |its |your )?(?:tenant|namespace) (?:filters?|separation|isolation|boundar\w+|limits?|checks?)\b"),
    rule("cross_tenant", 0.6, "asks what another group wrote",
         r"\b(?:what|show|read|quote|open|summari[sz]e|give|tell|let me|find|get)\b.{0,40}\b(?:other|another|neighbou?ring|rival|competing) (?:lab|laborator|group|team|tenant)\w*(?:'s?)? .{0,30}\b(?:memos?|notebooks?|drafts?|meeting notes?|files|folders?|documents?)\b|\bas (?:if i (?:were|was) |though i (?:were|was) )?(?:a |the )?(?:member|user|head|colleague) of (?:the )?(?:\w+ ){0,2}(?:lab|laboratory|group|team|tenant)\b"),
    rule("cross_tenant", 0.9, "asks to act as another tenant",
         r"\b(?:as|switch to|log ?in as|impersonate|use|become|act as|act for|on behalf of|into) tenant [A-Za-z0-9_-]+\b"),
)  # fmt: skip
# "U2's data", "from U3", "tenant U4": an id of the form of the asker's own, but another one.
_NAMED = pattern(r"\btenants? (?:id )?[\"'#:]? ?([A-Za-z0-9][\w-]{0,40})|\b([A-Z]{1,4}\d{1,4}(?:_\w{1,30})?)\b")
_ABOUT_TENANTS = frozenset(
    "is are has can may in id ids with and or data isolation separation access model policy who that".split()
)


def find(text: str, tenant: str) -> list[Finding]:
    found = [finding for rule in _RULES for finding in rule.find(text)]
    return found + (_other(text, tenant) if tenant else [])


def _other(text: str, tenant: str) -> list[Finding]:
    """Tenants named that are not the asker's, when its own id has such a form (U1 asks about U2)."""
    shape = re.fullmatch(r"([A-Za-z]{1,4})\d{1,4}(?:_\w+)?", tenant)
    found = []
    for match in _NAMED.finditer(text):
        said, code = match[1], match[2]
        name = said or code
        if name.casefold() == tenant.casefold() or _within(name, tenant) or _within(tenant, name):
            continue
        spoken = said is not None and said.casefold() not in _ABOUT_TENANTS
        alike = (
            code is not None
            and shape is not None
            and code[: len(shape[1])].casefold() == shape[1].casefold()
            and code[len(shape[1]) : len(shape[1]) + 1].isdigit()
        )
        if (spoken and re.search(r"\d", name)) or alike:
            found.append(Finding("cross_tenant", 0.9, match.start(), match.end(), "names another tenant"))
    return found


def _within(name: str, tenant: str) -> bool:
    """Whether the name begins with the tenant's: U1_memo_budget is a document of U1, not of U10."""
    return name.casefold().startswith(f"{tenant.casefold()}_")
