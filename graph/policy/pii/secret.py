"""Passwords, keys and tokens named by a label: `password = …`, "api key: …", "the secret is …".

A password can be any word, so after `=` or in quotes it is taken as it is; after a colon or "is" it must not read like
prose. Keys and tokens must look random: Shannon entropy of 3 bits a character or more, a digit, and length 12 or more.
"""

import re
from collections import Counter
from collections.abc import Iterator
from math import log2

from graph.policy.pii.rule import Page, Rule, RuleMatch

_LABELLED = re.compile(
    r"(?<![a-z$])(?:(?P<password>pass(?:word|wd|phrase|code)|pwd|kennwort|passwort|mot de passe|contrase[nñ]a|"
    r"پاس ?ورڈ)|"
    r"(?P<key>(?:[a-z]{1,20}[ _-])?(?:api[ _-]?key|secret(?:[ _-]?(?:access[ _-]?)?key)?|token|access[ _-]?key|"
    r"private[ _-]?key|client[ _-]?secret|signing[ _-]?key|account[ _-]?key|encryption[ _-]?key|"
    r"auth(?:orization)?[ _-]?key)))"
    r"['\"]?(?P<link> ?(?::=|=>|[:=])[ \t]?| (?:is|was)[ :]{1,2})(?P<quote>['\"`]?)(?P<value>[^\s'\"`,;<>\0]{4,})"
)
_FILLER = re.compile(
    r"[*.x•_\-]+$|\$[{(\w]|\{\{|%\(|os\.|env\.|process\.|getenv|null$|none$|true$|false$|required|optional|changed|redacted"
)


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _LABELLED.finditer(page.low):
        value = page.text[match.start("value") : match.end("value")].rstrip(".!?)]}")
        if _FILLER.match(value.lower()):
            continue
        exact = "=" in match["link"] or bool(match["quote"])
        if (_like_password(value, exact) if match["password"] else _like_key(value)) and value:
            yield RuleMatch(match.start("value"), match.start("value") + len(value), 0.8 if exact else 0.6)


def _like_password(value: str, exact: bool) -> bool:
    return len(value) >= 4 and (exact or not (value.isalpha() and value[1:].islower()))


def _like_key(value: str) -> bool:
    if len(value) < 12 or not any(char.isdigit() for char in value):
        return False
    counts = Counter(value[:256]).values()
    total = min(len(value), 256)
    return -sum(count / total * log2(count / total) for count in counts) >= 3.0


RULE = Rule("SECRET", _find, any_of=("pass", "pwd", "kennwort", "contrase", "پاس", "key", "secret", "token"))
