"""A clause that the evidence knows nothing of, hung onto one that it supports: "…, and the door code is 9911"."""

import re

from graph.policy.grounding.prepared import Prepared
from graph.policy.grounding.tokens import read
from graph.policy.grounding.words import begin

MOST = 0.3  # the score of such a claim at most
BORDER = re.compile(
    r"\s*[,;:]\s+|\s+[–—-]\s+|\s*—\s*|\s+(?=(?:and|but|or|because|while|whereas|which|who|since|so that|although)\b)",
    re.I,
)
# Whose words they are, or when and where they hold: it leads in, and claims little of its own.
_LEAD = re.compile(
    r"\W*(?:according|based|as|in|on|at|for|under|per|by|with|from|overall|generally|note|if|when)\b", re.I
)
_LEAST = 3  # content words: fewer may be other words for what stands there ("by their own account")


def added(claim: str, ready: Prepared) -> bool:
    """Whether a clause of the claim has no content word in common with the whole of the evidence."""
    clauses = [clause for clause in BORDER.split(claim) if clause.strip()]
    if len(clauses) < 2:
        return False
    known = ready.forms | frozenset().union(*ready.begins)
    return any(
        len(forms := read(clause).forms) >= _LEAST and not any(form in known or begin(form) in known for form in forms)
        for at, clause in enumerate(clauses)
        if at or not _LEAD.match(clause)
    )
