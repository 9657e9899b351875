"""The GDPR by its official PDF against another copy of its text: units, and references from article to article."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.acts import fold
from graph.regulation.unit import Unit

_ITEM = r"\d+(?:\(\d+\))?(?:\([a-z]\))?"
_NAIVE = re.compile(rf"Articles? ({_ITEM}(?:(?:, and|, or|,| and| or| to) (?:{_ITEM}|\(\d+\)))*)")
_OTHER = re.compile(
    r"\s*(?:(?:of|to) (?:the |that |Commission |Council )?(?:Directive|Regulation|Charter|TFEU|Treaty)|TFEU|thereof)"
)


def rows(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "gdpr_units.json").read_text(encoding="utf-8"))
    return found


def paragraphs(units: Sequence[Unit]) -> dict[tuple[str, str], str]:
    """(article or "0", number) → text, as the oracle cuts it: a paragraph with its points, a recital, a definition."""
    found: dict[tuple[str, str], str] = {}
    for unit in units:
        if unit.kind == "recital":
            found["0", unit.name.split()[1]] = unit.text
        elif unit.kind != "article" and (match := re.match(r"Article (\d+)(?:\((\d+)\))?", unit.name)):
            if unit.kind == "paragraph" and match[2] is None and unit.text.endswith(":") and len(unit.text) < 60:
                continue  # "For the purposes of this Regulation:" introduces definitions, which are units there
            key = (match[1], match[2] or "1")
            found[key] = f"{found.get(key, '')} {unit.text}".strip()
    return found


def compare(units: Sequence[Unit], oracle: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Names of the oracle's units by what became of them: equal, footnote (it keeps the mark of one), differ, absent;
    and `extra`, what it lacks."""
    mine = paragraphs(units)
    told: dict[str, list[str]] = {"equal": [], "footnote": [], "differ": [], "absent": [], "extra": []}
    for row in oracle:
        key = (row["article"], row["num"])
        name = f"Recital {key[1]}" if key[0] == "0" else f"Article {key[0]}({key[1]})"
        if key not in mine:
            told["absent"].append(name)
            continue
        a, b = bare(mine[key]), bare(row["text"].removesuffix("HAVE ADOPTED THIS REGULATION:"))
        told["equal" if a == b else "footnote" if _without_digit(a, b) else "differ"].append(name)
    known = {(row["article"], row["num"]) for row in oracle}
    told["extra"] = [f"Article {a}({n})" for a, n in mine if (a, n) not in known]
    return told


def bare(text: str) -> str:
    """Letters and digits, without the number that opens it; ¹ counts as punctuation."""
    return fold(re.sub(r"^\s*(?:\(\d+\)|\d+\.)\s*", "", text).replace("¹", ""))


def _without_digit(a: str, b: str) -> bool:
    """Whether `b` is `a` with one digit put in."""
    at = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    return len(b) == len(a) + 1 and b[at].isdigit() and a[at:] == b[at + 1 :]


def edges(oracle: list[dict[str, Any]]) -> set[tuple[int, int]]:
    """(article, other article it names) by a plain pattern over the oracle's text: ranges counted out, other acts left
    out. It shares no code with the parser."""
    found = set()
    for row in oracle:
        for match in _NAIVE.finditer(row["text"]) if row["article"] != "0" else ():
            if _OTHER.match(row["text"], match.end()) and not row["text"][match.end() :].startswith(" of this"):
                continue
            last, span = 0, False
            for token in re.findall(r"\bto\b|\d+(?:\(\d+\))?|\(\d+\)", match[1]):
                if token == "to":
                    span = True
                elif not token.startswith("("):
                    number = int(re.match(r"\d+", token)[0])  # type: ignore[index]
                    found |= {(int(row["article"]), n) for n in (range(last + 1, number + 1) if span else [number])}
                    last, span = number, False
    return {(a, b) for a, b in found if a != b}
