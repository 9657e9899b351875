"""A chat model's opinion on whether a passage says what a sentence says, read from the first word that it would write.

It stands beside the embedded check (graph/policy/grounding), which decides alone where a server tells no probabilities.
"""

import hashlib
from collections.abc import Sequence

from langchain_core.messages import HumanMessage, SystemMessage

from graph.extractive.excerpts import around
from graph.extractive.units import Range
from graph.models.chat import Generator
from prompts import load

MOST = 12  # opinions a turn: more sentences are left to the embedded check
PASSAGE_CHARS = 4_000
WORDS = 120  # of a passage that are read: those around the places that say most of the sentence


class SupportOpinion:
    """One turn's: `mark` is what its tags carry."""

    def __init__(self, generator: Generator, mark: str) -> None:
        self._generator, self._left = generator, MOST
        self.log_odds: list[float | None] = []  # in the order in which they were asked for
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        self._nonce = hashlib.blake2s(mark.encode()).hexdigest()[:8]

    @property
    def prompts(self) -> dict[str, str]:
        """Name to digest of those that were used."""
        return {p.name: p.digest for p in map(load, ("support", "statement"))} if self.log_odds else {}

    def __call__(self, claim: str, passage: str, places: Sequence[Range] = ()) -> float | None:
        """Log-odds of Yes against No; None where the model gives none. `places`: where the passage says most of it."""
        if self._left <= 0:
            return None
        self._left -= 1
        shown = around(passage, places, WORDS)
        prompt = load("statement").fill(
            nonce=self._nonce, passage=shown[:PASSAGE_CHARS].replace("</", "< /"), statement=" ".join(claim.split())
        )
        odds = self._generator.odds([SystemMessage(load("support").text), HumanMessage(prompt)])
        self.log_odds.append(None if odds is None else odds.value)
        if odds is None:
            return None
        self.calls += 1
        self.prompt_tokens += odds.prompt_tokens
        self.completion_tokens += odds.completion_tokens
        return odds.value
