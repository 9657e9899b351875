"""Personal data in code or in pieces: what is decoded decides, and the span is where it was written."""

import base64
import random
import time

import pytest

from evals.security.attacks.shown import CODED
from graph.policy.pii import find, mask

CNIC, MOBILE, EMAIL = "35202-1234567-1", "0300-1234567", "ali.khan@example.org"


@pytest.mark.parametrize("form", CODED)
@pytest.mark.parametrize("value", [CNIC, MOBILE])
def test_a_coded_number_is_masked_whole(form: str, value: str) -> None:
    written = CODED[form](value).replace("&amp;", "&")
    masked = mask(f"It says {written} there, twice: {written}!")
    kept = masked.text.replace("[REDACTED]", "")
    assert kept.strip("!").replace("https://gate.example/x/", "").translate({ord(c): None for c in "|;\n "}) in (
        "Itsaysthere,twice:"
    ), masked.text


@pytest.mark.parametrize(
    ("text", "where", "kind"),
    [
        ("Write to ali%2Ekhan%40example%2Eorg.", "ali%2Ekhan%40example%2Eorg", "EMAIL"),
        ("See h.example, %61li.khan%40example.org", "%61li.khan%40example.org", "EMAIL"),
        ("35202-&#49;234567-1 is his", "35202-&#49;234567-1", "CNIC"),
        ("it is 35202-\U000e0031\U000e0032\U000e0033\U000e0034\U000e0035\U000e0036\U000e0037-1.", None, "CNIC"),
        (
            f"key {base64.b64encode(EMAIL.encode()).decode()}, he said",
            base64.b64encode(EMAIL.encode()).decode(),
            "EMAIL",
        ),
    ],
)
def test_the_span_is_where_it_was_written(text: str, where: str | None, kind: str) -> None:
    (span,) = find(text)
    assert (text[span.start : span.end], span.type) == (where or text[6:-1], kind)


def test_the_parts_of_a_number_in_cells_are_masked_one_by_one() -> None:
    row = "Gate: north; First: 35202; Second: 1234567; Third: 1; Since: 2019"
    assert mask(row).text == "Gate: north; First: [REDACTED]; Second: [REDACTED]; Third: [REDACTED]; Since: 2019"
    assert mask("Code: 0300; Number: 1234567").text == "Code: [REDACTED]; Number: [REDACTED]"
    assert mask("CNIC 1: 95299; CNIC 2: 1234567; CNIC 3: 1").text.count("[REDACTED]") == 3
    assert mask("Card: 4111 | 1111 | 1111 | 1111").text.count("[REDACTED]") == 4


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/a%20page%3Fid%3D120%26year%3D2024?q=%E2%9C%93",
        "Fish &amp; chips cost &#163;12, and 35 &lt; 40 &nbsp;&copy; 2024",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "commit 3335323032d1a1b2c3d4e5f60718293a4b5c6d7e",
        base64.b64encode(b"The kestrel freezer stands in room 114 since 2019.").decode(),
        "City code: 35902; Population: 1234567; Rank: 1",
        "\n".join(f"Column B: {number}" for number in range(900, 960)),
        "2019 | 2020 | 2021 | 2022\n4111 | 1111 | 1111 | 1111",
        "Year: 2019; Students: 0; Rooms: 300; Cost: 1234567",
        r"C:\063 and \u0041\u0042, 65 66 67 68 69 70 71 72 73",
    ],
)
def test_ordinary_codes_and_tables_are_left_alone(text: str) -> None:
    assert find(text) == []


def test_random_bytes_hold_nothing() -> None:
    rng = random.Random(7)
    for _ in range(500):
        data = rng.randbytes(32)
        for text in (base64.b64encode(data).decode(), data.hex(), base64.b32encode(data).decode()):
            assert find(f"digest {text} ok") == [], text


@pytest.mark.parametrize(
    "unit",
    [
        "%33", "%2533", "&#51;", "\\u0033", "=33", "MzUy", "MzUy/", "5e", "1;", "35202; ", "a: 0300; ", "12345\n", "65 ",
        "\U000e0031", base64.b64encode(b"%33 MTIzNDU2Nzg5MDEyMzQ1 &#51; ").decode() + " ",
    ],
)  # fmt: skip
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    find(text)
    began = time.process_time()
    find(text)
    assert time.process_time() - began < 0.6  # 1 MB in 12 s on a slow, shared machine; 2-4 s on a free one
