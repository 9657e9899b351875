"""Sentence embeddings: MiniLM through onnxruntime, a model of one's own in a folder, or one at an OpenAI-compatible
endpoint.

All are LangChain `Embeddings` whose vectors have length 1, so that a dot product is the cosine.
"""

import hashlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from graph import turn_cache
from graph.errors import ModelUnavailable, Unavailable
from graph.onnx.folder import Folder, is_folder
from graph.onnx.minilm import installed, session
from graph.settings import Settings

# Published by sentence-transformers for all-MiniLM-L6-v2; the package that carries the file is by someone else.
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSIONS = 384
MAX_TOKENS = 256  # what the model was trained on; longer texts are embedded in windows
_TOGETHER = 384  # word pieces in one run: with more the processor's caches are too small, and each takes 10% longer
_WINDOWS = 8  # of a text that are read: more than the longest chunk has, so this bounds what a question may cost
_PORTION = 16_384  # characters whose tokens are counted at once

_Window = tuple[int, list[int]]  # which text, word pieces


class Embedder(Protocol):
    """What the index needs. `name` is stored with the index: vectors of two models must not mix. A model that reads
    questions otherwise than passages says by `query_prefix` what to put before a question."""

    name: str
    query_prefix: str

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32, shape (len(texts), dimensions), rows of length 1."""
        ...

    def count(self, text: str) -> int:
        """Tokens in text."""
        ...


def once(embedder: Embedder, text: str) -> np.ndarray:
    """The vector of a text, float32 (dimensions,): the stages of a turn ask for that of one question several times."""
    known = turn_cache.entries()
    key = "vector", embedder.name, text
    if key not in known:
        known[key] = embedder.embed([text])[0]
    vector: np.ndarray = known[key]
    return vector


class MiniLM:
    """all-MiniLM-L6-v2 (English, 384 dimensions, Apache-2.0), in process, on the CPU.

    A text of up to 254 word pieces is one pass; a longer one is the mean of its windows, of the first _WINDOWS. The
    same text gives the same vector whatever stands beside it in the call, because each batch holds texts of one length
    only. Threads share the batches, not the work on one: for a question the parts would be too small.
    """

    name = "all-MiniLM-L6-v2"
    query_prefix = ""

    def __init__(self, threads: int = 2) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="cordon-embedding")
        self._lock = threading.Lock()

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(installed().with_name("tokenizer.json")))
        tokenizer.no_truncation()  # the file ships truncation 128 and padding to 128
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        return session()

    def warm(self) -> None:
        """Load tokenizer and weights now, from any thread."""
        with self._lock:
            _ = self._tokenizer, self._session

    def count(self, text: str) -> int:
        self.warm()
        return sum(len(self._encoded([part])[0]) for part in _portions(text))

    def _encoded(self, texts: list[str]) -> Any:
        """Word pieces without their places in the text, which takes a quarter less."""
        return self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.warm()
        windows: list[_Window] = []
        for row, encoding in enumerate(self._encoded(list(texts))):
            ids, room = encoding.ids, MAX_TOKENS - 2
            read = min(len(ids), _WINDOWS * room)
            windows.extend((row, [101, *ids[at : min(at + room, read)], 102]) for at in range(0, max(read, 1), room))
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        batches = list(_batches(windows))
        outputs = map(self._run, batches) if len(batches) == 1 else self._pool.map(self._run, batches)
        for batch, rows in zip(batches, outputs, strict=True):
            for (row, ids), vector in zip(batch, rows, strict=True):
                vectors[row] += vector * len(ids)
        return _unit(vectors)

    def _run(self, batch: list[_Window]) -> np.ndarray:
        ids = np.array([ids for _, ids in batch], np.int64)
        rows: np.ndarray = self._session.run(["embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        return rows


def _portions(text: str) -> Iterator[str]:
    """The text in parts of at most _PORTION characters, divided at a space where there is one: the tokenizer takes half
    a kilobyte of memory for every token of a part."""
    at = 0
    while at < len(text):
        end = at + _PORTION
        space = text.rfind(" ", at, end) if end < len(text) else -1
        end = space if space > at else end
        yield text[at:end]
        at = end


def _batches(windows: list[_Window]) -> Iterator[list[_Window]]:
    """The shortest first, in each windows of one length."""
    windows = sorted(windows, key=lambda window: len(window[1]))
    at = 0
    while at < len(windows):
        length = len(windows[at][1])
        batch = [w for w in windows[at : at + max(1, _TOGETHER // length)] if len(w[1]) == length]
        yield batch
        at += len(batch)


class Endpoint:
    """Embeddings of an OpenAI-compatible server. Raises ModelUnavailable when it does not answer as it should."""

    def __init__(self, settings: Settings) -> None:
        self.name = settings.embeddings
        self.query_prefix = settings.embeddings_query
        self._settings = settings

    @cached_property
    def _client(self) -> Any:
        from langchain_openai import OpenAIEmbeddings

        return OpenAIEmbeddings(
            model=self.name,
            base_url=self._settings.openai_base_url or None,
            api_key=self._settings.openai_api_key.get_secret_value() or "none",  # type: ignore[arg-type]
            timeout=self._settings.model_timeout_s,
            max_retries=self._settings.model_retries,
            check_embedding_ctx_length=False,  # otherwise tiktoken downloads its tables
        )

    def count(self, text: str) -> int:
        return max(1, len(text) // 4)  # the server's tokenizer is not known here; about 4 characters a token

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        import openai

        try:
            vectors = np.asarray(self._client.embed_documents(list(texts)), np.float32)
        except (openai.OpenAIError, ValueError, TypeError) as error:
            raise ModelUnavailable(
                f"the embedding model {self.name!r} did not answer ({type(error).__name__}).",
                hint="Is the server at OPENAI_BASE_URL up, and does it serve that model?",
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise ModelUnavailable(f"the embedding model {self.name!r} sent vectors of the wrong shape.")
        return _unit(vectors)


class Local:
    """A sentence encoder of one's own, from a folder (graph/onnx/folder.py), with its pooling and prefixes."""

    def __init__(self, settings: Settings) -> None:
        self._folder = Folder(Path(settings.embeddings), "CORDON_EMBEDDINGS")
        declared = self._folder.declared("config_sentence_transformers.json", "prompts")
        prompts = declared if isinstance(declared, dict) else {}
        self.query_prefix = settings.embeddings_query or str(prompts.get("query", ""))
        self._passage = settings.embeddings_passage or str(prompts.get("passage", prompts.get("document", "")))
        self._pooling = settings.embeddings_pooling or self._declared_pooling()
        self.name = f"{self._folder.name}/{self._pooling}"

    def _declared_pooling(self) -> str:
        for key, pooling in (("pooling_mode_cls_token", "cls"), ("pooling_mode_lasttoken", "last")):
            if self._folder.declared("1_Pooling/config.json", key):
                return pooling
        return "mean"

    def count(self, text: str) -> int:
        tokenizer = self._folder.whole
        return sum(len(tokenizer.encode(part, add_special_tokens=False)) for part in _portions(text))

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        is_query = [bool(self.query_prefix) and text.startswith(self.query_prefix) for text in texts]
        prefixed = [text if question else self._passage + text for text, question in zip(texts, is_query, strict=True)]
        rows: dict[int, np.ndarray] = {}
        for at, states, mask in self._folder.run(prefixed):
            if states.ndim == 1:  # the graph pools by itself
                rows[at] = states
            else:
                last = int(mask.sum()) - 1
                pooled = {"cls": states[0], "last": states[last], "mean": states[: last + 1].mean(axis=0)}
                rows[at] = pooled[self._pooling]
        vectors = np.array([rows[at] for at in range(len(texts))], np.float32)
        if not np.isfinite(vectors).all():
            raise Unavailable(f"the embedding model {self.name!r} gave something that is no number.")
        return _unit(vectors)


def _unit(vectors: np.ndarray) -> np.ndarray:
    normalised: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return normalised


@cache
def shared() -> MiniLM:
    """The one MiniLM of this process: its weights are read-only."""
    return MiniLM()


def embedder(settings: Settings) -> Embedder:
    """`embedded`, a folder where the setting looks like a path, else a model of that name at the endpoint."""
    if settings.embeddings == "embedded":
        return shared()
    return Local(settings) if is_folder(settings.embeddings) else Endpoint(settings)


def verify_weights() -> bool:
    """Whether the installed weights are the published ones. Reads 90 MB: `cordon doctor` and ingestion ask."""
    with installed().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == WEIGHTS_SHA256
