"""What a document may not bring past the HTTP door: personal data in code or in pieces, live links, Cordon's own voice."""

from pathlib import Path

import pytest

from evals.security.attacks import shown
from graph.policy.pii import hidden
from graph.policy.text import defang


def test_no_coded_number_of_a_document_shows_anywhere(tmp_path: Path) -> None:
    showed = shown.personal(tmp_path)
    assert len(showed) > 15
    assert {form: places for form, places in showed.items() if places} == {}


def test_the_check_sees_what_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden, "find", lambda text, look: [])
    showed = shown.personal(tmp_path)
    for form in ("URL encoding", "base64", "a table's cells"):
        assert {"prompt", "reply", "checkpoint", "artefact answer.md"} <= set(showed[form]), form
    # What leaves is read out, and masked again after that.
    assert set(showed["HTML entities"]) == {"prompt", "checkpoint"}


def test_no_link_and_no_refusal_of_a_document_is_live(tmp_path: Path) -> None:
    assert {form: places for form, places in shown.live(tmp_path).items() if places} == {}


def test_the_check_sees_what_is_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defang, "text", lambda value: value.strip())
    showed = shown.live(tmp_path)
    for form in ("an address without protocol", "a UNC path", "a canonical refusal"):
        assert {"answer", "completion", "answer.md"} <= set(showed[form]), form
