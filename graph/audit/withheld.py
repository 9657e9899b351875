"""What the guard withholds of a document, and what operators decide: an honest sentence is released and from then on
shown, another one is confirmed. The later decision counts.

A release holds for this sentence in this document of this space: it lies in the document's own record, stays when the
document is ingested again and goes with it. A line of kind `withheld` in the journal says who, when and why, and a
sample is stored, masked, which `cordon eval guardrails` judges again.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from graph.context import whose
from graph.errors import BadInput
from graph.policy import pii
from graph.policy.evidence import places, withholding
from graph.policy.text import structure
from graph.policy.threats.detector import Detector
from graph.stores.journal import Journal, Row, Rows
from graph.stores.spaces import Record, Space
from graph.timestamps import timestamp

Says = Literal["released", "confirmed"]


def listed(space: Space, record: Record, detector: Detector | None = None) -> list[Row]:
    """The sentences that the guard finds in a document, in order, released ones too; what stands there twice once.

    {n (from 1), sha256, score (0-1), why, page, sheet, section, text (masked), says ("" | released | confirmed), by,
    at (UTC)}.
    """
    return [row for row, _ in _rows(space, record, detector)]


def decide(
    journal: Journal,
    samples: Rows,
    space: Space,
    record: Record,
    wanted: dict[Says, Sequence[int | str]],
    *,
    by: str,
    note: str,
    detector: Detector | None = None,
) -> list[Row]:
    """Release and confirm sentences, named by `n` or `sha256`; the list as it is then. What is already so stays.

    Raises BadInput for a sentence that is not there or that is both released and confirmed; then nothing is done.
    """
    sentences = _rows(space, record, detector)
    places = {name: place for place, (row, _) in enumerate(sentences) for name in (row["n"], row["sha256"])}
    chosen: dict[int, Says] = {}
    for says, names in wanted.items():
        for name in names:
            if name not in places:
                raise BadInput(f"there is no withheld sentence {str(name)[:64]}: there are {len(sentences)}.")
            if chosen.setdefault(places[name], says) != says:
                raise BadInput(f"sentence {str(name)[:64]} is both released and confirmed.", hint="Say one of them.")
    now = timestamp()
    common = {"timestamp": now, "tenant_id": whose(space.name)[0], "user_id": by, "doc_id": record.doc_id}
    decisions, made = [], []
    for place, says in sorted(chosen.items()):
        row, passage = sentences[place]
        if row["says"] != says:
            line = {**common, "about": uuid.uuid4().hex, "says": says, "sentence_sha256": row["sha256"]}
            line |= {"score": row["score"], "note": pii.mask(note).text}
            journal.append({"kind": "withheld", **line})  # before anything is shown
            decisions.append({"sha256": row["sha256"], "says": says, "by": by, "at": now})
            row |= decisions[-1]
            made.append({**line, "why": row["why"], **passage})
    if decisions:
        space.change(record.doc_id, lambda current: replace(current, decisions=current.decisions + decisions))
    for sample in made:
        samples.append(sample)
    return [row for row, _ in sentences]


def forget_user(space: Space, user: str) -> None:
    """Take a person's name out of what was decided; the decisions stand."""

    def unnamed(record: Record) -> Record:
        decisions = [row | {"by": ""} if row["by"] == user else row for row in record.decisions]
        return replace(record, decisions=decisions)

    for record in space.records():
        if record != unnamed(record):
            space.change(record.doc_id, unnamed)


def _rows(space: Space, record: Record, detector: Detector | None) -> list[tuple[Row, Row]]:
    """Each sentence, and its passage: {passage (masked), start, end}."""
    decided = {decision["sha256"]: decision for decision in record.decisions}
    rows: dict[str, tuple[Row, Row]] = {}
    for row, passage in _sentences(space, record, detector):
        known = {"says": "", "by": "", "at": ""} | decided.get(row["sha256"], {})
        rows.setdefault(row["sha256"], ({"n": len(rows) + 1, **row, **known}, passage))
    return list(rows.values())


def _sentences(space: Space, record: Record, detector: Detector | None) -> Iterator[tuple[Row, Row]]:
    with space.reading():
        text, chunks = space.text(record.doc_id), space.chunks(record.doc_id)
    for chunk in chunks:
        raw = text[chunk.start : chunk.end]
        sentences = withholding.sentences(raw, detector)
        masked = pii.mask(raw) if sentences else pii.Masked("", ())
        for sentence in sentences:
            start, end = masked.to_masked(sentence.start, sentence.end)
            page, page_end, number = places.locate(chunk.page, chunk.places, sentence.start, sentence.end)
            row = {
                "sha256": withholding.digest(raw[sentence.start : sentence.end]),
                "score": round(sentence.score, 3),
                "why": sentence.why,
                "page": page,
                "page_end": page_end,
                "row": number,
                "sheet": pii.mask(chunk.sheet).text if chunk.sheet else None,
                "section": structure.section(pii.mask(chunk.section).text, masked.text, start),
                "text": masked.text[start:end],
            }
            yield row, {"passage": masked.text, "start": start, "end": end}
