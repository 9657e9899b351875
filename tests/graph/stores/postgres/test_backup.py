"""A dump by PostgreSQL's own tools, brought back into a new database: docs/operations.md, tried."""

import io
import subprocess
from pathlib import Path

import pytest

from graph.errors import BadInput
from graph.stores.postgres import Postgres
from graph.stores.postgres.migrate import migrate
from tests.graph.stores.postgres.test_isolation import fill
from tests.support.postgres import OWNER, Server, programs


def test_a_dump_is_whole_and_comes_back_guarded(postgres: Server, tmp_path: Path) -> None:
    place, name, again = programs(), postgres.database(like="prepared"), postgres.database()
    one = Postgres(postgres.url(name))
    fill(one)
    dump = tmp_path / "cordon.dump"
    known = ["--enable-row-security", "--format=custom", f"--file={dump}", postgres.url(name, OWNER)]
    subprocess.run([f"{place}/pg_dump", *known], check=True)
    restored = postgres.url(again, OWNER)
    subprocess.run(
        [f"{place}/pg_restore", "--no-comments", "--exit-on-error", f"--dbname={restored}", dump], check=True
    )
    assert migrate(restored, postgres.url(again)) == []
    other = Postgres(postgres.url(again))
    spaces = [stores.spaces("model") for stores in (one, other)]
    for tenant in ("T1", "T2"):
        before, after = (found.space(tenant) for found in spaces)
        assert before is not None and after is not None
        assert str(before.whole("d")) == str(after.whole("d")) and after.annexed("d") == tenant
    assert list(other.journal.lines()) == list(one.journal.lines()) and other.journal.prove().holds
    assert other.keys.all() == one.keys.all() and other.keys.pepper() == one.keys.pepper()
    with other._database.transaction() as cursor:  # of no tenant
        assert cursor.execute("SELECT count(*) FROM documents").fetchone() == (0,)
    new = spaces[1].space("T3", create=True)  # numbers go on where they were
    assert new is not None and new.empty()
    for stores, database in ((one, name), (other, again)):
        stores.close()
        postgres.drop(database)


def test_a_copy_through_the_store_is_no_way(postgres: Server) -> None:
    stores = Postgres(postgres.url("prepared"))
    for call in (stores.backup, stores.restore):
        with pytest.raises(BadInput) as told:
            call(io.BytesIO())
        assert "pg_" in told.value.hint
