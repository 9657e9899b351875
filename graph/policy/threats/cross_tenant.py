"""Requests for what belongs to another tenant (requirement A3)."""

import re

from graph.policy.rubric import Finding
from graph.policy.threats.lazy import pattern
from graph.policy.threats.rule import Table

_TABLE = Table("cross_tenant")
# "U2's data", "from U3", "tenant U4": an id of the form of the asker's own, but another one.
_NAMED = pattern(r"\btenants? (?:id )?[\"'#:]? ?([A-Za-z0-9][\w-]{0,40})|\b([A-Z]{1,4}\d{1,4}(?:_\w{1,30})?)\b")
_ABOUT_TENANTS = frozenset(
    "is are has can may in id ids with and or data isolation separation access model policy who that".split()
)


def find(text: str, tenant: str) -> list[Finding]:
    """What the table's rules match and, where the asker's `tenant` is given, ids of others."""
    return _TABLE.find(text) + (_other_tenants(text, tenant) if tenant else [])


def _other_tenants(text: str, tenant: str) -> list[Finding]:
    """Tenants named that are not the asker's, when its own id has such a form (U1 asks about U2)."""
    shape = re.fullmatch(r"([A-Za-z]{1,4})\d{1,4}(?:_\w+)?", tenant)
    findings = []
    for match in _NAMED.finditer(text):
        word, code = match[1], match[2]  # behind "tenant", or of an id's form
        name = word or code
        if name.casefold() == tenant.casefold() or _within(name, tenant) or _within(tenant, name):
            continue
        named = word is not None and word.casefold() not in _ABOUT_TENANTS
        alike = (
            code is not None
            and shape is not None
            and code[: len(shape[1])].casefold() == shape[1].casefold()
            and code[len(shape[1]) : len(shape[1]) + 1].isdigit()
        )
        if (named and re.search(r"\d", name)) or alike:
            findings.append(Finding("cross_tenant", 0.9, match.start(), match.end(), "names another tenant"))
    return findings


def _within(name: str, tenant: str) -> bool:
    """Whether the name begins with the tenant's: U1_memo_budget is a document of U1, not of U10."""
    return name.casefold().startswith(f"{tenant.casefold()}_")
