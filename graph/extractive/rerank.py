"""Which passages are shown, of those that search found: those with what answers best, as the reader reads them.

Search compares a question with whole passages, and what answers is often a line of the tenth. Where the reader reads
anyway (the embedded answerer, small models) it reads more passages than are shown.
"""

from collections.abc import Sequence
from itertools import zip_longest

from graph.extractive.candidates import of_others, score
from graph.extractive.reader import reader
from graph.knowledge.mentions import MENTIONED
from graph.knowledge.standing import IN_FORCE
from graph.policy.question import intent
from graph.policy.question.parts import parts
from graph.settings import Settings
from graph.state import Evidence, State

READ = 15  # passages: as many as search gives where five are shown (retriever.POOL)


def reranked(state: State, settings: Settings) -> bool:
    """Whether the passages of this turn are put in another order: not where a list, a whole document or an extension
    chose them, nor where a question is about a document as such."""
    plain = state["intent"]["name"] == "GENERIC_QA" and not state["listing"]
    chosen_by = {item.get("why", "") for item in state["retrieved"]} - {"", MENTIONED, IN_FORCE}
    whole = state["retrieval"].get("whole") or chosen_by
    return settings.reranks and plain and not whole and not intent.overview(state["query"])


def needed(question: str, evidence: Sequence[Evidence], count: int) -> bool:
    """Whether `best` would leave a passage out."""
    return len(evidence) > count or bool(of_others(question, evidence))


def best(question: str, evidence: Sequence[Evidence], settings: Settings, count: int) -> list[Evidence]:
    """At most `count` passages, by the best that is in each, the best first; then by search. Of several questions in
    one the best of each in turn. Passages about another thing than the one that is named answer nothing."""
    others = of_others(question, evidence)
    evidence = [item for item in evidence if item["n"] not in others] or evidence
    items = {item["n"]: item for item in evidence}
    questions = parts(question) or [question]
    read = [score(one, [dict(item) for item in evidence], reader(settings)) for one in questions]
    ranked = [dict.fromkeys(one.n for one in candidates) for candidates in read]
    order = dict.fromkeys(n for at in zip_longest(*ranked) for n in at if n is not None)
    return [items[n] for n in [*order, *(n for n in items if n not in order)][:count]]
