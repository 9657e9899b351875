"""People's names after a label: "Name: Ayesha Khan", "Contact: Dr Ali Raza". Names in running text need a model and are
left to the reader of the evidence."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Hit, Page, Rule

_LABEL = re.compile(
    r"(?<![\w\-.])(?P<what>\w{1,20}(?:'s)? )?(?P<label>name|contact(?: person)?|patient|applicant|employee|"
    r"customer|student|attn|attention|"
    r"signed(?: by)?|guardian|father|mother|spouse|husband|wife|next of kin|beneficiary|account holder|"
    r"card ?holder|نام|नाम)"
    r" ?(?:\([^()\n]{0,20}\) ?)?[:=][ \t]{0,4}\n?[ \t]{0,4}"
)
_NOT_PERSON = re.compile(
    r"^(?:file|product|domain|host|class|function|method|variable|column|table|company|brand|project|package|field|"
    r"document|module|"
    r"model|server|system|app|application|bank|event|course|school|city|country|street|tag|key|index|display|"
    r"organi[sz]ation|"
    r"business|trade|site|team|group|folder|path|property|attribute|parameter|service|tool|image|job|role|type|"
    r"code|node|"
    r"tenant|policy|article|section|law|act|chemical|scientific|common|brand|generic|drug) $"
)
_UPPER = r"(?:[A-Z]|[^\W\d_a-zA-Z])"
_PART = rf"{_UPPER}[\w'-]{{0,30}}\.?"
_VALUE = re.compile(
    rf"(?P<title>(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Madam|Eng|Engr|Syed|Haji|Mian|Ch)\.? )?"
    rf"(?P<name>{_PART}(?:[ \t](?:(?:bin|ibn|bint|al|ul|ur|de|da|dos|du|van|von|der|den|la|le|el|y|"
    rf"di) ){{0,2}}{_PART}){{0,4}})"
)
_ROLE = re.compile(
    r"\b(?:officer|office|department|dept|team|support|desk|authority|controller|processor|manager|director|centre|"
    r"center|service|"
    r"services|sales|help|us|unit|committee|ministry|university|company|ltd|inc|gmbh|required|optional|unknown|"
    r"none|null|n/a|tbd|"
    r"anonymous|redacted|confidential|withheld|string|text|value|example|yes|no|page|form|information|details|"
    r"number|email|phone|"
    r"address|date|the|a|an|this|any|all|see|not|please|enter|your)\b"
)
_GOES_ON = re.compile(r" [a-z]")  # "Name: Setting up the server" is a heading, not a name
_ALONE = ("name", "نام", "नाम", "patient", "father", "mother", "husband", "wife")


def _find(page: Page) -> Iterator[Hit]:
    for label in _LABEL.finditer(page.low):
        if _NOT_PERSON.match(label["what"] or "") or not (value := _VALUE.match(page.text, label.end())):
            continue
        name = value["name"].rstrip(".-'")
        if _ROLE.search(name.lower()) or len(name) < 2 or any(char.isdigit() for char in name):
            continue
        if " " not in name and _GOES_ON.match(page.text, value.end()):
            continue
        if " " in name or value["title"] or label["label"] in _ALONE:
            yield Hit(value.start(), value.start("name") + len(name), 0.7 if " " in name else 0.6)


RULE = Rule("PERSON", _find, any_of=(":", "="))
