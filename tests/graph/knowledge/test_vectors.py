"""Chroma's files: an index without vectors must not keep what lay in the process's memory."""

from pathlib import Path

import numpy as np

from graph.knowledge.vectors import Vectors


def test_the_room_of_an_empty_index_is_blank_on_disk(tmp_path: Path) -> None:
    vectors = np.eye(3, 384, dtype=np.float32)
    first = Vectors(tmp_path)
    first.put("a", ["x", "y"], vectors[:2])
    (room,) = tmp_path.glob("*/data_level0.bin")
    assert room.stat().st_size > 100_000  # as hnswlib leaves it: room for a hundred, none taken
    assert not any(room.read_bytes())
    first._client._system.stop()
    first._client.clear_system_cache()

    room.write_bytes(b"another tenant's text ".ljust(room.stat().st_size, b"!"))  # what an earlier version wrote
    again = Vectors(tmp_path)
    again.put("a", ["z"], vectors[2:])
    assert not any(room.read_bytes())
    assert again.nearest("a", vectors[1], 1)[0][0] == "y"
    again.drop()


def test_an_index_that_has_outgrown_its_first_room_is_left_alone(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(1_100, 384)).astype(np.float32)
    index = Vectors(tmp_path)
    index.put("a", [f"i{n}" for n in range(1_100)], vectors)
    (room,) = tmp_path.glob("*/data_level0.bin")
    assert any(room.read_bytes())
    assert index.nearest("a", vectors[700], 1)[0][0] == "i700"
    index.drop()
