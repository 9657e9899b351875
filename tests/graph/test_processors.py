"""The share of a container counts."""

from pathlib import Path

import pytest

from graph import processors


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 8), ("200000 100000", 2), ("150000 100000", 2), ("5000 100000", 1), ("900000 100000", 8), ("", 8)],
)
def test_the_quota_of_a_container_counts(
    quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)))
    (tmp_path / "cpu.max").write_text(quota)
    assert processors.available(tmp_path / "cpu.max") == expected
    assert processors.available(tmp_path / "none") == 8
