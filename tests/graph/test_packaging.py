"""What is installed, and from where."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize("name", ["cordon", "graph", "nodes", "prompts"])
def test_the_top_level_names_are_cordons_alone(name: str) -> None:
    assert importlib.metadata.packages_distributions()[name] == ["cordon"]


@pytest.mark.parametrize("name", ["evals", "tests", "corpus"])
def test_no_common_name_is_claimed(name: str) -> None:
    assert "cordon" not in importlib.metadata.packages_distributions().get(name, [])


def test_the_public_face_is_what_it_says() -> None:
    import cordon
    from graph import agent, settings

    assert (cordon.Agent, cordon.Reply, cordon.Settings) == (agent.Agent, agent.Reply, settings.Settings)
    assert cordon.__all__ == sorted(cordon.__all__) and all(hasattr(cordon, name) for name in cordon.__all__)
    public = [getattr(cordon.Agent, name) for name in dir(cordon.Agent) if not name.startswith("_")]
    assert all(one.__doc__ for one in public if callable(one))


@pytest.mark.slow
def test_a_wheel_is_all_that_an_empty_environment_needs(tmp_path: Path) -> None:
    """Built as `make wheel` does, installed by pip with what it asks for, and used away from the checkout."""
    copied = tmp_path / "checkout"
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    for name in filter(lambda n: n and not n.startswith(("tests/", "evals/", "docs/")), tracked):
        (copied / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copied / name)
    (copied / ".venv").symlink_to(sys.prefix)
    subprocess.run(["make", "-s", "-o", ".venv/.default", "wheel"], cwd=copied, check=True)
    (wheel,) = (copied / "dist").glob("*.whl")
    assert wheel.stat().st_size < 100 * 1024 * 1024  # more is not taken by the public index
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    wheel = wheel.rename(tmp_path / wheel.name)
    shutil.rmtree(tmp_path / "checkout")
    pip: list[str | Path] = [tmp_path / "env" / "bin" / "pip", "install", "-q", "--disable-pip-version-check"]
    outside = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    subprocess.run([*pip, wheel], check=True, env=outside, cwd=tmp_path)
    demo = subprocess.run(
        [tmp_path / "env" / "bin" / "cordon", "demo"], capture_output=True, text=True, env=outside, cwd=tmp_path
    )
    assert demo.returncode == 0 and "chain unbroken" in demo.stdout, demo.stderr
    assert not list((tmp_path / "env").rglob("torch"))


def test_the_command_is_there() -> None:
    (script,) = [e for e in importlib.metadata.entry_points(group="console_scripts") if e.name == "cordon"]
    assert script.value == "graph.service.cli:main"


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda p: p.name)
def test_pins_are_exact_hashed_and_name_no_host(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"https?://|--(?:extra-)?index-url|--find-links|--trusted-host|^-i\b", text, re.M)
    pins = re.findall(r"^([A-Za-z0-9][\w.-]*)(.*)$", text, re.M)
    assert pins
    assert [name for name, rest in pins if not re.match(r"(\[[\w,-]+\])?==\S+", rest)] == []
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)
    assert [b.split("=")[0] for b in blocks if b.strip() and b[0].isalnum() and "--hash=sha256:" not in b] == []


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda p: p.name)
def test_no_torch_and_no_cuda(path: Path) -> None:
    names = {n.lower() for n in re.findall(r"^([A-Za-z0-9][\w.-]*)", path.read_text(encoding="utf-8"), re.M)}
    assert {
        n for n in names if re.match(r"(torch|triton|nvidia|cuda|cupy|tensorflow|sentence[-_]transformers|jax)", n)
    } == set()


def test_the_design_cards_packages_are_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {re.match(r"[\w-]+", d)[0] for d in project["dependencies"]}  # type: ignore[index]
    assert {"langgraph", "langchain-core", "langchain-openai", "langchain-chroma", "langsmith", "pydantic"} <= named
    assert all(re.search(r"<\d", d) for d in project["dependencies"]), "a dependency without a cap"


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = {
        n.lower() for n in re.findall(r"^([A-Za-z0-9][\w.-]*)", (ROOT / "requirements/default.txt").read_text(), re.M)
    }
    assert {re.match(r"[\w-]+", d)[0].lower() for d in project["dependencies"]} <= pins  # type: ignore[index]
