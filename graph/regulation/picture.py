"""A provision among its neighbours, or a question among its provisions: as Mermaid text, and as a PNG drawn here by
Typst, without any server. No text of an act becomes syntax: labels are escaped, or string literals."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.regulation.act import Act
from graph.regulation.neighbourhood import MOST, around
from graph.regulation.unit import short

_RED, _BROWN, _GREY = "#b3261e", "#b3772a", "#5b6b7a"
_COLOURS = {
    "excepted by": _RED, "derogates from": _RED, "exception": _RED,
    "subject to": _BROWN, "bounds": _BROWN, "condition": _BROWN, "deadline": _BROWN,
}  # fmt: skip
# What stands to the right: what the provision needs. To the left: what speaks of it.
_RIGHT = frozenset(
    ("derogates from", "subject to", "refers to", "uses the term", "explains", "defines", "exception", "condition",
     "deadline", "definition", "reference")
)  # fmt: skip
_WIDTH, _HEIGHT, _STEP, _APART = 180, 30, 40, 150  # points
_LABEL = 70  # characters


@dataclass(frozen=True)
class Star:
    """A label in the middle, and (label, how it stands to the middle) around it."""

    middle: str
    around: Sequence[tuple[str, str]]


def of_provision(act: Act, node: int) -> Star:
    """At most MOST neighbours, some of each kind before more of one."""
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for near in around(act, node):
        how = near.how + (" (deadline)" if near.deadline and near.how in ("refers to", "referred to by") else "")
        by_kind.setdefault(near.how, []).append((_label(act, near.node), how))
    labels = [group[at] for at in range(MOST) for group in by_kind.values() if at < len(group)]
    return Star(_label(act, node), labels[:MOST])


def of_evidence(evidence: Sequence[Mapping[str, Any]]) -> Star | None:
    """The provisions shown to the model and why each came; None when there are none."""
    labels = [(_cut(short(item["section"])), item["why"]) for item in evidence if item.get("why")]
    return Star("the question", labels[:MOST]) if labels else None


def mermaid(star: Star) -> str:
    """A flowchart from left to right, every edge from the middle outwards."""
    lines = ["flowchart LR", f'    m["{_escaped(star.middle)}"]']
    for at, (label, how) in enumerate(star.around):
        lines += [f'    n{at}["{_escaped(label)}"]', f'    m -- "{_escaped(how)}" --> n{at}']
    return "\n".join([*lines, "    style m fill:#fdf1d6,stroke:#12324f"]) + "\n"


def png(star: Star) -> bytes:
    """2 pixels a point."""
    import typst

    # Typst's own fonts do, look the same everywhere, and take half the time.
    data = typst.compile(source(star).encode(), format="png", ppi=144.0, ignore_system_fonts=True)
    assert isinstance(data, bytes)
    return data


def source(star: Star) -> str:
    """Typst: boxes in three columns, a line from the middle to each."""
    right = [one for one in star.around if one[1].removesuffix(" (deadline)") in _RIGHT]
    left = [one for one in star.around if one not in right]
    rows = max(len(left), len(right), 1)
    width, height = 3 * _WIDTH + 2 * _APART + 40, rows * _STEP + 40
    x0, y0 = 20 + _WIDTH + _APART, 20 + (rows - 1) * _STEP / 2
    lines = [
        f"#set page(width: {width}pt, height: {height}pt, margin: 0pt, fill: white)",
        '#set text(font: "Libertinus Serif", size: 8pt)',
    ]
    boxes = [_box(x0, y0, star.middle, "#fdf1d6")]
    for side, members in ((0, left), (1, right)):
        x = 20 + side * 2 * (_WIDTH + _APART)
        for at, (label, how) in enumerate(members):
            y = 20 + (rows - len(members)) * _STEP / 2 + at * _STEP
            boxes.append(_box(x, y, label, "#e8eef4"))
            start, end = (x0 + _WIDTH, x) if side else (x0, x + _WIDTH)
            lines += _line(start, y0 + _HEIGHT / 2, end, y + _HEIGHT / 2, how)
    return "\n".join(lines + boxes)


def _box(x: float, y: float, label: str, fill: str) -> str:
    shape = f'width: {_WIDTH}pt, height: {_HEIGHT}pt, inset: 3pt, radius: 4pt, clip: true, fill: rgb("{fill}")'
    words = f"align(center + horizon, text({json.dumps(label, ensure_ascii=False)}))"
    return f'#place(dx: {x:.1f}pt, dy: {y:.1f}pt, box({shape}, stroke: 0.6pt + rgb("#12324f"), {words}))'


def _line(ax: float, ay: float, bx: float, by: float, how: str) -> list[str]:
    colour = _COLOURS.get(how, _GREY)
    stroke = f'0.7pt + rgb("{colour}")'
    words = f'text(size: 6pt, fill: rgb("{colour}"), {json.dumps(how, ensure_ascii=False)})'
    at = bx if bx < ax else bx - 92
    return [
        f"#place(line(start: ({ax:.1f}pt, {ay:.1f}pt), end: ({bx:.1f}pt, {by:.1f}pt), stroke: {stroke}))",
        f"#place(dx: {at:.1f}pt, dy: {by - 10:.1f}pt, box(width: 92pt, align(center, {words})))",
    ]


def _label(act: Act, at: int) -> str:
    """Name, and title of the article it is in."""
    node = act.nodes[at]
    holder = at
    while holder >= 0 and not act.nodes[holder].title:
        holder = act.nodes[holder].parent
    title = act.nodes[holder].title if holder >= 0 else ""
    return _cut(f"{node.name}: {title}" if title and node.kind not in ("recital", "front") else node.name)


def _cut(label: str) -> str:
    return label if len(label) <= _LABEL else label[: _LABEL - 1] + "…"


def _escaped(text: str) -> str:
    return "".join(f"#{ord(c)};" if c in '"<>[]{}|#;`\\&' else c for c in text)
