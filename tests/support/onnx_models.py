"""Small ONNX models in the Hugging Face layout, written byte by byte: the package `onnx` is needed by nothing else."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors

INT64, FLOAT, OPSET = 7, 1, 17


def encoder(folder: Path, words: dict[str, list[float]], **files: Mapping[str, object]) -> Path:
    """A model whose token vectors are those of `words`: output (batch, pieces, dimensions)."""
    return _written(folder, words, [_node("Gather", ["table", "input_ids"], "last_hidden_state")], 3, files)


def cross_encoder(folder: Path, words: dict[str, list[float]]) -> Path:
    """A model whose score of a pair is the sum of its words' numbers: output (batch, 1)."""
    nodes = [
        _node("Gather", ["table", "input_ids"], "each"),
        _node("ReduceSum", ["each", "axis"], "logits", _attribute("keepdims", 0)),
    ]
    return _written(folder, words, nodes, 2, {}, _tensor("axis", np.array([1], np.int64)))


def classifier(
    folder: Path,
    words: dict[str, list[float]],
    config: Mapping[str, object],
    *,
    always: list[float] | None = None,
    slow: int = 0,
) -> Path:
    """A sequence classifier whose logits are `always` and the sum of its words' numbers: output (batch, labels). `slow`
    is how many useless products of 512 by 1,000 by 1,000 numbers it computes on the way for a long text."""
    nodes = [
        _node("Gather", ["table", "input_ids"], "each"),
        _node("MatMul", ["each", "wide"], "h0"),
        *(_node("MatMul", [f"h{at}", "square"], f"h{at + 1}") for at in range(slow)),
        _node("MatMul", [f"h{slow}", "narrow"], "nothing"),
        _node("Add", ["each", "nothing"], "all"),
        _node("ReduceSum", ["all", "axis"], "logits", _attribute("keepdims", 0)),
    ]
    labels, width = len(next(iter(words.values()))), 1_000 if slow else 1
    zeros = {"wide": (labels, width), "square": (width, width), "narrow": (width, labels)}
    tensors = [_tensor(name, np.zeros(shape, np.float32)) for name, shape in zeros.items()]
    axis = _tensor("axis", np.array([1], np.int64))
    return _written(folder, words, nodes, 2, {"config": config}, axis, *tensors, begin=always)


def _written(
    folder: Path,
    words: dict[str, list[float]],
    nodes: list[bytes],
    rank: int,
    files: Mapping[str, Mapping[str, object]],
    *more: bytes,
    begin: list[float] | None = None,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    width = len(next(iter(words.values())))
    vocabulary = {word: at for at, word in enumerate(["[UNK]", "[CLS]", "[SEP]", *words])}
    none = [0.0] * width
    table = np.array([none, begin or none, none, *words.values()], np.float32)
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "small")
    graph += b"".join(_field(5, tensor) for tensor in (_tensor("table", table), *more))
    graph += b"".join(_field(11, _value(name, INT64, 2)) for name in ("input_ids", "attention_mask"))
    graph += _field(12, _value("last_hidden_state" if rank == 3 else "logits", FLOAT, rank))
    model = _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, OPSET))
    (folder / "model.onnx").write_bytes(model)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace()])
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    tokenizer.save(str(folder / "tokenizer.json"))
    for name, held in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(held))
    return folder


def _node(kind: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    said = b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, kind)
    return said + b"".join(_field(5, attribute) for attribute in attributes)


def _attribute(name: str, value: int) -> bytes:
    return _field(1, name) + _field(3, value) + _field(20, 2)


def _tensor(name: str, values: np.ndarray) -> bytes:
    kind = INT64 if values.dtype == np.int64 else FLOAT
    dims = b"".join(_field(1, size) for size in values.shape)
    return dims + _field(2, kind) + _field(8, name) + _field(9, values.tobytes())


def _value(name: str, kind: int, rank: int) -> bytes:
    shape = b"".join(_field(1, _field(2, f"d{at}")) for at in range(rank))
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    held = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(held)) + held


def _varint(value: int) -> bytes:
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])
