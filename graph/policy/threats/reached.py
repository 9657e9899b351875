"""How to reach a function, such as a desk, an office or a hotline: that is no person's data.

The phone number of the service desk is for everybody; that of somebody who sits there is not. So the words must lead
from the number straight to the function, and nobody may be named or meant beside it.
"""

import re

from graph.policy.threats.lazy import pattern

_CONTACT = (
    r"(?:(?:tele)?phone|contact|e-?mail|whatsapp|fax|extension|postal)s?"
    r"(?: (?:numbers?|address(?:es)?|details?|info(?:rmation)?|extensions?))?"
)
_FUNCTION = (
    r"(?:desks?|offices?|departments?|depts?|divisions?|hot ?lines?|help ?lines?|switchboards?|receptions?|registry|"
    r"registries|secretariats?|librar(?:y|ies)|services?|cent(?:re|er)s?|units?|teams?|clinics?|workshops?|shops?|"
    r"stores?|bureaus?|facult(?:y|ies)|schools?|lab(?:oratorie|oratory)?s?|posts?|committees?|boards?|canteens?|pharmac(?:y|ies))"
)
# Units that are called by what they do, and the words before them that are nobody's name: "Campus Security", "Human
# Resources". Only of these a capital may stand without an article: "Maria Security" may be somebody.
_UNIT = (
    r"(?:security|facilities|estates|admissions|payroll|accommodation|housing|catering|procurement|human resources|hr|"
    r"(?:it |technical |customer |student |user )?support|maintenance|registration|examinations|finance|accounting|"
    r"(?:facilities|estates?|records|waste) management|student affairs|public relations|emergency services)"
)
_OWN = (
    r"(?:(?:campus|university|college|school|hospital|student|students|city|it|central|main|building|library|network|"
    r"research|graduate|undergraduate|international|technical|customer|health|public|front|general|local|laboratory|service|help|information) )"
)
# What kind of office it is; "of" or "at" would lead on to somebody else.
_KIND = r"(?:(?!(?:of|at|in|for|from|by|who|whose|and|or|with)\b)[\w&-]+(?:['’]s|s['’])? ){0,4}?(?-i:[A-Z][a-z]+ and [A-Z][a-z]+ )?"
_POST = r"(?:registrar|deans?|provost|president|rector|(?:vice[- ])?chancellor|ombuds\w*|bursar|principal|secretary[- ]general)"
_THE = r"(?:the|our|your|an?|all|every|each|any|this|that|which)"
# Behind it the question ends or says when, why or from where; another noun would be somebody: "the department guy".
_ENDS = r"(?=['\"’”]?(?:$|[.,;:?!)])|[ ](?:on|at|in|for|during|and|or|please|to|has|have|does|is|when|if|so|because|by|from)\b)"
_STRAIGHT = pattern(
    rf"\b{_CONTACT} (?:of|for|to|at|does|do|has|have|is) (?:{_THE} ){{1,2}}{_KIND}(?:(?:departments?|facult(?:y|ies)|schools?|cent(?:re|er)) of [\w-]+(?: and [\w-]+)?|office of the {_POST}|{_UNIT}|{_FUNCTION}){_ENDS}"
    rf"|\b{_CONTACT} (?:of|for|to|at|does|do|has|have|is) {_OWN}{{0,2}}(?:{_UNIT}(?: and {_UNIT})?|{_FUNCTION}){_ENDS}"
    rf"|(?<![\w'’]){_OWN}{{0,2}}{_UNIT}['’]s? {_CONTACT}\b|^{_OWN}{{1,3}}(?:{_UNIT}|{_FUNCTION})(?:['’]s?)? {_CONTACT}\b"
    rf"|(?<!\bof )(?<!\bat )(?<!\bin )(?<!\bfrom )(?<!\bby )\b{_THE} {_KIND}{_FUNCTION}(?:['’]s?)? {_CONTACT}\b",
    re.I,
)
_SOMEBODY = pattern(
    r"\b(?:who|whose|whom|his|her|their|my|him|them|head|chair\w*|managers?|directors?|deans?|secretar(?:y|ies)|"
    r"officers?|staff|employees?|agents?|members?|people|persons?|some(?:body|one)|every(?:body|one)|any(?:body|one)|"
    r"individuals?|students?|pupils?|patients?|participants?|volunteers?|donors?|applicants?|residents?|customers?|clients?|"
    r"guests?|visitors?|nurses?|doctors?|guards?|librarians?|technicians?|assistants?|receptionists?|operators?|"
    r"wom[ae]n|m[ae]n|girls?|boys?|wife|husband|mother|father|son|daughter|famil(?:y|ies)|friends?|colleagues?|bosse?s?|supervisors?|"
    r"professors?|teachers?|lecturers?|researchers?|workers?|leaders?|names?|dr|mr|mrs|ms|prof|engr|sir|madam|"
    r"home|private|personal|mobile|cell|password\w*|cnics?|salar\w+|confidential|secret)\b",
    re.I,
)
_NAME = pattern(r"(?<=[\w,;] )[A-Z][a-z]+")


def of_a_function(text: str, *, beside: int = 1_000) -> bool:
    """Whether the contact that the text asks for is that of a function, and of nobody; with at most so many characters
    of other words."""
    text = " ".join(text[:2_000].split())
    rest = _STRAIGHT.sub(" ", text)
    return rest != text and len(rest) <= beside and not _SOMEBODY.search(rest) and not _NAME.search(rest)
