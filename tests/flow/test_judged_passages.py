"""What was judged of a passage is kept by tenant: no time tells one tenant what another one reads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.policy.evidence import withholding

TEXT = "The kestrel kiln is fired on Mondays by the potter of the east wing.\n"


def test_a_passage_that_another_tenant_read_is_judged_anew(
    tmp_path: Path, settings_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []
    genuine = withholding.ranges

    def ranges(text: str, *by: Any) -> Any:
        judged.append(text)
        return genuine(text, *by)

    monkeypatch.setattr(withholding, "ranges", ranges)
    (tmp_path / "kiln.md").write_text(TEXT)
    with Agent(settings_of(artifacts=False)) as agent:
        for tenant in ("U1", "U2"):
            agent.ingest([tmp_path / "kiln.md"], tenant_id=tenant)
        judged.clear()
        counts = []
        for tenant in ("U1", "U1", "U2", "U2"):  # the same user name in both
            assert "Mondays" in agent.ask("When is the kestrel kiln fired?", tenant_id=tenant, user_id="ann")["answer"]
            counts.append(sum("kestrel" in text for text in judged))
    assert counts == [1, 1, 2, 2]
