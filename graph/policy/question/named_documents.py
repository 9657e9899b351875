"""Documents that a question asks for by name: "the memo U1_memo_budget", "what is in report.pdf".

Whoever asks for a document they may not see, or that does not exist, is told so. Not every name is asked for: "the
dataset participant_id column", "shall I hand in report.pdf or report.docx".
"""

import re

_KIND = r"(?:document|file|memo|notebook|report|dataset|page|sheet|note)"
_ASKING = "|".join(
    "in of from about inside open read show(?:\\s+me)? give\\s+me print quote summari[sz]e describe explain compare "
    "delete does is was has what what's wrote see find list translate according\\s+to".split(" ")
)
_BY_WORD = rf"\b{_KIND}\s+[\"'“‘]?((?=\w*_)\w{{3,80}})\b(?!\s+(?:column|field|variable|key|parameter|setting|flag))"
_BY_FILE = (
    rf"(?:^\W*|\b(?:{_ASKING}|{_KIND})\s+)(?:(?:the|this|that|my|our|{_KIND}|named|called)\s+){{0,4}}[\"'“‘]?"
    r"([\w.-]{1,80}\.(?:pdf|md|txt|docx|xlsx|csv|html?))\b(?!\s+(?:or|format|files?\b))"
)
_NAMED = re.compile(f"{_BY_WORD}|{_BY_FILE}", re.I)


def find(question: str) -> list[str]:
    """The names, in their order."""
    return [word or file for word, file in _NAMED.findall(question)]
