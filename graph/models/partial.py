"""Reading an answer while it is still being written: the whole claims of a JSON object, or of prose, without an end."""

import json
import re
from typing import Any

from graph.models import claims, thought
from graph.models.citation_parser import CitationParser
from graph.policy.answer.schemas import ANSWER

_HEAD = '"sentences"'
_CLAIM = ANSWER["properties"]["sentences"]["items"]


class Claims:
    """Feed it the text as it grows; it hands out each claim `{"text", "sources"}` once, when it is whole.

    It reads strict JSON only. At the first thing that is none, or when the model has not said `"answered": true`
    before, it stays silent, and the draft is judged when it is whole.
    """

    def __init__(self) -> None:
        self._at: int | None = None  # where the next claim is looked for
        self._silent = False

    def read(self, text: str) -> list[dict[str, Any]]:
        """The claims that have become whole since the last call. `text` is all that was written so far."""
        claims: list[dict[str, Any]] = []
        if self._at is None:
            self._at = self._start(text)
        while self._at is not None and not self._silent:
            begin = len(text) - len(text[self._at :].lstrip(" \t\r\n,"))
            if not text.startswith("{", begin):
                self._silent = begin < len(text)  # the list has ended, or holds something else
                break
            end = _closed(text, begin)
            if end is None:
                break
            try:
                claim = json.loads(text[begin:end])
            except ValueError:
                claim = None  # which is no claim
            if not _fits(claim):
                self._silent = True
                break
            claims.append(claim)
            self._at = end
        return claims

    def _start(self, text: str) -> int | None:
        at = text.find(_HEAD)
        bracket = text.find("[", at)
        if at < 0 or bracket < 0:
            return None
        try:
            head = json.loads(text[:at].rstrip().rstrip(",") + "}")
        except ValueError:
            head = None
        self._silent = (
            not isinstance(head, dict)
            or head.get("answered") is not True
            or text[at + len(_HEAD) : bracket].strip() != ":"
        )
        return bracket + 1


class ProseClaims:
    """As Claims, for prose: a sentence is whole once another one has begun after it, with the sources named between."""

    _STEP = 20  # characters between two looks; more in a long text, which is read anew each time
    _END = re.compile(r"[.!?…。！？؟۔।\n]")

    def __init__(self, marks: CitationParser) -> None:
        self._marks = marks
        self._read = 0  # characters looked at
        self._due = 0  # how long the text is before it is looked at again
        self._emitted: set[str] = set()

    def read(self, text: str) -> list[dict[str, Any]]:
        """The claims that have become whole since the last call. `text` is all that was written so far."""
        if len(text) < self._due or not self._END.search(text, self._read):
            return []
        self._read, self._due = len(text), len(text) + max(self._STEP, len(text) // 50)
        answer = thought.divided(text)[0].lstrip()
        if answer.startswith(("{", "```")):  # JSON after all: it is judged when it is whole
            return []
        whole = [one for one in claims.parse(answer, self._marks, cut=True)[:-1] if one["text"] not in self._emitted]
        self._emitted |= {one["text"] for one in whole}
        return whole


def _closed(text: str, begin: int) -> int | None:
    """Where the object that begins there ends, or None while it is open."""
    depth, quoted, at = 0, False, begin
    while at < len(text):
        char = text[at]
        if char == "\\" and quoted:
            at += 1
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in "{[":
            depth += 1
        elif not quoted and char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def _fits(claim: Any) -> bool:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(_CLAIM).is_valid(claim)
