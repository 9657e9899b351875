"""Data in files: JSON, JSON lines, YAML, TOML and XML. Each value is a row that begins with the path of its names;
records of one form are rows of a table."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from graph.errors import DocumentError, Quarantined
from graph.knowledge.loaders import table
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.docx_styles import parse
from graph.knowledge.loaders.text import decode

MOST_DEPTH = 40
MOST_COLUMNS = 200  # of records that are read as one table
MOST_ALIASES = 50  # in YAML: each may stand for all that came before
_DTD = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)", re.IGNORECASE)


def read_json(data: bytes, out: Builder) -> None:
    """JSON, or a JSON value on each line."""
    text = decode(data)
    try:
        value = json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            value = [json.loads(line) for line in lines]
        except ValueError as exc:
            raise DocumentError(
                "broken", f"it is not valid JSON: {str(exc)[:80]}", hint="check it in an editor"
            ) from exc
    _write(value, out)


def read_yaml(data: bytes, out: Builder) -> None:
    """Every document of the file, one after the other."""
    for value in yaml_values(decode(data)):
        _write(value, out)


def yaml_values(text: str) -> list[Any]:
    """The documents of a YAML text; raises DocumentError where there are none, or where they would grow."""
    import yaml

    try:
        aliases = depth = 0
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            aliases += isinstance(event, yaml.AliasEvent)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if aliases > MOST_ALIASES or depth > MOST_DEPTH:
                raise Quarantined("bomb", "it has many aliases, or is nested very deep", hint="write it out as text")
        return list(yaml.load_all(text, Loader=yaml.BaseLoader))  # texts as they are written, and no objects
    except yaml.YAMLError as exc:
        raise _invalid("YAML", exc) from exc


def read_toml(data: bytes, out: Builder) -> None:
    """Raises DocumentError "broken" for what is no TOML."""
    try:
        value = tomllib.loads(decode(data))
    except ValueError as exc:
        raise _invalid("TOML", exc) from exc
    _write(value, out)


def read_xml(data: bytes, out: Builder) -> None:
    """Raises Quarantined "bomb" for a DTD or entities, which may multiply."""
    if _DTD.search(data[:100_000]):
        raise Quarantined("bomb", "it defines XML entities or names a DTD", hint="save it without a document type")
    root = parse(data)
    _write(_of_xml(root, 0), out)


def read_settings(data: bytes, out: Builder) -> None:
    """INI, .conf, .cfg, .properties: headings in brackets, and lines that are kept as they are."""
    for line in decode(data).splitlines():
        text = line.strip()
        if section := re.fullmatch(r"\[+([^\[\]]{1,200})\]+", text):
            out.table()
            out.heading(section[1], 1)
        elif text.startswith(("#", ";", "!", "//")):
            out.paragraph(text.lstrip("#;!/ "))
        elif pair := re.match(r"([\w. -]{1,100}?)\s*[=:]\s*(.+)", text):
            out.row(f"{pair[1]}: {pair[2]}")
        elif text:
            out.row(text)


def _invalid(kind: str, error: Exception) -> DocumentError:
    why = " ".join(str(error).split())[:80]
    return DocumentError("broken", f"it is not valid {kind}: {why}", hint="check it in an editor")


def _flat(value: Any) -> bool:
    return isinstance(value, dict) and not any(isinstance(one, dict | list) for one in value.values())


def _of_xml(element: Any, depth: int) -> Any:
    """Names and values: attributes, text, and elements, those of one name together."""
    if depth > MOST_DEPTH:
        raise Quarantined("bomb", f"it nests elements more than {MOST_DEPTH} deep", hint="save its text instead")
    members: dict[str, Any] = {_name(key): value for key, value in element.attrib.items()}
    text = " ".join([element.text or "", *(child.tail or "" for child in element)]).strip()
    for child in element:
        if isinstance(child.tag, str):
            members.setdefault(_name(child.tag), []).append(_of_xml(child, depth + 1))
    members = {name: one[0] if isinstance(one, list) and len(one) == 1 else one for name, one in members.items()}
    if not members:
        return text
    return {**members, "text": text} if text else members


def _name(tag: str) -> str:
    return tag.rpartition("}")[2]


def _write(value: Any, out: Builder) -> None:
    for path, item in _values(value, (), 0):
        if isinstance(item, list) and len({key for record in item for key in record}) > MOST_COLUMNS:
            for record in item:
                out.row("; ".join(f"{key}: {word}" for key, value in record.items() if (word := _word(value))))
        elif isinstance(item, list):
            columns = list(dict.fromkeys(key for record in item for key in record))
            if path:
                out.table()
                out.paragraph(" > ".join(path))
            out.table()
            rows = [columns, *([_word(record.get(key)) for key in columns] for record in item)]
            for _, sentence in table.sentences(rows, header=True):
                out.row(sentence)
            out.table()
        else:
            out.row(f"{' > '.join(path)}: {item}" if path else item)


def _values(value: Any, path: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Path and text of each value; a list of flat records comes whole."""
    if depth > MOST_DEPTH:
        raise Quarantined("bomb", f"it nests values more than {MOST_DEPTH} deep", hint="save its text instead")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _values(item, (*path, str(key)[:100]), depth + 1)
    elif isinstance(value, list):
        if value and all(map(_flat, value)):
            yield path, value
        elif all(not isinstance(one, dict | list) for one in value):
            yield path, ", ".join(map(_word, value))
        else:
            for item in value:
                yield from _values(item, path, depth + 1)
    elif (text := _word(value)).strip():
        yield path, text


def _word(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
