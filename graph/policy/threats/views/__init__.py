"""Other readings of a text: what it says once encodings and disguises are undone.

A reading counts only if people can read it and could not read the original, so a serial number, a hash or a picture in
base64 gives none. Every step looks at a bounded stretch of text: linear in its length.
"""

from collections.abc import Iterator

from graph.policy.threats.views.encoded import encoded
from graph.policy.threats.views.escaped import escaped
from graph.policy.threats.views.respelt import Respelling
from graph.policy.threats.views.smuggled import smuggled
from graph.policy.threats.views.unmarked import unmarked
from graph.policy.threats.views.view import READ, View

MOST = 8  # readings of one text
DEEPEST = 3  # encodings within each other that are undone


def views(text: str) -> list[View]:
    """Readings of `text`, each once, in a fixed order; none for plain prose."""
    readings: list[View] = []
    seen = {_key(text)}
    respelling = Respelling()
    queue = [(View(text, "", 0, len(text)), 0)]
    while queue and len(readings) < MOST:
        above, depth = queue.pop(0)
        for view in _once(above.text, respelling):
            key = _key(view.text)
            if key in seen or len(readings) >= MOST:
                continue
            seen.add(key)
            how = f"{above.how}, {view.how}" if above.how else view.how
            place = (view.start, view.end) if not depth else (above.start, above.end)
            readings.append(View(view.text, how, *place))
            if depth + 1 < DEEPEST:
                queue.append((readings[-1], depth + 1))
    return readings


def _key(text: str) -> str:
    return " ".join(text.lower().split())[:READ]


def _once(text: str, respelling: Respelling) -> Iterator[View]:
    yield from smuggled(text)
    yield from escaped(text)
    yield from encoded(text)
    yield from unmarked(text)
    yield from respelling.views(text)
