"""What flows through the graph: plain JSON, in two lifetimes.

Thread keys (`owner`, `memory`) live as long as the conversation. Every other key lives for one turn and is
reset by `fresh_turn()`, so that yesterday's ALLOW cannot survive into today's question.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, Self, TypedDict

from langgraph.channels.base import BaseChannel
from langgraph.errors import EmptyChannelError, InvalidUpdateError
from langgraph.types import Overwrite

from graph.options import MemoryType, Options
from graph.policy.answer import refusals
from graph.policy.answer.table import Row
from graph.policy.question.intent import Intent
from graph.policy.rubric import ACTIONS, Action, Threat

Decision = Literal["answer", "no_answer", "refusal", "unavailable", "pending_review"]
Act = Literal["approve", "edit", "refuse", "expire"]  # what becomes of an answer that waits
Confidence = Literal["high", "medium", "low"]
Outcome = Literal["verified", "partly dropped", "dropped"]


class Verdict(TypedDict):
    """What triage found (requirement D2)."""

    action: Action
    risk_score: int  # 0-100
    risk_rationale: str
    threats: list[Threat]
    safe_response: str
    recommended_controls: list[str]


class TurnVerdict(Verdict):
    """Triage's record. `turn` names the run it belongs to."""

    turn: str


class Handle(TypedDict):
    """A retrieved chunk by name. Never its text: only the guard may resolve it."""

    where: str  # which of the asker's spaces: private, public, or "private/" and the groups that share it
    chunk_id: str
    doc_id: str
    score: float  # 0-1, higher is nearer
    why: NotRequired[str]  # what brought it beside the search (graph/knowledge/extensions.py)


class Evidence(TypedDict):
    """One permitted chunk, masked and numbered as the prompt shows it."""

    n: int
    chunk_id: str
    doc_id: str
    filename: str
    title: str
    tenant_id: str
    visibility: Literal["private", "public"]
    page: int | None
    sheet: str | None
    section: str
    score: float
    places: NotRequired[str]  # pages and rows of its parts (graph/policy/evidence/places.py)
    sha256: str  # of the file's bytes
    text: str  # masked
    where: str  # as its handle says
    start: int  # of the chunk in the document's normalised text
    edits: list[list[int]]  # what was masked or withheld, and where (graph/policy/evidence/redaction.py)
    withheld: int  # sentences left out because they tried to give instructions
    why: NotRequired[str]  # as the handle says
    public: NotRequired[list[str]]  # forms of the addresses and numbers that stand in it because they are public


class Draft(TypedDict):
    """What the generator wrote. `value` is the parsed object once it fits the schema, else None."""

    text: str
    value: dict[str, Any] | None
    errors: list[str]
    steps: list[str]
    cut: bool  # it broke off where the model had written as much as it may
    outcome: Outcome | Literal[""]  # "" when the model itself says that it has no answer, and before validation
    why: refusals.Why | Literal[""]  # nothing of it was let out


class KeptDraft(TypedDict):
    """What a model wrote, masked; `cut` as of a draft. The last one holds the opinions on its sentences, too."""

    text: str
    cut: bool
    opinions: NotRequired[list[float | None]]


class Said(TypedDict):
    """What a reviewer decided of an answer that waits."""

    act: Act
    by: str  # user id
    text: str  # of an edit, masked
    reason: str  # of a refusal, masked: the asker reads it


class Review(TypedDict):
    """Whether the answer waits for a person, and what that person decided."""

    why: Literal["", "assessment", "guarded"]
    said: Said | None
    problem: str  # why the last decision could not be carried out


class Sentence(TypedDict):
    """A sentence of the answer, and the numbers of the citations that it rests on."""

    text: str
    citations: list[int]
    support: float  # 0-1
    opinion: NotRequired[Annotated[bool, "the chat model's opinion let it pass, which the embedded check doubts"]]
    doubted: NotRequired[Annotated[bool, "supported only weakly: its text ends with a mark"]]
    by_question: NotRequired[Annotated[bool, "the check doubts it, and all its words stand in a quote that answers"]]


class Citation(TypedDict):
    """A quote as it stands in a document, and where: `start` and `end` are a half-open range of its characters."""

    n: int
    doc_id: str
    filename: str
    tenant_id: str
    visibility: str
    page: Annotated[int | None, "on which the quote begins: of a PDF, a slide"]
    page_end: Annotated[int | None, "on which it ends"]
    sheet: str | None
    row: Annotated[int | None, "of a sheet, as a spreadsheet program numbers it: the quote's first"]
    section: str
    chunk_id: str
    score: float
    quote: str
    start: int
    end: int
    sha256: str


class Released(TypedDict):
    """What left while the model was still writing."""

    sentences: list[Sentence]
    citations: list[Citation]


class CitedSentence(TypedDict):
    """A verified sentence that may leave before the reply does, with the citations it rests on."""

    text: str
    citations: list[Citation]
    support: float  # 0-1


class PastTurn(TypedDict):
    """One remembered exchange, masked."""

    question: str
    answer: str
    meant: NotRequired[str]  # the question as it was understood: completed, its spelling mended
    topic: str  # the noun phrase that the turn was about, which "it" would stand for
    items: list[str]  # what the answer listed, in order
    doc_ids: list[str]
    audiences: NotRequired[list[list[str]]]  # as State.audiences says of the turn


class Understood(TypedDict, total=False):
    """How the question was read, where that is not word by word. All of it masked."""

    text: str  # what was searched for
    follow_up: bool  # completed from the conversation
    spelling: dict[str, str]  # word as typed → as the documents write it
    abbreviations: dict[str, str]  # as the question writes it → as the documents also write it


class Memory(TypedDict):
    """What a thread remembers: its last turns, and earlier ones cut short."""

    turns: list[PastTurn]
    summary: list[PastTurn]  # cut short; homes of earlier versions hold prose here, which is read as nothing


class Usage(TypedDict):
    """What a chat model was asked for in a turn; zeros without one."""

    model: str
    model_calls: int
    prompt_tokens: int
    completion_tokens: int


class Candidate(TypedDict):
    """A passage that was found and permitted, without its text."""

    chunk_id: str
    doc_id: str
    score: Annotated[float, "0-1"]
    withheld: NotRequired[Annotated[int, "sentences of the passage left out because they try to give instructions"]]
    masked: NotRequired[Annotated[int, "places in the passage masked as personal data or a secret"]]
    why: NotRequired[Annotated[str, "what brought it beside the search"]]


class LookedThrough(TypedDict):
    """Of the table or document in which something was looked up: where it lies, how many rows it has (0: sections were
    looked for), how many rows or sections fit the question, and how many passages hold these; no passages where they
    are too many to be shown."""

    where: str
    doc_id: str
    rows: int
    fitting: int
    passages: int


class Retrieval(TypedDict):
    """What the answer could rest on, best first."""

    confidence: Literal["high", "low"]
    candidates: list[Candidate]


class Searched(Retrieval, total=False):
    """As the stages tell one another."""

    query: str
    whole: bool  # all of what was found is shown, however many
    looked_through: LookedThrough | None


class Remembered(TypedDict):
    """How much of the conversation a turn was read with."""

    type: MemoryType
    turns_used: int


class Reply(TypedDict):
    """The reply object, version 1. A refusal, and "not in the documents", are replies too."""

    version: Literal[1]
    run_id: str
    timestamp: Annotated[str, "UTC"]
    tenant_id: str
    user_id: str
    thread_id: str
    question: Annotated[str, "masked"]
    intent: Intent
    verdict: Verdict
    decision: Decision
    refusal: refusals.Refusal | None
    answer: str
    sentences: list[Sentence]
    citations: list[Citation]
    confidence: Confidence
    safety_flags: list[str]
    reasoning: str
    retrieval: Retrieval
    memory: Remembered
    usage: Usage
    timings_ms: dict[str, float]
    artifacts: Annotated[dict[str, str], "their names"]
    draft: NotRequired[
        Annotated[Outcome, "what became of the model's draft; left out where it said that it has no answer"]
    ]
    rewrite: NotRequired[Annotated[str, "how the question was put to the documents instead, when it was guarded"]]
    understood: NotRequired[Annotated[Understood, "how the question was read, where that is not word by word"]]
    table: NotRequired[Annotated[list[Row], "the rows that count, where a list, count or comparison was asked for"]]
    assessment: NotRequired[Annotated[dict[str, Any], "of an assessment that was asked for"]]
    appeal: NotRequired[Annotated[str, "where the asker may have a person look at the refusal"]]


class VerdictChannel(BaseChannel[TurnVerdict, TurnVerdict, TurnVerdict]):
    """A verdict that only rises within a turn (requirement X3).

    An update is the join of action (BLOCK > ALLOW_WITH_GUARDRAILS > ALLOW) and the maximum of the risk. A plain
    reducer would not do: `Overwrite` passes it by, and a BLOCK would stick to the thread. Here `Overwrite` is an
    error, and a verdict of another turn starts anew.
    """

    __slots__ = ("value",)

    def __init__(self, typ: Any = TurnVerdict, key: str = "") -> None:
        super().__init__(typ, key)
        self.value: TurnVerdict | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerdictChannel)

    __hash__ = None  # type: ignore[assignment]

    @property
    def ValueType(self) -> Any:
        return TurnVerdict

    @property
    def UpdateType(self) -> Any:
        return TurnVerdict

    def copy(self) -> Self:
        return self.from_checkpoint(self.value)

    def from_checkpoint(self, checkpoint: Any) -> Self:
        channel = self.__class__(self.typ, self.key)
        channel.value = TurnVerdict(**checkpoint) if isinstance(checkpoint, dict) else None  # type: ignore[typeddict-item]
        return channel

    def checkpoint(self) -> Any:
        return self.value

    def get(self) -> TurnVerdict:
        if self.value is None:
            raise EmptyChannelError()
        return self.value

    def is_available(self) -> bool:
        return self.value is not None

    def update(self, values: Sequence[Any]) -> bool:
        for value in values:
            if isinstance(value, Overwrite) or not isinstance(value, dict) or "action" not in value:
                raise InvalidUpdateError("a verdict cannot be overwritten, only raised")
            self.value = join(self.value, value)  # type: ignore[arg-type]
        return bool(values)


def join(old: TurnVerdict | None, new: TurnVerdict) -> TurnVerdict:
    """The higher of two verdicts of one turn; of two turns, the newer."""
    if new["action"] not in ACTIONS:
        raise InvalidUpdateError(f"unknown action {new['action']!r}")
    if old is None or old["turn"] != new["turn"]:
        return new
    high, low = (new, old) if _height(new) > _height(old) else (old, new)
    threats = high["threats"] + [t for t in low["threats"] if t not in high["threats"]]
    return {**high, "risk_score": max(old["risk_score"], new["risk_score"]), "threats": threats}


def _height(verdict: Verdict) -> tuple[int, int]:
    return ACTIONS.index(verdict["action"]), verdict["risk_score"]


def merge_timings(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Stage times in ms, gathered over one turn; a value that names another turn starts anew."""
    if new.get("turn", old.get("turn")) != old.get("turn"):
        return new
    return {**old, **new}


class Input(TypedDict, total=False):
    """All that a caller may set."""

    question: str
    options: Options


class State(TypedDict, total=False):
    """What the stages of a turn read and change. All of it but `owner` and `memory` is of one turn."""

    # thread
    owner: str  # digest of the principal that began the thread
    memory: Memory
    # turn
    question: str  # masked by admit
    options: Options
    turn: str  # run id
    started: str  # UTC, ISO 8601
    admitted: str  # "" when the question may go on, else why not
    flags: list[str]
    filters: list[str]
    intent: Intent
    query: str  # what retrieval looks for
    listing: str  # the kind of document to list, when the question asks what there is
    follow_up: dict[str, Any]
    understood: Understood  # {} where the question was taken as it stands
    turns_used: int
    earlier: list[PastTurn]  # as a client sent them along, or of the asker's own threads, found by meaning
    verdict: Annotated[TurnVerdict, VerdictChannel]
    rewrite: str
    constraints: list[str]
    retrieved: list[Handle]
    retrieval: Searched
    evidence: list[Evidence]
    audiences: list[list[str]]  # sets of groups whose documents it may tell of: who reads it is in one group of each
    draft: Draft
    drafts: list[KeptDraft]  # what the model wrote, where that is kept
    released: Released
    repairs: int
    sentences: list[Sentence]
    citations: list[Citation]
    assessment: dict[str, Any]
    decision: Decision
    refusal: refusals.Refusal | None
    answer: str
    confidence: Confidence
    reasoning: str
    review: Review
    usage: Usage
    prompts: dict[str, str]  # name → digest of every prompt used
    error: dict[str, str] | None
    artifacts: dict[str, str]
    timings: Annotated[dict[str, Any], merge_timings]
    said: PastTurn | None  # what this turn was about
    remembered: Memory | None  # what `memory` will be, once the turn is on record
    reply: Reply | dict[str, Any]  # {} until the turn is on record


THREAD_KEYS = frozenset({"owner", "memory"})
INPUT_KEYS = frozenset({"question", "options"})


def fresh_turn(turn: str, started: str) -> State:
    """Every turn key but the caller's input, as it stands before anything is known.

    The verdict belongs to no turn yet. Enforcement asks for one of this turn and fails closed without it.
    """
    return {
        "turn": turn,
        "started": started,
        "admitted": "",
        "flags": [],
        "filters": [],
        "intent": {"name": "GENERIC_QA", "confidence": 0.0},
        "query": "",
        "listing": "",
        "follow_up": {},
        "understood": {},
        "turns_used": 0,
        "earlier": [],
        "verdict": {
            "turn": "",
            "action": "ALLOW",
            "risk_score": 0,
            "risk_rationale": "not assessed",
            "threats": [],
            "safe_response": "",
            "recommended_controls": [],
        },
        "rewrite": "",
        "constraints": [],
        "retrieved": [],
        "retrieval": {"confidence": "low", "candidates": []},
        "evidence": [],
        "audiences": [],
        "draft": {"text": "", "value": None, "errors": [], "steps": [], "cut": False, "outcome": "", "why": ""},
        "drafts": [],
        "released": {"sentences": [], "citations": []},
        "repairs": 0,
        "sentences": [],
        "citations": [],
        "assessment": {},
        "decision": "unavailable",
        "refusal": None,
        "answer": "",
        "confidence": "low",
        "reasoning": "",
        "review": {"why": "", "said": None, "problem": ""},
        "usage": {"model": "", "model_calls": 0, "prompt_tokens": 0, "completion_tokens": 0},
        "prompts": {},
        "error": None,
        "artifacts": {},
        "timings": {"turn": turn},
        "said": None,
        "remembered": None,
        "reply": {},
    }
