"""What of indexed passages may be shown to the asker of a question: of documents that may still be used, masked."""

from collections.abc import Iterable
from datetime import UTC, datetime

from graph.policy import pii

_NEAR = 400  # characters
Text = tuple[str, str]  # until when its document may be used, "" for good; the text as it was indexed


def around(passages: Iterable[Text], word: str) -> Iterable[Text]:
    """The part of each passage in which the word, in lower case, stands first: masking a whole one takes long."""
    for expires, text in passages:
        if (at := text.casefold().find(word)) >= 0:
            yield expires, text[max(0, at - _NEAR) : at + len(word) + _NEAR]


def readable(passages: Iterable[Text]) -> Iterable[str]:
    """The masked text of those whose document may still be used."""
    now = datetime.now(UTC).isoformat()
    return (pii.mask(text).text for expires, text in passages if not expires or expires > now)
