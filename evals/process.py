"""`cordon serve` as a process of its own, with what it and the processes it started take."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORDON = [sys.executable, "-m", "graph.service.cli"]


def environment(folder: Path) -> dict[str, str]:
    """Of a Cordon that knows nothing but its folder."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CORDON_", "OPENAI_", "LANG"))}
    return {**kept, "CORDON_HOME": str(folder / "home"), "CORDON_OUT": str(folder / "out")}


@contextmanager
def served(
    folder: Path, settings: Mapping[str, str], log: str = "log", within: Sequence[str] = (), port: int = 0
) -> Iterator[tuple[str, int]]:
    """(address, process id) of a service over `folder/home`; what it says on stderr goes to that file in the folder.
    `within`: a command that becomes the service, such as one that puts it on another host."""
    log_file = folder / log
    with log_file.open("wb") as said:
        environ = {**environment(folder), **settings}
        service = subprocess.Popen([*within, *CORDON, "serve", "--port", str(port)], env=environ, stderr=said, cwd=ROOT)
        try:
            yield _address(log_file, service), service.pid
        finally:
            service.send_signal(signal.SIGTERM)
            service.wait(60)


def _address(log: Path, service: "subprocess.Popen[bytes]") -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and service.poll() is None:
        if b"listening" in (said := log.read_bytes()):
            return "http" + said.split(b"http", 1)[1].split(b"\n")[0].decode()
        time.sleep(0.05)
    raise RuntimeError(log.read_text())


def family(pid: int) -> list[int]:
    """The service's process and those that it started, and that those started."""
    found, at = [pid], 0
    while at < len(found):
        for thread in Path(f"/proc/{found[at]}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, thread.read_text().split())
        at += 1
    return found


def memory_mb(pid: int) -> float:
    """What the processes hold together; what they share counts once."""
    return (
        sum(
            int(line.split()[1])
            for one in family(pid)
            for line in _read(f"/proc/{one}/smaps_rollup").splitlines()
            if line.startswith("Pss:")
        )
        / 1024
    )


def cpu_s(pid: int) -> float:
    fields = [said.rpartition(")")[2].split() for one in family(pid) if (said := _read(f"/proc/{one}/stat"))]
    return sum(int(times[11]) + int(times[12]) for times in fields) / os.sysconf("SC_CLK_TCK")


def _read(path: str) -> str:
    """What stands there; "" of a process that has ended meanwhile."""
    with suppress(OSError):
        return Path(path).read_text()
    return ""
