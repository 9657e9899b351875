"""A generation task: the messages a chat model gets, and the same as data for the embedded one.

The structured copy rides in `additional_kwargs`, which never crosses the wire: the embedded model need not parse the
prompt, so no document can forge a source for it.
"""

import json
import secrets
from dataclasses import dataclass
from functools import cache
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from graph.options import Style
from graph.policy.evidence.audience import Asker
from graph.policy.text import lexical
from graph.policy.text.structure import SEPARATOR
from graph.state import Evidence
from prompts import load

KEY = "cordon_task"
_STYLES: dict[Style, str] = {
    "concise": "Keep the answer short.",
    "detailed": "Answer in full, with every condition, number and exception the evidence gives.",
    "bullet": "Answer as a list: one short statement per sentence.",
}

_JSON = "Reply with the JSON object only."
# Numbers of sources are not asked for: small models write them in place of sentences, or wrong. Where a sentence is
# from is looked up among all passages.
_PROSE = "If the sources do not answer the question, say that you do not know."
_MASKED = "Leave [REDACTED] as it is. "  # said where it stands in the evidence only: small models answer with it
_LISTING = "The question asks what there is: write one sentence for each source, in their order, saying what it is."

_RUN = 4  # words of the instructions in their order, of which no sentence of an answer is made by chance


@dataclass(frozen=True)
class Task:
    """What one call of a model is made of."""

    messages: list[BaseMessage]
    prompts: dict[str, str]  # name → digest
    shown: int  # passages in it
    left_out: int = 0  # passages that there was no room for


def answer(
    question: str,
    evidence: list[Evidence],
    *,
    style: Style,
    guarded: bool,
    memory: str,
    day: str,
    meant_for: Asker | None = None,
    about: str = "",
    listing: bool = False,
    cut: bool = False,
    nonce: str = "",
    prose: bool = False,
) -> Task:
    """Messages for a grounded answer. `day` is today (YYYY-MM-DD), `about` what a follow-up refers to;
    `meant_for` whom the passages should speak to, where that is known; `listing` asks for a line per source,
    `cut` says that there are more of them.
    `nonce` marks the tags: one that no writer of a source knows, a new one where none is given. `prose` asks
    for sentences instead of JSON."""
    rules, frame, extra = load("answer_prose" if prose else "answer"), load("evidence"), load("guarded")
    data = {"kind": "answer", "question": question, "about": about, "style": style, "listing": listing, "cut": cut}
    data["meant_for"] = meant_for
    used = {p.name: p.digest for p in ((rules, frame, extra) if guarded else (rules, frame))}
    wanted = _LISTING if listing else _STYLES[style]
    masked = _MASKED if any("[REDACTED]" in text for text in (question, *(item["text"] for item in evidence))) else ""
    fields = {"day": day, "constraints": extra.text if guarded else ""}
    fields["style"] = "" if prose else wanted
    fields["reply"] = f"{wanted} {_PROSE}" if prose else masked + _JSON  # a small model keeps to what stands last
    return Task(_messages(rules.text, nonce, question, evidence, memory, data, fields), used, len(evidence))


def repeats(text: str, evidence: str) -> bool:
    """Whether a sentence has words of the instructions in it which its evidence lacks: small models fill a gap with
    what they were told ("The version is one to three sentences.")."""
    return any(run in _instructions() and run not in _runs(evidence) for run in _runs(text))


@cache
def _instructions() -> frozenset[str]:
    prompts = [load(name).text for name in ("answer", "answer_prose", "evidence", "guarded")]
    return frozenset(run for text in (*prompts, *_STYLES.values(), _JSON, _PROSE, _LISTING) for run in _runs(text))


def _runs(text: str) -> frozenset[str]:
    words = [*lexical.words(text)]
    return frozenset(" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))


def assessment(
    request: str,
    evidence: list[Evidence],
    *,
    weighting: int,
    capstone: bool,
    guarded: bool,
    day: str = "",
    nonce: str = "",
) -> Task:
    """Messages for an assessment design."""
    rules, frame, extra = load("assessment"), load("evidence"), load("guarded")
    constraints = (extra.text if guarded else "") + (load("capstone").text if capstone else "")
    fields = {"day": day, "style": f"The weighting is {weighting}.", "constraints": constraints, "reply": _JSON}
    data = {"kind": "assessment", "question": request, "weighting": weighting, "capstone": capstone}
    used = {p.name: p.digest for p in (rules, frame)}
    return Task(_messages(rules.text, nonce, request, evidence, "", data, fields), used, len(evidence))


def _messages(
    system: str,
    nonce: str,
    question: str,
    evidence: list[Evidence],
    memory: str,
    data: dict[str, Any],
    fields: dict[str, str],
) -> list[BaseMessage]:
    """The system message is the same for every question: a server reads it once. All that varies comes after it."""
    nonce = nonce or secrets.token_hex(4)
    prompt = load("evidence").fill(
        **fields,
        nonce=nonce,
        memory=_tagged("conversation", nonce, memory) if memory else "",
        evidence="".join(_source(item, nonce) for item in evidence),
        question=_inert(question),
    )
    data = {**data, "evidence": evidence}
    return [SystemMessage(system), HumanMessage(prompt, additional_kwargs={KEY: data})]


def _source(item: Evidence, nonce: str) -> str:
    place = ", ".join(
        part
        for part in (
            item["title"] if item["section"].split(SEPARATOR)[0] != item["title"] else "",
            item["section"],  # the whole path of headings
            f"page {item['page']}" if item["page"] else "",
            f"sheet {item['sheet']}" if item["sheet"] else "",
            f"here as {item['why']}" if item.get("why") else "",
        )
        if part
    )
    return _tagged(
        "evidence", nonce, item["text"], f" n={item['n']} from={_inert(json.dumps(place, ensure_ascii=False))}"
    )


def _tagged(tag: str, nonce: str, text: str, attributes: str = "") -> str:
    return f"<{tag}-{nonce}{attributes}>\n{_inert(text)}\n</{tag}-{nonce}>\n"


def _inert(text: str) -> str:
    """Text that cannot close a tag or forge a source: the nonce guards the tag, this guards the rest."""
    return text.replace("</", "< /").replace("[Source", "(Source")
