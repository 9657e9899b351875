"""The documentation says what is so: diagram, settings, commands and links are compared with the product."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from graph.service.diagram import mermaid
from graph.service.reference import settings_table

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_diagram_of_the_readme_is_the_compiled_graph() -> None:
    assert mermaid().strip() in README


def test_the_settings_of_the_readme_are_the_settings() -> None:
    assert settings_table() in README


def commands() -> list[str]:
    return sorted(set(re.findall(r"\.venv/bin/cordon (\w+)", README)))


@pytest.mark.parametrize("command", commands())
def test_every_command_of_the_readme_exists(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "graph.service.cli", command, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", sorted(set(re.findall(r"^\$ make ([\w-]+)", README, re.M))))
def test_every_make_target_of_the_readme_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize("filter_line", re.findall(r"^\$ (echo '.*?') \| \.venv/bin/cordon (\w+)(.*)$", README, re.M))
def test_every_filter_example_of_the_readme_runs(filter_line: tuple[str, str, str]) -> None:
    echo, command, options = filter_line
    text = re.fullmatch(r"echo '(.*)'", echo)
    assert text is not None
    done = subprocess.run(
        [sys.executable, "-m", "graph.service.cli", command, *options.split()],
        input=text[1] + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"error"' not in done.stdout


@pytest.mark.parametrize("page", sorted(p.name for p in ROOT.glob("*.md")))
def test_relative_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", (ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), f"{page} links to {target}"


def test_the_readme_counts_the_corpus_right() -> None:
    rows = (ROOT / "corpus" / "manifest.csv").read_text().strip().splitlines()
    assert f"({len(rows) - 1} documents" in README


def test_the_tests_that_the_page_on_security_names_are_there() -> None:
    said = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tests|evals)/[\w/]+\.py|test_\w+\.py)`", said))
    assert len(named) > 20
    assert {
        name for name in named if not list(ROOT.glob(f"**/{name}") if "/" not in name else ROOT.glob(name))
    } == set()
