"""What the guard finds in a passage, whoever asks. Ingestion keeps it beside the passage: to find it takes 10 ms, and a
question reaches several passages."""

import hashlib
import json
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path

from graph.policy import pii
from graph.policy.evidence import withholding
from graph.policy.threats.detector import Detector
from graph.policy.threats.planted import Margins

JUDGING = ("pii", "threats", "text")  # packages of graph/policy of which a judgement is made


@dataclass(frozen=True)
class PassageJudgement:
    """Half-open ranges of the raw text, ascending: `orders` are sentences that give instructions, `personal` is what
    masking finds. What people released and what is public is not taken out of them."""

    orders: tuple[tuple[int, int], ...]
    personal: tuple[pii.Span, ...]


def judge(raw: str, detector: Detector | None = None, known: Margins | None = None) -> PassageJudgement:
    """`known` as of `planted.find`."""
    return PassageJudgement(tuple(withholding.ranges(raw, detector, known)), tuple(pii.find(raw)))


def written(found: PassageJudgement) -> str:
    """As it is kept; no word of the passage is in it."""
    return json.dumps([found.orders, [astuple(span) for span in found.personal]], separators=(",", ":"))


def read(kept: str) -> PassageJudgement:
    orders, personal = json.loads(kept)
    return PassageJudgement(tuple((a, b) for a, b in orders), tuple(pii.Span(*span) for span in personal))


def judge_name() -> str:
    """Of the judge: another one where any of its rules or weights, or the level of masking, is another. What was found
    under one name counts under no other."""
    policy = Path(pii.__file__).parents[1]
    files = [policy / "rubric.py", policy / "evidence" / "judged.py", policy / "evidence" / "withholding.py"]
    return f"{_digest(*files, *(policy / package for package in JUDGING))}-{pii.level}"


def policy_name() -> str:
    """Of all rules that a run goes by, for the record."""
    return f"{_digest(Path(pii.__file__).parents[1])}-{pii.level}"


@cache
def _digest(*places: Path) -> str:
    """SHA-256 over these files, and all below these folders, 16 digits of it. Read once: 4 MB."""
    files = [file for place in places for file in (sorted(place.rglob("*")) if place.is_dir() else [place])]
    digest = hashlib.sha256()
    for path in files:
        if path.suffix in (".py", ".toml", ".npz"):
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
