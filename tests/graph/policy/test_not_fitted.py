"""No pattern and no training text was taken from the prompts that judge the guards."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LAB = ROOT.parent / "shared" / "data" / "lab_corpus"
WORDS = 5  # a run of this many words in common is no accident of the subject


def runs(text: str) -> set[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return {" ".join(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)}


@pytest.mark.skipif(not LAB.exists(), reason="the judging prompts are not part of the project")
def test_rules_and_training_texts_share_no_phrase_with_the_judging_prompts() -> None:
    judging = set()
    for prompt in json.loads((LAB / "tests" / "redteam_prompts.json").read_text()):
        judging |= runs(prompt["prompt"])
    ours = {path.name: path.read_text() for path in (ROOT / "graph/policy/threats").rglob("*.py")}
    for name in ("threats_train", "planted_train"):
        ours[name] = (ROOT / "evals/datasets" / f"{name}.jsonl").read_text()
    found = {name: shared for name, text in ours.items() if (shared := sorted(runs(text) & judging))}
    assert not found
