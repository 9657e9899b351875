"""Keys whose issuer gave them a recognisable prefix. Prefixes and lengths from the issuers' documentation."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic (sk-ant-) and those who follow them
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{16,}"  # Stripe
    r"|(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}"  # AWS identifiers
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{22,}"  # GitHub
    r"|glpat-[A-Za-z0-9_-]{20,}"  # GitLab
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"  # Slack
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"  # Google
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,}|dop_v1_[a-f0-9]{64}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[a-f0-9]{32}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
    r"|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|gsk_[A-Za-z0-9]{40,}|tvly-[A-Za-z0-9-]{20,}|"
    r"AGE-SECRET-KEY-1[A-Z0-9]{58}"
    r")"
)


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _KEY.finditer(page.text):
        if any(char.isdigit() for char in match.group()) or len(match.group()) > 40:
            yield RuleMatch(match.start(), match.end(), 0.95)


RULE = Rule(
    "API_KEY", _find,
    any_of=("sk-", "k_live", "k_test", "whsec_", "akia", "asia", "agpa", "aida", "aroa", "anpa", "anva", "abia", "acca",
            "gh", "glpat-", "xox", "xapp-", "aiza", "ya29", "gocspx", "hf_", "npm_", "pypi-", "dop_v1", "sg.", "key-",
            "shp", "lsv2_", "gsk_", "tvly-"),
)  # fmt: skip
