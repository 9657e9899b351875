"""Conversational memory: what a thread remembers, and how a follow-up question is understood from it.

Two forms. `buffer` keeps the last turns word by word; `summary` cuts each turn short, to a line of a rolling synopsis.
Both hold masked text only, live in the checkpoint of one (tenant, user, thread), and are read on the next turn.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graph.options import Exchange, MemoryType
from graph.policy import pii
from graph.policy.question import followup
from graph.policy.text import lexical
from graph.state import Memory, PastTurn
from graph.stores.conversations import shortened

EMPTY: Memory = {"turns": [], "summary": []}
SUMMARY_LINES, GIST_CHARS, ITEM_CHARS, MAX_ITEMS = 16, 120, 60, 12

_ORDINALS = {
    name: at
    for at, names in enumerate(
        "first 1st former,second 2nd,third 3rd,fourth 4th,fifth 5th,sixth 6th,seventh 7th,eighth 8th".split(",")
    )
    for name in names.split()
} | {"last": -1, "latter": -1, "final": -1}
_ORDINAL = re.compile(
    rf"\b(?:the\s+)?({'|'.join(_ORDINALS)})(?:\s+(one|ones|item|dataset|document|memo|paper|point|rule|result|option|of\s+(?:them|these|those)))?\b",
    re.I,
)
_NUMBERED = re.compile(r"\b(?:number|item|no\.?|#)\s*(\d{1,2})\b", re.I)
_ELLIPSIS = re.compile(r"^\W*(?:and|what about|how about|also|then|so)\b", re.I)
# "As we discussed", "your last answer", "what was it before?"; not "before I open it".
_AGAIN = re.compile(
    r"\b(?:last time|last week|yesterday|the other day|(?:as )?(?:before|earlier)(?=\W*$)|as (?:before|above)\b|"
    r"previous(?:ly)? (?:answer|question|one)|your (?:last|previous) answer|remind me(?: of| about)?|"
    r"(?:as )?(?:you (?:said|told me|mentioned)|(?:we|I) (?:discussed|talked about|spoke (?:of|about)|"
    r"asked(?: you)?(?: about| before| earlier)?)))\b",
    re.I,
)
_WHEN = re.compile(r"\b(?:earlier|before|previous(?:ly)?)\b", re.I)  # left out where one of these stands, too
# "Back to the vault: who counts it?", "The vault from before, who counts it?": from the turn that was about it.
_BACK = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|and|so|now)[\s,.]+)*(?:(?:(?:going |getting |coming )?back to|returning to)\s+"
    r"(?P<what>[^,:;–]{2,60}?)|(?:about )?(?P<of>(?:the|that|those|my|our) [^,:;–]{2,60}?)\s+from (?:before|earlier))"
    r"\s*(?:[,:;–]|\s-)\s*(?P<rest>.+)",
    re.I | re.S,
)
_COUNTED = re.compile(r"(?<=[a-z] )\d{1,2}\b")  # "scenario 1"
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+(.{2,200}?)(?:\s*\[\d+\])*\s*$", re.M)
_ROW = re.compile(r"^([^:;\n]{1,40}): ([^;\n]{1,80});", re.M)  # "Method: Ethanol; Time: 20 min"
_HEAD = re.compile(r"\s*(?::|;|\(|\s[-–—]\s)")
FEWEST_ITEMS = 2
# Cosine of two questions from which the older turn counts as about the same (evals/suites/memory.py).
RECALL_FROM = 0.42
RECALLED = 2  # earlier turns shown beside the thread's own memory


@dataclass(frozen=True)
class FollowUp:
    """How a question was completed from memory. `query` is the question itself when it stands alone."""

    query: str
    about: str = ""  # the remembered thing it refers to
    doc_ids: tuple[str, ...] = ()  # of the remembered turn, when it referred to one
    turns_used: int = 0
    after: str = ""  # the question it goes on from; "" where it points at one thing of a list, whose document is meant


def without_cue(question: str) -> str:
    """The question without the words that only say that it was spoken of before: what to look for by meaning."""
    bare = _AGAIN.sub(" ", question)
    return " ".join((_WHEN.sub(" ", bare) if bare != question else bare).split())


def resolve(question: str, memory: Memory, kind: MemoryType, earlier: Sequence[PastTurn] = ()) -> FollowUp:
    """Complete a follow-up ("the first one", "and the third?", "what is its size?") from the thread's memory, or a
    question that reaches back ("as we discussed …") from the `earlier` turns that were found by meaning."""
    if kind == "none":
        return FollowUp(question)
    past = recalled(memory, kind)
    if earlier and _AGAIN.search(question):
        return _about(without_cue(question), earlier[0])
    if not past:
        return FollowUp(question)
    last = past[-1]
    position = _position(question)
    listing = next((turn for turn in reversed(past) if turn["items"]), None)
    if position is not None and listing and -1 <= position < len(listing["items"]):
        item = listing["items"][position]
        put = _NUMBERED.sub(item, question) if _NUMBERED.search(question) else _ORDINAL.sub(item, question, count=1)
        bare = _ELLIPSIS.match(question) and not re.search(r"\w{3,}", _ELLIPSIS.sub("", put.replace(item, "")))
        documents = _documents_of(listing, position)
        after = "" if len(documents) == 1 else meant(listing)  # of one document, or a thing in several
        return FollowUp(item if bare else put, item, documents, 1, after)
    if back := _BACK.match(question):
        return _back(back["what"] or back["of"], back["rest"], past)
    if _AGAIN.search(question):
        return _about(question, last)
    if position is not None and not listing and (counted := _COUNTED.search(meant(last))):
        whole = f"{meant(last)[: counted.start()]}{position + 1}{meant(last)[counted.end() :]}"
        if position >= 0 and _ELLIPSIS.match(question):
            return FollowUp(whole, followup.antecedent(whole), tuple(last["doc_ids"]), 1, meant(last))
    query, about = followup.complete(question, meant(last), last["topic"])
    if query == " ".join(question.split()):
        return FollowUp(question)
    # With "it", the documents of the last turn are searched first; a fragment asks about another thing.
    return FollowUp(query, about or followup.antecedent(query), tuple(last["doc_ids"]) if about else (), 1, meant(last))


def _back(what: str, rest: str, past: Sequence[PastTurn]) -> FollowUp:
    """A question about a thing that was spoken of: from the last turn that has most of its words."""
    words = {*lexical.stems(what)}
    shared = [len(words & {*lexical.stems(f"{meant(turn)} {turn['topic']}")}) for turn in past]
    turn = past[max(range(len(past)), key=lambda at: (shared[at], at))]
    if not max(shared):
        return FollowUp(f"About {what}: {rest}", what, (), 1)
    query, about = followup.complete(rest, meant(turn), turn["topic"])
    if query == " ".join(rest.split()):
        query, about = f"About {what}: {query}", what
    return FollowUp(query, about or what, tuple(turn["doc_ids"]), 1, meant(turn))


def from_client(exchanges: Sequence[Exchange]) -> list[PastTurn]:
    """Earlier turns as a client sent them along, masked. Whoever sent them may have written their answers, too:
    of these only the items of a list stay, for "the second one" to point at; no prompt shows them."""
    turns: list[PastTurn] = []
    for exchange in exchanges:
        question, answer = (pii.mask(clean(exchange[side])).text for side in ("question", "answer"))
        completed = resolve(question, {"turns": turns, "summary": []}, "buffer").query
        items = items_of(answer)[:MAX_ITEMS]
        topic = followup.antecedent(completed, answer) or completed
        turns.append(
            {"question": question, "answer": "", "meant": completed, "topic": topic, "items": items, "doc_ids": []}
        )
    return turns


def items_of(answer: str) -> list[str]:
    """What the entries of a list, or the rows of a table, in an answer are called; [] for fewer than two. An entry is
    called by what stands before its colon, dash or bracket, a row by its first cell."""
    entries = _ITEM.findall(answer)
    if len(entries) < FEWEST_ITEMS:
        rows = _ROW.findall(answer)
        entries = [cell for name, cell in rows if name == rows[0][0]]
    plain = [" ".join(entry.replace("*", "").replace("`", "").split()) for entry in entries]
    names = [_HEAD.split(entry, maxsplit=1)[0] for entry in plain]
    names = [entry if name[-1:].isdigit() else name for entry, name in zip(plain, names, strict=True)]  # "Option 1: …"
    return [name[:ITEM_CHARS] for name in names] if len(names) >= FEWEST_ITEMS and all(names) else []


def clean(text: str) -> str:
    """The text without what cannot be stored or shown: NUL, lone surrogates, blanks around it."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8").strip()


def meant(turn: PastTurn) -> str:
    """The turn's question as it was understood."""
    return turn.get("meant") or turn["question"]


def _about(question: str, turn: PastTurn) -> FollowUp:
    """A question that says itself that something was spoken of: "Remind me of the deadline you mentioned"."""
    return FollowUp(f"About {turn['topic']}: {question}", turn["topic"], tuple(turn["doc_ids"]), 1)


def _position(question: str) -> int | None:
    """The place in a list that the question points at, from 0, -1 for the last; None when it points at none."""
    numbered = _NUMBERED.search(question)
    if numbered:
        return int(numbered[1]) - 1
    for match in _ORDINAL.finditer(question):
        # "the first aid kit" is no pointer: an ordinal points when "one", "item" … or nothing follows it.
        if match[2] or re.match(r"\s*[?.!,]*\s*$", question[match.end() :]):
            return _ORDINALS[match[1].lower()]
    return None


def _documents_of(turn: PastTurn, position: int) -> tuple[str, ...]:
    """The document of the item when each item came from one of its own, else all of the turn's."""
    ids = turn["doc_ids"]
    return (ids[position],) if len(ids) == len(turn["items"]) else tuple(ids)


def remember(memory: Memory, turn: PastTurn, kind: MemoryType, keep: int) -> Memory:
    """The memory after a turn. Turns that a buffer no longer keeps, and all turns of a summary, become synopsis."""
    if kind == "none":
        return memory
    turns = [*memory["turns"], turn]
    cut = max(0, len(turns) - (keep if kind == "buffer" else 0))
    short = [*_synopsis(memory), *map(_shortened, turns[:cut])]
    return {"turns": turns[cut:], "summary": short[-SUMMARY_LINES:]}


def readable(memory: Memory, groups: Collection[str]) -> Memory:
    """The memory without the turns that tell of documents which these groups may not read."""

    def shown(turns: Sequence[PastTurn]) -> list[PastTurn]:
        return [turn for turn in turns if open_to(turn.get("audiences", []), groups)]

    return {"turns": shown(memory["turns"]), "summary": shown(_synopsis(memory))}


def open_to(audiences: Sequence[Sequence[str]], groups: Collection[str]) -> bool:
    """Whether somebody in these groups may read what tells of the documents: each audience has one of the groups."""
    return all(not {*audience}.isdisjoint(groups) for audience in audiences)


def audiences(turns: Sequence[PastTurn]) -> list[list[str]]:
    """State.audiences of the turns: sets of groups whose documents they tell of."""
    return united(*(turn.get("audiences", []) for turn in turns))


def united(*lists: Sequence[Sequence[str]]) -> list[list[str]]:
    """Each set of groups once, in order."""
    return [list(groups) for groups in sorted({tuple(sorted(audience)) for some in lists for audience in some})]


def recalled(memory: Memory, kind: MemoryType) -> list[PastTurn]:
    """What may be read on this turn, oldest first: the synopsis, then any turns kept word by word."""
    if kind == "none":
        return []
    return [*_synopsis(memory), *memory["turns"]]


def as_text(memory: Memory, kind: MemoryType, earlier: Sequence[PastTurn] = ()) -> str:
    """Memory as the prompt shows it, "" when there is none."""
    lines = [_quoted(turn, "Earlier question") for turn in earlier]
    if kind != "none":
        lines += map(_line, _synopsis(memory))
        lines += [_quoted(turn, "Question") for turn in memory["turns"]]
    return "\n".join(lines)


def _quoted(turn: PastTurn, label: str) -> str:
    text = f"{label}: {turn['question']}"
    return f"{text}\nAnswer: {turn['answer']}" if turn["answer"] else text


def _synopsis(memory: Memory) -> list[PastTurn]:
    """The turns cut short. A thread of an earlier version has prose in their place, which mixes answers with their
    sources, so nothing of it is read."""
    summary = memory["summary"]
    return summary if isinstance(summary, list) else []


def _shortened(turn: PastTurn) -> PastTurn:
    short: PastTurn = {
        "question": shortened(turn["question"], GIST_CHARS),
        "answer": shortened(turn["answer"], GIST_CHARS),
        "topic": shortened(turn["topic"], GIST_CHARS),
        "meant": shortened(meant(turn), GIST_CHARS),
        "items": [item[:ITEM_CHARS] for item in turn["items"]],
        "doc_ids": turn["doc_ids"],
    }
    return {**short, "audiences": turn["audiences"]} if turn.get("audiences") else short


def _line(turn: PastTurn) -> str:
    """A turn of the synopsis as the prompt shows it. Nobody reads it back."""
    line = f"Asked: {turn['question']} Answered: {turn['answer']}"
    line += f" Listed: {' | '.join(turn['items'])}" if turn["items"] else ""
    return line + (f" From: {', '.join(turn['doc_ids'])}" if turn["doc_ids"] else "")
