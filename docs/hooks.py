"""What MkDocs does not do by itself for this site: the pages that lie beside docs/ come in, and the page of commands is
written from the commands."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from graph.service.cli import app

ROOT = Path(__file__).resolve().parents[1]
# SECURITY.md has another name here: where a file system does not tell case, docs/security.md is the same file.
BESIDE = {name: name for name in ("README.md", "LIMITATIONS.md", "CHANGELOG.md", "CONTRIBUTING.md")} | {
    "SECURITY.md": "reporting.md"
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in BESIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text.replace("](docs/", "](")))
    helps = [f"## {path}\n\n```text\n{text}\n```\n" for path, text in _helps(typer.main.get_command(app), "cordon")]
    told = "What `cordon COMMAND --help` says. [Exit codes](settings.md#exit-codes-of-the-command-line)."
    files.append(File.generated(config, "commands.md", content="\n".join(["# Commands\n", told + "\n", *helps])))
    return files


def _helps(command: Any, path: str) -> Iterator[tuple[str, str]]:
    command.rich_markup_mode = None  # else it is drawn with boxes where a terminal reads
    asked = command.context_class(command, info_name=path, terminal_width=80, **command.context_settings)
    yield path, command.get_help(asked)
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _helps(inner, f"{path} {name}")


def on_page_markdown(markdown: str, **_: Any) -> str:
    return re.sub(r"\]\((?:\.\./)?([A-Z]+\.md)", lambda link: f"]({BESIDE.get(link[1], link[1])}", markdown)
