"""Attempts to override instructions, to escape a role, or to read the prompt (requirement A2)."""

from graph.policy.rubric import Finding
from graph.policy.threats import rule, tongues
from graph.policy.threats.rule import Table

TABLE = Table("injection")
_CORRECTION = TABLE.pattern("correction")
_FORBIDDEN = TABLE.pattern("forbidden")


def find(text: str, tenant: str) -> list[Finding]:
    """What rules of any language match, except corrections and what is forbidden."""
    findings = rule.find((*TABLE.rules, *tongues.rules()), text)
    return [f for f in findings if not _is_harmless(text, f)]


def _is_harmless(text: str, finding: Finding) -> bool:
    before, words = text[max(0, finding.start - 30) : finding.start], text[finding.start : finding.end]
    return bool(_CORRECTION.search(words) or _FORBIDDEN.search(before))
