"""An encoder and a reader of one's own, in folders: used, named in the index, and refused with a sentence."""

from pathlib import Path

import numpy as np
import pytest

from graph.agent import Agent
from graph.errors import BadSettings, IndexUnavailable
from graph.extractive.reader import reader
from graph.knowledge.embeddings import embedder
from graph.service.doctor import examine
from graph.settings import Settings
from tests.support.onnx_models import cross_encoder, encoder

WORDS = {"cat": [1.0, 0.0, 0.2], "feline": [0.9, 0.1, 0.2], "stone": [0.0, 1.0, 0.0], "query": [0.0, 0.0, 5.0], "sits": [0.1, 0.1, 0.1]}  # fmt: skip


def settings(tmp_path: Path, **values: object) -> Settings:
    return Settings(home=tmp_path / "home", artifacts=False, **values)


def test_a_folder_is_an_encoder(tmp_path: Path) -> None:
    own = embedder(settings(tmp_path, embeddings=str(encoder(tmp_path / "bag", WORDS))))
    cat, feline, stone = own.embed(["cat", "feline", "stone"])
    assert cat @ feline > 0.9 > cat @ stone
    assert np.allclose(np.linalg.norm([cat, stone], axis=1), 1.0)
    assert own.count("cat sits") == 2
    assert own.name.startswith("bag@") and own.name.endswith("/mean")


def test_beside_longer_texts_a_text_has_the_same_vector(tmp_path: Path) -> None:
    own = embedder(settings(tmp_path, embeddings=str(encoder(tmp_path / "bag", WORDS))))
    alone = own.embed(["cat"])[0]
    assert np.allclose(own.embed(["cat sits stone stone", "cat", "feline sits"])[1], alone)


@pytest.mark.parametrize("pooling", ["cls", "last"])
def test_pooling_is_as_the_setting_says(tmp_path: Path, pooling: str) -> None:
    own = embedder(settings(tmp_path, embeddings=str(encoder(tmp_path / "bag", WORDS)), embeddings_pooling=pooling))
    # [CLS] and [SEP], the first and the last piece, are nothing in this model.
    assert np.allclose(own.embed(["stone cat"])[0], 0.0)


def test_pooling_is_as_the_folder_says(tmp_path: Path) -> None:
    folder = encoder(tmp_path / "bag", WORDS, **{"1_Pooling__config": {"pooling_mode_cls_token": True}})
    assert embedder(settings(tmp_path, embeddings=str(folder))).name.endswith("/cls")


def test_a_question_has_its_prefix(tmp_path: Path) -> None:
    folder = encoder(tmp_path / "bag", WORDS, config_sentence_transformers={"prompts": {"query": "query "}})
    own = embedder(settings(tmp_path, embeddings=str(folder)))
    assert own.query_prefix == "query "
    asked, said = own.embed([own.query_prefix + "cat", "cat"])
    assert asked[2] > said[2]


def test_the_index_says_which_encoder_made_it(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("The cat sits on the stone.")
    own = settings(tmp_path, embeddings=str(encoder(tmp_path / "bag", WORDS)))
    with Agent(own) as agent:
        agent.ingest(tmp_path / "note.txt", tenant_id="U1")
        assert agent.deps.index.space("U1").meta("embeddings").startswith("bag@")  # type: ignore[union-attr]
        assert agent.ask("Where is the cat?", tenant_id="U1")["retrieval"]["candidates"]
    with Agent(settings(tmp_path)) as agent, pytest.raises(IndexUnavailable, match="bag@"):
        agent.deps.index.space("U1")


def test_a_folder_is_a_reader(tmp_path: Path) -> None:
    own = reader(settings(tmp_path, reader=str(cross_encoder(tmp_path / "cross", {"cat": [3.0], "stone": [-3.0]}))))
    assert own.scores("what", [("", "the cat"), ("stone", "the stone"), ("", "")]).tolist() == [3.0, -6.0, 0.0]


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_is_not_whole_is_refused(tmp_path: Path, missing: str) -> None:
    folder = encoder(tmp_path / "bag", WORDS)
    (folder / missing).unlink()
    with pytest.raises(BadSettings, match="is no model"):
        embedder(settings(tmp_path, embeddings=str(folder)))


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    folder = encoder(tmp_path / "bag", WORDS)
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(BadSettings, match=r"model\.onnx cannot be used"):
        embedder(settings(tmp_path, embeddings=str(folder))).embed(["cat"])


def test_the_doctor_looks_at_both(tmp_path: Path) -> None:
    own = settings(
        tmp_path,
        embeddings=str(encoder(tmp_path / "bag", WORDS)),
        reader=str(cross_encoder(tmp_path / "cross", {"cat": [3.0]})),
    )
    found = {check["what"]: check for check in examine(own)["checks"]}
    assert "3 dimensions" in found["embeddings"]["found"] and "ms" in found["embeddings"]["found"]
    assert found["reader"]["status"] == "warn"  # it cannot tell an answer from anything else
