"""Masking as a whole: borders, mapping back and forth, doing it twice, and the time it takes."""

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.policy.pii import Masked, Span, find, mask
from tests.support.cpu import seconds

PIECES = [
    "35202-1234567-1", "0300-1234567", "+92 300 1234567", "3520212345671", "4111 1111 1111 1111",
    "GB82 WEST 1234 5698 7654 32", "ali@example.org", "at example dot org", "192.168.1.10", "Name: Ayesha Khan",
    "Address: House 12, Street 4", "password=hunter2", "[REDACTED]", "[REDACTED:CNIC]", "call", "phone", "Tel:",
    "passport", "CNIC", "born", "account no", "key:", "12", "3", "2345678", "12.05.1990", "AB1234567", "-", " ", "/",
    ":", ",", "\n", "é", "💳", "\u200b", "+", "(", ")", "x", "@", "Bearer abcdefghij0123456789",
    "-----BEGIN PRIVATE KEY-----", "https://a:b@", "\u0301", "а", "\ud800",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.lists(st.sampled_from(PIECES), max_size=9).map(
    " ".join
)
anything = texts | st.text(alphabet=st.characters(exclude_categories=()), max_size=40)


@given(anything, st.booleans())
def test_masking_twice_changes_nothing(text: str, typed: bool) -> None:
    once = mask(text, typed=typed)
    again = mask(once.text, typed=typed)
    assert again.text == once.text
    assert again.spans == ()


@given(anything)
def test_spans_are_in_order_and_apart(text: str) -> None:
    spans = find(text)
    assert all(0 <= span.start < span.end <= len(text) and 0 < span.score <= 1 for span in spans)
    assert all(left.end <= right.start for left, right in pairwise(spans))
    assert list(mask(text).spans) == spans


@given(texts, st.booleans(), st.data())
def test_ranges_go_there_and_back(text: str, typed: bool, data: st.DataObject) -> None:
    masked = mask(text, typed=typed)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    there = masked.to_masked(start, end)
    back = masked.to_source(*there)
    assert 0 <= there[0] <= there[1] <= len(masked.text)
    assert back[0] <= start <= end <= back[1]
    if not any((span.start < end and start < span.end) or span.start < start < span.end for span in masked.spans):
        assert masked.text[slice(*there)] == text[start:end]
        assert start == end or back == (start, end)


def test_a_range_touching_a_placeholder_covers_the_whole_original() -> None:
    text = "é💳 CNIC 35202\u200b-1234567-1, mob 0300-1234567."
    masked = mask(text)
    assert masked.text == "é💳 CNIC [REDACTED], mob [REDACTED]."
    assert [text[span.start : span.end] for span in masked.spans] == ["35202\u200b-1234567-1", "0300-1234567"]
    inside = masked.text.index("DACT")
    assert text[slice(*masked.to_source(inside, inside + 1))] == "35202\u200b-1234567-1"
    assert masked.text[slice(*masked.to_masked(text.index("567-1"), text.index(", mob") + 5))] == "[REDACTED], mob"
    comma = masked.text.index(", mob")
    assert text[slice(*masked.to_source(comma, comma + 5))] == ", mob"


def test_nothing_found_leaves_the_text_as_it_is() -> None:
    assert mask("What does Article 33(1) say?") == Masked("What does Article 33(1) say?", ())


def test_overlapping_findings_become_one() -> None:
    text = "Address: House 12, Street 4, 0300-1234567, Lahore"
    assert [(span.start, span.end, span.type) for span in find(text)] == [(9, len(text), "ADDRESS")]


def test_a_span_says_where_and_what() -> None:
    assert find("id 35202-1234567-1") == [Span(3, 18, "CNIC", 0.95)]


ORDINARY = "Which information must the notification under Article 33(1) contain within 72 hours, as page 17 says? "
HOSTILE = [
    "1-", "1 ", "9", " ", "a@", "@ ", "+1", "+1-1-1-1-1-1-1-1-", "0 3 0 0 ", "4444-", "11-", "123.", "1.1.1.1 ", "a:",
    "ab12:", "::", "phone 1 ", "tel ", "cnic 1 ", "Name: A ", "address: 1 a ", "GB82 ", "a at b dot ", "born 1/",
    "passport 1 ", "password=", "token: ", "account 1 ", "eyJ.", "-----BEGIN PRIVATE KEY-----\n", "://:", "://a:",
    "sk-", "[REDACTED]", "(", "\n", "0\u200b3", "٠٣ ", "driver licence a1 ", "aA1", "00 1 1 1 1 ", "0300-1234567 ",
    "id number 123456789 ",
]  # fmt: skip


def spent(unit: str, length: int, times: int = 1) -> float:
    """Seconds of processor for so many texts of that length."""
    text = unit * (length // len(unit))
    return seconds(lambda: find(text), times)


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    find(unit)  # what is imported on first need is not the text's fault
    # As much text both ways, one right after the other: linear is 1, by the square it would be 8. Three tries, since the
    # machine has its moods.
    assert any(spent(unit, 50_000) < 3 * spent(unit, 6_250, 8) for _ in range(3))
    # 1 MB in 8 s; where a processor is slower than that, six times what an ordinary text takes on it right then.
    assert any(spent(unit, 50_000) < max(0.4, 6 * spent(ORDINARY, 50_000)) for _ in range(3))


def test_an_ordinary_question_takes_under_a_millisecond_or_two() -> None:
    question = ORDINARY * 3
    find(question)
    assert seconds(lambda: find(question), 50) / 50 < 0.003


def test_importing_loads_neither_of_the_number_libraries() -> None:
    code = "import sys, graph.policy.pii; print([m for m in sys.modules if m.startswith(('phonenumbers', 'stdnum'))])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
