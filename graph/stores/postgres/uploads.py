"""Uploads: a job, its files, and of each file its bytes in parts. Who saved a job has it as long as it lives; then the
next that asks for jobs takes it over."""

import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import BinaryIO, cast

from graph.errors import Unavailable
from graph.stores.postgres.database import ALL, Database
from graph.stores.postgres.session import Session
from graph.stores.uploads import Job, Whose, job_of

_PART = 1 << 20  # bytes


class PostgresUploads:
    """In the tables `jobs`, `job_files` and `job_parts`."""

    def __init__(self, database: Database, session: Session) -> None:
        self._database, self._session = database, session

    def begin(self, job_id: str) -> None:
        with _as_os_error(), self._database.transaction(ALL) as cursor:
            cursor.execute("INSERT INTO jobs (job_id, session) VALUES (%s, %s)", [job_id, self._session.number])

    def file(self, job_id: str, number: int) -> BinaryIO:
        with _as_os_error(), self._database.transaction(name=job_id) as cursor:
            cursor.execute("INSERT INTO job_files VALUES (%s, %s)", [job_id, number])
        return cast(BinaryIO, io.BufferedWriter(_Writer(self._database, job_id, number), _PART))

    def save(self, job: Job) -> None:
        with _as_os_error():
            row = [job.tenant_id, job.user_id, json.dumps(asdict(job)), job.job_id, self._session.numbers]
            sql = "UPDATE jobs SET tenant = %s, user_id = %s, job = %s, saved = nextval('job_order')"
            if not self._database.changed(ALL, f"{sql} WHERE job_id = %s AND session = ANY(%s)", *row):
                raise FileNotFoundError(f"there is no job {job.job_id}, or another worker has it")

    def jobs(self) -> list[Job]:
        """Those of this process, and those of processes that died, which it takes over."""
        return self._taken("session = ANY(%s) OR NOT lives(session)", own=True)

    def left(self) -> list[Job]:
        return self._taken("NOT lives(session)")

    def _taken(self, which: str, *, own: bool = False) -> list[Job]:
        with _as_os_error(), self._database.transaction(ALL) as cursor:
            values = [self._session.numbers] if own else []
            cursor.execute(f"DELETE FROM jobs WHERE job IS NULL AND ({which})", values)
            rows = cursor.execute(
                # A session may end between these two: what it had only begun is for the next time.
                "WITH mine AS (UPDATE jobs SET session = %s WHERE job_id IN"
                f" (SELECT job_id FROM jobs WHERE job IS NOT NULL AND ({which}) FOR UPDATE SKIP LOCKED)"
                " RETURNING saved, job) SELECT job FROM mine ORDER BY saved",
                [self._session.number, *values],
            ).fetchall()
        return [job_of(json.loads(job)) for (job,) in rows]

    def elsewhere(self, tenant_id: str, user_id: str) -> list[Job]:
        with _as_os_error(), self._database.transaction(tenant_id) as cursor:
            sql = "SELECT job FROM jobs WHERE tenant = %s AND user_id = %s AND job IS NOT NULL AND session <> ALL(%s)"
            rows = cursor.execute(sql, [tenant_id, user_id, self._session.numbers]).fetchall()
        return [job_of(json.loads(job)) for (job,) in rows]

    def stop(self, job_id: str) -> None:
        with _as_os_error(), self._database.transaction(ALL) as cursor:
            cursor.execute("UPDATE jobs SET stopped = true WHERE job_id = %s", [job_id])

    def mine(self, job_id: str) -> Whose:
        with _as_os_error():
            sql = "SELECT stopped FROM jobs WHERE job_id = %s AND session = ANY(%s)"
            rows = self._database.rows(ALL, sql, job_id, self._session.numbers)
        return "another's" if not rows else "stop" if rows[0][0] else "mine"

    @contextmanager
    def local(self, job_id: str, number: int) -> Iterator[str]:
        with tempfile.NamedTemporaryFile(prefix="cordon-") as out:
            with _as_os_error(), self._database.transaction(name=job_id) as cursor:
                sql = "SELECT 1 FROM job_files WHERE job_id = %s AND number = %s AND closed"
                if cursor.execute(sql, [job_id, number]).fetchone() is None:
                    raise FileNotFoundError(f"the job {job_id} has no file {number}")
                sql = "SELECT data FROM job_parts WHERE job_id = %s AND number = %s AND part = %s"
                part = 0
                while row := cursor.execute(sql, [job_id, number, part]).fetchone():
                    out.write(row[0])
                    part += 1
            out.flush()
            yield out.name

    def remove_files(self, job: Job) -> None:
        with _as_os_error(), self._database.transaction(name=job.job_id) as cursor:
            cursor.execute("DELETE FROM job_files WHERE job_id = %s", [job.job_id])

    def remove(self, job_id: str) -> None:
        with _as_os_error(), self._database.transaction(ALL) as cursor:
            cursor.execute("DELETE FROM jobs WHERE job_id = %s", [job_id])

    def forget(self, tenant_id: str, user_id: str = "") -> int:
        theirs = "(tenant = %s AND %s IN ('', user_id)) OR (job IS NULL AND (session = %s OR NOT lives(session)))"
        with _as_os_error(), self._database.transaction(ALL) as cursor:
            values = [tenant_id, user_id, self._session.number]
            return cursor.execute(f"DELETE FROM jobs WHERE {theirs}", values).rowcount


class _Writer(io.RawIOBase):
    """Writes each part as it comes; the file can be read once it was closed."""

    def __init__(self, database: Database, job_id: str, number: int) -> None:
        self._database, self._job_id, self._number, self._part = database, job_id, number, 0

    def writable(self) -> bool:
        return True

    def write(self, data: "memoryview") -> int:  # type: ignore[override]
        row = [self._job_id, self._number, self._part, bytes(data)]
        with _as_os_error(), self._database.transaction(name=self._job_id) as cursor:
            cursor.execute("INSERT INTO job_parts VALUES (%s, %s, %s, %s)", row)
        self._part += 1
        return len(data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            with _as_os_error(), self._database.transaction(name=self._job_id) as cursor:
                sql = "UPDATE job_files SET closed = true WHERE job_id = %s AND number = %s"
                cursor.execute(sql, [self._job_id, self._number])


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise OSError(str(error)) from error
