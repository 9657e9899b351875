"""What a masking rule is, and the page it reads."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

# A placeholder already in the text. The type has no digits, so a number cannot hide in one.
PLACEHOLDER = re.compile(r"\[REDACTED(?::[A-Z_]{2,30})?\]")
# Stands for each character of a placeholder while rules look: no letter, digit, space or punctuation to any of them.
BARRIER = "\0"
_ADDRESS = re.compile(r"https?://[^\s<>\"]*/$")
_GROUP = re.compile(r"\d+")


class RuleMatch(NamedTuple):
    """A finding in the canonical text. `score` is how sure the rule is: 0.9 and up for a check digit or a format nobody
    writes by chance, 0.7 for a format and a plausible value, 0.5 for a guess that is still worth masking."""

    start: int
    end: int
    score: float


TypedMatch = tuple[RuleMatch, str]  # with the type of its rule


class Page:
    """A canonical text with placeholders blanked out, and the few things most rules ask of it."""

    def __init__(self, text: str) -> None:
        if "[REDACTED" in text:
            text = PLACEHOLDER.sub(lambda placeholder: BARRIER * len(placeholder.group()), text)
        self.text = text
        self._mentions: dict[re.Pattern[str], bool] = {}

    def mentions(self, words: re.Pattern[str]) -> bool:
        """Whether one of the words stands anywhere on the page."""
        if words not in self._mentions:
            self._mentions[words] = bool(words.search(self.low))
        return self._mentions[words]

    @cached_property
    def low(self) -> str:
        """`text` in lower case, of the same length."""
        low = self.text.lower()
        if len(low) != len(self.text):
            low = "".join(char.lower() if len(char.lower()) == 1 else char for char in self.text)
        return low

    @cached_property
    def digits(self) -> int:
        """How many digits there are, counted up to 32."""
        count = 0
        for count, _ in enumerate(re.finditer(r"[0-9]", self.text), 1):
            if count == 32:
                break
        return count

    def before(self, start: int, width: int = 40) -> str:
        """The lower-case text just before `start`, not reaching over a placeholder."""
        return self.low[max(0, start - width) : start].rpartition(BARRIER)[2]

    def after(self, end: int, width: int = 24) -> str:
        """The lower-case text from `end` on, not reaching over a placeholder."""
        return self.low[end : end + width].partition(BARRIER)[0]

    def in_path(self, start: int) -> bool:
        """Whether a number is a part of the path of a web address, where pages and articles have theirs."""
        return self.text[start - 1 : start] == "/" and bool(_ADDRESS.search(self.before(start, 300)))

    def context(self, start: int, end: int, words: re.Pattern[str], width: int = 40) -> bool:
        """Whether one of the words stands shortly before the range, or right after it."""
        if not self.mentions(words):
            return False
        return bool(words.search(self.before(start, width)) or words.search(self.after(end)))


def ends(written: str) -> list[int]:
    """Where a number written in groups may end, the longest first: after each group."""
    return [group.end() for group in _GROUP.finditer(written)][::-1]


@dataclass(frozen=True)
class Rule:
    """A kind of personal data and how to find it.

    `digits` and `any_of` are the cheap gate: the page needs that many digits and one of these lower-case strings (none
    given: no such need), or the rule does not run.
    """

    type: str
    find: Callable[[Page], Iterable[RuleMatch]]
    digits: int = 0
    any_of: tuple[str, ...] = ()

    def applies(self, page: Page) -> bool:
        """Whether a page passes the gate."""
        if self.digits and page.digits < self.digits:
            return False
        return not self.any_of or any(part in page.low for part in self.any_of)
