"""A cross-encoder of one's own decides whether evidence supports a sentence: `CORDON_SUPPORT_MODEL`."""

from pathlib import Path

import pytest

from graph.agent import Agent
from graph.errors import BadSettings
from graph.models.support_encoder import support_encoder
from graph.policy.grounding import entailment
from graph.service.doctor import examine
from graph.settings import Settings
from tests.support.onnx_models import classifier

EVIDENCE = "The whole blood samples are stored in freezer nine, which is locked at night."
CLAIM = "Blood samples are kept in freezer nine."
NLI = {"id2label": {"0": "CONTRADICTION", "1": "ENTAILMENT", "2": "NEUTRAL"}}


def settings(tmp_path: Path, folder: Path) -> Settings:
    return Settings(home=tmp_path / "home", artifacts=False, support_model=str(folder))


def test_its_labels_are_read_by_name(tmp_path: Path) -> None:
    folder = classifier(tmp_path / "nli", {"kept": [1.0, 2.0, 4.0]}, NLI)
    read = support_encoder(settings(tmp_path, folder))
    assert read([("kept", "nothing"), ("", "")]).tolist() == [[2.0, 1.0, 4.0], [0.0, 0.0, 0.0]]


def test_a_model_of_two_labels_never_contradicts(tmp_path: Path) -> None:
    two = {"id2label": {"0": "entailment", "1": "not_entailment"}}
    read = support_encoder(settings(tmp_path, classifier(tmp_path / "two", {"kept": [3.0, -1.0]}, two)))
    assert read([("kept", "")]).tolist() == [[3.0, -10.0, -1.0]]


def test_it_decides_in_place_of_the_embedded_one(tmp_path: Path) -> None:
    scores = {}
    for name, always in (("yes", [-6.0, 6.0, -6.0]), ("no", [6.0, -6.0, -6.0])):
        folder = classifier(tmp_path / name, {"kept": [0.0, 0.0, 0.0]}, NLI, always=always)
        with Agent(settings(tmp_path, folder)) as agent:
            scores[name] = agent.check(CLAIM, [EVIDENCE])
    assert scores["yes"]["supported"] and not scores["no"]["supported"]
    assert scores["no"]["scores"]["contradicted"] > scores["no"]["scores"]["neutral"]


def test_without_one_the_embedded_encoder_reads(tmp_path: Path) -> None:
    assert support_encoder(Settings(home=tmp_path)) is entailment.margins


@pytest.mark.parametrize("labels", [{}, {"0": "LABEL_0", "1": "LABEL_1"}, {"0": "neutral"}])
def test_labels_that_are_not_known_are_refused(tmp_path: Path, labels: dict[str, str]) -> None:
    folder = classifier(tmp_path / "odd", {"kept": [1.0] * max(1, len(labels))}, {"id2label": labels})
    with pytest.raises(BadSettings, match="CORDON_SUPPORT_MODEL: the labels"):
        support_encoder(settings(tmp_path, folder))


def test_the_doctor_tries_it(tmp_path: Path) -> None:
    known = {"kept": [0.0, 0.0, 0.0]}
    never = classifier(tmp_path / "never", known, NLI)
    own = settings(tmp_path, never)
    assert {check["what"]: check["status"] for check in examine(own)["checks"]}["support"] == "warn"
    assert {c["what"]: c["status"] for c in examine(Settings(home=tmp_path / "home"))["checks"]}["support"] == "ok"
