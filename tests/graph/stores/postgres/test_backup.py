"""A dump by PostgreSQL's own tools, brought back into a new database, by the scripts of deploy/: tried."""

import io
import os
import subprocess
from pathlib import Path

import pytest

from graph.errors import BadInput
from graph.stores.postgres import Postgres
from graph.stores.postgres.migrate import migrate
from tests.graph.stores.postgres.test_isolation import fill
from tests.support.postgres import OWNER, Server, programs

ROOT = Path(__file__).resolve().parents[4]


def test_a_dump_is_whole_and_comes_back_guarded(postgres: Server, tmp_path: Path) -> None:
    place, name, again = programs(), postgres.database(like="prepared"), postgres.database()
    one = Postgres(postgres.url(name))
    fill(one)
    restored = postgres.url(again, OWNER)
    path = f"{place}:{os.environ['PATH']}"

    def run(script: str, url: str, argument: Path) -> str:
        known = {"PATH": path, "CORDON_DATABASE_OWNER_URL": url}
        return subprocess.run(
            ["/bin/sh", ROOT / "deploy" / script, argument], env=known, check=True, capture_output=True, text=True
        ).stdout.strip()

    for n in range(8):  # of earlier days
        (tmp_path / f"cordon-2026010{n}T000000Z.dump").touch()
    dump = Path(run("backup.sh", postgres.url(name, OWNER), tmp_path))
    assert len(list(tmp_path.glob("*"))) == 7 and dump.stat().st_mode & 0o077 == 0
    run("restore.sh", restored, dump)
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
