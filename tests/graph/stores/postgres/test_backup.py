"""A dump by PostgreSQL's own tools, brought back into a new database, by the scripts of deploy/: tried."""

import io
import os
import subprocess
from pathlib import Path

import pytest

from evals.process import CORDON, environment
from evals.serving import DOCUMENTS, QUESTIONS
from graph.agent import Agent
from graph.errors import BadInput
from graph.settings import load
from graph.stores.postgres import Postgres
from graph.stores.postgres.migrate import migrate
from tests.graph.stores.postgres.test_isolation import fill
from tests.support.postgres import OWNER, Server, programs, server

ROOT = Path(__file__).resolve().parents[4]


def run(script: str, url: str, *arguments: Path, **more: str) -> str:
    known = {"PATH": f"{programs()}:{os.environ['PATH']}", "CORDON_DATABASE_OWNER_URL": url, **more}
    done = subprocess.run(
        ["/bin/sh", ROOT / "deploy" / script, *arguments], env=known, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_dump_is_whole_and_comes_back_guarded(postgres: Server, tmp_path: Path) -> None:
    name, again = postgres.database(like="prepared"), postgres.database()
    one = Postgres(postgres.url(name))
    fill(one)
    restored = postgres.url(again, OWNER)
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
        assert str(before.whole("d")) == str(after.whole("d")) and after.attachment("d") == tenant
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


@pytest.mark.slow
def test_on_a_new_server_it_verifies_and_answers(tmp_path: Path) -> None:
    """As after a server was lost: the new one is as the compose file makes it, and has no role for the workers yet."""
    with server() as lost, server() as new:
        migrate(lost.url("prepared", OWNER), lost.url("prepared"))
        settings = load(environ={}, home=tmp_path / "home", out=tmp_path, database_url=lost.url("prepared"))
        (tmp_path / "freezers.md").write_text(DOCUMENTS["U1"]["freezers.md"])
        with Agent(settings) as agent:
            agent.ingest([tmp_path / "freezers.md"], tenant_id="U1")
            assert agent.ask(QUESTIONS["U1"], tenant_id="U1")["decision"] == "answer"
        dump = Path(run("backup.sh", lost.url("prepared", OWNER), tmp_path))
        lost.stop()
        new.drop("prepared")
        with new.admin() as admin:
            admin.execute(f"DROP ROLE {OWNER}")
        at = {"PGHOST": str(new.folder), "PGDATABASE": "postgres", "POSTGRES_USER": "postgres"}
        run("compose/database.sh", "", **at, CORDON_OWNER_PASSWORD="o-1_x")
        known = {"CORDON_DATABASE_URL": new.url("cordon"), "CORDON_DATABASE_OWNER_URL": new.url("cordon", OWNER)}

        def cordon(*arguments: str) -> str:
            done = subprocess.run(
                [*CORDON, *arguments], env=environment(tmp_path) | known, capture_output=True, text=True
            )
            assert done.returncode == 0, done
            return done.stdout

        run("restore.sh", known["CORDON_DATABASE_OWNER_URL"], dump)
        cordon("migrate")
        del known["CORDON_DATABASE_OWNER_URL"]
        cordon("audit", "verify")
        assert "kestrel" in cordon("ask", QUESTIONS["U1"], "--tenant", "U1")
        cordon("audit", "verify")  # with the line of that answer
