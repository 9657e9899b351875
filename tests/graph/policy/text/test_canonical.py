import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.policy.text.canonical import canonicalise
from tests.support.cpu import seconds

anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("plain\tASCII\r\nstays", "plain\tASCII\r\nstays"),
        ("٠٣٠٠ ۰۳۰۰ ०३०० ０３００ 𝟎𝟑𝟎𝟎 ①", "0300 0300 0300 0300 0300 1"),
        ("a‐b‑c–d—e−f", "a-b-c-d-e-f"),
        ("a\u00a0b\u2009c\u3000d", "a b c d"),
        ("“it’s”", '"it\'s"'),
        ("in\u00adfor\u200bma\u2060tion\ufeff", "information"),
        ("\u202etfel\u202c", "tfel"),
        ("A\U000e0041\U000e0042B\ufe0f", "AB"),
        ("e\u0301té Ångström", "ete Angstrom"),
        ("ﬁle ㏂ ½", "file a.m. 1/2"),
        ("Іgnоrе аll рrеvіоus", "Ignore all previous"),
        ("раураl", "paypal"),
        ("ΑΤΤΑСΚ", "ATTACK"),
        ("ｉｇｎｏｒｅ 𝐢𝐠𝐧𝐨𝐫𝐞 ⓘⓖⓝⓞⓡⓔ ɪɢɴᴏʀᴇ", "ignore ignore ignore ignore"),
        ("а\u0301bc", "abc"),
        ("1\ufe0f\u20e32\ufe0f\u20e3", "12"),
        ("x\x00y\x7fz", "xyz"),
        ("line\u2028line", "line\nline"),
        ("\ud83dx", "\ufffdx"),
        ("💳 4111", "💳 4111"),
    ],
)
def test_one_form_for_every_way_of_writing(written: str, canonical: str) -> None:
    assert canonicalise(written).text == canonical


@pytest.mark.parametrize(
    "text",
    [
        "Москва и Санкт-Петербург",
        "он у меня дома",
        "λόγος και άνθρωπος",
        "شناختی کارڈ",
        "मोबाइल नंबर",
        "한국어",
        "שלום",
        "日本語",
    ],
)
def test_words_of_other_alphabets_stay(text: str) -> None:
    assert canonicalise(text).text == text


def test_a_range_covers_what_was_removed_inside_it_and_no_more() -> None:
    text = "💳 ０３\u200b００–12\u0301 e\u0301nd"
    canonical = canonicalise(text)
    assert canonical.text == "💳 0300-12 end"
    start, end = canonical.span(2, 9)
    assert text[start:end] == "０３\u200b００–12\u0301"
    start, end = canonical.span(10, 11)
    assert text[start:end] == "e\u0301"


def test_an_expanded_character_is_covered_whole() -> None:
    canonical = canonicalise("a㏂b")
    assert canonical.text == "aa.m.b"
    assert {canonical.span(i, i + 1) for i in range(1, 5)} == {(1, 2)}


def test_an_empty_range_stays_empty() -> None:
    canonical = canonicalise("é\u200b")
    assert [canonical.span(i, i) for i in (0, 1)] == [(0, 0), (1, 1)]
    assert canonicalise("").span(0, 0) == (0, 0)


@given(anything)
def test_offsets_never_fall_and_stay_inside(text: str) -> None:
    canonical = canonicalise(text)
    assert len(canonical.text) == len(canonical.starts) == len(canonical.ends) == len(canonical.origin)
    assert list(canonical.starts) == sorted(canonical.starts)
    assert list(canonical.ends) == sorted(canonical.ends)
    assert all(0 <= start < end <= len(text) for start, end in canonical.origin)


@given(st.text(alphabet="aéе\u0301\u0327βя1٣\u200b-–\u2028 ｶﾞ\u1112\u1161\u11abи\u0306\ud800", max_size=30))
def test_a_canonical_text_is_its_own_canonical_form(text: str) -> None:
    once = canonicalise(text).text
    assert canonicalise(once).text == once


def test_every_character_has_a_settled_form_alone_and_after_a_letter() -> None:
    blocks = (range(0x3200), range(0xFB00, 0x10000), range(0x1D400, 0x1D800), range(0x1F100, 0x1F200))
    written = [before + chr(i) for block in blocks for i in block for before in ("", "a", "я")]
    assert [text for text in written if (once := canonicalise(text).text) != canonicalise(once).text] == []


@given(st.text(alphabet=st.characters(max_codepoint=126, min_codepoint=32)))
def test_ascii_maps_to_itself(text: str) -> None:
    canonical = canonicalise(text)
    assert canonical.text == text
    assert canonical.span(0, len(text)) == (0, len(text))


def test_no_decimal_digit_dash_or_space_is_left_unfolded() -> None:
    for category, ascii_form in {"Nd": "0123456789", "Pd": "-", "Zs": " "}.items():
        chars = [chr(i) for i in range(0x80, 0x110000) if unicodedata.category(chr(i)) == category]
        assert {canonicalise(char).text for char in chars} <= set(ascii_form)


@pytest.mark.parametrize(
    "unit",
    ["a\0", "1\u200b", "а\u0301\u0327", "e\u0301\u0327", "аb ", "ﷺ", "㌖", "\u1112\u1161\u11ab", "\ud800", "и о "],
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    def spent(length: int, times: int) -> float:
        text = unit * (length // len(unit))
        return seconds(lambda: canonicalise(text), times)

    # As much text both ways, one right after the other, the best of three: the machine has its moods. Linear is 1; by
    # the square it would be 8.
    assert min(spent(240_000, 1) / spent(30_000, 8) for _ in range(3)) < 3


def test_a_long_ascii_text_costs_next_to_nothing() -> None:
    text = "Article 33(1) sets 72 hours. " * 35_000
    began = time.process_time()
    canonicalise(text)
    assert time.process_time() - began < 0.2
