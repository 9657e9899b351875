"""E-mail addresses, also the ways people hide them from robots: name [at] domain [dot] org, name at domain dot org.

RFC 5321 gives the lengths (64 and 63). A plain " at " counts only with a spelled "dot" and a common top-level domain,
because "available at example.com" is no address.
"""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_LOCAL = "abcdefghijklmnopqrstuvwxyz0123456789.!#$%&'*+/=?^_`{|}~-"
_DOMAIN = re.compile(r" ?@ ?(?:[^\W_][\w-]{0,62}\.){1,8}[^\W\d_][\w-]{1,23}(?![\w-])|@\[\d{1,3}(?:\.\d{1,3}){3}\]")
_CREDENTIALS = re.compile(r"://[^\s/@:]{0,256}:[^\s/@:]{0,256}$")  # url_credentials.py takes these
_USER = re.compile(r"(?:https?|ssh|git|s?ftps?)://$")  # of a web address: "https://you@host" is no e-mail address
_TOP = (
    r"(?:com|org|net|edu|gov|info|biz|io|ai|dev|app|eu|pk|uk|us|in|de|fr|it|es|nl|be|ch|at|se|no|dk|fi|pl|pt|ie|ae|"
    r"sa|tr|cn|jp|au|nz|ca|br|za|ru)"
)
_DOT = r"(?: ?[\[({<] ?(?:dot|\.) ?[\])}>] ?| dot |\.)"
_HIDDEN = re.compile(
    rf"(?P<local>(?<![\w.+-])[\w.+-]{{1,64}}(?:(?: dot | ?[\[({{] ?dot ?[\])}}] ?)\w{{1,64}}){{0,3}})"
    rf"(?: ?[\[({{<] ?(?:at|@) ?[\])}}>] ?(?:[a-z0-9-]{{1,63}}{_DOT}){{1,4}}{_TOP}"
    rf"| at (?:[a-z0-9-]{{1,63}} dot ){{1,4}}{_TOP})(?!\w)"
)


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _DOMAIN.finditer(page.low):
        start = match.start() - _local_length(page.low[max(0, match.start() - 64) : match.start()])
        bare = "/" not in page.low[start : match.start()]
        user = _CREDENTIALS.search(page.low, max(0, start - 256), start) or (
            bare and _USER.search(page.low, max(0, start - 8), start)
        )
        if start < match.start() and not user:
            yield RuleMatch(start, match.end(), 0.7 if " " in match.group() else 0.95)
    if any(
        sign in page.low for sign in (" dot ", "at]", "at)", "at}", "at>", "[dot", "(dot", "at ]", "at )", "[@", "(@")
    ):
        for match in _HIDDEN.finditer(page.low):
            yield RuleMatch(match.start(), match.end(), 0.75)


def _local_length(before: str) -> int:
    """How many characters at the end of `before` are the local part, without the punctuation that opens it."""
    if before.endswith('"') and (opening := before.rfind('"', 0, -1)) >= 0:
        return len(before) - opening
    rest = before
    while rest and (rest[-1] in _LOCAL or (rest[-1].isalnum() and not rest[-1].isascii())):
        rest = rest[:-1]
    return len(before[len(rest) :].lstrip(".!#$%&'*/=?^`{|}~-"))


RULE = Rule("EMAIL", _find, any_of=("@", " at ", "at]", "at)", "at}", "at>", "at ]", "at )"))
