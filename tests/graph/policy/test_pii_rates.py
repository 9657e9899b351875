"""How much is found, and how much is masked for nothing: generated values, and the texts of presidio-research."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from graph.policy.pii import find
from graph.policy.pii.checks import luhn

POOL = Path(__file__).parents[4] / "shared" / "data" / "pool" / "pii.jsonl.gz"
NON_BREAKING = "\u2011"


def spread(number: str, *sizes: int, by: str = " ") -> str:
    parts = []
    for size in sizes:
        parts.append(number[:size])
        number = number[size:]
    return by.join([*parts, number] if number else parts)


def other_digits(text: str, zero: str) -> str:
    return text.translate({48 + i: ord(zero) + i for i in range(10)})


def digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choice("0123456789") for _ in range(count))


def cnic(rng: random.Random) -> str:
    locality = rng.choice("234567") + rng.choice("1234567") + rng.choice("01234567") + "0" + rng.choice("123456789")
    return locality + digits(rng, 8)


def mobile(rng: random.Random) -> str:
    return "3" + rng.choice("01234") + digits(rng, 8)


def card(rng: random.Random) -> str:
    body = rng.choice(["4", "51", "55", "2221", "6011"])
    body += digits(rng, 15 - len(body))
    return next(body + last for last in "0123456789" if luhn(body + last))


def iban(rng: random.Random) -> str:
    account = "SCBL" + digits(rng, 16)
    check = 98 - int("".join(str(int(char, 36)) for char in account + "PK00")) % 97
    return f"PK{check:02}{account}"


FORMS: dict[str, tuple[Callable[[random.Random], str], list[Callable[[str], str]]]] = {
    "CNIC": (
        cnic,
        [
            lambda n: spread(n, 5, 7, by="-"),
            lambda n: n,
            lambda n: spread(n, 5, 7),
            lambda n: spread(n, 5, 7, by="."),
            lambda n: spread(n, 5, 7, by=NON_BREAKING),
            lambda n: spread(n, 5, 7, by=" – "),
            lambda n: spread(n, 5, 7, by="/"),
            lambda n: " ".join(n),
            lambda n: other_digits(spread(n, 5, 7, by="-"), "٠"),
            lambda n: other_digits(n, "۰"),
            lambda n: other_digits(spread(n, 5, 7, by="－"), "０"),
            lambda n: "\u200b".join(spread(n, 5, 7, by="-")),
        ],
    ),
    "PHONE": (
        mobile,
        [
            lambda n: "+92 " + spread(n, 3),
            lambda n: "0" + spread(n, 3, by="-"),
            lambda n: "0092" + n,
            lambda n: "+92-" + spread(n, 3, by="-"),
            lambda n: "92 " + spread(n, 3),
            lambda n: "0" + spread(n, 3, 3),
            lambda n: "(0" + n[:3] + ") " + n[3:],
            lambda n: "+92 (0)" + spread(n, 3),
            lambda n: "0" + spread(n, 3, by=NON_BREAKING),
            lambda n: other_digits("0" + n, "۰"),
            lambda n: " ".join("0" + n),
            lambda n: "\u200b".join("0" + spread(n, 3, 2, 2, by=".")),
        ],
    ),
    "CARD": (
        card,
        [
            lambda n: n,
            lambda n: spread(n, 4, 4, 4),
            lambda n: spread(n, 4, 4, 4, by="-"),
            lambda n: spread(n, 4, 4, 4, by="."),
            lambda n: spread(n, 4, 4, 4, by="\u00a0"),
            lambda n: spread(n, 4, 4, 4, by=NON_BREAKING),
            lambda n: spread(n, 4, 4, 4, by="\n"),
            lambda n: spread(n, 4, 4, 4, by=" - "),
            lambda n: " ".join(n),
            lambda n: other_digits(n, "٠"),
            lambda n: other_digits(spread(n, 4, 4, 4), "०"),
            lambda n: "\u00ad".join(n),
        ],
    ),
    "IBAN": (
        iban,
        [
            lambda n: n,
            lambda n: n.lower(),
            lambda n: spread(n, 4, 4, 4, 4, 4),
            lambda n: spread(n, 4, 4, 4, 4, 4, by="-"),
            lambda n: spread(n, 4, 4, 4, 4, 4, by="\u00a0"),
            lambda n: spread(n, 4, 4, 4, 4, 4, by=NON_BREAKING),
            lambda n: spread(n, 2, 2, 4),
            lambda n: spread(n, 4, 4, 4, 4, 4, by="."),
            lambda n: other_digits(n, "０"),
            lambda n: "\u200d".join(n),
            lambda n: spread(n, 4, 4, 4, 4, 4).lower(),
            lambda n: n[:12] + "\n" + n[12:],
        ],
    ),
}


@pytest.mark.parametrize("kind", FORMS)
def test_generated_values_are_found_in_twelve_written_forms(kind: str) -> None:
    rng = random.Random(20)
    make, forms = FORMS[kind]
    assert len(forms) == 12
    found = total = 0
    for _ in range(100):
        value = make(rng)
        for form in forms:
            before, written = "💳 It reads ", form(value)
            spans = find(f"{before}{written}, they said.")
            total += 1
            found += [(s.start, s.end, s.type) for s in spans] == [(len(before), len(before) + len(written), kind)]
    print(f"{kind}: {found}/{total} found")
    assert found / total >= 0.995


BENIGN: list[Callable[[random.Random], str]] = [
    lambda r: f"row {r.randrange(1_500_000_000_000, 1_900_000_000_000)} of the log",
    lambda r: f"epoch {r.randrange(1_000_000_000, 2_000_000_000)}",
    lambda r: f"ISBN 978-{r.randrange(10)}-{r.randrange(100, 999)}-{r.randrange(10000, 99999)}-{r.randrange(10)}",
    lambda r: f"9{r.choice('78')}{digits(r, 11)}",
    lambda r: f"doi:10.{r.randrange(1000, 9999)}/s{digits(r, 5)}-0{digits(r, 2)}-{digits(r, 5)}-{r.randrange(10)}",
    lambda r: f"version {r.randrange(30)}.{r.randrange(99)}.{r.randrange(999)}",
    lambda r: f"PKR {r.randrange(10**10):,}.{digits(r, 2)} in total",
    lambda r: f"EUR {r.randrange(10**9)}",
    lambda r: f"0000-000{r.randrange(1, 4)}-{digits(r, 4)}-{digits(r, 4)}",
    lambda r: f"Article {r.randrange(1, 99)}({r.randrange(1, 9)}) and Recital {r.randrange(1, 173)}",
    lambda r: f"grid reference {r.choice(['SU', 'TQ', 'NZ'])} {digits(r, 3)} {digits(r, 3)}",
    lambda r: (
        f"{r.randrange(1, 29):02}/{r.randrange(1, 13):02}/{r.randrange(1990, 2030)} {r.randrange(24):02}:{digits(r, 2)}"
    ),
    lambda r: (
        f"20{digits(r, 2)}-{r.randrange(1, 13):02}-{r.randrange(10, 29)}T{r.randrange(24):02}:15:07.{digits(r, 6)}Z"
    ),
    lambda r: f"{r.uniform(-90, 90):.6f}, {r.uniform(-180, 180):.6f}",
    lambda r: f"{r.uniform(0, 9999):.3f} kg over {r.randrange(10**6)} m",
    lambda r: (
        f"Regulation (EU) 20{digits(r, 2)}/{r.randrange(1, 2999)}, OJ L {r.randrange(400)}, p. {r.randrange(400)}"
    ),
    lambda r: f"{r.randrange(10**6, 10**9)} rows in {r.randrange(10**4)} tables",
    lambda r: f"ISSN {digits(r, 4)}-{digits(r, 4)}, vol. {r.randrange(99)}({r.randrange(12)}), {r.randrange(900)}-951",
    lambda r: f"arXiv:{r.randrange(10, 25)}{r.randrange(1, 13):02}.{digits(r, 5)}",
    lambda r: (
        f"pages {r.randrange(100, 500)}-{r.randrange(500, 999)}, {r.randrange(1990, 2030)}-{r.randrange(1990, 2030)}"
    ),
]


def test_harmless_numbers_are_hardly_ever_masked() -> None:
    rng = random.Random(20)
    masked = []
    for _ in range(50):
        masked += [text for make in BENIGN if find(text := make(rng))]
    print(f"benign: {len(masked)}/{50 * len(BENIGN)} masked {masked}")
    assert len(masked) / (50 * len(BENIGN)) <= 0.005


STRUCTURED = (
    "CREDIT_CARD",
    "IBAN_CODE",
    "EMAIL_ADDRESS",
    "PHONE_NUMBER",
    "PHONE",
    "CNIC",
    "US_SSN",
    "IP_ADDRESS",
    "US_DRIVER_LICENSE",
)


@pytest.mark.skipif(not POOL.exists(), reason=f"needs {POOL.name} of ../shared, which a user's checkout has not")
def test_recall_on_the_structured_kinds_of_presidio_research() -> None:
    total: Counter[str] = Counter()
    found: Counter[str] = Counter()
    false = rows = 0
    with gzip.open(POOL, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows += 1
            labelled = row["meta"]["spans"]
            spans = find(row["text"])
            false += any(not any(span.start < end and start < span.end for start, end, _ in labelled) for span in spans)
            for start, end, kind in labelled:
                if kind in STRUCTURED:
                    total[kind] += 1
                    found[kind] += any(span.start <= start and span.end >= end for span in spans)
    for kind in STRUCTURED:
        print(f"{kind}: {found[kind]}/{total[kind]}")
    print(f"texts with something masked that no label covers: {false}/{rows}")
    assert all(found[kind] / total[kind] >= 0.99 for kind in STRUCTURED)
    assert false / rows < 0.005
