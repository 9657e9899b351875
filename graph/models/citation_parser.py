"""Which source a model means: [1], (1), 【1】, [Source 1], ^1, a file name, a title."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_WORD = r"(?:sources?|evidence|documents?|docs?|passages?|ref(?:erence)?s?|citations?|cit|excerpts?|n)"
_LIST = r"\d{1,2}(?:\s*(?:,|;|and|&|[-–])\s*(?:#|\w{1,9}\s)?\d{1,2}){0,9}"
_OPEN, _CLOSE = r"[\[【〔]", r"[\]】〕]"
_BRACKETED = (
    rf"{_OPEN}\s*\^?(?:{_WORD}\b\s*(?:n\s*)?[#:=.]?\s*)?#?({_LIST})(?:\s*[†:,.][^\]】〕\n]{{0,80}})?\s*{_CLOSE}"
    r"(?:\([^()\s]{0,200}\))?"
)
_NAMED = rf"\(\s*(?:see\s+|from\s+)?{_WORD}\b\s*(?:n\s*)?[#:=.]?\s*#?({_LIST})[^()\n]{{0,80}}\)"
_ROUND = rf"(?<=\S)\s?\(({_LIST})\)(?=\s*(?:[.,;:!?]|$|\n|[\[(]))"
_RAISED = r"<sup>\s*\[?(\d{1,2})\]?\s*</sup>|(?<=[\w.!?,)”\"'])\^\(?(\d{1,2})\)?|(?<=[.!?,”\"])\s?([¹²³⁴⁵⁶⁷⁸⁹]+)"
_NONCE = r"/?(?:evidence|question|conversation)-[0-9a-f]{8}\b"
_TAG = rf"[<\[(]{_NONCE}(?:\s+n=\"?(\d{{1,2}}))?[^<>\[\]\n]{{0,400}}?[>\])]"
_SOURCE = rf"\bsources?\s+{_OPEN}({_LIST}){_CLOSE}(?:\s+says?)?\s*:?"
_MARK = re.compile("|".join((_SOURCE, _BRACKETED, _NAMED, _ROUND, _RAISED, _TAG)), re.I | re.M)
_FIGURE = re.compile(rf"\s?\((?!{_NONCE})")  # "(42)" may be one
_LAST = re.compile(r"(?<=[.!?])\s*[\[(]\s?(\d{1,2})\s?[\])]\s*$")
_ALONE = re.compile(rf"\W*(?:{_WORD}\b\s*[#:=.]?\s*)?#?({_LIST})\W*", re.I)
_SUPERSCRIPT = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹", "123456789")
_NAME_KEYS = ("filename", "file", "title", "name", "document", "doc", "source", "text")
_NUMBER_KEYS = ("n", "id", "number", "index", "source", "source_id", "ref", "citation")
_SHORTEST = 4  # characters of a name that is looked for in prose


@dataclass(frozen=True)
class CitationParser:
    """The sources of one turn, as a model may call them."""

    evidence: Sequence[Any]

    @cached_property
    def _names(self) -> dict[str, list[int]]:
        names: dict[str, list[int]] = {}
        for item in self.evidence:
            stem = item["filename"].rsplit(".", 1)[0]
            for name in {item["filename"], item["title"], stem}:
                if len(name) >= _SHORTEST:
                    names.setdefault(name.casefold(), []).append(item["n"])
        return names

    @cached_property
    def _name(self) -> str:
        return "|".join(re.escape(name) for name in sorted(self._names, key=len, reverse=True))

    @cached_property
    def _cited(self) -> re.Pattern[str] | None:
        """A name in brackets, with what is said around it there: "(see memo.md, page 2)"."""
        if not self._names:
            return None
        before = r"[\s\"'“`*_]*(?:(?:see|from|in|source|according to|document|file)s?\s*:?\s*)?[\"'“`*_]*"
        return re.compile(rf"[\[(【]{before}({self._name})[^\[\]()【】\n]{{0,120}}[\])】]", re.I)

    @cached_property
    def _opening(self) -> re.Pattern[str]:
        """ "According to source 1, …", "The provided documents state that …": whose words they are, not the words."""
        names = rf"|[\"'“`*_]*(?:{self._name})[\"'”`*_]*" if self._names else ""
        says = r"(?:says?|states?|mentions?|notes?|indicates?|shows?|specif(?:y|ies)|explains?)(?:\s+that|\s*[:,])"
        return re.compile(
            rf"(?:the\s+)?(?:provided\s+|given\s+)?(?:{_NONCE}(?:\s+n=\"?(?P<tag>\d{{1,2}})\"?)?"
            rf"|(?:{_WORD}|context|information|text|file)s?\b(?:\s*#?(?P<number>{_LIST}))?)"
            rf"(?:\s+from\s*=?\s*[\"“][^\"”\n]{{1,200}}[\"”])?\s+{says}\s*|"
            r"(?:according to|based on|as (?:stated|described|mentioned|outlined|noted|per)(?: in| by)?|per|in|from)"
            r"\s+(?:the\s+)?"
            rf"(?:(?:provided|given|available|above|retrieved)\s+)?(?:(?:{_WORD}|context|information|text|material|file)s?\b"
            rf"(?:\s*#?(?P<n>{_LIST}))?(?:\s+(?:provided|given|above))?(?:\s*\([^()]{{0,80}}\))?{names})\s*[,:]\s*",
            re.I,
        )

    def taken(self, text: str) -> tuple[str, list[tuple[int, list[int]]]]:
        """The text without marks, and (place in it, numbers) of each mark that stood there."""
        spans = [
            (m.start(), m.end(), self._known(next((g for g in m.groups() if g), ""))) for m in _MARK.finditer(text)
        ]
        if self._cited is not None:
            spans += [(m.start(), m.end(), self._names[m[1].casefold()]) for m in self._cited.finditer(text)]
        spans = [s for s in spans if s[2] or not _FIGURE.match(text, s[0])]
        plain, citations, at = "", [], 0
        for start, end, numbers in sorted(spans):
            if start < at:
                continue
            plain += text[at:start]
            citations.append((len(plain), numbers))
            at = end
        return plain + text[at:], citations

    def opening(self, sentence: str) -> tuple[str, list[int]]:
        """The sentence without a beginning that names its source, and the numbers of that."""
        match = self._opening.match(sentence)
        if match is None or len(sentence) - match.end() < 12:
            return sentence, []
        rest = sentence[match.end() :]
        opening = match.group().casefold()
        named = [n for name, numbers in self._names.items() if name in opening for n in numbers]
        cited = match["n"] or match["tag"] or match["number"]
        return rest[0].upper() + rest[1:], self._known(cited) if cited else named

    def tidied(self, claim: dict[str, Any]) -> dict[str, Any]:
        """A claim of JSON without what names its sources once more: "According to the evidence, …", "… (1)"."""
        text, sources = self.opening(claim["text"])
        if (match := _LAST.search(text)) and (known := self._known(match[1])):
            text, sources = text[: match.start()], [*sources, *known]
        return {"text": text, "sources": list(dict.fromkeys([*claim["sources"], *sources]))}

    def numbers(self, value: Any) -> list[int]:
        """Of what a model gave as the sources of a sentence: numbers, texts, names, objects, or a list of them."""
        if isinstance(value, bool) or value is None:
            return []
        if isinstance(value, int | float):
            return self._known(str(int(value))) if abs(value) < 1_000 else []
        if isinstance(value, str):
            named = [n for name, numbers in self._names.items() if name in value.casefold() for n in numbers]
            alone = _ALONE.fullmatch(value[:200])
            return named or (self._known(alone[1]) if alone else self._marked(value[:2_000]))
        if isinstance(value, list):
            return list(dict.fromkeys(n for item in value[:60] for n in self.numbers(item)))
        if isinstance(value, dict):
            parts = {str(key).casefold(): item for key, item in value.items()}
            for key in (*_NUMBER_KEYS, *_NAME_KEYS):
                if key in parts and not isinstance(parts[key], dict) and (sources := self.numbers(parts[key])):
                    return sources
        return []

    def is_name(self, text: str) -> bool:
        """Whether nothing but the name of a source is there."""
        return text.strip(" \t\"'“”`*_-–:.").casefold() in self._names

    def _marked(self, text: str) -> list[int]:
        return list(dict.fromkeys(n for _, numbers in self.taken(text)[1] for n in numbers))

    def _known(self, digits: str) -> list[int]:
        """The numbers in it that are sources: "1-3" names three."""
        if digits[:1] and digits[0] in "¹²³⁴⁵⁶⁷⁸⁹":
            digits = " ".join(digits.translate(_SUPERSCRIPT))
        numbers: list[int] = []
        for first, last in re.findall(r"(\d{1,2})(?:\s*[-–]\s*(\d{1,2}))?", digits):
            numbers += range(int(first), int(last or first) + 1)
        known = {item["n"] for item in self.evidence}
        return [n for n in dict.fromkeys(numbers) if n in known]
