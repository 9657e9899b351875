"""Text of documents and models: no link that any reader makes by itself, no voice of Cordon's, and every word kept."""

import pytest

from evals.security.shown import LIVE
from graph.policy import plain, refusals


@pytest.mark.parametrize("form", LIVE)
def test_what_is_live_is_dead_and_still_readable(form: str) -> None:
    shown = plain.text(f"The {LIVE[form]} stands there.")
    assert LIVE[form] not in shown and "stands there." in shown
    assert form == "a tag" or any(word in shown for word in ("gate", "AccessDenied", "LeakageRisk")), shown


@pytest.mark.parametrize(
    "text",
    [
        "Use and/or, 1.5/2 km/h, e.g./i.e., kg.m/s2 and U.S./Canada; see readme.md and src/main.py, section 3.2.1.",
        "a // b is a comment // of code, C:\\temp\\x stays, and the refusal of a visa is final.",
        "[REDACTED]: the number was masked. The service is unavailable on Sundays.",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert plain.text(text) == text


@pytest.mark.parametrize("text", [*refusals.TEXTS.values(), refusals.UNAVAILABLE.format(what="x", hint="y")])
def test_no_canonical_refusal_can_be_quoted_as_one(text: str) -> None:
    for value in (text, f"Yes. {text}", text.upper(), text.replace(":", "：")):
        assert plain.text(value) != value
    assert plain.text(text).startswith(("“Refusal”: ", "“Unavailable”: "))
