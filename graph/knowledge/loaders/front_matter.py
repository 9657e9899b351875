"""What a document says of itself above its text: who owns it, which version it is, when it is to be reviewed."""

import re
from collections.abc import Iterator

# Of a front matter most is for whoever builds the site: paths, layouts, menus. These are for readers.
_SHOWN = re.compile(
    r"(?:document|doc|policy|sop)?_?(?:id|number|no)|owners?|authors?|editors?|maintainers?|contacts?|department|team|version|"
    r"revision|status|state|classification|confidentiality|supersedes|replaces|superseded_by|replaced_by|applies_to|"
    r"scope|audience|jurisdiction|language|(?:created|updated|issued|published|reviewed|approved|effective|valid|expires|"
    r"expiry|revised|adopted|retention)(?:_(?:on|by|at|date|from|until|to))?|(?:date_)?(?:last|next)_(?:review|update|reviewed|"
    r"updated|modified|revision)(?:_(?:date|on|by))?|(?:review|reviewed|approval|issue|effective|expiry|publication|revision|"
    r"start|end|due)_?(?:date|by|on|cycle|period)?|approvers?|reviewers?|date",
    re.IGNORECASE,
)
_LINE = re.compile(r"([A-Za-z][\w -]{0,40}?)[ \t]*[:=][ \t]*(.*)")
_LISTED = re.compile(r"[ \t]*-[ \t]+(.+)")
MOST_LINES = 200


def shown(source: str) -> Iterator[tuple[str, str]]:
    """Name and value of the fields of YAML or TOML that are for readers. Values of one line and lists of such are read,
    nothing that is nested."""
    name, values = "", list[str]()
    for line in [*source.split("\n")[:MOST_LINES], "end: "]:
        field = _LINE.fullmatch(line.rstrip())
        if field is None:
            if (listed := _LISTED.fullmatch(line.rstrip())) and name:
                values.append(_bare(listed[1]))
            elif line.strip() and not line.strip().startswith("#"):
                name = ""  # something nested
            continue
        if name and any(values):
            yield name, ", ".join(filter(None, values))
        key = re.sub(r"[\s-]+", "_", field[1])
        name = key.replace("_", " ").capitalize() if _SHOWN.fullmatch(key) else ""
        values = (
            [_bare(one) for one in field[2].strip("[] ").split(",")] if field[2].startswith("[") else [_bare(field[2])]
        )


def _bare(value: str) -> str:
    value = re.sub(r"\s+#\s.*$", "", value.strip()).strip("\"'")
    return "" if value in ("|", ">", "{}", "[]", "null", "~", "true", "false") else value
