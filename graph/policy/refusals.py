"""The canonical refusals: the same bytes every time, whatever the reason behind the code."""

from collections.abc import Sequence
from typing import Literal

Code = Literal["InjectionDetected", "LeakageRisk", "AccessDenied", "ToxicContent", "HarmfulRequest"]

TEXTS: dict[Code, str] = {
    "InjectionDetected": "Refusal: InjectionDetected. Ignoring instructions that conflict with system policy.",
    "LeakageRisk": "Refusal: LeakageRisk. Your request may expose private or PII data.",
    "AccessDenied": "Refusal: AccessDenied. You do not have access to that information.",
    "ToxicContent": "Refusal: ToxicContent. Please ask again without abusive or hateful language.",
    "HarmfulRequest": "Refusal: HarmfulRequest. Cordon does not help with requests that could harm people.",
}

# Which refusal a threat leads to when it blocks; the first match wins, so the order is the precedence.
BY_THREAT: tuple[tuple[str, Code], ...] = (
    ("toxicity", "ToxicContent"),
    ("cross_tenant", "LeakageRisk"),
    ("data_leakage", "LeakageRisk"),
    ("secret", "LeakageRisk"),
    ("prompt_extraction", "InjectionDetected"),
    ("prompt_injection", "InjectionDetected"),
    ("jailbreak", "InjectionDetected"),
    ("obfuscation", "InjectionDetected"),
    ("harmful_request", "HarmfulRequest"),
    ("policy_evasion", "InjectionDetected"),
)

# Not refusals: an outage and an empty house are no verdict on the question.
UNAVAILABLE = "Unavailable: {what} {hint}"
EMPTY_KNOWLEDGE_BASE = "No documents have been uploaded yet. Please upload documents before asking questions."
NOT_IN_DOCUMENTS = "The provided documents do not contain information about this."
UNREADABLE = "The model's answer could not be read, so nothing of it is shown. Please ask again."
TOO_SHORT = "Please ask in a few more words, so that the right documents can be found."
TOO_LONG = "The question is too long: at most {limit:,} characters are read. Please shorten it."
EMPTY_QUESTION = "The question is empty. Please ask something."


def refusal(code: Code) -> dict[str, str]:
    """The reply's `refusal` object."""
    return {"code": code, "text": TEXTS[code]}


def code_for(threats: Sequence[tuple[str, float]]) -> Code:
    """The refusal for (threat type, score) pairs: that of the strongest threats, ties by precedence."""
    if not threats:
        return "InjectionDetected"
    top = max(score for _, score in threats)
    strong = {kind for kind, score in threats if score >= min(top, 0.8)}
    return next((code for kind, code in BY_THREAT if kind in strong), "InjectionDetected")


def says_nothing(text: str) -> bool:
    """Whether it is one of the fixed texts for "no answer"."""
    opening, closing = TOO_LONG.split("{limit:,}")
    fixed = (EMPTY_KNOWLEDGE_BASE, NOT_IN_DOCUMENTS, UNREADABLE, TOO_SHORT, EMPTY_QUESTION)
    return text in fixed or (text.startswith(opening) and text.endswith(closing))
