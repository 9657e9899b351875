"""What was found of an act, and what is missing, doubled or out of order: said in words and as data."""

from itertools import pairwise
from typing import Any

from graph.regulation import links
from graph.regulation.act import Act

_LONG = 2_500  # characters: a page or more of print
_SHOWN = 12
_CENTRAL = 5


def status(act: Act) -> dict[str, Any]:
    """Counts, gaps and cross references. `complete` when nothing is missing, doubled or out of order."""
    kinds = [n.kind for n in act.nodes]
    divisions = [n.path.rpartition(", ")[2].split(" ", 1)[0] for n in act.nodes if n.kind == "division"]
    articles, recitals = (
        dict(zip(("missing", "doubled", "out_of_order"), found, strict=True))
        for found in (
            links.gaps(act.nodes, "article", r"Article (\d+)$"),
            links.gaps(act.nodes, "recital", r"Recital (\d+)$"),
        )
    )
    lacking = list(dict.fromkeys(_parts(act)))
    ends = "closing" in kinds or "signature" in kinds
    pages = _pages(act)
    return {
        "doc_id": act.doc_id,
        "title": act.title,
        "sha256": act.sha256,
        "articles": kinds.count("article"),
        "recitals": kinds.count("recital"),
        "chapters": divisions.count("Chapter"),
        "sections": divisions.count("Section"),
        "annexes": kinds.count("annex"),
        "units": len(act.nodes),
        "passages": len(act.passages),
        "definitions": len(act.terms),
        "central": [act.nodes[act.passages[at].node].name for at in _central(act)],
        "article_gaps": articles,
        "recital_gaps": recitals,
        "parts_missing": lacking,
        "empty_articles": [n.name for at, n in enumerate(act.nodes) if n.kind == "article" and n.last == at],
        "pages_without_text": pages,
        "ends": ends,
        "references": {
            "resolved": act.resolved,
            "to_other_acts": act.elsewhere,
            "unresolved": [{"in": name, "says": said} for name, said in act.unresolved],
        },
        "edges": {kind: sum(e.kind == kind for e in act.edges) for kind in sorted({e.kind for e in act.edges})},
        "complete": not any((*articles.values(), *recitals.values(), lacking, pages)) and ends and "article" in kinds,
    }


def _central(act: Act) -> list[int]:
    """The passages on which most others depend, by PageRank; definitions left out, since all depend on them."""
    definitions = {act.nodes[node].parent for node in act.terms.values()}
    order = sorted(range(len(act.rank)), key=lambda at: (-act.rank[at], at))
    return [
        at for at in order if act.nodes[act.passages[at].node].parent not in definitions and _is_provision(act, at)
    ][:_CENTRAL]


def _is_provision(act: Act, passage: int) -> bool:
    return act.nodes[act.passages[passage].node].kind in ("paragraph", "point", "annex_part")


def line(act: Act) -> str:
    """ "99 articles, 173 recitals"; what is wrong with it comes after."""
    found = status(act)
    return "; ".join([f"{found['articles']} articles, {found['recitals']} recitals", *problems(found)])


def problems(found: dict[str, Any]) -> list[str]:
    """Each thing that is wrong, in words; [] for an act that is whole."""
    told = []
    for word, gaps in (("Article", found["article_gaps"]), ("Recital", found["recital_gaps"])):
        for key, said in (("missing", "missing"), ("doubled", "twice"), ("out_of_order", "out of order")):
            if gaps[key]:
                told.append(f"{word} {_ranges(gaps[key])} {said}")
    if found["parts_missing"]:
        told.append(f"missing: {', '.join(found['parts_missing'][:_SHOWN])}")
    if found["empty_articles"]:
        told.append(f"no text below {', '.join(found['empty_articles'][:_SHOWN])}")
    if found["pages_without_text"]:
        told.append(f"no text on page {_ranges(found['pages_without_text'])}")
    if not found["ends"]:
        told.append("no final clause and no signature: the end may be missing")
    if not found["articles"]:
        told.append("no article was found")
    return told


def _parts(act: Act) -> list[str]:
    """Paragraphs and points that are skipped: "Article 17(2)" where 17(1) and 17(3) are there."""
    lacking: list[str] = []
    last: dict[tuple[int, str], int] = {}
    for node in act.nodes:
        inside = (
            node.name[node.name.rindex("(") + 1 : -1]
            if node.name.endswith(")") and node.kind in ("paragraph", "point")
            else ""
        )
        if inside.isdigit():
            before, number = last.get((node.parent, "number"), 0), int(inside)
            base = node.name[: node.name.rindex("(")]
            lacking += [f"{base}({n})" for n in range(before + 1, min(number, before + 50))]
            last[node.parent, "number"] = max(before, number)
    return lacking


def _pages(act: Act) -> list[int]:
    """Pages of a PDF on which nothing begins though the text before them is too short to fill them."""
    found: list[int] = []
    placed = [n for n in act.nodes if n.page is not None]
    for a, b in pairwise(placed):
        gap = (b.page or 0) - (a.page or 0) - 1
        if 0 < gap < 1_000 and b.start - a.start < _LONG * gap:
            found += range((a.page or 0) + 1, b.page or 0)
    if placed and placed[0].page and placed[0].page > 1:
        found = [*range(1, placed[0].page), *found]
    return found


def _ranges(numbers: list[int]) -> str:
    """ "3, 7-9"."""
    parts: list[list[int]] = []
    for n in sorted(set(numbers)):
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in parts[:_SHOWN]]
    return ", ".join(shown) + (" …" if len(parts) > _SHOWN else "")
