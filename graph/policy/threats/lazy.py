"""Regular expressions that are compiled when they are first used: importing the guards must not cost their making."""

import re
from collections.abc import Callable
from typing import Any, cast


class _Pattern:
    def __init__(self, source: "str | Callable[[], str]", flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        # Called once for each name: the instance keeps the value.
        value = getattr(re.compile(*self._written()), name)  # `re` keeps what it compiled
        setattr(self, name, value)
        return value

    def _written(self) -> tuple[str, int]:
        return self._source if isinstance(self._source, str) else self._source(), self._flags


def pattern(source: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, later; a mistake in `source` shows with the first use, so every pattern needs a test."""
    return cast(re.Pattern[str], _Pattern(source, flags))


def source(pattern: re.Pattern[str]) -> tuple[str, int]:
    """What it is written as, and its flags; nothing is compiled."""
    return pattern._written() if isinstance(pattern, _Pattern) else (pattern.pattern, pattern.flags)
