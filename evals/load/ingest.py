"""Chunks a second of ingestion into PostgreSQL: one process, several, and a Dask cluster of this machine.

    python -m evals.load.ingest DIRECTORY --workers 2 [--files 60]

Each way begins with an empty database. On the clock, with the start of the processes: a machine with nothing else to do
is needed to compare them. Beside it the processor time of this process and of all it started. The cluster is left out
without the extra `dask`. Needs a checkout: the server is the tests' own.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from evals.process import CORDON, ROOT, environment
from graph.stores.postgres.migrate import migrate
from tests.support.postgres import OWNER, server

TENANT = "bench"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--files", type=int, default=60, help="the first so many")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(options="") as running:
        place = Path(folder) / "files"
        place.mkdir()
        for n, path in enumerate(sorted(p for p in given.directory.rglob("*") if p.is_file())[: given.files]):
            shutil.copy(path, place / f"{n}_{path.name}")
        migrate(running.url("prepared", OWNER), running.url("prepared"))
        for way in ("one process", f"--workers {given.workers}", f"a Dask cluster of {given.workers}"):
            name = running.database(like="prepared")
            environ = environment(Path(folder) / way.replace(" ", "")) | {"CORDON_DATABASE_URL": running.url(name)}
            if "cluster" in way and find_spec("distributed") is None:
                print(f"{way}: not measured, the extra dask is not installed")
                continue
            with _options(way, given.workers, environ) as options:
                begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
                command = [*CORDON, "ingest", str(place), "--tenant", TENANT, "--json", *options]
                done = subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, text=True, check=True)
                spent = time.perf_counter() - begun
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
            with running.admin(name) as admin:
                [(chunks,)] = admin.execute("SELECT count(*) FROM cordon.chunks").fetchall()
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            told = "" if "cluster" in way else f"; {cpu:.0f} s of processor"
            files = len(done.stdout.splitlines())
            print(
                f"{way}: {chunks} chunks of {files} files in {spent:.0f} s, {chunks / spent:.1f} a second{told}",
                flush=True,
            )
    return 0


@contextmanager
def _options(way: str, workers: int, environ: dict[str, str]) -> Iterator[list[str]]:
    if "cluster" not in way:
        yield way.split() if way.startswith("--") else []
        return
    from distributed import LocalCluster

    os.environ.update({"CORDON_DATABASE_URL": environ["CORDON_DATABASE_URL"], "CORDON_HOME": environ["CORDON_HOME"]})
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        yield ["--scheduler", cluster.scheduler_address]


if __name__ == "__main__":
    sys.exit(main())
