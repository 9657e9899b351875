"""Find and mask personal data and secrets.

`find` says what and where; `mask` puts a placeholder there. Rules read the canonical text, so one written form per rule is
enough; spans are given in the input. To add a kind, write one file with a `Rule` and add one line to `RULES`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from graph.policy.canonical import canonicalise
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
    iban,
    imei,
    india_ids,
    ip,
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
from graph.policy.pii.rule import PLACEHOLDER, Page, Rule

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
)
# Each round of masking can only bring out what stood against a number masked before; more than this never happened.
_ROUNDS = 8


@dataclass(frozen=True)
class Span:
    """input[start:end] holds data of this type; score 0-1 says how sure (see `rule.Hit`)."""

    start: int
    end: int
    type: str
    score: float


@dataclass(frozen=True)
class Masked:
    """A text with placeholders for `spans`, which are ranges of the source."""

    text: str
    spans: tuple[Span, ...]
    _at: tuple[tuple[int, int], ...] = field(repr=False, default=())  # where each placeholder stands in `text`

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """Range of the masked text to range of the source; what touches a placeholder covers all it stands for."""
        return _carry(start, end, self._at, [(span.start, span.end) for span in self.spans])

    def to_masked(self, start: int, end: int) -> tuple[int, int]:
        """Range of the source to range of the masked text; what touches a span covers its whole placeholder."""
        return _carry(start, end, [(span.start, span.end) for span in self.spans], self._at)


def find(text: str) -> list[Span]:
    """Personal data and secrets in `text`, in order, not overlapping.

    Where findings overlap, one span covers them all and is named after the longest, then the surest. Placeholders of an
    earlier masking are passed over.
    """
    spans = _look(text)
    for _ in range(_ROUNDS):
        if not spans:
            break
        masked = _replace(text, spans, typed=False)
        more = _look(masked.text)
        if not more:
            break
        moved = [Span(*masked.to_source(span.start, span.end), span.type, span.score) for span in more]
        spans = _merge([*spans, *moved])
    return spans


def mask(text: str, *, typed: bool = False) -> Masked:
    """`text` with [REDACTED], or [REDACTED:TYPE] if `typed`, for all that `find` finds. Masking twice changes nothing."""
    return _replace(text, find(text), typed=typed)


def _look(text: str) -> list[Span]:
    canonical = canonicalise(text)
    page = Page(canonical.text)
    spans = [
        Span(*canonical.span(hit.start, hit.end), rule.type, hit.score)
        for rule in RULES
        if rule.applies(page)
        for hit in rule.find(page)
    ]
    return _merge(spans) if spans else spans


def _merge(spans: Iterable[Span]) -> list[Span]:
    """Join what overlaps, so that nothing found by any rule stays readable."""
    merged: list[Span] = []
    best = 0, 0.0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        rank = span.end - span.start, span.score
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
            best = rank
            continue
        last = merged[-1]
        named = span if rank > best else last
        best = max(best, rank)
        merged[-1] = Span(last.start, max(last.end, span.end), named.type, named.score)
    return merged


def _replace(text: str, spans: list[Span], *, typed: bool) -> Masked:
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
    return Masked("".join(parts), tuple(spans), tuple(places))


def _carry(
    start: int,
    end: int,
    here: "tuple[tuple[int, int], ...] | list[tuple[int, int]]",
    there: "tuple[tuple[int, int], ...] | list[tuple[int, int]]",
) -> tuple[int, int]:
    """Carry a range over between two texts that differ only in paired pieces."""
    first = bisect_right(here, start, key=lambda piece: piece[1])
    if first < len(here) and here[first][0] <= start < here[first][1] and (start > here[first][0] or end > start):
        new_start = there[first][0]
    else:
        new_start = start + (there[first - 1][1] - here[first - 1][1] if first else 0)
    last = bisect_left(here, end, key=lambda piece: piece[0]) - 1
    if last >= 0 and end < here[last][1]:
        new_end = there[last][1]
    else:
        new_end = end + (there[last][1] - here[last][1] if last >= 0 else 0)
    return new_start, max(new_start, new_end)


__all__ = ["PLACEHOLDER", "RULES", "Masked", "Span", "find", "mask"]
