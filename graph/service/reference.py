"""The generated parts of the documentation: the diagram and the table of settings, which a test compares, and the page
of commands, which `make docs` puts into the site.

python -m graph.service.reference          prints the first two, to be pasted
"""

from collections.abc import Iterator
from typing import Any

import typer

from graph.service.diagram import mermaid
from graph.settings import PREFIX, Settings

_DESCRIPTIONS = {
    "temperature": "of the language model",
    "model_timeout_s": "for one call, retries included",
    "model_retries": "after a failed call",
    "chunk_tokens": "size of a chunk",
    "chunk_overlap": "tokens repeated from the chunk before",
    "min_question_chars": "a shorter question is asked to say more",
    "max_question_chars": "a longer question is not read",
    "max_file_mb": "a larger file is quarantined",
    "parse_seconds": "a file whose parsing takes longer is quarantined",
}


def settings_table() -> str:
    lines = ["| variable | default | |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if name == "openai_api_key" else str(field.default)
        about = field.description or _DESCRIPTIONS.get(name, "")
        lines.append(f"| `{PREFIX}{name.upper()}` | {f'`{default}`' if default else ''} | {about} |")
    return "\n".join(lines)


def commands_page() -> str:
    """Markdown with the help of every command."""
    from graph.service.cli import app

    parts = [
        "# Commands\n\nWhat `cordon COMMAND --help` says. [Exit codes](settings.md#exit-codes-of-the-command-line)."
    ]
    parts += [f"## {path}\n\n```text\n{text}\n```" for path, text in _helps(typer.main.get_command(app), "cordon")]
    return "\n\n".join(parts) + "\n"


def _helps(command: Any, path: str) -> Iterator[tuple[str, str]]:
    command.rich_markup_mode = None  # else it is drawn with boxes where a terminal reads
    yield (
        path,
        command.get_help(command.context_class(command, info_name=path, terminal_width=80, **command.context_settings)),
    )
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _helps(inner, f"{path} {name}")


if __name__ == "__main__":
    print(mermaid(), settings_table(), sep="\n\n")
