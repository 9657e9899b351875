"""The generated parts of the README: the diagram and the table of settings. A test compares them.

python -m graph.service.reference          prints both, to be pasted
"""

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
    """In Markdown: variable, default, description, in the order of the fields."""
    lines = ["| variable | default | |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if name == "openai_api_key" else str(field.default)
        about = field.description or _DESCRIPTIONS.get(name, "")
        lines.append(f"| `{PREFIX}{name.upper()}` | {f'`{default}`' if default else ''} | {about} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(mermaid(), settings_table(), sep="\n\n")
