"""Real servers for the tests: programs of other packages, each in a process that ends with the block."""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running(command: Sequence[str], page: str, seconds: float = 30) -> Iterator[None]:
    """The command as a process, once `page` answers, whatever it says."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + seconds
    try:
        while not _answers(page):
            assert process.poll() is None and time.monotonic() < until, f"{command[0]} did not answer"
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def chroma_server(folder: Path, port: int = 0) -> Iterator[str]:
    """Its address. The program comes with the package."""
    port = port or free_port()
    program, url = Path(sys.executable).with_name("chroma"), f"http://127.0.0.1:{port}"
    command = [str(program), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with running(command, f"{url}/api/v2/heartbeat"):
        yield url


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(page: str) -> bool:
    try:
        urllib.request.urlopen(page, timeout=1).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
