"""The neighbourhood of a provision as Mermaid text, and as a PNG drawn here by Typst."""

import json

from graph.knowledge.regulation.act import Act
from graph.knowledge.regulation.neighbourhood import MOST, Neighbour, around

_COLOURS = {"excepted by": "#b3261e", "derogates from": "#b3261e", "subject to": "#b3772a", "bounds": "#b3772a"}
_GREY = "#5b6b7a"
_WIDTH, _HEIGHT, _STEP, _APART = 180, 30, 40, 150  # points


def mermaid(act: Act, node: int) -> str:
    """A flowchart of the provision and its neighbours; labels are quoted, so no text of the act is taken for syntax."""
    lines = ["flowchart LR", f'    n{node}["{_plain(_label(act, node))}"]']
    for one in _drawn(act, node):
        lines.append(f'    n{one.node}["{_plain(_label(act, one.node))}"]')
        lines.append(f'    n{node} -- "{one.how}" --> n{one.node}')
    lines.append(f"    style n{node} fill:#fdf1d6,stroke:#12324f")
    return "\n".join(lines) + "\n"


def png(act: Act, node: int) -> bytes:
    """The same, 2 pixels a point."""
    import typst

    data = typst.compile(source(act, node).encode(), format="png", ppi=144.0)
    assert isinstance(data, bytes)
    return data


def source(act: Act, node: int) -> str:
    """Typst: the provision in the middle, what it needs to the right, what needs it to the left. All words are string
    literals."""
    drawn = _drawn(act, node)
    right = [
        n
        for n in drawn
        if n.how in ("derogates from", "subject to", "refers to", "uses the term", "explains", "defines")
    ]
    left = [n for n in drawn if n not in right]
    rows = max(len(left), len(right), 1)
    width, height = 3 * _WIDTH + 2 * _APART + 40, rows * _STEP + 40
    middle = (20 + _WIDTH + _APART, 20 + (rows - 1) * _STEP / 2)
    lines = [
        f"#set page(width: {width}pt, height: {height}pt, margin: 0pt, fill: white)",
        '#set text(font: ("Libertinus Serif", "DejaVu Sans"), size: 9pt)',
    ]
    boxes = [(middle, _label(act, node), "#fdf1d6")]
    for side, members in ((0, left), (1, right)):
        x = 20 + side * 2 * (_WIDTH + _APART)
        for at, one in enumerate(members):
            y = 20 + (rows - len(members)) * _STEP / 2 + at * _STEP
            boxes.append(((x, y), _label(act, one.node), "#e8eef4"))
            a, b = (middle[0] + _WIDTH, x) if side else (middle[0], x + _WIDTH)
            lines += _line((a, middle[1] + _HEIGHT / 2), (b, y + _HEIGHT / 2), one)
    for (x, y), label, fill in boxes:
        lines.append(
            f"#place(dx: {x:.1f}pt, dy: {y:.1f}pt, box(width: {_WIDTH}pt, height: {_HEIGHT}pt, inset: 3pt, radius: 4pt, clip: true, "
            f'fill: rgb("{fill}"), stroke: 0.6pt + rgb("#12324f"), align(center + horizon, text(size: 8pt, {_literal(label)}))))'
        )
    return "\n".join(lines)


def _line(start: tuple[float, float], end: tuple[float, float], one: Neighbour) -> list[str]:
    colour = _COLOURS.get(one.how, _GREY)
    (ax, ay), (bx, by) = start, end
    words = one.how + (" (deadline)" if one.deadline else "")
    return [
        f'#place(line(start: ({ax:.1f}pt, {ay:.1f}pt), end: ({bx:.1f}pt, {by:.1f}pt), stroke: 0.7pt + rgb("{colour}")))',
        f"#place(dx: {min(bx, ax) if bx < ax else bx - 92:.1f}pt, dy: {by - 10:.1f}pt, box(width: 92pt, align(center, "
        f'text(size: 6pt, fill: rgb("{colour}"), {_literal(words)}))))',
    ]


def _drawn(act: Act, node: int) -> list[Neighbour]:
    """At most MOST, a few of each kind before more of one."""
    by_kind: dict[str, list[Neighbour]] = {}
    for one in around(act, node):
        by_kind.setdefault(one.how, []).append(one)
    found: list[Neighbour] = []
    at = 0
    while len(found) < MOST and any(at < len(group) for group in by_kind.values()):
        found += [group[at] for group in by_kind.values() if at < len(group)]
        at += 1
    return found[:MOST]


def _label(act: Act, at: int) -> str:
    """Name and title, at most 70 characters."""
    node = act.nodes[at]
    holder = at
    while holder >= 0 and not act.nodes[holder].title:
        holder = act.nodes[holder].parent
    title = act.nodes[holder].title if holder >= 0 else ""
    label = f"{node.name}: {title}" if title and node.kind not in ("recital", "front") else node.name
    return label if len(label) <= 70 else label[:69] + "…"


def _plain(text: str) -> str:
    return "".join(f"#{ord(c)};" if c in '"<>[]{}|#;`\\&' else c for c in text)


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
