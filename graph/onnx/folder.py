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
        files = [folder / name for name in ("model.onnx", "onnx/model.onnx") if (folder / name).is_file()]
        if not files or not (folder / "tokenizer.json").is_file():
            raise BadSettings(
                f"{setting}: {folder} is no model.",
                hint="Give a folder with model.onnx (or onnx/model.onnx) and tokenizer.json.",
            )
        self.file = files[0]

    @cached_property
    def name(self) -> str:
        """The folder's name with a digest of its weights, so that two models of one name differ."""
        with self.file.open("rb") as file:
            return f"{self.folder.name}@{hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"

    def declared(self, file: str, key: str) -> Any:
        """The value under `key` in a JSON file of the folder; None where there is no such file or key."""
        try:
            fields = json.loads((self.folder / file).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return fields.get(key) if isinstance(fields, dict) else None

    @cached_property
    def length(self) -> int:
        """Word pieces of a text that are read; the rest is cut off."""
        configured = self.declared("sentence_bert_config.json", "max_seq_length")
        possible = self.declared("config.json", "max_position_embeddings")
        return min(n for n in (configured, possible, LONGEST) if isinstance(n, int) and n > 8)

    @cached_property
    def tokenizer(self) -> Any:
        """Cuts a text at `length` pieces and pads nothing. Raises BadSettings when its file cannot be read."""
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
        """onnxruntime's, on the CPU. Raises BadSettings when the model cannot be loaded."""
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
        """For each text, the shortest first: its place, the model's first output for it, and which of its pieces are
        no padding. With `options`, onnxruntime's RunOptions, another thread can stop it."""
        import numpy as np

        tokenizer, session = self.open()
        encoded = tokenizer.encode_batch(list(texts))
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at].ids))
        names = [tensor.name for tensor in session.get_inputs()]
        for begin in range(0, len(order), TOGETHER):
            rows = order[begin : begin + TOGETHER]
            width = max(1, len(encoded[rows[-1]].ids))
            inputs = {name: np.zeros((len(rows), width), np.int64) for name in names}
            for line, row in enumerate(rows):
                text = encoded[row]
                parts = {"input_ids": text.ids, "attention_mask": text.attention_mask, "token_type_ids": text.type_ids}
                for name in names:
                    if name not in parts:
                        raise self._broken(self.file.name, ValueError(f"it asks for {name!r}"))
                    inputs[name][line, : len(text.ids)] = parts[name]
            try:
                output = np.asarray(session.run(None, inputs, options)[0], np.float32)
            except Exception as error:
                raise self._broken(self.file.name, error) from error
            for line, row in enumerate(rows):
                yield row, output[line], np.arange(width) < len(encoded[row].ids)

    def _broken(self, file: str, error: Exception) -> BadSettings:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        message = f"{self._setting}: {self.folder / file} cannot be used: {reason}."
        return BadSettings(message, hint="Is it a whole export?")


def is_folder(setting: str) -> bool:
    """Whether a setting names a folder and no model: there is such a folder, or the setting is written as a path."""
    return Path(setting).is_dir() or setting.startswith((".", "/", "~"))
