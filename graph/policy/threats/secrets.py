"""Secrets that a text holds: keys, tokens, passwords, addresses with credentials.

They are masked wherever they go. Whoever pastes one by mistake asks something innocent, so the finding is reported and
blocks nothing.
"""

from graph.policy.pii import api_key, private_key, secret, token, url_credentials
from graph.policy.pii.rule import Page
from graph.policy.rubric import Finding

_RULES = (api_key.RULE, private_key.RULE, secret.RULE, token.RULE, url_credentials.RULE)
_SCORE = 0.15


def find(text: str, tenant: str) -> list[Finding]:
    """Secrets that the rules of masking match; offsets in `text`."""
    page = Page(text)
    hits = (hit for rule in _RULES if rule.applies(page) for hit in rule.find(page))
    return [Finding("secret", _SCORE, hit.start, hit.end, "holds a secret") for hit in hits]
