"""Which documents mention something: of each the first statement that has all of the words. Which are no longer in
force: of each the sentence that says so."""

from collections.abc import Mapping, Sequence
from typing import Any

from graph.extractive.candidates import clean, leaves
from graph.extractive.units import units
from graph.knowledge import standing
from graph.knowledge.index import content_words
from graph.policy.question import mentioning
from graph.policy.question.answer_type import all_of
from graph.policy.text import lexical


def answer(question: str, evidence: Sequence[Mapping[str, Any]], cut: bool) -> tuple[list[tuple[int, str]], bool]:
    """(source, text) of one place of each document, nothing where the question asks for something else or no document
    has it; and whether they are to be counted. `cut`: there may be more documents than these."""
    if mentioning.no_longer_in_force(question) is not None:
        lapses = list(dict.fromkeys(standing.lapsed(evidence).values()))
        return [(n, sentence) for n, sentence in lapses], not cut and all_of(question) == "count"
    mention = mentioning.find(question)
    wanted = {*lexical.stems(" ".join(content_words(mention.what)))} if mention else set()
    places: dict[str, tuple[int, str, str]] = {}
    for item in evidence if wanted else ():
        if item["doc_id"] not in places and (place := _first(item["text"], wanted)):
            places[item["doc_id"]] = (item["n"], *place)
    counts = not cut and all_of(question) == "count" and all(line for _, _, line in places.values())
    return [(n, line if counts else text) for n, text, line in places.values()], counts


def _first(text: str, wanted: set[str]) -> tuple[str, str] | None:
    """The first statement with these stems, and the same as an entry that can be counted (graph/policy/answer/
    counted.py): from the beginning of its line, "" where it runs over several lines."""
    for start, end in (leaf for unit in units(text) for leaf in leaves(unit)):
        if wanted <= {*lexical.stems(text[start:end])}:
            line = clean(text[text.rfind("\n", 0, start) + 1 : end])
            return clean(text[start:end]), "" if "\n" in line else line
    return None
