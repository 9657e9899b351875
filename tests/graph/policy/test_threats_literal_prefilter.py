"""A rule is run only where the words are without which it cannot match; that must never lose a match."""

import random
import re
import string

import pytest

from evals import material
from graph.policy.text.canonical import canonicalise
from graph.policy.threats import (
    abuse,
    evasion,
    injection,
    leakage,
    literal_prefilter,
    organisational_contacts,
    rule,
    tongues,
    toxicity,
)
from graph.policy.threats.rule import Rule, Table

_GIVEN = {"leakage": leakage._TABLE, "injection": injection.TABLE}
_TABLES = [_GIVEN.get(name, Table(name)) for name in sorted(path.stem for path in rule.FOLDER.glob("*.toml"))]
RULES: list[Rule] = [*tongues.rules(), *(row for table in _TABLES if table.name != "tongues" for row in table.rules)]


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        ("forget (?:all|any) rules?", (("forget all rule", "forget any rule"),)),
        (r"drop\s+it", (("drop",), ("it",))),
        ("unhack|unharm", (("unhack", "unharm"),)),
        (r"(?:tell|show)\w* .{0,9}secret", (("secret",), ("show", "tell"))),
        ("rules?|regel", (("rule", "regel"),)),
        ("(?:really )?stop", (("stop",),)),
        ("(?:ab){2,}", (("ab",),)),
        ("(?=later)now", (("now",),)),  # what is looked at is no part of the match
        ("(?!later)now", (("now",),)),
        (r"now(?<!know)", (("now",),)),
        (r"\d+|word", ()),
        (r"[a-z]{3}", ()),
        ("(?:word)*", ()),
        ("ab.cd", (("ab",), ("cd",))),
        ("x", ()),  # in every text
    ],
)
def test_what_a_pattern_needs_is_read_off_it(pattern: str, needs: literal_prefilter.Needs) -> None:
    assert literal_prefilter.needs(re.compile(pattern, re.I)) == needs


def test_every_rule_needs_something() -> None:
    asked = (abuse._WORDS, toxicity._GRAVE, evasion._PREVENTS, organisational_contacts._STRAIGHT)
    assert [row.why for row in RULES if not literal_prefilter.needs(row.pattern)] == []
    assert [pattern.pattern[:40] for pattern in asked if not literal_prefilter.needs(pattern)] == []


def test_letters_that_are_one_to_a_pattern_are_one_when_folded() -> None:
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    changes = [char for char in every if char.lower() != char or char.upper() != char]
    for char in {*string.ascii_letters, *changes}:
        alike = {other for other in {char.lower(), char.upper(), char.title()} if len(other) == 1}
        assert {literal_prefilter.folded(other) for other in alike if re.fullmatch(char, other, re.I)} <= {
            literal_prefilter.folded(char)
        }
    for letter in string.ascii_lowercase:
        found = set(re.findall(letter, every, re.I))
        assert {letter, letter.upper()} <= found
        assert {literal_prefilter.folded(other) for other in found} == {letter}


@pytest.mark.parametrize("row", RULES, ids=[row.why for row in RULES])
def test_no_form_of_a_hit_is_passed_over(row: Rule) -> None:
    needs, found = literal_prefilter.needs(row.pattern), 0
    for hit in row.hits:
        plain = canonicalise(hit).text
        for text in (
            plain,
            plain.upper(),
            plain.title(),
            plain.swapcase(),
            *map(plain.replace, "sSkKiI", "ſſ\u212a\u212aıİ"),
        ):
            matches = [*row.find(text)]
            found += len(matches)
            assert rule.find([row], text) == matches
            assert not matches or literal_prefilter.met(needs, literal_prefilter.folded(text))
    assert found


def test_rules_find_in_real_texts_what_they_find_without_it() -> None:
    """Each fifth text of the project's own sets, and pairs of them in one."""
    names = ("guardrails", "innocent_hard", "obfuscation", "planted_test", "unseen_attacks", "long_innocent")
    texts = [canonicalise(row["text"]).text for name in names for row in material.own_set(name)][::5]
    texts += [f"{one}\n{another}" for one, another in zip(texts[::2], texts[1::2], strict=False)]
    found = [[finding for row in RULES for finding in row.find(text)] for text in texts]
    assert [rule.find(RULES, text) for text in texts] == found
    assert len(texts) > 300 and sum(map(len, found)) > 50


def _pattern(dice: random.Random, depth: int = 2) -> str:
    """Any pattern of few letters."""
    if depth == 0 or dice.random() < 0.3:
        return dice.choice(["a", "ab", "bc", "B", "s", "[ab]", "[a-c]", "[^a]", ".", r"\w", r"\b", r"\s", "ſ"])
    inner = [_pattern(dice, depth - 1) for _ in range(dice.randint(1, 3))]
    made = dice.choice(["".join(inner), f"(?:{'|'.join(inner)})", f"({'|'.join(inner)})"])
    if dice.random() < 0.1:
        return f"(?{dice.choice(['=', '!'])}{made}){dice.choice('ab')}"
    return f"(?:{made})" + dice.choice(["", "", "?", "*", "+", "{2}", "{0,2}", "+?"])


def test_nothing_that_any_pattern_matches_is_passed_over() -> None:
    dice = random.Random(20261123)
    matched = needing = 0
    for _ in range(1_500):
        pattern = re.compile(_pattern(dice) + _pattern(dice), dice.choice([0, re.I]))
        needs = literal_prefilter.needs(pattern)
        needing += bool(needs)
        for _ in range(12):
            text = "".join(dice.choices("aAbBcs ſS", k=dice.randint(0, 6)))
            match = pattern.search(text)
            matched += match is not None
            assert not match or literal_prefilter.met(needs, literal_prefilter.folded(text)), (
                pattern.pattern,
                needs,
                text,
            )
            assert bool(literal_prefilter.search(pattern, text)) == bool(match)
    assert matched > 1_000 and needing > 200
