"""Questions of staff over five collections, each with what search finds for it, as the answerer's reader gets it.

`datasets/reader_questions.jsonl` was written page by page, by writers who had seen the units of a page and nothing of
the system: which units answer, which say a part of it, and questions whose answer is nowhere in the collection though
it could be (checked by searching for words of it; a few may be answered after all). Of two collections
(handbooks.LEFT_OUT) no page was read. The units are other people's text and no part of the project; digests find them.
The weights that ship have also seen those of a page that search does not find.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.material import own_set
from evals.suites.handbooks import OPEN, ingested
from evals.training.reader_texts import as_typed
from graph.agent import Agent
from graph.context import ReadScope
from graph.extractive.candidates import FIRST, Candidate, weigh
from graph.extractive.rerank import READ

NEAREST, WIDER = 16, 28  # units of the five best passages, and of READ, that are shown beside the page's own
TYPED = 0.1  # of the questions come a second time, as people type them


@dataclass(frozen=True)
class Shown:
    """A unit under a question. `answers` is None where nobody judged it."""

    path: str
    text: str
    answers: bool | None


Asked = tuple[str, list[Shown]]


def digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:8]


def asked(homes: Path | None = None) -> Iterator[Asked]:
    """The questions; `homes` keeps what was ingested, as for the suite handbooks."""
    rng = random.Random(3)
    rows = own_set("reader_questions")
    for name in OPEN:
        with ingested(name, homes) as agent:
            for page in (row for row in rows if row["collection"] == name):
                for question, _, best, part in page["questions"]:
                    own = {digest: None if at in part else at in best for at, digest in enumerate(page["units"])}
                    shown = list(_shown(agent, page["tenant"], question, own, bool(best or part)))
                    yield question, shown
                    if rng.random() < TYPED:
                        yield as_typed(question, rng), shown


def _shown(agent: Agent, tenant: str, question: str, own: dict[str, bool | None], answerable: bool) -> Iterator[Shown]:
    """What else answers an answerable question nobody judged; a unit that shares its text with one that answers is
    left out."""
    found: dict[str, Candidate] = {}
    for most, units in ((5, NEAREST), (READ, WIDER)):
        candidates, table = weigh(question, _evidence(agent, tenant, question, most))
        for at in np.argsort(-(table @ FIRST), kind="stable")[:units] if candidates else ():
            found.setdefault(candidates[at].text, candidates[at])
    right = [text for text in found if own.get(digest(text))]
    for text, one in found.items():
        known = own.get(digest(text), None if answerable else False)
        if known is not False or not any(text in other or other in text for other in right):
            yield Shown(one.path, text, known)


def _evidence(agent: Agent, tenant: str, question: str, most: int) -> list[dict[str, object]]:
    index, scope = agent.deps.index, ReadScope(tenant)
    hits = index.search(scope, index.read(scope, question).text, most)
    passages = index.passages(scope, [(hit.where, hit.chunk_id) for hit in hits], "")
    there = [(hit, passages[hit.where, hit.chunk_id]) for hit in hits]
    return [
        {"n": n, "text": p.text, "title": p.record.title, "section": p.chunk.section, "score": hit.score}
        for n, (hit, p) in enumerate(there, 1)
    ]
