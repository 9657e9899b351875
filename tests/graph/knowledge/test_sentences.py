import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.policy.text.sentences import split


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Samples are kept at -80 °C.", "The log is read weekly."],
        ["Dr. Smith and Prof. J. R. Jones met.", "They agreed."],
        ["See Fig. 3, Art. 6 and No. 5 for details.", "Then go on."],
        ["Use a buffer, e.g. Tris, i.e. the usual one.", "Mix."],
        ["Smith et al. 2019 found it.", "Others did not."],
        ["The price is 3.5 USD per hour.", "It was 3.2."],
        ["Version 1.2.3 is out.", "Version 2 is not."],
        ["The answer is no.", "Five people came."],
        ["Choose plan B.", "The rest follows."],
        ["It compares A vs. B in the U.S. Army.", "Nothing else."],
        ['"Stop!" he said.', "He left."],
        ["He left (in haste.)", "She stayed."],
        ["Is it safe?", "Yes!", "Good."],
        ["Wait... and then go.", "Done."],
        ["温度是零下八十度。", "每周检查！"],
        ["هل هو آمن؟", "نعم هو آمن."],
        ["یہ محفوظ ہے۔", "وہ نہیں۔"],
    ],
)
def test_a_sentence_ends_at_its_stop_and_not_at_an_abbreviation(expected: list[str]) -> None:
    assert texts(" ".join(expected)) == expected


def test_wide_stops_need_no_space() -> None:
    assert texts("你好。世界！") == ["你好。", "世界！"]


def test_lines_and_list_items_are_sentences_of_their_own() -> None:
    text = "- wear gloves\n- wash hands\n1. Open the lid. Wait.\nInstrument: SP8; Room: B-12"
    expected = ["- wear gloves", "- wash hands", "1. Open the lid.", "Wait.", "Instrument: SP8; Room: B-12"]
    assert texts(text) == expected


@given(st.text(alphabet=st.sampled_from("aBc1 .!?\n\t\"')(。؟۔é٣-"), max_size=200) | st.text(max_size=200))
def test_every_visible_character_is_in_exactly_one_sentence(text: str) -> None:
    ranges = split(text)
    assert all(start < end for start, end in ranges)
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    inside = "".join(text[start:end] for start, end in ranges)
    assert "".join(inside.split()) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() for start, end in ranges)


@pytest.mark.parametrize("piece", ["a. B ", ".", "e.g. ", '."', "word ", "? \n", "(" * 10])
def test_time_grows_with_length_only(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    started = time.thread_time()
    split(text)
    assert time.thread_time() - started < 2.0
