"""Questions who somebody is, by name, what their work is, or who took a thing: an office is asked that every day, and
nothing of it is private."""

import re

_NAME = (
    r"(?-i:(?:Dr|Prof|Professor|Mr|Mrs|Ms|Miss|Sir|Dame)\b\.? )?(?-i:[A-Z][\w'’-]+)"
    r"(?: (?-i:[A-Z][\w'’-]+|[A-Z]\.|(?:van|von|de|bin|al|der)\b)){0,4}"
)
_WORK = (
    r"(?:role|job|job title|title|post|position|department|team|office|group|unit|section|function|duties|"
    r"responsibilit(?:y|ies))"
)
_TAKEN = (
    r"who(?: has| had)? (?:took|taken|borrowed|broken?|dropped|found|repaired|moved|stolen?|returned|picked up)"
    r"(?: [\w'’-]+){0,3} (?:phone|telephone|mobile|laptop|tablet|badge|bag|wallet)"
)
_ASKED = re.compile(
    rf"\W*(?:who(?: is|['’]s| was| are| were) {_NAME}|what does {_NAME} do(?: (?:here|for us|at work))?"
    rf"|(?:what|which)(?: (?:is|was)|['’]s)? (?:the )?{_WORK} (?:of|does|has|is) {_NAME}"
    rf"(?: (?:have|hold|work in|belong to|in))?|what(?: is|['’]s| was| are) {_NAME}['’]s? {_WORK}|{_TAKEN})\W*",
    re.I,
)


def is_all_of(text: str) -> bool:
    """Whether the text asks this and nothing else."""
    return len(text) < 200 and _ASKED.fullmatch(" ".join(text.split())) is not None
