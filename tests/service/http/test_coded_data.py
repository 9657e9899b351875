"""Personal data of a document that is written in code or in pieces reaches nothing that the HTTP door leaves behind."""

from pathlib import Path

import pytest

from evals.security import shown
from graph.policy.pii import hidden


def test_no_coded_number_of_a_document_shows_anywhere(tmp_path: Path) -> None:
    showed = shown.personal(tmp_path)
    assert len(showed) > 15
    assert {form: places for form, places in showed.items() if places} == {}


def test_the_check_sees_what_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden, "find", lambda text, look: [])
    showed = shown.personal(tmp_path)
    for form in ("URL encoding", "HTML entities", "base64", "a table's cells"):
        assert {"prompt", "reply", "checkpoint", "artefact answer.md"} <= set(showed[form]), form
