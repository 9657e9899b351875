"""What a manifest and its access list give, and what they take away again."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.errors import BadInput
from graph.knowledge.manifest import sources
from graph.settings import Settings


@pytest.fixture
def lists(tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """`lists("U1,zebra,public", …)` writes a manifest of the documents named, their files, and the access list."""

    def write(*rows: str, tenants: dict[str, str] | None = None) -> tuple[Path, Path]:
        names = dict.fromkeys(row.split(",")[1] for row in rows)
        for name in names:
            (tmp_path / f"{name}.md").write_text(f"The {name} sleeps in house {len(name)} behind the mill.\n")
        known = {name: next(r.split(",")[0] for r in rows if r.split(",")[1] == name) for name in names}
        listed = [f"{name},{(tenants or known).get(name, known[name])},{name}.md" for name in names]
        manifest, acl = tmp_path / "manifest.csv", tmp_path / "tenant_acl.csv"
        manifest.write_text("\n".join(["doc_id,tenant,path", *listed, ""]))
        granted = [f"{row},N,permanent" for row in rows]
        acl.write_text("\n".join(["tenant_id,doc_id,visibility,pii,retention_policy", *granted, ""]))
        return manifest, acl

    return write


@pytest.fixture
def agent(settings_of: Callable[..., Settings]) -> Iterator[Agent]:
    with Agent(settings_of(artifacts=False)) as opened:
        yield opened


def held(agent: Agent, tenant: str) -> list[str]:
    where: dict[str, Any] = {"public": True} if tenant == "public" else {"tenant_id": tenant}
    return [d["doc_id"] for d in agent.documents(**where)]


def test_a_narrower_access_list_takes_access_away_and_says_so(
    lists: Callable[..., tuple[Path, Path]], agent: Agent
) -> None:
    agent.ingest_sources(sources(*lists("U1,zebra,public", "U1,tapir,private", "U2,tapir,private")))
    assert (held(agent, "public"), held(agent, "U1"), held(agent, "U2")) == (["zebra"], ["tapir"], ["tapir"])
    narrowed = sources(*lists("U1,zebra,private", "U1,tapir,private"))
    told = {o.doc_id: (o.status, o.reason) for o in agent.ingest_sources(narrowed)}
    assert told == {
        "zebra": ("indexed", "withdrawn from public"),
        "tapir": ("unchanged", "withdrawn from U2"),
    }
    assert (held(agent, "public"), held(agent, "U1"), held(agent, "U2")) == ([], ["tapir", "zebra"], [])
    assert not agent.search("Where does the tapir sleep?", tenant_id="U2")
    assert {o.reason for o in agent.ingest_sources(narrowed)} == {""}


def test_what_a_tenant_brought_itself_stays(
    lists: Callable[..., tuple[Path, Path]], agent: Agent, tmp_path: Path
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tapir.md").write_text("Our own tapir is a statue in the yard.\n")
    agent.ingest(tmp_path / "own" / "tapir.md", tenant_id="U2")
    outcomes = agent.ingest_sources(sources(*lists("U1,tapir,private")))
    assert [(o.status, o.reason) for o in outcomes] == [("indexed", "")]
    assert held(agent, "U2") == ["tapir"]
    assert "statue" in agent.document("tapir", tenant_id="U2")["text"]


def test_access_ends_even_when_the_file_can_no_longer_be_read(
    lists: Callable[..., tuple[Path, Path]], agent: Agent, tmp_path: Path
) -> None:
    agent.ingest_sources(sources(*lists("U1,tapir,private", "U2,tapir,private")))
    narrowed = sources(*lists("U1,tapir,private"))
    (tmp_path / "tapir.md").unlink()
    (outcome,) = agent.ingest_sources(narrowed)
    assert (outcome.status, held(agent, "U2")) == ("failed", [])
    assert "withdrawn from U2" in outcome.reason


@pytest.mark.parametrize(
    ("rows", "tenant", "says"),
    [
        (["U1,zebra,private", "U2,zebra,public"], "U1", "tenant_acl.csv, line 3: 'zebra' is public here and private"),
        (["U2,zebra,public", "U1,zebra,private"], "U1", "tenant_acl.csv, line 3: 'zebra' is private here and public"),
        (["U1,zebra,private"], "U2", "manifest.csv, line 2: tenant 'U2' of 'zebra' has no row"),
        (["U1,zebra,private"], "", "manifest.csv, line 2: tenant '' of 'zebra' has no row"),
        (["U1,zebra,private"], "public", "manifest.csv, line 2: tenant 'public' of 'zebra' has no row"),
        (["U1,zebra,public"], "U2", "manifest.csv, line 2: tenant 'U2' of 'zebra' has no row"),
        (["public,zebra,public", "U1,tapir,private"], "U1", "manifest.csv, line 2: tenant 'U1' of 'zebra' has no row"),
        ([",zebra,private"], "", "tenant_acl.csv, line 2: tenant '' is not usable"),
    ],
)
def test_lists_that_contradict_open_nothing(
    lists: Callable[..., tuple[Path, Path]], rows: list[str], tenant: str, says: str
) -> None:
    with pytest.raises(BadInput) as caught:
        sources(*lists(*rows, tenants={"zebra": tenant}))
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("row", "tenant", "spaces"),
    [
        ("public,zebra,public", "PUB", ("public",)),
        (",zebra,public", "", ("public",)),
        ("U1,zebra,public", "U1", ("public",)),
        ("U1,zebra,private", "U1", ("U1",)),
    ],
)
def test_lists_that_agree(
    lists: Callable[..., tuple[Path, Path]], row: str, tenant: str, spaces: tuple[str, ...]
) -> None:
    (source,) = sources(*lists(row, tenants={"zebra": tenant}))
    assert (source.spaces, source.tenant_id) == (spaces, spaces[0])


def test_a_file_that_is_gone_fails_alone(lists: Callable[..., tuple[Path, Path]], agent: Agent, tmp_path: Path) -> None:
    named = lists("U1,zebra,private", "U1,tapir,private")
    (tmp_path / "zebra.md").unlink()
    found = [(o.status, o.reason.split(":")[0]) for o in agent.ingest_sources(sources(*named))]
    assert found == [("failed", "cannot read 'zebra.md'"), ("indexed", "")]


@pytest.mark.parametrize("path", ["../../zebra.md", "/etc/hostname", "", ".", "nul\0.md"])
def test_no_path_leads_out_of_the_manifests_folder(tmp_path: Path, path: str) -> None:
    below = tmp_path / "one" / "two"
    below.mkdir(parents=True)
    manifest, acl = below / "manifest.csv", below / "tenant_acl.csv"
    manifest.write_text(f"doc_id,tenant,path\nzebra,U1,{path}\n")
    acl.write_text("tenant_id,doc_id,visibility,pii,retention_policy\nU1,zebra,private,N,permanent\n")
    with pytest.raises(BadInput, match=r"line 2: .* is no path below the manifest"):
        sources(manifest, acl)


def test_a_link_out_of_the_manifests_folder_is_not_followed(
    lists: Callable[..., tuple[Path, Path]], agent: Agent, tmp_path: Path
) -> None:
    named = lists("U1,zebra,private")
    (tmp_path / "zebra.md").unlink()
    (tmp_path / "zebra.md").symlink_to("/etc/hostname")
    assert [o.status for o in agent.ingest_sources(sources(*named))] == ["failed"]


def with_groups(files: tuple[Path, Path], *groups: str) -> tuple[Path, Path]:
    """The access list with a column more: the groups of each row."""
    rows = files[1].read_text().splitlines()
    files[1].write_text("\n".join(f"{row},{more}" for row, more in zip(rows, ("groups", *groups), strict=True)) + "\n")
    return files


def test_a_column_says_which_groups_of_the_tenant_read_a_document(
    lists: Callable[..., tuple[Path, Path]], agent: Agent
) -> None:
    rows = "U1,zebra,private", "U1,tapir,private", "U2,tapir,private"
    agent.ingest_sources(sources(*with_groups(lists(*rows), "staff; board", "", "board")))
    for tenant, groups, readable in (
        ("U1", (), ["tapir"]), ("U1", ("board",), ["tapir", "zebra"]), ("U2", (), []), ("U2", ("board",), ["tapir"]),
    ):  # fmt: skip
        assert [d["doc_id"] for d in agent.documents(tenant_id=tenant, groups=groups)] == readable
    # Other groups, and none any more: the document moves, and whoever may not read it any longer finds nothing.
    moved = sources(*with_groups(lists(*rows), "staff", "board", ""))
    told = {o.doc_id: (o.status, o.reason) for o in agent.ingest_sources(moved)}
    assert told == {
        "zebra": ("indexed", "withdrawn from U1/board,staff"), "tapir": ("indexed", "withdrawn from U1, U2/board"),
    }  # fmt: skip

    def found(question: str, *groups: str) -> set[str]:
        return {one["doc_id"] for one in agent.search(question, tenant_id="U1", groups=groups)}

    asked = "Where does the zebra sleep?"
    assert found(asked, "staff") == {"zebra"} and found(asked, "board") == {"tapir"} and found(asked) == set()
    assert {o.reason for o in agent.ingest_sources(moved)} == {""}
    agent.ingest_sources(sources(*lists(*rows)))  # without the column: for all of the tenant, as before
    assert held(agent, "U1") == ["tapir", "zebra"] and found(asked) == {"tapir", "zebra"}


@pytest.mark.parametrize(
    ("rows", "groups", "said"),
    [
        (["public,zebra,public"], ["staff"], "tenant_acl.csv, line 2: 'zebra' is public, so it has no groups"),
        (["U1,zebra,private"], ["a,b"], "expected 6 values"),
        (["U1,zebra,private"], ["a;b/c"], "line 2: group 'b/c' is not usable"),
        (["U1,zebra,private"], ["a;"], "line 2: group '' is not usable"),
        (["U1,zebra,private"], [";".join(f"g{n}" for n in range(65))], "line 2: there are 65 groups"),
        (["U1,zebra,private", "U1,zebra,private"], ["a", "b"], "line 3: 'zebra' is for other groups here than above"),
        (["U1,zebra,private", "U1,zebra,private"], ["a", ""], "line 3: 'zebra' is for other groups here than above"),
    ],
)
def test_groups_that_are_none_are_told_by_their_line(
    lists: Callable[..., tuple[Path, Path]], rows: list[str], groups: list[str], said: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        sources(*with_groups(lists(*rows), *groups))


def test_another_column_is_told(lists: Callable[..., tuple[Path, Path]]) -> None:
    manifest, acl = lists("U1,zebra,private")
    acl.write_text(
        acl.read_text().replace("retention_policy", "retention_policy,team").replace("permanent", "permanent,")
    )
    with pytest.raises(
        BadInput, match="expected tenant_id,doc_id,visibility,pii,retention_policy, and if wanted groups"
    ):
        sources(manifest, acl)
