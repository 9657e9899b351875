"""How much of a prompt a model's context has room for, counted without its tokenizer."""

from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage

from graph.models.task import Task

# Bytes of UTF-8 for a token. English has 4 to 5, German and numbers 3, Urdu and Chinese about 3: counted too short, a
# prompt is cut too early, never too late. What the server counted itself takes its place, a twentieth short.
BYTES = 3.0
_BELIEVED = (2.0, 6.0)  # some servers leave out what they had read before: such a count is no measure
_MARGIN = 0.95
_TEMPLATE = 8  # tokens that a template puts around each message


class ContextBudget:
    """`context`: tokens that the model reads and writes in one turn; 0 when nobody said."""

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
