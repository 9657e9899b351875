"""The embedded model: a text's vector is its own, and no run of the model reads more than the caches hold."""

import numpy as np

from graph.knowledge import embeddings
from graph.knowledge.embeddings import MiniLM, shared

TEXTS = [
    "Acids are kept in the cabinet.",
    "Who may enter?",
    "Lasers need goggles. " * 90,
    "Bases are kept in the shed.",
] * 5


def test_a_text_has_the_same_vector_whatever_stands_beside_it() -> None:
    together = shared().embed(TEXTS)
    assert np.array_equal(together, np.concatenate([shared().embed([text]) for text in TEXTS]))
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)


def test_windows_of_one_length_are_read_together_up_to_a_bound() -> None:
    read: list[tuple[int, set[int]]] = []

    class Watched(MiniLM):
        def _run(self, batch: list[tuple[int, list[int]]]) -> np.ndarray:
            read.append((len(batch), {len(pieces) for _, pieces in batch}))
            return super()._run(batch)

    Watched().embed(TEXTS)
    assert all(len(lengths) == 1 for _, lengths in read)
    assert {count for count, lengths in read if max(lengths) == embeddings.MAX_TOKENS} == {1}
    assert max(count * max(lengths) for count, lengths in read) <= 384
    assert max(count for count, _ in read) >= 5
