"""Old answers, as they may still be shown: without the text of documents that were removed or replaced since."""

from collections.abc import Callable, Iterable
from typing import Any

from graph.context import ReadScope
from graph.knowledge.index import Index

GONE = {
    "removed": "[A document that this rested on was removed.]",
    "replaced": "[A document that this rested on was replaced.]",
}
Digests = Callable[[str], Iterable[str]]  # SHA-256 of the files that a reader may see now under a document's id


def as_they_stand(index: Index, reader: ReadScope, turns: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The remembered turns, each as `marked` by the documents that the reader may see now."""
    with index.reading():
        spaces = [space for _, space in index.visible(reader)]

        def digests(doc_id: str) -> list[str]:
            return [record.sha256 for space in spaces if (record := space.record(doc_id))]

        return [marked(turn, digests) for turn in turns]


def marked(turn: dict[str, Any], digests: Digests) -> dict[str, Any]:
    """A remembered turn. A citation of a document that is gone has `gone` ("removed" or "replaced") and no quote; a
    sentence that rested on it is replaced by a note that says so."""
    gone = {c["n"]: why for c in turn["citations"] if (why := _gone(c, digests))}
    if not gone:
        return turn
    answer, sentences = turn["answer"], []
    for sentence in turn["sentences"]:
        why = next((gone[n] for n in sentence["citations"] if n in gone), "")
        if why and sentence["text"] in answer:
            answer = answer.replace(sentence["text"], GONE[why])
        elif why:  # it stands there in other words: as a table, as items
            answer = GONE[why]
        sentences.append({**sentence, "text": GONE[why]} if why else sentence)
    citations = [{**c, "quote": "", "gone": gone[c["n"]]} if c["n"] in gone else c for c in turn["citations"]]
    return {**turn, "answer": answer, "sentences": sentences, "citations": citations}


def _gone(citation: dict[str, Any], digests: Digests) -> str:
    now = set(digests(citation["doc_id"]))
    return "" if citation["sha256"] in now else "replaced" if now else "removed"
