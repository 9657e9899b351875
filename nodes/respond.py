"""respond: the answer as people read it, with its confidence and a one-line account of how it came about."""

from typing import Literal

from graph.answering.completeness import partial
from graph.answering.verified import certainty
from graph.extractive import occurrences
from graph.extractive.reader import reader
from graph.knowledge import standing
from graph.policy.answer import counted, prose, refusals
from graph.policy.answer.refusals import EMPTY_KNOWLEDGE_BASE, NOT_IN_DOCUMENTS
from graph.policy.grounding import SURE_FROM
from graph.policy.question import wishes
from graph.policy.question.answer_type import all_of
from graph.policy.text.structure import SEPARATOR
from graph.policy.threats import courtesy
from graph.settings import Settings
from graph.state import Decision, LookedThrough, State

# The reader's log-odds of the sentence that answers best, set on the five open collections; docs/answers.md says what
# they hold on those left out, and that they hold less on the shipped corpus.
HIGH, MEDIUM = 2.7, 0.0
# Support times the best cited chunk's score, for a list of documents and an assessment, which answer no question.
LISTED_HIGH, LISTED_MEDIUM = 0.45, 0.35


def respond(state: State, *, settings: Settings) -> State:
    """A doubted sentence makes the confidence low, an answer from a part of a list at most medium."""
    decision, answer = _answer(state)
    doubted = any(one.get("doubted") for one in state["sentences"])
    confidence = _confidence(state, settings) if decision == "answer" and not doubted else "low"
    part = decision == "answer" and ("partial" in state["flags"] or _partial(state))
    looked = _looked_through(state) if decision == "answer" else None
    if looked and not (part and looked["passages"]) and not doubted and confidence == "low":
        confidence = "medium"  # the rows fulfil what was asked, however little a row reads like an answer
    noted = {
        "partial": part,
        "quoted_only": _quoted_only(state, decision, settings),
        "uncertain": decision == "answer" and confidence == "low" and not doubted and _judged(state),
    }
    flags = list(dict.fromkeys([*state["flags"], *(flag for flag, so in noted.items() if so)]))
    notices = [note for flag, note in refusals.NOTES.items() if flag in flags] if decision == "answer" else []
    if looked and looked["rows"] and not (part and looked["passages"]):
        notices = [_rows_note(looked), *(note for note in notices if note != refusals.PARTIAL)]
    if "not_in_force" in flags and not standing.asked_for(state["query"], state["evidence"]):
        confidence = "low"
    if part:
        confidence = "low" if confidence == "low" else "medium"
    return {
        "review": {**state["review"], "why": _reviewed(state, decision, settings)},
        "decision": decision,
        "answer": "\n\n".join([answer, *notices]),
        "sentences": state["sentences"] if decision == "answer" else [],
        "citations": state["citations"] if decision == "answer" else [],
        "confidence": confidence,
        "flags": flags,
        "reasoning": _reasoning(state, decision),
        "draft": {**state["draft"], "text": "", "value": None, "errors": []},  # what was not let out is not kept
    }


def _reviewed(state: State, decision: Decision, settings: Settings) -> Literal["", "assessment", "guarded"]:
    """Why a person reads the answer first, where the settings say so."""
    if decision == "answer" and state["intent"]["name"] == "ASSESSMENT_GEN" and "assessments" in settings.reviewed:
        return "assessment"
    guarded = state["verdict"]["action"] == "ALLOW_WITH_GUARDRAILS" and "guarded" in settings.reviewed
    return "guarded" if decision == "answer" and guarded else ""


def _answer(state: State) -> tuple[Decision, str]:
    if state["admitted"]:
        return "no_answer", state["admitted"]
    if "empty_knowledge_base" in state["flags"]:
        return "no_answer", EMPTY_KNOWLEDGE_BASE
    why = state["draft"]["why"]
    if not state["sentences"]:
        return "no_answer", refusals.withheld(why) if why else NOT_IN_DOCUMENTS
    if state["assessment"]:
        return "answer", prose.brief(state["assessment"], state["sentences"])
    text = prose.joined(state["sentences"], "bullet" if _listed(state) else state["options"]["style"])
    return "answer", refusals.instead(why, text) if why else text


def _by_document(state: State) -> bool:
    """Whether each sentence stands for a document: what there is, or which of them mention something."""
    return bool(state["listing"]) or bool(occurrences.answer(state["query"], state["evidence"], cut=True)[0])


def _judged(state: State) -> bool:
    """Whether the reader judges the answer: not that of a person, nor what answers no question."""
    return not (state["assessment"] or _by_document(state) or "edited_by_reviewer" in state["flags"])


def _listed(state: State) -> bool:
    """Whether the sentences are the lines of a list: each of them would read badly behind another."""
    multiline = any("\n" in sentence["text"] for sentence in state["sentences"])
    if _by_document(state):
        return len(state["sentences"]) > 1 or not multiline
    short = len(state["sentences"]) > 1 and not multiline
    return short and all_of(state["query"]) in ("list", "extreme")


def _quoted_only(state: State, decision: Decision, settings: Settings) -> bool:
    """Whether a wish for another form or language stays unfulfilled."""
    plain = decision == "answer" and settings.embedded and not state["assessment"]
    return plain and wishes.wished(courtesy.bare(state["question"]))


def _looked_through(state: State) -> LookedThrough | None:
    """The table in which rows were looked up, where the answer cites nothing but its document."""
    looked, cited = state["retrieval"].get("looked_through"), {one["chunk_id"] for one in state["citations"]}
    of = {(item["where"], item["doc_id"]) for item in state["evidence"] if item["chunk_id"] in cited}
    return looked if looked and of == {(looked["where"], looked["doc_id"])} else None


def _rows_note(looked: LookedThrough) -> str:
    """Over how many rows the answer is."""
    if looked["passages"]:
        return refusals.ALL_ROWS.format(**looked)
    note = refusals.SOME_ROWS if looked["fitting"] < looked["rows"] else refusals.SO_MANY_ROWS
    return note.format(**looked)


def _partial(state: State) -> bool:
    """Whether a question about all of something was answered from a part of it."""
    if state["assessment"] or _by_document(state):
        return "listing_cut" in state["flags"]
    looked = _looked_through(state)
    if looked and not looked["passages"]:
        return True
    passages = looked["passages"] if looked else 0
    return partial(state["query"], state["sentences"], state["citations"], state["evidence"], passages)


def _confidence(state: State, settings: Settings) -> Literal["high", "medium", "low"]:
    if state["assessment"] or _by_document(state):
        measured, high, medium = certainty(state["sentences"], state["citations"]), LISTED_HIGH, LISTED_MEDIUM
    else:
        sections = {citation["n"]: citation["section"] for citation in state["citations"]}
        texts = [(sections[s["citations"][0]], s["text"]) for s in state["sentences"]]
        scores = reader(settings).scores(state["query"], texts)
        measured, high, medium = float(scores.max()), HIGH, MEDIUM
        if not any(v >= HIGH and s["support"] >= SURE_FROM for v, s in zip(scores, state["sentences"], strict=True)):
            measured = min(measured, MEDIUM)
        if any(counted.lines(sentence["text"]) for sentence in state["sentences"]):
            measured = MEDIUM  # the reader looks for a sentence that says the number
        value = state["draft"]["value"] or {}
        if value.get("sure") is True and (settings.embedded or not state["draft"]["text"]):
            measured = max(measured, MEDIUM)  # nor does it know that a row answers
        if not settings.embedded and _written(state) and all(one["support"] >= SURE_FROM for one in state["sentences"]):
            measured = max(measured, MEDIUM)  # a model read all of it and wrote nothing that is not there
    return "high" if measured >= high else "medium" if measured >= medium else "low"


def _written(state: State) -> bool:
    """Whether a model wrote the answer, and all that it wrote may leave."""
    draft = state["draft"]
    return draft["outcome"] == "verified" and bool(draft["text"]) and "extractive_fallback" not in state["flags"]


def _reasoning(state: State, decision: Decision) -> str:
    if state["admitted"]:
        return "The question was not searched for: it did not pass the first checks."
    pieces = len(state["evidence"])
    why = state["draft"]["why"]
    if decision == "no_answer":
        if why:
            return f"{refusals.DROPPED[why]} Nothing of it was used, and {pieces} permitted passages gave no quote."
        return f"Looked at {pieces} permitted passages; none of them supports an answer.{_closest(state)}"
    documents = len({c["doc_id"] for c in state["citations"]})
    how = {"ALLOW": "", "ALLOW_WITH_GUARDRAILS": " under guardrails", "BLOCK": ""}[state["verdict"]["action"]]
    what = f"{documents} document{'s' if documents > 1 else ''} among {pieces} permitted passages"
    if why:
        return f"{refusals.DROPPED[why]} Quoted{how} by the embedded answerer from {what}."
    return f"Answered{how} from {what}, each sentence checked against its source."


def _closest(state: State) -> str:
    """Where somebody may look next, outside the answer."""
    if not state["evidence"]:
        return ""
    nearest = state["evidence"][0]
    section = nearest["section"].rpartition(SEPARATOR)[2]
    place = f", section {section}" if section and section != nearest["title"] else ""
    return f" Closest: {nearest['title'] or nearest['filename']}{place}."
