"""The tables, set up and brought up to date by their owner: numbered files, each once, in order.

Any number may do it at the same time: one does, the others wait for it. A database that a newer version has set up is
left as it is.
"""

import time
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from graph.errors import BadSettings, Unavailable

_FOLDER = Path(__file__).with_name("migrations")
_LOCK = 0x636F72646F6E  # "cordon"
_PAUSE_S, _PATIENCE_S = 0.2, 600.0


@cache
def _numbered() -> dict[int, tuple[str, str]]:
    """Number → name, statements."""
    return {int(path.name[:4]): (path.name, _text(path.name)) for path in sorted(_FOLDER.glob("[0-9]*.sql"))}


def newest() -> int:
    """The version of the tables that this Cordon needs."""
    return max(_numbered())


def migrate(owner: str, worker: str) -> list[str]:
    """Set up the database as its owner for the role that the worker's URL names; that role is made if it is missing.
    The names of what was applied. Raises BadSettings and Unavailable."""
    role = str(conninfo_to_dict(worker).get("user"))
    try:
        with psycopg.connect(owner, autocommit=True, connect_timeout=10) as connection:
            if connection.info.user == role:
                raise BadSettings(
                    "the workers' role cannot be the owner of the tables.",
                    hint="Name two roles in CORDON_DATABASE_URL and CORDON_DATABASE_OWNER_URL.",
                )
            _alone(connection)
            connection.execute("SET client_min_messages = error")
            connection.execute("CREATE SCHEMA IF NOT EXISTS cordon; SET search_path = cordon, public")
            done = _apply(connection)
            _checkpoints(connection)
            _role(connection, role, str(conninfo_to_dict(worker).get("password") or ""))
            with connection.transaction():
                connection.execute(sql.SQL(_text("access.sql")).format(worker=sql.Identifier(role)))
            return done
    except psycopg.Error as error:
        reason = error.diag.message_primary or str(error).strip()
        raise Unavailable(
            f"the database could not be set up: {reason}.",
            hint="Is it up, has it the extension vector (pgvector 0.7 or later), and may the owner create in it?",
        ) from error


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _alone(connection: "psycopg.Connection[Any]") -> None:
    """Until the connection ends. Asked again and again: a statement that waits would hold up LangGraph's, which make
    indexes while others work."""
    until = time.monotonic() + _PATIENCE_S
    while not (connection.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK]).fetchone() or [False])[0]:
        if time.monotonic() > until:
            raise Unavailable("somebody else has been setting up this database for ten minutes.", hint="Look who.")
        time.sleep(_PAUSE_S)


def _apply(connection: "psycopg.Connection[Any]") -> list[str]:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, name text NOT NULL,"
        " at timestamptz NOT NULL DEFAULT now())"
    )
    applied = dict(connection.execute("SELECT number, name FROM migrations").fetchall())
    if strange := sorted(set(applied.values()) - {name for name, _ in _numbered().values()}):
        raise Unavailable(
            f"a newer Cordon has set up this database ({strange[-1]}).", hint="Use that version, or another database."
        )
    done = []
    for number, (name, statements) in _numbered().items():
        if number not in applied:
            with connection.transaction():
                connection.execute(statements)
                connection.execute("INSERT INTO migrations (number, name) VALUES (%s, %s)", [number, name])
            done.append(name)
    return done


def _checkpoints(connection: "psycopg.Connection[Any]") -> None:
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg.rows import dict_row

    connection.row_factory = dict_row
    PostgresSaver(connection).setup()


def _role(connection: "psycopg.Connection[Any]", role: str, password: str) -> None:
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
        made = sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role))
        if password:
            made += sql.SQL(" PASSWORD {}").format(password)
        connection.execute(made)
