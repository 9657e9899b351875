"""Imports point one way: vocabulary → policy → what stages stand on → stages → wiring → doors → evaluation."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A package of graph/stores is a store.
STORES = tuple(f"graph.stores.{path.parent.name}" for path in sorted((ROOT / "graph" / "stores").glob("*/__init__.py")))

# Each layer may import itself and the layers above it. The longest prefix decides where a module belongs.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("graph", "graph.errors", "graph.files", "graph.options", "graph.settings", "graph.timestamps", "graph.turn_cache", "graph.onnx", "graph.processors", "prompts"),
    ("graph.policy", "graph.context"),
    (
        "graph.state", "graph.knowledge", "graph.regulation", "graph.models", "graph.extractive", "graph.audit", "graph.memory", "graph.stores", "graph.answering", "graph.checkpoints", "graph.tracing", "graph.remains", "graph.public", "graph.waiting"
    ),
    STORES,
    ("graph.deps",),
    ("nodes",),
    ("graph.build",),
    ("graph.administration", "graph.runner"), ("graph.agent", "graph.server"),
    ("graph.service",),
    ("evals",),
)  # fmt: skip
# What does not fit, and why. Each is looked for, so that a mended one does not stay on the list.
KNOWN = {
    ("graph.policy.evidence.access", "graph.context"): "access decides about a Principal",
    ("graph.service.commands.system", "evals.__main__"): "`cordon eval` runs the suites where they are checked out",
}

# Who may name the acts of the Union, and for what. All others meet them through graph/knowledge/extensions.py.
NAMES_REGULATION = {
    "graph.administration.documents": "the Python door: the acts of a tenant, and their provisions",
    "graph.service.commands.regulations": "the command `cordon regulation`",
    "graph.service.render": "cites a provision as lawyers do",
    "graph.audit.artifacts": "the picture of a question among its provisions",
    "graph.extractive.answerer": "reads a provision out where a question names nothing else",
}


@cache
def modules() -> list[tuple[str, Path]]:
    return list(_modules())


def _modules() -> Iterator[tuple[str, Path]]:
    for top in ("graph", "nodes", "prompts", "evals"):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


NAMES = {name for name, _ in modules()}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(name: str, path: Path) -> Iterator[tuple[str, bool]]:
    """(module of ours, whether it is imported at the top) for every import, lazy ones too."""
    tree = parsed(path)
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            base = node.module or ""
            found = [f"{base}.{a.name}" if f"{base}.{a.name}" in NAMES else base for a in node.names]
        else:
            continue
        for target in dict.fromkeys(found):
            if target.split(".")[0] in ("graph", "nodes", "prompts", "evals"):
                yield target, id(node) in top


def layer(module: str) -> int:
    best = max(
        (
            (prefix, at)
            for at, row in enumerate(LAYERS)
            for prefix in row
            if module == prefix or module.startswith(prefix + ".")
        ),
        key=lambda p: len(p[0]),
    )
    return best[1]


def upward() -> set[tuple[str, str]]:
    return {
        (name, target) for name, path in modules() for target, _ in imports(name, path) if layer(target) > layer(name)
    }


def test_imports_point_one_way() -> None:
    assert sorted(upward() - KNOWN.keys()) == []


def test_policy_knows_errors_tuned_weights_and_itself_only() -> None:
    stray = {
        (name, target)
        for name, path in modules()
        if name.startswith("graph.policy")
        for target, _ in imports(name, path)
        if not target.startswith("graph.policy") and target not in ("graph.errors", "graph.onnx.minilm")
    }
    assert sorted(stray - KNOWN.keys()) == []


def test_the_embedded_answerer_knows_no_server_of_models() -> None:
    imported = [t for n, p in modules() if n.startswith("graph.extractive") for t, _ in imports(n, p)]
    assert [target for target in imported if target.startswith("graph.models")] == []
    assert "graph.extractive.reader" in imported  # the check sees them


def test_only_the_wiring_knows_the_stages() -> None:
    knows = {
        (name, target)
        for name, path in modules()
        if not name.startswith("nodes")
        for target, _ in imports(name, path)
        if target.startswith("nodes")
    }
    assert {pair for pair in knows if pair[0] != "graph.build"} - KNOWN.keys() == set()


def test_stages_do_not_know_the_wiring_or_the_doors() -> None:
    stray = [
        (n, t)
        for n, p in modules()
        if n.startswith("nodes")
        for t, _ in imports(n, p)
        if t.startswith(("graph.build", "graph.agent", "graph.service", "graph.server", "graph.deps"))
    ]
    assert stray == []


ENGINES = (
    "sqlite3", "chromadb", "langchain_chroma", "langgraph.checkpoint.sqlite", "psycopg", "psycopg_pool",
    "langgraph.checkpoint.postgres",
)  # fmt: skip


def engines(path: Path) -> set[str]:
    """The databases that a module imports, lazily too."""
    tree = parsed(path)
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {engine for engine in ENGINES if any(name == engine or name.startswith(engine + ".") for name in found)}


def test_only_the_wiring_names_a_store() -> None:
    names = {
        (name, store)
        for name, path in modules()
        if not name.startswith("evals")
        for target, _ in imports(name, path)
        for store in STORES
        if target.startswith(store) and not name.startswith(store)
    }
    assert names == {("graph.deps", store) for store in STORES} and STORES


def test_only_stores_know_databases() -> None:
    product = [(name, path) for name, path in modules() if not name.startswith("evals")]
    knows = {name for name, path in product if engines(path)}
    stems = "graph.knowledge.bm25"  # SQLite's tokenizer, on an empty database in memory
    assert {name for name in knows if not name.startswith(STORES)} == {stems}
    assert {engine for _, path in product for engine in engines(path)} == set(ENGINES)  # the check sees them


def test_protocols_know_plain_things_alone() -> None:
    """Nothing in what a store promises hangs on a file or a database."""
    paths = [path for name, path in modules() if name.startswith("graph.stores") and not name.startswith(STORES)]
    assert len(paths) > 5
    for path in paths:
        ours = {t for t, _ in imports("x", path) if not t.startswith("graph.stores")}
        assert ours <= {"graph.errors", "graph.timestamps", "graph.knowledge.mentions"}, path.name
        assert engines(path) == set() and "pathlib" not in path.read_text(), path.name


def test_only_its_doors_know_the_regulation() -> None:
    knows = {
        name
        for name, path in modules()
        if not name.startswith(("graph.regulation", "evals"))
        for target, _ in imports(name, path)
        if target.startswith("graph.regulation")
    }
    assert knows == NAMES_REGULATION.keys()
    spelt = {name for name, path in modules() if "graph.regulation" in path.read_text(encoding="utf-8")}
    assert {n for n in spelt if not n.startswith(("graph.regulation", "evals"))} - knows == {
        "graph.knowledge.extensions"
    }


def test_the_known_exceptions_are_still_there() -> None:
    actual = {(name, target) for name, path in modules() for target, _ in imports(name, path)}
    assert KNOWN.keys() <= actual


def test_the_check_fails_on_an_upward_import(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("def f():\n    from graph.agent import Agent\n    import nodes.guard\n")
    assert [t for t, _ in imports("graph.policy.x", file) if layer(t) > layer("graph.policy.x")] == [
        "graph.agent",
        "nodes.guard",
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("test_*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_tests_parse(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"))
