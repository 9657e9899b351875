"""Which passages are shown, of those that search found: those with what answers best, as the reader reads them.

Search compares a question with whole passages, and what answers is often a line of the tenth. Where the reader reads
anyway (the embedded answerer, small models) it reads more passages than are shown.
"""

from collections.abc import Sequence

from graph.knowledge.mentions import MENTIONED
from graph.models.candidates import score
from graph.models.reader import reader
from graph.policy.question import intent
from graph.settings import Settings
from graph.state import Evidence, State

READ = 15  # passages: as many as search gives where five are shown (retriever.POOL)


def reranked(state: State, settings: Settings) -> bool:
    """Whether the passages of this turn are put in another order: not where a list, a whole document or an extension
    chose them, nor where a question is about a document as such."""
    plain = state["intent"]["name"] == "GENERIC_QA" and not state["listing"]
    whole = state["retrieval"].get("whole") or {h.get("why", "") for h in state["retrieved"]} - {"", MENTIONED}
    return settings.reranks and plain and not whole and not intent.overview(state["query"])


def best(question: str, evidence: Sequence[Evidence], settings: Settings, count: int) -> list[Evidence]:
    """At most `count` passages, by the best that is in each, the best first; then by search."""
    items = {item["n"]: item for item in evidence}
    order = dict.fromkeys(one.n for one in score(question, [dict(item) for item in evidence], reader(settings)))
    return [items[n] for n in [*order, *(n for n in items if n not in order)][:count]]
