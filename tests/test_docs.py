"""The documentation says what is so: diagram, settings, commands and links are compared with the product."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from graph.agent import Agent
from graph.service.cli import app
from graph.service.diagram import mermaid
from graph.service.reference import settings_table
from graph.state import Reply
from tests.support.command import environment

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))
}
README, EVERY = PAGES["README.md"], "\n".join(PAGES.values())


def test_the_diagram_is_the_compiled_graph() -> None:
    assert mermaid().strip() in PAGES["docs/stages.md"]


def test_the_settings_are_the_settings() -> None:
    assert settings_table() in PAGES["docs/settings.md"]


def test_the_reply_page_has_every_key_and_no_other() -> None:
    table = PAGES["docs/reply.md"].split("\n\n")[2]
    named = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", table, re.M)
    assert re.findall(r"`(\w+)`", " ".join(named)) == list(Reply.__annotations__)


# -- the site ---------------------------------------------------------------------------------------------------------

SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
BESIDE = {"README.md", "LIMITATIONS.md", "CHANGELOG.md", "CONTRIBUTING.md", "reporting.md", "commands.md"}


def in_navigation(part: Any) -> list[str]:
    parts = part.values() if isinstance(part, dict) else part
    return [part] if isinstance(part, str) else [page for one in parts for page in in_navigation(one)]


def test_every_page_is_once_in_the_navigation() -> None:
    assert sorted(in_navigation(SITE["nav"])) == sorted({path.name for path in (ROOT / "docs").glob("*.md")} | BESIDE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Its pages by name, built without a warning."""
    if not importlib.util.find_spec("mkdocs"):
        pytest.skip("`make docs` installs what builds the site")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}


@pytest.mark.slow
def test_the_site_has_every_page_command_and_function(site: dict[str, str]) -> None:
    named = {page.replace("README", "index").replace(".md", ".html") for page in in_navigation(SITE["nav"])}
    assert named <= site.keys()
    public = [name for name in dir(Agent) if not name.startswith("_") and callable(getattr(Agent, name))]
    assert [name for name in public if f'id="cordon.Agent.{name}"' not in site["api.html"]] == []
    assert 'id="cordon-docs-release"' in site["commands.html"] and "╭" not in site["commands.html"]


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: dict[str, str]) -> None:
    for name, page in site.items():
        assert not re.search(r"""<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["']?(?:https?:)?//""", page), name


@pytest.mark.slow
def test_the_site_shows_a_page_as_the_repository_does(site: dict[str, str]) -> None:
    """MkDocs reads Markdown by other rules: a list in a list, say, is set in by four spaces."""
    parts = ("<li[ >]", "<table[ >]", "<pre[ >]", "<h[2-6][ >]", "<img ")
    for path in (ROOT / "docs").glob("*.md"):
        there = MarkdownIt("commonmark").enable("table").render(PAGES[f"docs/{path.name}"])
        here = site[path.with_suffix(".html").name].partition("<article")[2].partition("</article>")[0]
        if "<p>:::" not in there:  # but what is written from docstrings
            assert [len(re.findall(part, here)) for part in parts] == [
                len(re.findall(part, there)) for part in parts
            ], path


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"^\$ (?:.* )?(?:\.venv/bin/)?cordon ([a-z]+)", EVERY, re.M)))
)
def test_every_command_exists(command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        app([command, "--help"])
    assert ended.value.code == 0


@pytest.mark.parametrize("target", sorted(set(re.findall(r"(?:^\$ |`)make ([\w-]+)", EVERY, re.M))))
def test_every_make_target_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize("module", sorted(set(re.findall(r"python -m (evals(?:\.\w+)*)", EVERY))))
def test_every_module_that_measures_exists(module: str) -> None:
    place = ROOT.joinpath(*module.split("."))
    assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()


@pytest.mark.parametrize("filter_line", re.findall(r"^\$ (echo '.*?') \| \.venv/bin/cordon (\w+)(.*)$", EVERY, re.M))
def test_every_filter_example_runs(filter_line: tuple[str, str, str]) -> None:
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


def test_the_answer_in_the_readme_is_the_one_it_gives(agent: Agent) -> None:
    (question,) = re.findall(r'cordon ask "(.*)" --tenant U1\nALLOW', README)
    reply = agent.ask(question, tenant_id="U1", thread_id=None)
    assert [f"“{one['quote']}”" in README and one["filename"] in README for one in reply.citations] == [True]


@pytest.mark.slow
def test_the_steps_of_the_tutorial_print_what_it_shows(home: Path, tmp_path: Path) -> None:
    """But for what takes a package index, a model or a service, and what differs from run to run."""
    blocks = re.findall(r"^```console\n(.*?)^```", PAGES["docs/tutorial.md"], re.M | re.S)
    steps = [step.split("\n") for block in blocks for step in block.removeprefix("$ ").split("\n$ ")]
    ours = ("mkdir ", "printf ", "export OPENAI", "OPENAI_BASE_URL=", "cordon ingest ", "cordon ask ")
    steps = [step for step in steps if step[0].startswith(ours)]
    script = [f'cordon() {{ "{sys.executable}" -m graph.service.cli "$@"; }}']
    script += [line for step in steps for line in (step[0], "echo =====")]
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=work, env=environment(home), capture_output=True, text=True, check=True
    )
    said = done.stdout.split("=====\n")
    shown = [[line for line in step[1:] if line not in ("", "…") and "artefacts:" not in line] for step in steps]
    assert sum(map(len, shown)) > 15
    for step, lines, out in zip(steps, shown, said, strict=False):
        assert [line for line in lines if line not in out.split("\n")] == [], (step[0], out, done.stderr)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_relative_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", PAGES[page]):
        assert (ROOT / page).parent.joinpath(target).exists(), f"{page} links to {target}"


def test_the_readme_leads_to_every_page() -> None:
    reached, waiting = set(), ["README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page in PAGES:
            reached.add(page)
            links = re.findall(r"\]\((?!https?://|#)([^)#]+\.md)", PAGES[page])
            waiting += [str((ROOT / page).parent.joinpath(link).resolve().relative_to(ROOT)) for link in links]
    assert reached == set(PAGES)


def test_the_readme_counts_the_corpus_right() -> None:
    rows = (ROOT / "corpus" / "manifest.csv").read_text().strip().splitlines()
    assert f"({len(rows) - 1} documents" in README


@pytest.mark.parametrize(("page", "least"), [("docs/security.md", 21), ("CONTRIBUTING.md", 15)])
def test_the_files_that_a_page_names_are_there(page: str, least: int) -> None:
    named = set(re.findall(r"`((?:tests|evals|graph|nodes|prompts)/[\w/]+\.py|test_\w+\.py)`", PAGES[page]))
    named = {name for name in named if not name.endswith("/NAME.py")}  # what somebody adds
    assert len(named) >= least
    assert {
        name for name in named if not list(ROOT.glob(f"**/{name}") if "/" not in name else ROOT.glob(name))
    } == set()
