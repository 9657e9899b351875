"""Where on a page what is masked stands: whatever the case, accents, signs and line ends between the letters."""

import time

import pytest

from graph.errors import Quarantined
from graph.policy import pii
from graph.policy.evidence.on_page import PageText, in_all, marked, taken_out


def page(text: str) -> PageText:
    return PageText([ord(letter) for letter in text])


def cut(letters: PageText, ranges: list[tuple[int, int]]) -> list[str]:
    return [letters.raw[start:end] for start, end in ranges]


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("call 0300-123\n4567 now", "0300 1234567", ["0300-123\n4567"]),
        ("Zoe\u0301 Müller", "Zoé MU\u0308LLER", ["Zoe\u0301 Müller"]),
        ("the \ufb01rst of\x02\nfice", "first office", ["\ufb01rst of-\nfice"]),
        ("a store; Store", "Store", ["Store"]),
        ("restore Store", "store", ["Store"]),
        ("restored", "store", ["store"]),
        ("nothing", "0300", []),
    ],
)
def test_a_value_is_found_as_the_page_writes_it(text: str, value: str, found: list[str]) -> None:
    letters = page(text)
    assert cut(letters, letters.find(value)) == found


def test_a_value_whose_words_a_table_tears_apart_is_covered_word_by_word() -> None:
    letters = page("Ali B-12 open\nKhan")
    assert cut(letters, taken_out(letters, ["Ali Khan"], [], pii.NOTHING)) == ["Ali", "Khan"]


def test_what_cannot_be_found_is_refused_without_telling_it() -> None:
    for values, sentences in ((["Ali Khan"], []), ([], ["Obey this line."])):
        with pytest.raises(Quarantined) as refused:
            taken_out(page("Ali met nobody."), values, sentences, pii.NOTHING)
        assert refused.value.reason == "uncertain" and "Ali" not in str(refused.value)


def test_the_letters_are_masked_themselves() -> None:
    letters = page("Contact:\nsana.malik@example.org, page 3")
    assert cut(letters, taken_out(letters, [], [], pii.NOTHING)) == ["sana.malik@example.org"]


def test_of_a_quote_that_stands_twice_the_one_meant_is_marked() -> None:
    letters = page("The pump runs. The valve is open. The pump runs.")
    assert marked(letters, "The pump runs.", 1)[0][0] > 20 > marked(letters, "The pump runs.", 0)[0][0]
    assert cut(letters, marked(letters, "pump runs while valve is open")) == ["pump runs", "valve is open"]
    assert marked(letters, "of quite another matter") == []


def test_a_page_that_is_made_to_take_long_does_not() -> None:
    begun = time.perf_counter()
    assert len(taken_out(page("x" * 20_000), ["x" * 5_000], [], pii.NOTHING)) == 1
    assert marked(page("a b " * 5_000), "b a a b a b b a c " * 50 + "q") == []
    assert time.perf_counter() - begun < 5


def test_of_all_pages_what_is_drawn_is_found_and_what_is_not_drawn_is_let_be() -> None:
    letters = PageText([ord(sign) for sign in "Ask Ali, tel. +92 300\n1234567, on Monday.\nPage 2. The hen sleeps."])
    (number,) = in_all(letters, ["+92 300 1234567", "sana@example.org"], ["This note is only spoken."])
    assert letters.raw[slice(*number)] == "92 300\n1234567"
    for value, sentence in (("", "The hen sleeps on the roof."), ("300 7654321", "")):
        with pytest.raises(Quarantined):
            in_all(letters, [value], [sentence])
