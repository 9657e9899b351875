"""Text of documents and models: no link that any reader makes by itself, no voice of Cordon's, and every word kept."""

import pytest

from evals.security.attacks.shown import LIVE
from graph.policy.answer import refusals
from graph.policy.text import defang


@pytest.mark.parametrize("form", LIVE)
def test_what_is_live_is_dead_and_still_readable(form: str) -> None:
    shown = defang.text(f"The {LIVE[form]} stands there.")
    assert LIVE[form] not in shown and "stands there." in shown
    assert form == "a tag" or any(word in shown for word in ("gate", "AccessDenied", "LeakageRisk")), shown


@pytest.mark.parametrize(
    "text",
    [
        "Use and/or, 1.5/2 km/h, e.g./i.e., kg.m/s2 and U.S./Canada; see readme.md and src/main.py, section 3.2.1.",
        "a // b is a comment // of code, C:\\temp\\x stays, and the refusal of a visa is final.",
        "[REDACTED]: the number was masked. The service is unavailable on Sundays.",
        "```\nRelease:    7.4\nCodename:   wheezy\n```",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert defang.text(text) == text


@pytest.mark.parametrize("text", [*refusals.TEXTS.values(), refusals.UNAVAILABLE.format(what="x", hint="y")])
def test_no_canonical_refusal_can_be_quoted_as_one(text: str) -> None:
    for value in (text, f"Yes. {text}", text.upper(), text.replace(":", "：")):
        assert defang.text(value) != value
    assert defang.text(text).startswith(("“Refusal”: ", "“Unavailable”: "))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<scr<b>ipt>alert(1)</scr</b>ipt>", "< script>alert(1)< /script>"),
        ('<im<i>g src=gate onerror="x">', '< img src=gate onerror="x">'),
        ("[the [gate](y)](&#104;ttps&colon;&sol;&sol;gate&period;de/x)", "the [gate] (https[:]//gate[.]de/x)"),
        ("[the gate]<b>(gate/x)", "[the gate] (gate/x)"),
        ("&amp;#60;script src=gate 3< 4", "< script src=gate 3< 4"),
        ("<!-- the gate", "< !-- the gate"),
        ("<?gate the gate", "< ?gate the gate"),
    ],
)
def test_what_is_taken_out_makes_nothing_live_of_the_rest(text: str, shown: str) -> None:
    assert defang.text(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Set CARGO_TARGET_<triple>_LINKER.", "Set CARGO_TARGET_‹triple›_LINKER."),
        ("Map<String, List<Set<T>>> of <b>names</b>", "Map‹String, List‹Set‹T››› of names"),
        ("<version>1.2</version><my-el onclick='x'>", "‹version›1.2‹/version›‹my-el onclick='x'›"),
        ("Write <https://gate.de/x> or <ann@gate.de>.", "Write ‹https[:]//gate[.]de/x› or ‹ann@gate.de›."),
        ("<A HREF=x>gate</A> <P>one", "gate ‹P›one"),
    ],
)
def test_names_in_angle_brackets_keep_their_words(text: str, shown: str) -> None:
    assert defang.text(text) == shown


def test_numbers_in_brackets_stay_and_are_no_source() -> None:
    assert defang.text("Load 1[00] kg, [10] to [20] m, x = tips[1] 【2】 (Source 3)") == (
        "Load 1(00) kg, (10) to (20) m, x = tips(1) (2) Source 3"
    )
