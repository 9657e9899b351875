"""Every row of the rule tables finds what it says it must, and leaves alone what it says it must."""

import re
import time
from collections.abc import Callable

import pytest

from graph.policy.rubric import GUARDED_FROM, Finding
from graph.policy.text.canonical import canonicalise
from graph.policy.threats import cross_tenant, evasion, injection, leakage, planted, rule, tongues, toxicity
from graph.policy.threats.rule import Rule, Table

# What asks a table, with the exceptions of its module.
FIND: dict[str, Callable[[str, str], list[Finding]]] = {
    "injection": injection.find,
    "leakage": leakage.find,
    "cross_tenant": cross_tenant.find,
    "evasion": evasion.find,
    "toxicity": toxicity.find,
    "tongues": injection.find,
    "planted": lambda text, tenant: planted.assess(canonicalise(text))[0],
}


def rules(name: str) -> tuple[Rule, ...]:
    given = {"leakage": leakage._TABLE, "injection": injection.TABLE}
    return tongues.rules() if name == "tongues" else given.get(name, Table(name)).rules


NAMES = sorted(path.stem for path in rule.FOLDER.glob("*.toml"))
ROWS = [(name, row) for name in NAMES for row in rules(name)]


def found(name: str, row: Rule, text: str) -> bool:
    canonical = canonicalise(text).text
    find: Callable[[str, str], list[Finding]] = FIND.get(name, lambda text, tenant: Table(name).find(text))
    return any(finding.why == row.why for finding in find(canonical, ""))


def test_there_is_a_row_in_every_table_with_rules() -> None:
    assert {name for name, _ in ROWS} == {*NAMES} - {"cues", "frame", "mention", "organisational_contacts"}
    assert len(ROWS) == 74


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{name}: {row.why}" for name, row in ROWS])
def test_a_row_finds_what_it_must_and_leaves_what_it_must(name: str, row: Rule) -> None:
    assert row.hits and row.leaves and 0 < row.score < 1
    assert [text for text in row.hits if not found(name, row, text)] == []
    assert [text for text in row.leaves if found(name, row, text)] == []


@pytest.mark.parametrize(("name", "row"), [(n, r) for n, r in ROWS if r.score >= GUARDED_FROM / 100 and n != "planted"])
def test_what_a_row_finds_is_not_let_through(name: str, row: Rule) -> None:
    from graph.policy.threats import assess

    assert [text for text in row.hits if assess(text).action == "ALLOW"] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_fragment_and_pattern_can_be_used(name: str) -> None:
    table = Table(name, **({"kind": "NAME"} if name == "leakage" else {}))
    for pattern in table.content.get("patterns", {}):
        assert re.compile(table.pattern(pattern).pattern)
    whole = rule.joined(" ".join([*table.content.get("patterns", {}).values(), *_patterns(table)]))
    for word, fragment in table.content.get("words", {}).items():
        assert f"<{word}>" in whole + "".join(table.content["words"].values()), f"{name}: nothing names <{word}>"
        assert fragment


def _patterns(table: Table) -> list[str]:
    return [row["pattern"] for row in table.content.get("rule", ())]


def test_a_fragment_that_is_not_there_is_an_error() -> None:
    table = Table("markup")
    with pytest.raises(KeyError, match="nowhere"):
        table._whole("<nowhere>")


def test_lines_of_a_pattern_are_one_and_spaces_stand_for_any() -> None:
    assert rule.joined("\n    a b\n    |c") == "a b|c"
    assert rule.spaced("a b ?c").fullmatch("A \n bc")


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{name}: {row.why}" for name, row in ROWS])
def test_a_row_is_fast_on_its_own_words_again_and_again(name: str, row: Rule) -> None:
    text = " ".join(canonicalise(hit).text.rstrip(".?!") for hit in row.hits)
    begun = time.process_time()
    list(row.find((text + " ") * (12_000 // len(text))))
    assert time.process_time() - begun < 1.0
