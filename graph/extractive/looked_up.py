"""What a question about all of something needs of a long document, looked up in all of it: the rows of a table that
count, or the sections that say what is asked for. The passages that hold it become evidence beside the best hits."""

from bisect import bisect_right
from dataclasses import replace

from graph.context import ReadScope
from graph.extractive import long_tables, siblings
from graph.knowledge.extensions import ROWS, SAYS, RankedHits
from graph.knowledge.index import Hit, Index
from graph.knowledge.retriever import BESIDE
from graph.policy.question.answer_type import all_of, plain
from graph.state import LookedThrough
from graph.stores.spaces import StoredChunk

HITS = 15  # best ones whose tables and documents are looked through
FEWEST_CHUNKS = 2  # of a table, behind the first: a shorter one is read whole with its section


def added(
    index: Index, reader: ReadScope, question: str, ranked: RankedHits, top_k: int
) -> tuple[RankedHits, LookedThrough | None]:
    """The hits with those that were looked up, and where: in the first table or document that has any of it."""
    if all_of(plain(question)) in (None, "summary"):
        return ranked, None
    tried: set[tuple[str, str]] = set()  # where, and the first chunk of a table
    documents: dict[tuple[str, str], tuple[str, str, list[StoredChunk]]] = {}
    with index.reading():
        for hit in ranked.searched[:HITS]:
            new = (of := (hit.where, hit.doc_id)) not in documents
            if new:
                documents[of] = index.document(reader, hit)
            title, text, chunks = documents[of]
            at = next((n for n, chunk in enumerate(chunks) if chunk.chunk_id == hit.chunk_id), None)
            if at is None:
                continue
            first, last = table = long_tables.table_at(chunks, at)
            if last - first >= FEWEST_CHUNKS and (hit.where, chunks[first].chunk_id) not in tried:
                tried.add((hit.where, chunks[first].chunk_id))
                if rows := long_tables.look_through(question, title, text, chunks, at, table):
                    return _with(ranked, hit, rows.chunk_ids, ROWS, top_k, rows.rows, rows.fitting)
            if new and (lines := siblings.looked_up(question, title, text)):
                starts = [chunk.start for chunk in chunks]
                ids = dict.fromkeys(chunks[bisect_right(starts, start) - 1].chunk_id for start, _ in lines)
                return _with(ranked, hit, [*ids], SAYS, top_k, 0, len(lines))
    return ranked, None


def _with(
    ranked: RankedHits, hit: Hit, chunk_ids: list[str], reason: str, top_k: int, rows: int, fitting: int
) -> tuple[RankedHits, LookedThrough]:
    """No passages where they are more than are shown."""
    holding = [replace(hit, chunk_id=chunk_id) for chunk_id in chunk_ids] if len(chunk_ids) <= BESIDE else []
    looked: LookedThrough = {
        "where": hit.where,
        "doc_id": hit.doc_id,
        "rows": rows,
        "fitting": fitting,
        "passages": len(holding),
    }
    if not holding:
        return ranked, looked
    shown = {(one.where, one.chunk_id): one for one in [*ranked.hits[:top_k], *holding, *ranked.hits]}
    why = ranked.why | {(one.where, one.chunk_id): reason for one in holding}
    return replace(ranked, hits=[*shown.values()][: top_k + BESIDE], why=why), looked
