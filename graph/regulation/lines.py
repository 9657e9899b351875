"""What every source format is turned into before the structure is read: paragraphs as they were printed."""

import re
from dataclasses import dataclass

# A provision that has ended ends so: drafting rules close each point with a semicolon, a comma or a full stop.
_ENDED = re.compile(r"(?:[.;:,?!]|(?:^|[^)\s] ?)\b(?:and|or)|[.;:][’'”\")]{1,2}|[’'”\")][.;:,])\s*$")
_STOPPED = re.compile(r"[.:?!;][’'”\")\]]*\s*$")


@dataclass(slots=True)
class Line:
    """A printed paragraph, heading or lone mark, on one line.

    `depth` is how far it is set in, in any unit; `heading` whether it is set like one. Both are None when the format
    does not tell.
    """

    text: str
    page: int | None = None
    depth: float | None = None
    heading: bool | None = None
    role: str = ""  # "", "article", "title", "division", "recital": what markup says of it


def ended(text: str) -> bool:
    """Whether a part of a provision may end here, so that a mark after it opens another."""
    return not text or _ENDED.search(text[-40:]) is not None


def stopped(text: str) -> bool:
    """Whether a sentence or its introduction ends here."""
    return not text or _STOPPED.search(text[-8:]) is not None
