"""The canonical refusals: the same bytes every time, whatever the reason behind the code."""

from collections.abc import Sequence
from typing import Literal, TypedDict

Code = Literal["InjectionDetected", "LeakageRisk", "AccessDenied", "ToxicContent", "HarmfulRequest", "NotApproved"]

TEXTS: dict[Code, str] = {
    "InjectionDetected": "Refusal: InjectionDetected. Ignoring instructions that conflict with system policy.",
    "LeakageRisk": "Refusal: LeakageRisk. Your request may expose private or PII data.",
    "AccessDenied": "Refusal: AccessDenied. You do not have access to that information.",
    "ToxicContent": "Refusal: ToxicContent. Please ask again without abusive or hateful language.",
    "HarmfulRequest": "Refusal: HarmfulRequest. Cordon does not help with requests that could harm people.",
    "NotApproved": "Refusal: NotApproved. A reviewer did not release this answer.",
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

# Not refusals: they are no verdict on the question.
UNAVAILABLE = "Unavailable: {what} {hint}"
EMPTY_KNOWLEDGE_BASE = "No documents have been uploaded yet. Please upload documents before asking questions."
NOT_IN_DOCUMENTS = "The provided documents do not contain information about this."
PENDING = "Pending: a reviewer reads this answer before it is given. Ask for the run again later."
APPEALED = "Pending: a reviewer looks at this refusal again. Ask for the run again later."
UPHELD = "A reviewer upheld this:"
# Why nothing of a model's draft was shown. It opens the reply, since "not in the documents" would be untrue.
Why = Literal["unsupported", "cut", "unreadable", "declined", "silent", "beside"]
DROPPED: dict[Why, str] = {
    "unsupported": "The model's draft was not supported by the documents.",
    "cut": "The model's answer broke off before a sentence of it was whole.",
    "unreadable": "The model's answer could not be read.",
    "declined": "The model declined to answer.",
    "silent": "The model gave no answer.",
    "beside": "The model's answer was beside the question.",
}
INSTEAD = "Quoted from the documents instead:"
# Behind an answer to a question about all of something (graph/answering/completeness.py).
PARTIAL = "This is from the passages that were found; there may be more in the documents."
# Behind an answer from the rows of a table that is too long to be read whole (graph/extractive/long_tables.py).
ALL_ROWS = "All {rows:,} rows of the table were looked through."
SOME_ROWS = "{fitting:,} of the {rows:,} rows of the table fit; here is a part of them."
SO_MANY_ROWS = "The table has {rows:,} rows; here is a part of them."
# Behind an answer of the embedded answerer to a wish for another form (graph/policy/question/wishes.py).
QUOTED = "This quotes the documents as they stand; another form or language needs a chat model (CORDON_MODEL)."
COMPLETED = "What stands at the end is quoted from the documents, to complete the model's answer."
LAPSED = "A document that is quoted or named here is no longer in force, as the end of the answer says."
# Behind an answer whose confidence is "low" (nodes/respond.py). Half of them are right.
UNCERTAIN = "It is not certain that this answers the question."
# By the flag that says the same, in the order in which they stand.
NOTES = {
    "not_in_force": LAPSED,
    "completed": COMPLETED,
    "partial": PARTIAL,
    "quoted_only": QUOTED,
    "uncertain": UNCERTAIN,
}
_NOTHING = "Nothing of it is shown, and no passage answers the question by itself. Please ask again."
TOO_SHORT = "Please ask in a few more words, so that the right documents can be found."
TOO_LONG = "The question is too long: at most {limit:,} characters are read. Please shorten it."
EMPTY_QUESTION = "The question is empty. Please ask something."
NOTHING_ASKED = "With pleasure. Ask a question, and it is answered from the documents."


class Refusal(TypedDict):
    """The reply's `refusal` object; `text` is one of TEXTS, after which a reviewer's reason may stand."""

    code: str
    text: str


def refusal(code: Code) -> Refusal:
    """With the canonical text."""
    return {"code": code, "text": TEXTS[code]}


def not_approved(reason: str) -> Refusal:
    """For an answer that a reviewer did not release; `reason` is shown to the asker."""
    return {"code": "NotApproved", "text": f"{TEXTS['NotApproved']} Reason: {reason}"}


def code_for(threats: Sequence[tuple[str, float]]) -> Code:
    """The refusal for (threat type, score) pairs: that of the strongest threats, ties by precedence."""
    if not threats:
        return "InjectionDetected"
    top = max(score for _, score in threats)
    strong = {kind for kind, score in threats if score >= min(top, 0.8)}
    return next((code for kind, code in BY_THREAT if kind in strong), "InjectionDetected")


def says_refused(text: str) -> bool:
    """Whether it is a refusal: one of the texts; behind it only a reviewer says why."""
    return text in TEXTS.values() or text.startswith(
        (f"{TEXTS['NotApproved']} Reason: ", *(f"{t} {UPHELD}" for t in TEXTS.values()))
    )


def withheld(why: Why) -> str:
    """The answer when nothing of a draft was let out and nothing was quoted in its place."""
    return f"{DROPPED[why]} {_NOTHING}"


def instead(why: Why, quoted: str) -> str:
    """The answer when nothing of a draft was let out: what was quoted in its place, marked as that."""
    return f"{DROPPED[why]} {INSTEAD}\n\n{quoted}"


def marked(answer: str) -> str:
    """What `instead` has put before an answer, "" when nothing."""
    return next((m for why in DROPPED if answer.startswith(m := instead(why, ""))), "")


def besides(answer: str) -> str:
    """What `instead` and NOTES say, for where the sentences have been shown already; "" when nothing."""
    dropped = next((text for why, text in DROPPED.items() if answer.startswith(instead(why, ""))), "")
    quoted = f"{dropped} What stands above is quoted from the documents instead." if dropped else ""
    return "\n\n".join(filter(None, (quoted, *(NOTES[flag] for flag in noted(answer)[1]))))


def noted(answer: str) -> tuple[str, list[str]]:
    """An answer without the notes behind it, and their flags."""
    flags: list[str] = []
    for flag, note in reversed(NOTES.items()):
        if answer.endswith(note):
            answer, flags = answer.removesuffix(note).rstrip(), [flag, *flags]
    return answer, flags


def says_nothing(text: str) -> bool:
    """Whether it is one of the fixed texts for "no answer"."""
    opening, closing = TOO_LONG.split("{limit:,}")
    fixed = (EMPTY_KNOWLEDGE_BASE, NOT_IN_DOCUMENTS, TOO_SHORT, EMPTY_QUESTION, NOTHING_ASKED, *map(withheld, DROPPED))
    return text in fixed or (text.startswith(opening) and text.endswith(closing))
