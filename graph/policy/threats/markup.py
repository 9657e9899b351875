"""Script tags and data addresses in a question (requirement B1): nothing a reader of documents needs."""

from graph.policy.rubric import Finding
from graph.policy.threats.rule import rule

_RULES = (
    rule("obfuscation", 0.85, "holds a script", r"<\s*(?:script|iframe|object|embed|svg)\b[^<>]{0,500}>?"),
    rule("obfuscation", 0.85, "holds a data or script address", r"\b(?:data ?: ?[\w.+-]{1,40}/[\w.+-]{1,40} ?[;,]|javascript ?: ?\S|vbscript ?: ?\S)"),
    rule("obfuscation", 0.6, "holds an event handler", r"<[a-z][^<>]{0,200}\bon(?:error|load|click|mouseover) ?="),
)  # fmt: skip


def find(text: str, tenant: str) -> list[Finding]:
    return [finding for rule in _RULES for finding in rule.find(text)]
