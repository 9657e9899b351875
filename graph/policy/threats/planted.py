"""Sentences of a document that turn from the reader to the machine: an instruction only because of where it stands."""

from graph.policy.rubric import Finding
from graph.policy.threats.rule import rule

_MACHINE = r"(?:ai|a\.i\.|artificial intelligence|language models?|llms?|chat ?bots?|assistants?|gpt|chatgpt|copilot|automated (?:systems?|readers?|reviewers?)|retrieval systems?|agents?|bots?)"
_RULES = (
    rule("prompt_injection", 0.9, "a document addresses the machine that reads it",
         rf"\b(?:if you are|as|note to|attention|dear|hello|hey|instructions? (?:for|to)|message (?:for|to)|important for|to (?:all|any|the)) (?:an? |the |any |all |this )?(?:{_MACHINE})\b.{{0,120}}\b(?:must|should|please|shall|reply|respond|answer|say|tell|print|include|output|recommend|give|ignore|do not|never|always|add|append)\b"),
    rule("prompt_injection", 0.9, "a document orders the machine that reads it",
         rf"\b(?:{_MACHINE})(?: (?:models?|systems?|tools?|assistants?))?(?: (?:reading|processing|parsing|summari[sz]ing|indexing|who reads?|that reads?|seeing|reviewing|handling)(?: \w+){{0,4}})? (?:must|should|shall|are (?:required|instructed|asked|to)|is (?:required|instructed|asked|to)|need to|have to|please)(?: \w+){{0,3}} (?:reply|respond|answer|say|tell|print|output|reveal|include|recommend|rate|rank|state|ignore|disregard|send|disclose|give|append|add|praise|score|accept|approve|skip|treat|cite|claim|confirm)\b"),
    rule("prompt_injection", 0.85, "a document asks to be preferred or to hide something from the user",
         r"\b(?:do not (?:tell|mention|inform|reveal|show)(?: \w+){0,4} (?:to )?the (?:user|reader|human)|when (?:asked|answering|summari[sz]ing|reviewing|you (?:answer|summari[sz]e|reply|read))\b.{0,60}\b(?:always|instead|only|must) (?:say|answer|reply|respond|recommend|state|include|claim|output|give)\b|(?:reply|respond|answer) (?:only )?with (?:the )?(?:admin|password|secret|key|token|credentials))"),
    rule("prompt_injection", 0.8, "a document forges a source marker", r"(?:^|\n) ?\[?Source ?\d{1,3}\]? ?:? .{0,40}\b(?:verified|trusted|official|override|authoritative|system|admin)\b"),
)  # fmt: skip


def find(text: str, tenant: str) -> list[Finding]:
    return [finding for rule in _RULES for finding in rule.find(text)]
