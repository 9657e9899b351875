"""Find and mask personal data and secrets.

`find` says what and where; `mask` puts a placeholder there. Rules read the canonical text, so one written form per
rule is enough; spans are given in the input. To add a kind, write one file with a `Rule` and add one line to `RULES`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter

from graph.policy.pii import (
    address,
    api_key,
    bank_account,
    birth_date,
    card,
    cnic,
    crypto_wallet,
    driver_licence,
    email,
    eu_ids,
    hidden,
    iban,
    imei,
    in_prose,
    india_ids,
    ip,
    known_by,
    mac,
    passport,
    person,
    phone,
    pk_mobile,
    private_key,
    secret,
    token,
    uk_nhs,
    uk_nino,
    url_credentials,
    us_ssn,
)
from graph.policy.pii.public import NOTHING, Public
from graph.policy.pii.rule import PLACEHOLDER, Page, Rule, RuleMatch, TypedMatch
from graph.policy.text.canonical import canonicalise

RULES: tuple[Rule, ...] = (
    cnic.RULE,
    pk_mobile.RULE,
    phone.RULE,
    email.RULE,
    card.RULE,
    iban.RULE,
    bank_account.RULE,
    ip.RULE,
    mac.RULE,
    url_credentials.RULE,
    passport.RULE,
    driver_licence.RULE,
    us_ssn.RULE,
    uk_nhs.RULE,
    uk_nino.RULE,
    eu_ids.RULE,
    india_ids.AADHAAR,
    india_ids.PAN,
    imei.RULE,
    crypto_wallet.RULE,
    birth_date.RULE,
    address.RULE,
    person.RULE,
    api_key.RULE,
    secret.RULE,
    token.RULE,
    private_key.RULE,
    known_by.PERSONS,
)
# These run only where masking is set to `more`: they are wrong more often.
MORE = (known_by.OTHERS, in_prose.PEOPLE, in_prose.STREETS)
level = "basic"  # or "more"
# Masking a number may bring out one that stood against it, so the rules run again; no text has needed more rounds.
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Span:
    """input[start:end] holds data of this type; score 0-1 says how sure (see `rule.RuleMatch`)."""

    start: int
    end: int
    type: str
    score: float


@dataclass(frozen=True)
class Masked:
    """A text with placeholders for `spans`, which are ranges of the source."""

    text: str
    spans: tuple[Span, ...]
    public: tuple[str, ...] = ()  # forms of what was left because it is public
    # Where the spans stand in the source, and their placeholders in `text`, pair by pair.
    _sources: tuple[tuple[int, int], ...] = field(repr=False, default=())
    _places: tuple[tuple[int, int], ...] = field(repr=False, default=())

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """Range of the masked text to range of the source; what touches a placeholder covers all it stands for."""
        return _carry(start, end, self._places, self._sources)

    def to_masked(self, start: int, end: int) -> tuple[int, int]:
        """Range of the source to range of the masked text; what touches a span covers its whole placeholder."""
        return _carry(start, end, self._sources, self._places)


def use(chosen: str) -> None:
    """Set the level, `basic` or `more`, for the whole process: a text that is masked again must be masked alike."""
    global level
    level = chosen


def find(text: str) -> list[Span]:
    """Personal data and secrets in `text`, in order, not overlapping, encoded ones too (see `hidden`).

    Where findings overlap, one span covers them all and is named after the longest, then the surest. Placeholders of
    an earlier masking are passed over.
    """
    matches: list[TypedMatch] = []
    masked = Masked(text, ())
    for _ in range(_ROUNDS):
        unmasked = _matches(masked.text)
        if not unmasked:
            break
        matches += [(RuleMatch(*masked.to_source(hit.start, hit.end), hit.score), type) for hit, type in unmasked]
        matches = _merge(matches)
        masked = _replaced(text, [Span(hit.start, hit.end, type, hit.score) for hit, type in matches])
    return list(masked.spans)


def mask(text: str, *, typed: bool = False, keep: Public = NOTHING, personal: Sequence[Span] | None = None) -> Masked:
    """`text` with [REDACTED], or [REDACTED:TYPE] if `typed`, for all that `find` finds and `keep` does not spare.
    `personal` is what `find` gave for the text, where that is known.

    Masking a masked text changes nothing.
    """
    spans = find(text) if personal is None else personal
    forms = [(span, keep.spares(span.type, text[span.start : span.end])) for span in spans]
    masked = _replaced(text, [span for span, form in forms if not form], typed=typed)
    return replace(masked, public=tuple(dict.fromkeys(form for _, form in forms if form)))


def _replaced(text: str, spans: list[Span], *, typed: bool = False) -> Masked:
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    done = length = 0
    for span in spans:
        placeholder = f"[REDACTED:{span.type}]" if typed else "[REDACTED]"
        length += span.start - done
        parts += text[done : span.start], placeholder
        places.append((length, length + len(placeholder)))
        length += len(placeholder)
        done = span.end
    parts.append(text[done:])
    sources = tuple((span.start, span.end) for span in spans)
    return Masked("".join(parts), tuple(spans), _sources=sources, _places=tuple(places))


def _matches(text: str) -> list[TypedMatch]:
    canonical = canonicalise(text)
    plain = [(RuleMatch(*canonical.span(hit.start, hit.end), hit.score), type) for hit, type in _look(canonical.text)]
    return _merge([*plain, *hidden.find(text, _look)])


def _look(text: str) -> list[TypedMatch]:
    page = Page(text)
    rules = RULES + MORE if level == "more" else RULES
    return [(hit, rule.type) for rule in rules if rule.applies(page) for hit in rule.find(page)]


def _merge(matches: list[TypedMatch]) -> list[TypedMatch]:
    """Join what overlaps, so that nothing that any rule matches stays readable."""
    merged: list[TypedMatch] = []
    best = 0, 0.0
    for hit, type in sorted(matches):
        rank = hit.end - hit.start, hit.score
        if not merged or hit.start >= merged[-1][0].end:
            merged.append((hit, type))
            best = rank
            continue
        last, name = merged[-1]
        score = last.score
        if rank > best:
            best, score, name = rank, hit.score, type
        merged[-1] = RuleMatch(last.start, max(last.end, hit.end), score), name
    return merged


def _carry(start: int, end: int, old: tuple[tuple[int, int], ...], new: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """Carry a range over between two texts that differ only in paired pieces."""
    first = bisect_right(old, start, key=itemgetter(1))  # the first piece that ends behind `start`
    if first < len(old) and (old[first][0] < start or old[first][0] == start < end):
        new_start = new[first][0]
    else:
        new_start = start + (new[first - 1][1] - old[first - 1][1] if first else 0)
    last = bisect_left(old, end, key=itemgetter(0)) - 1  # the last piece that begins before `end`
    if last >= 0 and end < old[last][1]:
        new_end = new[last][1]
    else:
        new_end = end + (new[last][1] - old[last][1] if last >= 0 else 0)
    return new_start, max(new_start, new_end)


__all__ = ["MORE", "NOTHING", "PLACEHOLDER", "RULES", "Masked", "Public", "Span", "find", "mask", "use"]
