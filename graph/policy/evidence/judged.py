"""What the guard finds in a passage, whoever asks. Ingestion stores it with the passage, since finding it takes 10 ms
and a question reads several passages."""

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
    masking finds. Both include what people released and what is public."""

    orders: tuple[tuple[int, int], ...]
    personal: tuple[pii.Span, ...]


def judge(raw: str, detector: Detector | None = None, known: Margins | None = None) -> PassageJudgement:
    """`known` as for `planted.find`."""
    return PassageJudgement(tuple(withholding.ranges(raw, detector, known)), tuple(pii.find(raw)))


def written(judgement: PassageJudgement) -> str:
    """As JSON for storage, without any word of the passage."""
    return json.dumps([judgement.orders, [astuple(span) for span in judgement.personal]], separators=(",", ":"))


def read(stored: str) -> PassageJudgement:
    """From what `written` gave."""
    orders, personal = json.loads(stored)
    return PassageJudgement(tuple((a, b) for a, b in orders), tuple(pii.Span(*span) for span in personal))


def judge_name() -> str:
    """A name that changes with every rule and weight of the judge and with the level of masking. A judgement holds only
    under the name under which it was made."""
    policy = Path(pii.__file__).parents[1]
    files = [policy / "rubric.py", policy / "evidence" / "judged.py", policy / "evidence" / "withholding.py"]
    return f"{_digest(*files, *(policy / package for package in JUDGING))}-{pii.level}"


def policy_name() -> str:
    """A name that changes with every rule of graph/policy, for the record."""
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
