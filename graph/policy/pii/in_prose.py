"""People and streets in running text, as far as a title, a first name or the form of an address tells them.

Not everybody: a name that no title and no common first name begins stays. Names of buildings, prizes and methods that
hold a title ("Dr. Dobb's Journal") are masked, too.
"""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_PART = (
    r"[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]{1,20}(?:['’-][A-ZÀ-Þ][a-zà-ÿ]{1,20})?|[OD]['’][A-Z][a-z]{1,20}|Ma?c[A-Z][a-z]{2,20}|"
    r"[A-Z]\."
)
_LINK = r"(?:bin|ibn|bint|al|ul|ur|de|da|dos|du|van|von|der|den|la|le|el) "
_TITLED = re.compile(
    r"(?<![\w.])(?:(?:Mr|Mrs|Ms|Mx|Dr|Prof|Engr)\b\.?|Miss|Professor|Sir|Dame|Herr|Frau|Madame|Monsieur|Señora?)"
    r"(?: (?:Dr|Prof)\b\.?)?"
    rf" (?!(?:Excel|Word|Office|Access|Project|Teams|Windows|Who)\b)"
    rf"(?P<name>(?:{_LINK})?(?:{_PART})(?: (?:{_LINK})?(?:{_PART})){{0,3}})(?![\w’'])"
)
# First names that are no English word, place or brand, common in many countries; followed by a family name.
_FIRST = (
    "Ahmed|Aisha|Alejandro|Alexander|Ali|Alice|Amina|Andrea|Andreas|Andrew|Anna|Anne|Anthony|Antonio|Ayesha|Barbara|Benjamin|Bilal|Brian|"
    "Carlos|Catherine|Charles|Christian|Christine|Christopher|Claudia|Daniel|David|Deborah|Dmitri|Edward|Elena|Elizabeth|"
    "Emily|Emma|Eric|Fatima|Francesca|Francesco|Gabriel|George|Giovanni|Giulia|Hamza|Hannah|Hans|Hassan|Helen|Hussain|Ibrahim|Imran|"
    "Isabel|Ivan|James|Jane|Jean|Jennifer|Jessica|Johannes|John|Jonathan|Jose|José|Joseph|Juan|Julia|Karen|Katherine|"
    "Kevin|Khalid|Laura|Linda|Lisa|Lucia|Luis|Lukas|Margaret|Maria|Marie|Mariam|Martin|Mary|Matthew|Maximilian|Mehmet|Michael|"
    "Michelle|Miguel|Mohamed|Mohammad|Mohammed|Muhammad|Nadia|Nancy|Natalia|Nicholas|Nicolas|Olga|Oliver|Olivia|Omar|Pablo|Patricia|"
    "Patrick|Paul|Paula|Pedro|Peter|Philip|Pierre|Priya|Rachel|Raj|Rajesh|Rebecca|Richard|Robert|Ronald|Ruth|Sabine|Saima|Sandra|Sanjay|"
    "Sara|Sarah|Sergei|Simon|Sofia|Sophie|Stefan|Stephen|Steven|Susan|Tariq|Thomas|Timothy|Ursula|Usman|Victoria|Wei|William|"
    "Yasmin|Yusuf|Zainab"
)
FIRST_NAME = re.compile(rf"(?:{_FIRST}) ")
_NAMED = re.compile(
    rf"(?<![\w.'’/-])(?:{_FIRST})(?: [A-Z]\.)? (?P<family>(?:{_LINK})?(?:{_PART}))(?: (?:{_PART}))?(?![\w’'/]|-[A-Z])"
)
_NO_FAMILY = re.compile(
    r" (?:University|College|School|Institute|Foundation|Hospital|Street|Road|Avenue|Square|Library|Award|Prize|Centre|"
    r"Center|Hall|House|Building|Day|Act|Law|Theorem|Model|Museum|Airport|And|Or|The|Is|Was|Has|Inc|Ltd|Docs?|Studio|"
    r"Hopkins|Deere|Cabinet|Stanley|Lewis|Morgan)\b"
)
_BEHIND = 12  # characters in which the word behind a name ends
_WAY = (
    r"Street|St|Road|Rd|Avenue|Ave|Lane|Drive|Boulevard|Blvd|Crescent|Terrace|Close|Court|Square|Gardens|Parade|Colony"
)
_STREET = re.compile(
    rf"(?<![\w.,-])\d{{1,4}}[A-Za-z]? (?:[NSEW]\.? )?"
    rf"(?:(?:[A-Z][a-z'’]{{1,20}}|\d{{1,3}}(?:st|nd|rd|th)) ){{1,3}}(?:{_WAY})\b\.?"
    r"|\bHouse (?:No\.? ?)?\d{1,4}[A-Z]?, Street (?:No\.? ?)?\d{1,3}(?:, [A-Z]-\d{1,2}(?:/\d)?)?"
    r"|\b[A-ZÄÖÜ][a-zäöüß]{2,25}(?:straße|strasse|gasse|weg|platz|allee) \d{1,4}[a-z]?\b"
    r"|(?<![\w.,-])\d{1,4}(?: (?:bis|ter))?,? (?:rue|avenue|boulevard|place) "
    r"(?:d[eu]s?(?: la)? |d['’]|l[ae] )?[A-ZÀ-Þ][\w’'-]{2,25}"
    r"|\bP\.? ?O\.? Box \d{1,6}\b"
)


def _people(page: Page) -> Iterator[RuleMatch]:
    for match in _TITLED.finditer(page.text):
        yield RuleMatch(match.start(), match.end(), 0.6)
    for match in _NAMED.finditer(page.text):
        if not _NO_FAMILY.search(page.text, match.start("family") - 1, match.end() + _BEHIND):
            yield RuleMatch(match.start(), match.end(), 0.5)


def _streets(page: Page) -> Iterator[RuleMatch]:
    for match in _STREET.finditer(page.text):
        yield RuleMatch(match.start(), match.end(), 0.6)


PEOPLE = Rule("PERSON", _people)
STREETS = Rule("ADDRESS", _streets, digits=1)
