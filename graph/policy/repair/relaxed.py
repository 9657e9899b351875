"""JSON as people, Python and JavaScript write it: one reading, in one pass, or none.

Accepted beyond JSON: comments; single, typographic, back and triple quotes with Python's prefixes; raw line ends in
strings; unquoted keys; `=`, `=>` for the colon and `;` for the comma; commas too many or, before a space, missing;
tuples; True, None, undefined, NaN (null); hexadecimal, `+5`, `.5`, `1_000`; strings joined by `+`; several values in a
row; an end that was cut off. Anything else gives no value: then nothing here is guessed.
"""

import re
from typing import Any

from graph.policy.repair.numbers import number

# A comment to the end of the line that holds a closing bracket may have swallowed it: that is no clear reading.
_SPACE = re.compile(r"(?:[\s\ufeff]+|/\*.*?(?:\*/|\Z)|(?://|#)[^\n\]}]*(?=\n|\Z))*", re.S)
_NAME = re.compile(r"[^\W\d][\w$-]*")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d[\d_]*)(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(?![\w.])"
)
_PREFIX = re.compile(r"(?:[uUbBrRfF]|[rR][bB]|[bB][rR])?(?=[\"'])")
_LITERALS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None, "TRUE": True,
    "FALSE": False, "NULL": None, "undefined": None, "NaN": None, "nan": None, "Infinity": None, "inf": None,
}  # fmt: skip
_CLOSES = {"“": "”", "‘": "’", "„": "“", "«": "»"}
_PAIRS = {"{": "}", "[": "]", "(": ")"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.|\Z)", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": "", "\r\n": "", "": ""}
_PLAIN = {q: re.compile(rf"[^{q}\\]*(?:\\.[^{q}\\]*)*{q}", re.S) for q in "\"'`”’“»"}
_CUT = object()  # a value of which nothing is left
_MAX_VALUES = 10_000


class _Unclear(Exception):
    """The text has no single reading."""


def parse(text: str) -> tuple[bool, Any]:
    """Whether the text has one reading, and it."""
    reader = _Reader(text)
    try:
        values = [reader.value()]
        while not reader.at_end(skip=" ,;]})") and len(values) < _MAX_VALUES:
            values.append(reader.value())
    except (_Unclear, ValueError):
        return False, None
    if values[0] is _CUT or (len(values) > 1 and not all(isinstance(v, list | dict) for v in values)):
        return False, None
    filled = [v for v in values if v not in ([], {})] or values[:1]
    return True, filled[0] if len(filled) == 1 else filled


class _Frame:
    """An open bracket. In an object `key` is what waits for its value; in a tuple `commas` counts."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.items: list[Any] = []
        self.fields: dict[str, Any] = {}
        self.key: str | None = None
        self.commas = 0

    def add(self, value: Any) -> None:
        if self.mark == "{":
            if self.key is None:
                raise _Unclear
            self.fields[self.key] = value
            self.key = None
        else:
            self.items.append(value)

    def close(self) -> Any:
        if self.mark == "{":
            return self.fields
        return self.items[0] if self.mark == "(" and len(self.items) == 1 and not self.commas else self.items


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def at_end(self, skip: str) -> bool:
        self.space()
        while self.at < len(self.text) and self.text[self.at] in skip:
            self.at += 1
            self.space()
        return self.at >= len(self.text)

    def space(self) -> bool:
        match = _SPACE.match(self.text, self.at)
        begun, self.at = self.at, match.end() if match else self.at
        return self.at > begun

    def value(self) -> Any:
        """The value that begins here; brackets left open at the end of the text are closed there."""
        stack: list[_Frame] = []
        parted = True  # whether a comma, a bracket or a space divides what comes from what was
        while True:
            parted = self.space() or parted
            mark = self.text[self.at : self.at + 1]
            if not mark:
                return self._cut(stack)
            if mark in ",;" and stack:
                self.at += 1
                stack[-1].commas += 1
                if stack[-1].key is not None:
                    stack[-1].add("")
                parted = True
                continue
            if stack and mark == _PAIRS[stack[-1].mark]:
                self.at += 1
                if stack[-1].key is not None:
                    stack[-1].add("")
                done = stack.pop().close()
            elif mark in "}])" or not parted:
                raise _Unclear
            elif stack and stack[-1].mark == "{" and stack[-1].key is None:
                if not self._key(stack[-1]):
                    return self._cut(stack)
                parted = True
                continue
            elif mark in _PAIRS:
                self.at += 1
                stack.append(_Frame(mark))
                parted = True
                continue
            else:
                done = self._scalar(bool(stack))
                if done is _CUT:
                    return self._cut(stack)
            if not stack:
                return done
            stack[-1].add(done)
            parted = False

    def _cut(self, stack: list[_Frame]) -> Any:
        """What the open brackets hold when the text ends."""
        if not stack:
            return _CUT
        if stack[-1].key is not None:
            stack[-1].add("")
        while len(stack) > 1:
            done = stack.pop().close()
            stack[-1].add(done)
        return stack[0].close()

    def _key(self, frame: _Frame) -> bool:
        """Reads a key and its colon; False when the text ends before the colon."""
        quoted = self._string()
        if quoted is not None:
            key, closed = quoted
            if not closed:
                return False
        elif match := _NAME.match(self.text, self.at) or _NUMBER.match(self.text, self.at):
            key, self.at = match.group(), match.end()
        else:
            raise _Unclear
        self.space()
        if self.at >= len(self.text):
            return False
        for colon in ("=>", ":=", ":", "="):
            if self.text.startswith(colon, self.at):
                self.at += len(colon)
                frame.key = key.strip("\r\n")
                return True
        raise _Unclear

    def _scalar(self, inside: bool) -> Any:
        quoted = self._string()
        if quoted is not None:
            value, closed = quoted
            if not closed and not inside:
                raise _Unclear
            if not closed and not value:
                return _CUT
            while closed and self._joined():
                more = self._string()
                if more is None:
                    raise _Unclear
                value, closed = value + more[0], more[1]
            return value
        if match := _NUMBER.match(self.text, self.at):
            self.at = match.end()
            return _numeral(match.group())
        sign = 1 if self.text[self.at] in "+-" else 0
        match = _NAME.match(self.text, self.at + sign)
        if match is None:
            if self.text[self.at :].strip() in ("-", "+", "...", "…"):
                return _CUT
            raise _Unclear
        name, self.at = match.group(), match.end()
        if name in _LITERALS and (not sign or _LITERALS[name] is None):
            return _LITERALS[name]
        if inside and self.at == len(self.text) and len(name) >= 2:
            for word in ("true", "false", "null", "True", "False", "None"):
                if word.startswith(name):
                    return _LITERALS[word]
        raise _Unclear

    def _joined(self) -> bool:
        """Steps over a `+` between two strings."""
        before = self.at
        self.space()
        if self.text.startswith("+", self.at):
            self.at += 1
            self.space()
            return True
        self.at = before
        return False

    def _string(self) -> tuple[str, bool] | None:
        """A string and whether it was closed; None when none begins here."""
        text = self.text
        prefix = _PREFIX.match(text, self.at)
        begin = prefix.end() if prefix else self.at
        quote = text[begin : begin + 1]
        if quote not in "\"'`“‘„«" or not quote:
            return None
        raw = prefix is not None and "r" in prefix.group().lower()
        if quote in "\"'" and text.startswith(quote * 3, begin):
            end = text.find(quote * 3, begin + 3)
            if end < 0:
                raise _Unclear
            self.at = end + 3
            inner = text[begin + 3 : end]
            return (inner if raw else _unescape(inner)), True
        match = _PLAIN[_CLOSES.get(quote, quote)].match(text, begin + 1)
        if match is None:
            inner = text[begin + 1 :]
            if re.search(r"[\]}]\s*\Z", inner):  # brackets close behind it: the quote is lost, not the end
                raise _Unclear
            self.at = len(text)
            return _unescape(inner), False
        self.at = match.end()
        inner = match.group()[:-1]
        # `"a": "one, "b": 2`: what looks closed runs into the next field.
        if quote in "\"'" and re.search(r"[,{\[:]\s*\Z", inner) and re.match(r"[^\W\d]", text[self.at : self.at + 1]):
            raise _Unclear
        return (inner if raw else _unescape(inner)), True


def _numeral(text: str) -> int | float:
    plain = text.replace("_", "").lstrip("+")
    if "x" in plain.lower():
        return int(plain, 16)
    if re.fullmatch(r"-?\d+", plain):
        return number(plain)
    return number(re.sub(r"\.(?=\Z|[eE])", "", plain))


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    value = _ESCAPE.sub(_unescaped, text)
    # Two halves of one character, each written as \\uXXXX.
    return re.sub(r"[\ud800-\udbff][\udc00-\udfff]", _joined_pair, value)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) in (3, 5) and code[0] in "xu":
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code if code in "\"'`/\\" else "\\" + code)


def _joined_pair(match: re.Match[str]) -> str:
    return match.group().encode("utf-16", "surrogatepass").decode("utf-16")
