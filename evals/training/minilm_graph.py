"""Writes minilm.onnx: all-MiniLM-L6-v2 as a graph of 25 KB whose weights are byte ranges of model.safetensors; and
minilm8.onnx and minilm8_pieces.onnx, whose layers multiply whole numbers of 8 bits that graph/onnx/minilm.py gives
them: what a layer reads has one scale in the first, one for each word piece in the second.

Only needed when the graph changes, with the package `onnx` installed:

    python -m evals.training.minilm_graph PATH/TO/model.safetensors

The architecture is BERT's (Devlin et al. 2019): 6 layers, 12 heads, hidden size 384, exact GELU, layer norm with
epsilon 1e-12; then the mean over the tokens, scaled to length 1.
"""

import json
import struct
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
from onnx import TensorProto, helper

from graph.onnx.minilm import GRAPHS

LAYERS, HIDDEN, HEADS, EPSILON, OPSET = 6, 384, 12, 1e-12, 20
Numbers = Literal["full", "text", "piece"]


class Graph:
    """Collects nodes and initialisers; each method returns the name of what it made."""

    def __init__(self, weights: Path, numbers: Numbers) -> None:
        with weights.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            self.header = json.loads(file.read(size))
        self.base = 8 + size
        self.location = weights.name
        self.numbers = numbers
        self.read: dict[str, tuple[str, str]] = {}  # what is read → its whole numbers, and their scales
        self.nodes: list[onnx.NodeProto] = []
        self.initialisers: dict[str, onnx.TensorProto] = {}

    def weight(self, name: str) -> str:
        """A tensor that stays in the safetensors file; onnxruntime maps it from there."""
        entry = self.header[name]
        begin, end = entry["data_offsets"]
        return self.outside(name, TensorProto.FLOAT, entry["shape"], self.location, self.base + begin, end - begin)

    def outside(self, name: str, kind: int, shape: list[int], location: str, offset: int, length: int) -> str:
        if name not in self.initialisers:
            tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
            for key, value in {"location": location, "offset": offset, "length": length}.items():
                tensor.external_data.add(key=key, value=str(value))
            self.initialisers[name] = tensor
        return name

    def constant(self, name: str, value: object) -> str:
        self.initialisers.setdefault(name, onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: object) -> str:
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def linear(self, x: str, name: str) -> str:
        if self.numbers == "full":
            return self.add("Gemm", x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1)
        out, width = self.header[f"{name}.weight"]["shape"]
        numbers = self.outside(f"{name}.weight:numbers", TensorProto.INT8, [width, out], "given", 0, width * out)
        scale = self.outside(f"{name}.weight:scale", TensorProto.FLOAT, [out], "given", 0, 4 * out)
        if self.numbers == "piece":
            read, scales = self.by_piece(x)
            one, zeros = self.constant("one_scale", np.float32(1)), self.constant(f"zeros{out}", np.zeros(out, np.int8))
            found = self.add("MatMulIntegerToFloat", read, numbers, one, scale, "middle", zeros, domain="com.microsoft")
            return self.add("Add", self.add("Mul", found, scales), self.weight(f"{name}.bias"))
        read, read_scale, read_zero = (f"{name}:read{part}" for part in ("", "_scale", "_zero"))
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], [read, read_scale, read_zero]))
        found = self.add("MatMulInteger", read, numbers, read_zero, self.constant("zero8", np.int8(0)))
        found = self.add("Mul", self.add("Cast", found, to=TensorProto.FLOAT), self.add("Mul", read_scale, scale))
        return self.add("Add", found, self.weight(f"{name}.bias"))

    def by_piece(self, x: str) -> tuple[str, str]:
        """The rows of x as whole numbers from 1 to 255, 128 for zero, and their scales as a column."""
        if x not in self.read:
            column = self.constant("column", np.array([1]))
            most = self.add("ReduceMax", self.add("Abs", x), column, keepdims=0)
            scales = self.add("Mul", most, self.constant("share", np.float32(1 / 127)))
            scales = self.add("Max", scales, self.constant("least_scale", np.float32(1e-12)))
            zeros = self.add("Expand", self.constant("middle", np.uint8(128)), self.add("Shape", scales))
            read = self.add("QuantizeLinear", x, scales, zeros, axis=0)
            self.read[x] = read, self.add("Unsqueeze", scales, column)
        return self.read[x]

    def norm(self, x: str, name: str) -> str:
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=EPSILON)


def build(weights: Path, numbers: Numbers = "full") -> onnx.ModelProto:
    g = Graph(weights, numbers)
    shape = g.add("Shape", "input_ids")
    length = g.add("Gather", shape, g.constant("one", np.int64(1)))
    positions = g.add("Range", g.constant("zero", np.int64(0)), length, "one")
    words = g.add("Gather", g.weight("embeddings.word_embeddings.weight"), "input_ids")
    places = g.add("Gather", g.weight("embeddings.position_embeddings.weight"), positions)
    kind = g.add("Gather", g.weight("embeddings.token_type_embeddings.weight"), "zero")
    x = g.norm(g.add("Add", words, g.add("Add", places, kind)), "embeddings.LayerNorm")
    rows = g.constant("rows", np.array([-1, HIDDEN], np.int64))
    x = g.add("Reshape", x, rows)

    split = g.add("Concat", shape, g.constant("heads", np.array([HEADS, HIDDEN // HEADS], np.int64)), axis=0)
    bias = _padding(g) if numbers == "full" else ""  # whole numbers are read of texts of one length: nothing is padded
    scale = g.constant("scale", np.float32((HIDDEN // HEADS) ** -0.5))
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        q, k, v = (
            g.add("Transpose", g.add("Reshape", g.linear(x, f"{at}.attention.self.{name}"), split), perm=order)
            for name, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )
        scores = g.add("Mul", g.add("MatMul", q, k), scale)
        weights_ = g.add("Softmax", g.add("Add", scores, bias) if bias else scores, axis=-1)
        heads = g.add("Reshape", g.add("Transpose", g.add("MatMul", weights_, v), perm=[0, 2, 1, 3]), rows)
        attended = g.linear(heads, f"{at}.attention.output.dense")
        x = g.norm(g.add("Add", attended, x), f"{at}.attention.output.LayerNorm")
        wide = g.add("Gelu", g.linear(x, f"{at}.intermediate.dense"))
        x = g.norm(g.add("Add", g.linear(wide, f"{at}.output.dense"), x), f"{at}.output.LayerNorm")

    tokens = g.add("Reshape", x, g.add("Concat", shape, g.constant("hidden", np.array([HIDDEN], np.int64)), axis=0))
    keep = g.add("Unsqueeze", g.add("Cast", "attention_mask", to=TensorProto.FLOAT), g.constant("q", np.array([1])))
    total = g.add("Squeeze", g.add("MatMul", keep, tokens), "q")
    # Scaling to length 1 makes the sum as good as the mean.
    g.nodes.append(helper.make_node("LpNormalization", [total], ["embedding"], axis=-1, p=2))
    graph = helper.make_graph(
        g.nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["B", "S"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["B", HIDDEN])],
        list(g.initialisers.values()),
    )
    imports = [
        helper.make_opsetid("", OPSET),
        *([helper.make_opsetid("com.microsoft", 1)] if numbers == "piece" else []),
    ]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def _padding(g: Graph) -> str:
    """What is added to the scores: nothing for pieces of the text, the least number for padding."""
    mask = g.add("Unsqueeze", g.add("Cast", "attention_mask", to=TensorProto.FLOAT), g.constant("hq", np.array([1, 2])))
    least = g.constant("least", np.float32(np.finfo(np.float32).min))
    return g.add("Mul", g.add("Sub", g.constant("onef", np.float32(1)), mask), least)


if __name__ == "__main__":
    files: dict[str, Numbers] = {"minilm.onnx": "full", "minilm8.onnx": "text", "minilm8_pieces.onnx": "piece"}
    for file, numbers in files.items():
        out = GRAPHS / file
        out.write_bytes(build(Path(sys.argv[1]), numbers).SerializeToString(deterministic=True))
        print(f"{out.name}: {out.stat().st_size:,} bytes")
