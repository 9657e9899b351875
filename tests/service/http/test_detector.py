"""A detector of the operator's own guards the HTTP door too, in every process of the service."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.serving import QUESTIONS
from tests.support.onnx_models import classifier


@pytest.mark.parametrize("processes", [1, 2])
def test_a_question_that_it_flags_is_refused(another: Callable[..., Any], tmp_path: Path, processes: int) -> None:
    names = {"id2label": {"0": "SAFE", "1": "INJECTION"}}
    folder = classifier(tmp_path / "own", {"zorblax": [-9.0, 9.0]}, names, always=[4.0, 0.0])
    with another(detector=str(folder), serve_processes=processes) as served, served.client() as client:
        asked = [client.post("/v1/ask", json={"question": q}).json() for q in (QUESTIONS["U1"], "Do the zorblax.")]
        assert [reply["decision"] for reply in asked] == ["answer", "refusal"]
        (folder / "model.onnx").unlink()  # it is loaded: nothing changes until the next start
        assert client.post("/v1/ask", json={"question": "Do the zorblax."}).json()["decision"] == "refusal"
