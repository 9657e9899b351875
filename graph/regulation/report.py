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
    gaps = links.gaps(act.nodes, "article", r"Article (\d+)$"), links.gaps(act.nodes, "recital", r"Recital (\d+)$")
    articles, recitals = (dict(zip(("missing", "doubled", "out_of_order"), numbers, strict=True)) for numbers in gaps)
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
            "unresolved": [{"in": name, "says": text} for name, text in act.unresolved],
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
    facts = status(act)
    return "; ".join([f"{facts['articles']} articles, {facts['recitals']} recitals", *problems(facts)])


def problems(facts: dict[str, Any]) -> list[str]:
    """What is wrong with an act whose `status` is given, in words; [] when it is whole."""
    problems = []
    for word, gaps in (("Article", facts["article_gaps"]), ("Recital", facts["recital_gaps"])):
        for key, what in (("missing", "missing"), ("doubled", "twice"), ("out_of_order", "out of order")):
            if gaps[key]:
                problems.append(f"{word} {_ranges(gaps[key])} {what}")
    if facts["parts_missing"]:
        problems.append(f"missing: {', '.join(facts['parts_missing'][:_SHOWN])}")
    if facts["empty_articles"]:
        problems.append(f"no text below {', '.join(facts['empty_articles'][:_SHOWN])}")
    if facts["pages_without_text"]:
        problems.append(f"no text on page {_ranges(facts['pages_without_text'])}")
    if not facts["ends"]:
        problems.append("no final clause and no signature: the end may be missing")
    if not facts["articles"]:
        problems.append("no article was found")
    return problems


def _parts(act: Act) -> list[str]:
    """Paragraphs and points that are skipped: "Article 17(2)" where 17(1) and 17(3) are there."""
    lacking: list[str] = []
    last: dict[tuple[int, str], int] = {}
    for node in act.nodes:
        base, _, inside = node.name.removesuffix(")").rpartition("(")
        if node.name.endswith(")") and node.kind in ("paragraph", "point") and inside.isdigit():
            before, number = last.get((node.parent, "number"), 0), int(inside)
            lacking += [f"{base}({n})" for n in range(before + 1, min(number, before + 50))]
            last[node.parent, "number"] = max(before, number)
    return lacking


def _pages(act: Act) -> list[int]:
    """Pages of a PDF on which nothing begins though the text before them is too short to fill them."""
    pages: list[int] = []
    placed = [n for n in act.nodes if n.page is not None]
    for a, b in pairwise(placed):
        gap = (b.page or 0) - (a.page or 0) - 1
        if 0 < gap < 1_000 and b.start - a.start < _LONG * gap:
            pages += range((a.page or 0) + 1, b.page or 0)
    if placed and placed[0].page and placed[0].page > 1:
        pages = [*range(1, placed[0].page), *pages]
    return pages


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
