"""Documents that are versions of one another."""

import pytest

from graph.knowledge.versions import age, families
from graph.stores.spaces import Record


def record(doc_id: str, filename: str, groups: tuple[str, ...] = ()) -> Record:
    return Record(doc_id, filename, "", "", "U1", "private", "text/plain", 1, 1, filename, "", groups=list(groups))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("photo_policy_v2.md", ("photo policy", ("version", (2,)))),
        ("Photo Policy (final) Version 1.3.docx", ("photo policy final", ("version", (1, 3)))),
        ("rules-rev.4.pdf", ("rules", ("version", (4,)))),
        ("tariff 2024.pdf", ("tariff", ("date", (2024,)))),
        ("2024-03-01 tariff.pdf", ("tariff", ("date", (2024, 3, 1)))),
        ("sub/Tariff_202403.pdf", ("sub tariff", ("date", (2024, 3)))),
        ("ProtocolV02.docx", ("protocol", ("version", (2,)))),
        ("RRA-20-protocol- Amendment 5.pdf", ("rra 20 protocol", ("version", (5,)))),
        ("SP-114.docx", None),
        ("ISO 9001.pdf", None),
        ("room 2050123.md", None),
        ("v2.md", None),
        ("over9000.md", None),
    ],
)
def test_a_version_or_a_date_in_a_name(name: str, expected: object) -> None:
    assert age(name) == expected


def test_versions_stand_oldest_first_and_only_among_their_own_kind() -> None:
    records = [
        record("b", "policy_v10.md"),
        record("a", "policy_v2.md"),
        record("c", "policy_2024.md"),
        record("d", "other_v2.md"),
        record("e", "policy_v3.md", ("board",)),
        record("f", "policy_v2.pdf"),
    ]
    assert families(records) == {"a": ["a", "f", "b"], "b": ["a", "f", "b"], "f": ["a", "f", "b"]}


def test_the_same_version_in_two_formats_is_no_older_one() -> None:
    assert families([record("a", "policy_v2.md"), record("b", "policy_v2.pdf")]) == {}
