"""How much of a prompt a model's context has room for, counted without its tokenizer."""

from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage

from graph.models.task import Task

# Bytes of UTF-8 for a token. English has 4 to 5, German, numbers, Urdu and Chinese about 3: too low a figure cuts a
# prompt too early, never too late. The ratio that the server's own count gives replaces it, less a margin.
BYTES = 3.0
_BELIEVED = (2.0, 6.0)  # a ratio outside is not used: some servers do not count what they have cached
_MARGIN = 0.95
_TEMPLATE = 8  # tokens that a template puts around each message


class ContextBudget:
    """`context`: tokens that the model reads and writes in one turn; 0 where that is not known."""

    def __init__(self, context: int) -> None:
        self.context = context
        self._bytes = BYTES

    def answer(self, max_tokens: int) -> int:
        """What an answer may take: never more than half."""
        return min(max_tokens, self.context // 2) if self.context else max_tokens

    def fits(self, messages: Sequence[BaseMessage], max_tokens: int, beside: int = 0) -> bool:
        """Whether the messages, `beside` further bytes and the answer go in."""
        tokens = (_size(messages) + beside) / self._bytes + _TEMPLATE * (len(messages) + 1)
        return not self.context or tokens + self.answer(max_tokens) <= self.context

    def fitted(self, make: Callable[[int], Task], most: int, max_tokens: int, beside: int = 0) -> Task:
        """The task with as many whole passages, from the first on, as go in; at least one."""
        for count in range(most, 1, -1):
            if self.fits((task := make(count)).messages, max_tokens, beside):
                return task
        return make(min(1, most))

    def learn(self, messages: Sequence[BaseMessage], prompt_tokens: int) -> None:
        """Take the server's own count of the messages for a measure."""
        if prompt_tokens > 0 and _BELIEVED[0] <= (seen := _size(messages) / prompt_tokens) <= _BELIEVED[1]:
            self._bytes = seen * _MARGIN


def _size(messages: Sequence[BaseMessage]) -> int:
    return sum(len(str(message.content).encode("utf-8", "replace")) for message in messages)
