"""The compiled graph as Mermaid text, or as a PNG drawn here by Typst, without any server."""

from itertools import pairwise
from typing import Any

_HANDLER = "__default_error_handler__"
# Where each stage stands in the picture: column, row. A stage that is not listed goes to the right of the others.
_PLACES = {
    "__start__": (1, 0), "admit": (1, 1), "classify": (1, 2), "triage": (1, 3), "constrain": (0, 4), "retrieve": (1, 5),
    "guard": (1, 6), "generate": (1, 7), "validate": (1, 8), "repair": (2, 8), "respond": (1, 9), "remember": (1, 10),
    "hold": (2, 9), "review": (2, 10), "decide": (2, 11),
    "publish": (1, 11), "record": (1, 12), "__end__": (1, 13), "refuse": (3, 6), "fail_closed": (4, 6),
}  # fmt: skip
_STEP_X, _STEP_Y, _WIDTH, _HEIGHT = 126, 46, 84, 24  # points


def mermaid() -> str:
    """What LangGraph draws, with the error handler under its own name and its two ways out."""
    text = str(_drawn().draw_mermaid()).replace(f"<p>{_HANDLER}</p>", "fail_closed").replace(_HANDLER, "fail_closed")
    return text.replace("\trecord -->", "\tfail_closed --> refuse;\n\tfail_closed --> record;\n\trecord -->")


def png() -> bytes:
    """The same graph as a picture, 2 pixels a point."""
    import typst

    data = typst.compile(_typst().encode(), format="png", ppi=144.0)
    assert isinstance(data, bytes)
    return data


def _typst() -> str:
    drawn = _drawn()
    names = ["fail_closed" if n == _HANDLER else n for n in drawn.nodes]
    edges = [(e.source, e.target, str(e.data or "")) for e in drawn.edges if _HANDLER not in (e.source, e.target)]
    edges.append(("fail_closed", "refuse", ""))
    places = {n: _PLACES.get(n, (4, at)) for at, n in enumerate(names)}
    width = _STEP_X * max(x for x, _ in places.values()) + _WIDTH + 40
    height = _STEP_Y * max(y for _, y in places.values()) + _HEIGHT + 40
    lines = [
        f"#set page(width: {width}pt, height: {height}pt, margin: 0pt, fill: white)",
        '#set text(font: "Libertinus Serif", size: 10.5pt)',
    ]
    for source, target, label in edges:
        lines += _edge(places[source], places[target], label)
    for name, (x, y) in places.items():
        left, top = 20 + x * _STEP_X, 20 + y * _STEP_Y
        fill = {"refuse": "#fbe3df", "fail_closed": "#fbe3df", "triage": "#fdf1d6", "guard": "#fdf1d6"}.get(
            name, "#e8eef4"
        )
        lines.append(
            f"#place(dx: {left}pt, dy: {top}pt, box(width: {_WIDTH}pt, height: {_HEIGHT}pt, radius: 5pt, "
            f'fill: rgb("{fill}"), stroke: 0.6pt + rgb("#12324f"), align(center + horizon)[#"{name.strip("_")}"]))'
        )
    return "\n".join(lines)


def _edge(source: tuple[int, int], target: tuple[int, int], label: str) -> list[str]:
    """An elbow from box to box, with an arrow head and, on a verdict's edge, its word."""
    (ax, ay), (bx, by) = ((20 + x * _STEP_X + _WIDTH / 2, 20 + y * _STEP_Y + _HEIGHT / 2) for x, y in (source, target))
    colour = {"BLOCK": "#b3261e", "ALLOW_WITH_GUARDRAILS": "#b3772a", "ALLOW": "#2e7d32"}.get(label, "#5b6b7a")
    half = _WIDTH / 2 if bx > ax else -_WIDTH / 2
    rise = _HEIGHT / 2 if by > ay else -_HEIGHT / 2
    between = [p for p in _PLACES.values() if p[0] == source[0] and source[1] < p[1] < target[1]]
    if ax == bx and between:  # past other boxes: round their left side
        side = ax - _WIDTH / 2 - 8 - 3 * abs(source[1] - target[1])
        points = [(ax - _WIDTH / 2, ay), (side, ay), (side, by), (bx - _WIDTH / 2 - 1, by)]
    elif ax == bx:
        points = [(ax, ay + rise), (bx, by - rise - 1)]
    elif ay == by:
        shift = -4 if bx > ax else 4
        points = [(ax + half, ay + shift), (bx - half - (1 if bx > ax else -1), by + shift)]
    elif source[0] == _PLACES["admit"][0]:  # from the main column: across, then down
        points = [(ax + half, ay), (bx, ay), (bx, by - rise - (1 if by > ay else -1))]
    else:  # into the main column: down, then across
        points = [(ax, ay + rise), (ax, by), (bx - half - (1 if bx > ax else -1), by)]
    stroke = f'0.8pt + rgb("{colour}")'
    lines = [
        f"#place(line(start: ({a:.1f}pt, {b:.1f}pt), end: ({c:.1f}pt, {d:.1f}pt), stroke: {stroke}))"
        for (a, b), (c, d) in pairwise(points)
    ]
    lines.append(_head(points[-2], points[-1], colour))
    if label:
        (x, y), (u, _) = points[0], points[1]
        left, top = (min(x, u) + 3, y - 9) if x != u else (x + 4, y + 8)
        shown = label.replace("ALLOW_WITH_", "ALLOW WITH ")
        words = f'text(size: 6pt, fill: rgb("{colour}"))[#"{shown}"]'
        lines.append(f"#place(dx: {left:.1f}pt, dy: {top:.1f}pt, {words})")
    return lines


def _head(a: tuple[float, float], b: tuple[float, float], colour: str) -> str:
    dx, dy = (b[0] > a[0]) - (b[0] < a[0]), (b[1] > a[1]) - (b[1] < a[1])
    left = (b[0] - 5 * dx - 3 * dy, b[1] - 5 * dy - 3 * dx)
    right = (b[0] - 5 * dx + 3 * dy, b[1] - 5 * dy + 3 * dx)
    corners = ", ".join(f"({x:.1f}pt, {y:.1f}pt)" for x, y in (b, left, right))
    return f'#place(polygon(fill: rgb("{colour}"), {corners}))'


def _drawn() -> Any:
    from graph.build import build_graph
    from graph.deps import Deps
    from graph.settings import load

    return build_graph(Deps(load(environ={}))).compile().get_graph()
