"""Models of one's own: a folder in the Hugging Face layout, run by onnxruntime in this process.

    model.onnx (or onnx/model.onnx), tokenizer.json, and where there are: config.json, sentence_bert_config.json,
    1_Pooling/config.json, config_sentence_transformers.json

Nothing is downloaded, and no code of the folder is run.
"""

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from graph.errors import BadSettings
from graph.onnx.minilm import Text

TOGETHER = 8  # texts at once
LONGEST = 512  # pieces of a text, where the folder does not say


class Folder:
    """The model in a folder. Raises BadSettings when there is none, or it is of another kind."""

    def __init__(self, folder: Path, setting: str, threads: int = 2) -> None:
        self.folder, self._setting, self._threads = folder, setting, threads
        self._opening = threading.Lock()
        found = [folder / name for name in ("model.onnx", "onnx/model.onnx") if (folder / name).is_file()]
        if not found or not (folder / "tokenizer.json").is_file():
            raise BadSettings(
                f"{setting}: {folder} is no model.",
                hint="Give a folder with model.onnx (or onnx/model.onnx) and tokenizer.json.",
            )
        self.file = found[0]

    @cached_property
    def name(self) -> str:
        """The folder's name with a digest of its weights, which tells two models of one name apart."""
        with self.file.open("rb") as file:
            return f"{self.folder.name}@{hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"

    def declared(self, file: str, key: str) -> Any:
        """What a JSON file of the folder says, None where it says nothing."""
        try:
            said = json.loads((self.folder / file).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return said.get(key) if isinstance(said, dict) else None

    @cached_property
    def length(self) -> int:
        """Pieces of a text that are read."""
        told = self.declared("sentence_bert_config.json", "max_seq_length")
        most = self.declared("config.json", "max_position_embeddings")
        return min(n for n in (told, most, LONGEST) if isinstance(n, int) and n > 8)

    @cached_property
    def tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        except Exception as error:  # the library raises nothing narrower
            raise self._broken("tokenizer.json", error) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.length)
        return tokenizer

    @cached_property
    def whole(self) -> Any:
        """The tokenizer without a bound, to count with."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(self.tokenizer.to_str())
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def session(self) -> Any:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            return ort.InferenceSession(str(self.file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library raises a type for each way to fail
            raise self._broken(self.file.name, error) from error

    def open(self) -> tuple[Any, Any]:
        """Tokenizer and session, loaded once."""
        with self._opening:
            return self.tokenizer, self.session

    def run(self, texts: Sequence[Text], options: Any = None) -> Iterator[tuple[int, Any, Any]]:
        """For each text, the shortest first: its place, the first output for it, and its mask. `options` are
        onnxruntime's RunOptions, by which another thread can end it."""
        import numpy as np

        tokenizer, session = self.open()
        encoded = tokenizer.encode_batch(list(texts))
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at].ids))
        wanted = [given.name for given in session.get_inputs()]
        for begin in range(0, len(order), TOGETHER):
            rows = order[begin : begin + TOGETHER]
            width = max(1, len(encoded[rows[-1]].ids))
            given = {name: np.zeros((len(rows), width), np.int64) for name in wanted}
            for line, row in enumerate(rows):
                one = encoded[row]
                parts = {"input_ids": one.ids, "attention_mask": one.attention_mask, "token_type_ids": one.type_ids}
                for name in wanted:
                    if name not in parts:
                        raise self._broken(self.file.name, ValueError(f"it asks for {name!r}"))
                    given[name][line, : len(one.ids)] = parts[name]
            try:
                output = np.asarray(session.run(None, given, options)[0], np.float32)
            except Exception as error:
                raise self._broken(self.file.name, error) from error
            for line, row in enumerate(rows):
                yield row, output[line], np.arange(width) < len(encoded[row].ids)

    def _broken(self, file: str, error: Exception) -> BadSettings:
        said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        return BadSettings(
            f"{self._setting}: {self.folder / file} cannot be used: {said}.", hint="Is it a whole export?"
        )


def is_folder(setting: str) -> bool:
    """Whether a setting names a folder rather than a model: it is one, or is written as a path."""
    return Path(setting).is_dir() or setting.startswith((".", "/", "~"))
