"""What MkDocs does not do by itself for this site: the pages that lie beside docs/ come in, and the page of commands is
written from the commands."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from graph.service.reference import commands_page

ROOT = Path(__file__).resolve().parents[1]
# SECURITY.md has another name here: where a file system does not tell case, docs/security.md is the same file.
BESIDE = {name: name for name in ("README.md", "LIMITATIONS.md", "CHANGELOG.md", "CONTRIBUTING.md")} | {
    "SECURITY.md": "reporting.md"
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in BESIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text.replace("](docs/", "](")))
    files.append(File.generated(config, "commands.md", content=commands_page()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    return re.sub(r"\]\((?:\.\./)?([A-Z]+\.md)", lambda link: f"]({BESIDE.get(link[1], link[1])}", markdown)
