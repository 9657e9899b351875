"""People's names after a label: "Name: Ayesha Khan", "Contact: Dr Ali Raza". Names in running text need a model and are
left to the reader of the evidence."""

import re
from collections.abc import Iterator

from graph.policy.pii.in_prose import FIRST_NAME
from graph.policy.pii.rule import Page, Rule, RuleMatch

_LABEL = re.compile(
    r"(?<![\w\-.])(?P<what>\w{1,20}(?:'s)? )?(?P<label>name|contact(?: person)?|patient|applicant|employee|"
    r"customer|student|attn|attention|signed(?: by)?|guardian|father|mother|spouse|husband|wife|next of kin|"
    r"beneficiary|account holder|card ?holder|نام|नाम)"
    r" ?(?:\([^()\n]{0,20}\) ?)?[:=][ \t]{0,4}\n?[ \t]{0,4}"
)
# "Series name", "Ship name", "Test name" are of things; so of the words before "name" only these tell of a person. What
# other languages write before it is not judged.
_PERSONS = re.compile(
    r"(?:full|first|last|family|given|middle|maiden|sur|real|legal|preferred|print(?:ed)?|your|my|his|her|their|own|sender|"
    r"patient|student|pupil|employee|staff|worker|customer|client|member|applicant|candidate|participant|volunteer|"
    r"contact|emergency|person|people|teacher|tutor|lecturer|professor|supervisor|manager|doctor|physician|nurse|"
    r"consultant|investigator|researcher|author|editor|reviewer|guest|visitor|driver|passenger|owner|holder|"
    r"beneficiary|recipient|signatory|witness|representative|delegate|attendee|respondent|claimant|defendant|"
    r"resident|landlord|borrower|donor|child|baby|parent|father|mother|husband|wife|spouse|guardian|kin|sibling|"
    r"brother|sister|son|daughter|friend|colleague|user|account|card)(?:['’]?s['’]?)? |[^a-z]* |.*[^\x00-\x7f].*"
)
# Rows of tables read "Heading: cell; Heading: cell" (graph/knowledge/loaders/table.py). The other headings say whether
# a bare "Name" is somebody's: these are of things,
_OF_THINGS = re.compile(
    r"(?:[\w-]+ )?(?:level|size|type|kind|version|licen[cs]e|description|repository|repo|purpose|format|path|url|link|"
    r"file|extension|price|cost|quantity|qty|stock|model|value|default|parameter|syntax|meaning|definition|formula|"
    r"colou?r|material|capacity|platform|credits?|module|spdx identifier|category|step|phase|stage|owner|maintainer|"
    r"example|uses?|support|vendor|operating systems?|browser|latitude|longitude|lat|lon|elevation|altitude|coordinate|"
    r"population|currency|sku|isbn|issn|doi|barcode|iata|icao|tonnage|founded|established|what .*)s?"
)
# and these of people, whatever stands beside them.
_OF_PEOPLE = re.compile(
    r"(?:[\w'-]+ ){0,2}(?:e-?mail|phone|mobile|tel|telephone|cell|contact|dob|birth(?:day)?|age|gender|sex|address|"
    r"cnic|nic|ssn|passport|salary|pay|position|designation|job title|role|nationality|height|diagnosis|ward|surname|"
    r"(?:first|last|family|father's|mother's|husband's) name|(?:student|staff|employee|patient|roll|matriculation) "
    r"(?:id|no\.?|number)|joined|hired|attendance|marks?|supervisor|department|dept)s?(?: address| number| no\.?)?"
)
_HEADING = re.compile(r"(?:^|; )([^:;\n]{1,40}):(?= )")
_THING = re.compile(
    r"\b(?:licen[cs]e|polic(?:y|ies)|security|standards?|report|plan|project|management|systems?|software|items?|"
    r"foundation|college|institute|course|module|programme|program|library|reception|laboratory|guide|manual|handbook|"
    r"agreement|template|llc|title)\b|_"
)
_FIRM = re.compile(r",? (?:Inc|Ltd|LLC|GmbH|PLC|Corp)\b|\.[a-z]{2,4}\b")
_UPPER = r"(?:[A-Z]|[^\W\d_a-zA-Z])"
_PART = rf"{_UPPER}[\w'-]{{0,30}}\.?"
_VALUE = re.compile(
    rf"(?P<title>(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Madam|Eng|Engr|Syed|Haji|Mian|Ch)\.? )?"
    rf"(?P<name>{_PART}(?:[ \t](?:(?:bin|ibn|bint|al|ul|ur|de|da|dos|du|van|von|der|den|la|le|el|y|"
    rf"di) ){{0,2}}{_PART}){{0,4}})"
)
_ROLE = re.compile(
    r"\b(?:officer|office|department|dept|team|support|desk|authority|controller|processor|manager|director|centre|"
    r"center|service|services|sales|help|us|unit|committee|ministry|university|company|ltd|inc|gmbh|required|"
    r"optional|unknown|none|null|n/a|tbd|anonymous|redacted|confidential|withheld|string|text|value|example|yes|no|"
    r"page|form|information|details|number|email|phone|counsel|council|board|staff|owners?|resources|personnel|"
    r"privacy|unions?|partners?|affiliates?|administrators?|users?|"
    r"address|date|the|a|an|this|any|all|see|not|please|enter|your)\b"
)
_FAMILY = re.compile(
    r"Name: (?P<first>[A-Z][\w'-]{2,}) (?P<next>\w+)[^;\n]*;[^\n\"]*"
    r"\b(?i:call ?sign|station|site|base|facility|room|building|ship|vessel|airport|service): (?P=first) "
    r"(?!(?P=next)\b)[A-Z]"
)
_GOES_ON = re.compile(r" [a-z]")  # "Name: Setting up the server" is a heading, not a name
_STEP = re.compile(r" (?!(?:is|was|has|and|or|aged?|born|of|from|son|daughter|with|who|at|on|in|to)\b)[a-z]")
_ROW = 1_000  # characters of a row that are read before and behind
_ALONE = ("name", "نام", "नाम", "patient", "father", "mother", "husband", "wife")


def _find(page: Page) -> Iterator[RuleMatch]:
    for label in _LABEL.finditer(page.low):
        if not (value := _VALUE.match(page.text, label.end())) or not _of_person(label, value["name"]):
            continue
        name = value["name"].rstrip(".-'")
        if _ROLE.search(name.lower()) or len(name) < 2 or any(char.isdigit() for char in name):
            continue
        if " " not in name and _GOES_ON.match(page.text, value.end()):
            continue
        if label["label"] == "name" and not value["title"] and _is_thing(page, label, name, value.end("name")):
            continue
        if " " in name or value["title"] or label["label"] in _ALONE:
            yield RuleMatch(value.start(), value.start("name") + len(name), 0.7 if " " in name else 0.6)


def _of_person(label: re.Match[str], name: str) -> bool:
    """Whether the words before "name" are of people, or the value begins with a common first name."""
    if label["label"] != "name" or not label["what"]:
        return True
    return bool(_PERSONS.fullmatch(label["what"]) or FIRST_NAME.match(name))


def _is_thing(page: Page, label: re.Match[str], name: str, end: int) -> bool:
    """Whether a value after "Name" names a file, a licence, a course: by its own words, or by the row it stands in."""
    if _THING.search(name.lower()) or _FIRM.match(page.text, end) or (" " in name and _STEP.match(page.text, end)):
        return True
    if label["what"]:
        return False  # "Student name", "Full name"
    start = max(page.low.rfind("\n", 0, label.start("label")) + 1, label.start() - _ROW)
    row = page.low[start : end + _ROW].partition("\n")[0]
    others = [heading for heading in _HEADING.findall(row) if heading.lstrip("- ") != "name"]
    if any(_OF_PEOPLE.fullmatch(heading) for heading in others):
        return False
    return any(_OF_THINGS.fullmatch(heading) for heading in others) or _of_a_family(page, start)


def _of_a_family(page: Page, start: int) -> bool:
    """Whether a row of this table has a place or station that begins as its "Name" does and goes on otherwise: "Name:
    Hobart Approach; Callsign: Hobart Radar"."""
    near = page.text[max(0, start - _ROW) : start + _ROW]
    return any(not FIRST_NAME.match(f"{match['first']} ") for match in _FAMILY.finditer(near))


RULE = Rule("PERSON", _find, any_of=(":", "="))
