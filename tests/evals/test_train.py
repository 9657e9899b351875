"""The training's parts: what it fits, what may ship, what it says without its material."""

from pathlib import Path

import numpy as np
import pytest

from evals import figures, material
from evals.training import logistic, train
from graph.errors import BadInput


def test_logistic_regression_finds_the_column_that_decides() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 200).astype(float)
    parts = [(np.array([int(label), 2]), np.ones(2, np.float32)) for label in labels]
    weights, bias = logistic.fit(logistic.Rows.from_parts(parts, 3), labels, np.ones(200), 1e-3)
    assert weights[1] > 1 > weights[0]
    assert abs(weights[1] + weights[0]) < 1.0
    assert np.isfinite(bias)


def test_sparse_and_dense_rows_agree() -> None:
    parts = [(np.array([0, 2]), np.array([1.0, 2.0])), (np.array([1]), np.array([3.0]))]
    sparse = logistic.Rows.from_parts(parts, 3)
    dense = logistic.Dense(np.array([[1.0, 0, 2.0], [0, 3.0, 0]]))
    weights, residual = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0])
    assert np.allclose(sparse.dot(weights), dense.dot(weights))
    assert np.allclose(sparse.back(residual), dense.back(residual))
    assert np.allclose(sparse.take(np.array([1])).dot(weights), [6.0])


def test_auc_of_known_orders() -> None:
    assert figures.auc(np.array([2.0, 3.0]), np.array([0.0, 1.0])) == 1.0
    assert figures.auc(np.array([1.0]), np.array([1.0])) == 0.5


def test_the_sets_for_judging_share_no_text_with_the_training() -> None:
    trained = {row["text"] for row in material.own_set("threats_train")} | {
        r["text"] for r in material.own_set("planted_train")
    }
    for name in (
        "innocent_hard",
        "blind_innocent",
        "guardrails",
        "blind_attacks",
        "obfuscation",
        "planted_test",
        "blind_planted",
    ):
        assert not trained & {row["text"] for row in material.own_set(name)}, name


def test_the_own_sets_are_as_large_as_required() -> None:
    assert len(material.own_set("innocent_hard")) >= 400
    assert len(material.own_set("guardrails")) >= 400
    assert len(material.own_set("obfuscation")) == 40


@pytest.mark.parametrize("source", ["tensortrust_extraction", "alpaca_harmless", "tweeteval_offensive"])
def test_sources_without_an_open_licence_do_not_ship(source: str) -> None:
    assert not material.Labelled("x", source, frozenset()).ship


@pytest.mark.parametrize("source", material.JUDGES)
def test_nothing_is_learned_from_a_source_that_judges(source: str) -> None:
    assert not material.Labelled("x", source, frozenset()).ship
    assert source not in train.ASIDE


def test_borders_rest_on_what_was_not_learned_from() -> None:
    samples = [
        material.Labelled(f"{source} {n}", source, frozenset()) for source in ("own", "fabric", "x") for n in "abcd"
    ]
    table = train.tabulate(samples * 10)
    rest, group = train.aside(table)
    assert set(table.source[rest]) == {"own", "x"}
    assert set(table.source[group]) == {"own", "fabric"}
    assert sorted([*rest, *group]) == list(range(120))


def test_each_source_counts_the_same_for_a_border() -> None:
    margin = np.array([0.0] * 98 + [1.0, 2.0])
    source = np.array(["large"] * 98 + ["small"] * 2)
    assert train.spread_quantile(margin, source, 0.4) == 0.0
    assert train.spread_quantile(margin, source, 0.7) == 1.0
    assert train.spread_quantile(margin, source, 0.9) == 2.0


def test_of_the_second_pool_an_attack_says_nothing_of_other_heads(tmp_path: Path) -> None:
    import gzip
    import json

    (tmp_path / "pool2").mkdir()
    for name in ("injection_query", "harm"):
        rows = [{"text": f"{name} {label}", "label": label, "source": "s"} for label in (0, 1)]
        with gzip.open(tmp_path / "pool2" / f"{name}.jsonl.gz", "wt") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    found = {s.text: s for s in material.varied(tmp_path / "pool")}
    assert set(found) == {"injection_query 0", "injection_query 1", "harm 1"}
    assert found["injection_query 1"].known == {"injection"}
    assert found["harm 1"].labels == {"harm"}
    assert found["injection_query 0"].known == frozenset(material.HEADS)


def test_without_the_pool_the_command_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CORDON_POOL", raising=False)
    with pytest.raises(BadInput, match="no pool"):
        material.pool_folder(tmp_path)


def test_sources_are_capped_by_a_fixed_choice() -> None:
    samples = [material.Labelled(str(n), "banking77", frozenset()) for n in range(2_000)]
    first, second = train.capped(samples), train.capped(samples)
    assert first == second
    assert len(first) == train.MOST["banking77"]
