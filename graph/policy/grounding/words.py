"""Closed lists of English words that turn a sentence: what negates, counts, permits, compares, opposes."""

from functools import lru_cache

from graph.policy.text.lexical import stem

FUNCTION_WORDS = frozenset(
    """
    a an the of to in on at by for from with and or as is are was were be been being am it its this that these
    those which who whom whose will would shall should can could may might must do does did has have had having
    there their they them he she his her him we us our you your i me my into onto also such than then so if but
    about over through during per via what how why when where while because since though although however too
    very just both not no nor never neither none without cannot ought need yeah yes yep
    well ok okay oh sure actually really""".split()
)
NEGATIONS = frozenset("not no nor never neither none without cannot".split())
EXCEPTIONS = frozenset({"unless", stem("except"), stem("excluding"), "save", stem("exception")})
QUANTIFIERS = {
    **dict.fromkeys("all every each any always everyone everybody everything entire whole both".split(), "all"),
    **dict.fromkeys("some several certain sometimes someone something partly part".split(), "some"),
    **dict.fromkeys("no none never neither nobody nothing".split(), "none"),
    **dict.fromkeys("most mostly majority".split(), "most"),
    **dict.fromkeys("few rarely seldom hardly minority".split(), "few"),
    **dict.fromkeys("only solely exclusively".split(), "only"),
}
MODALS = {
    **dict.fromkeys("may can could might".split(), "may"),
    **dict.fromkeys("shall must".split(), "must"),
}
# What a bound says of the number behind it. "at least 5" and "no fewer than 5" look up, "at most 5" looks down.
COMPARISONS = {
    **dict.fromkeys(
        ("at least", "more than", "over", "above", "minimum of", "from", "exceed", "exceeds", "exceeding",
         "greater than", "beyond", "later than", "longer than", "after", "higher than", "older than"), "up"),
    **dict.fromkeys(
        ("at most", "less than", "fewer than", "under", "below", "up to", "maximum of", "within", "until",
         "earlier than", "shorter than", "before", "lower than", "younger than"), "down"),
}  # fmt: skip
COMPARISONS |= {" ".join(stem(w) for w in words.split()): way for words, way in COMPARISONS.items()}
ALWAYS = frozenset(QUANTIFIERS) | {"unless", "only", "at", "least", "most", "more", "less", "fewer"}

MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sept sep", "october oct", "november nov", "december dec"), 1)
    for name in names.split()
}  # fmt: skip
# "one" is more often a pronoun than a number.
NUMBER_WORDS = {
    word: number
    for number, word in [
        *enumerate(
            """zero _ two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
            seventeen eighteen nineteen""".split()
        ),
        *zip(range(20, 100, 10), "twenty thirty forty fifty sixty seventy eighty ninety".split(), strict=True),
    ]
    if word != "_"
}  # fmt: skip
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "k": 1_000}

_UNITS = (
    "second seconds sec s", "minute minutes min", "hour hours h hr", "day days", "week weeks", "month months",
    "year years", "%", "€ eur euro euros", "$ usd dollar dollars", "£ gbp pound pounds", "₨ pkr rupee rupees rs",
    "kg kilogram kilograms", "g gram grams", "mg milligram milligrams", "µg microgram micrograms",
    "km kilometre kilometres", "m metre metres", "cm centimetre centimetres", "mm millimetre millimetres",
    "l litre litres", "ml millilitre millilitres", "µl microlitre microlitres", "b byte bytes", "kb",
    "mb megabyte megabytes", "gb gigabyte gigabytes", "tb terabyte terabytes", "°c", "n newton newtons",
    "v volt volts", "w watt watts", "kwh", "hz", "khz", "mhz", "ghz", "bar", "pa", "kpa",
)  # fmt: skip
UNITS = {form: line.split()[0] for line in _UNITS for word in line.split() for form in (word, stem(word))}

_OPPOSITES = """
    allow forbid; allow prohibit; permit prohibit; permit forbid; lawful unlawful; legal illegal; include exclude;
    increase decrease; increase reduce; raise lower; rise fall; grow shrink; gain lose; win lose; before after;
    above below; over under; minimum maximum; more less; more fewer; higher lower; high low; highest lowest;
    first last; internal external; inside outside; public private; open close; open shut; start end; begin end;
    start stop; accept reject; accept refuse; approve reject; grant refuse; grant deny; always never; with without;
    enable disable; hot cold; warm cold; same different; present absent; early late; earlier later; earliest latest;
    import export; buy sell; true false; major minor; male female; north south; east west; northern southern;
    eastern western; left right; top bottom; front back; success failure; succeed fail; pass fail; old new;
    old young; older younger; long short; longer shorter; large small; larger smaller; largest smallest; big small;
    fast slow; faster slower; strong weak; easy difficult; safe dangerous; full empty; add remove; add delete;
    keep delete; retain delete; keep discard; encrypt decrypt; lock unlock; known unknown; necessary unnecessary;
    appropriate inappropriate; possible impossible; able unable; valid invalid; complete incomplete;
    adequate inadequate; authorised unauthorised; voluntary mandatory; optional mandatory; optional required;
    optional compulsory; direct indirect; directly indirectly; positive negative; best worst; better worse;
    most least; married divorced; alive dead; day night; morning evening; morning afternoon; summer winter; wet dry;
    light dark; light heavy; near far; upper lower; up down; on off; join leave; arrive leave; arrive depart;
    agree disagree; like dislike; connect disconnect; improve worsen; gather scatter; permanent temporary;
    manual automatic; manually automatically; single multiple; exempt subject; repeal adopt; public confidential;
    free paid; weekly monthly; daily weekly; monthly yearly; annual monthly"""
OPPOSITE_PAIRS = [tuple(pair.split()) for pair in _OPPOSITES.split(";")]
OPPOSITES: dict[str, set[str]] = {}
for _pair in OPPOSITE_PAIRS:
    _left, _right = (word if word in FUNCTION_WORDS | ALWAYS else stem(word) for word in _pair)
    OPPOSITES.setdefault(_left, set()).add(_right)
    OPPOSITES.setdefault(_right, set()).add(_left)
PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "mis")  # of words whose rest means the contrary


def opposed(word: str, others: frozenset[str]) -> bool:
    """Whether one of the others is the contrary of the word."""
    if OPPOSITES.get(word, _NOTHING) & others:
        return True
    if len(word) < 4:
        return False
    return any(p + word in others for p in PREFIXES) or any(
        word.startswith(p) and len(word) - len(p) >= 4 and word[len(p) :] in others for p in PREFIXES
    )


_NOTHING: frozenset[str] = frozenset()

_SAME = """
    about around some approximately roughly circa near; must shall required; under below; in within during; for with;
    because since as; also addition additionally; room space; hold holds contain; get receive; min minute; at by on;
    use used employ; if when where provided; above over; until till"""
_GROUPS: dict[str, set[int]] = {}
for _number, _line in enumerate(_SAME.split(";")):
    for _word in _line.split():
        for _shape in (_word, stem(_word)):
            _GROUPS.setdefault(_shape, set()).add(_number)


def alike(word: str, another: str) -> bool:
    """Whether two words are forms of one, or mean the same in most sentences."""
    same = word == another or bool(_GROUPS.get(word, _NOTHING) & _GROUPS.get(another, _NOTHING))
    return same or begin(word) == begin(another)


@lru_cache(maxsize=16_384)
def begin(form: str) -> str:
    """The first letters by which inflections and derivations meet; numbers and short words only meet themselves."""
    if len(form) < 5 or not form.isalpha():
        return form
    return form[:5] if len(form) < 8 else form[: len(form) * 2 // 3]


FIRST_PERSON = frozenset("i me my mine we us our you your".split())
