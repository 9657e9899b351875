"""Cordon used as a person uses it, by somebody whose home is empty, with every address that is connected to written down.

Run as a script with a folder that has `home` (an indexed one), and in a network of its own: prints
{"left": files outside Cordon's own folders, "reached": addresses}.
"""

import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

_ADDRESS = re.compile(r"\b(?:connect|sendto|sendmsg|sendmmsg)\(.*?(?:inet_addr\(|inet_pton\(AF_INET6, )\"([^\"]+)\"")
_TRACE = ("strace", "-f", "--seccomp-bpf", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg")


class Person:
    def __init__(self, base: Path, traced: bool, path: str) -> None:
        self._base, self._traced, self._count = base, traced, 0
        self.folders = {
            name: base / "person" / name.lower()
            for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR")
        }
        for folder in (*self.folders.values(), base / "work"):
            folder.mkdir(parents=True)
        places = {"CORDON_HOME": base / "home", "CORDON_OUT": base / "out", **self.folders}
        self._environment = {name: str(place) for name, place in places.items()} | {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANG": "C.UTF-8",
            "CORDON_SERVE_PROCESSES": "2",
        }

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        self._count += 1
        trace = (*_TRACE, "-o", str(self._base / f"trace-{self._count}")) if self._traced else ()
        command = (*trace, sys.executable, *arguments)
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        env, cwd = self._environment, self._base / "work"
        return subprocess.Popen(command, env=env, cwd=cwd, start_new_session=True, **pipes)

    def cordon(self, *arguments: str, stdin: str = "") -> str:
        child = self.start("-m", "graph.service.cli", *arguments)
        said, why = child.communicate(stdin.encode(), 120)
        assert child.returncode == 0, (arguments, why.decode())
        return said.decode()

    def left(self) -> list[str]:
        folders = (*self.folders.values(), self._base / "work")
        return sorted(str(p.relative_to(self._base)) for folder in folders for p in folder.rglob("*"))

    def reached(self) -> list[str]:
        found = {a for file in self._base.glob("trace-*") for a in _ADDRESS.findall(file.read_text(errors="replace"))}
        return sorted(a for a in found if not a.startswith(("127.", "::1", "::ffff:127.")))


def _loopback() -> None:
    """Bring up `lo` of a fresh network: SIOCSIFFLAGS with IFF_UP and IFF_RUNNING."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))


def _serve(person: Person) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    key = person.cordon("keys", "add", "--tenant", "U1").split()[0]
    service = person.start("-m", "graph.service.cli", "serve", "--port", str(port))
    question = {"question": "Which freezer holds the whole blood samples?"}
    head = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    url = f"http://127.0.0.1:{port}/v1/ask"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(600):
        try:
            with direct.open(urllib.request.Request(url, json.dumps(question).encode(), head), timeout=60) as reply:
                assert json.load(reply)["decision"] == "answer"
            break
        except OSError:
            assert service.poll() is None, service.communicate()
            time.sleep(0.1)
    os.killpg(service.pid, signal.SIGTERM)
    service.communicate(timeout=60)


def main(base: Path, path: str, traced: bool) -> None:
    if traced:
        _loopback()
    person = Person(base, traced, path)
    (base / "note.md").write_text("# Vents\n\nThe heron vent is opened every Friday by the porter.\n")
    person.cordon("ask", "Which freezer holds the whole blood samples?", "--tenant", "U1")
    person.cordon("scan", "--as", "question", stdin='{"id": 1, "text": "hello"}\n')
    person.cordon("ingest", str(base / "note.md"), "--tenant", "U1")
    person.cordon("eval", "json", "--out", str(base / "report"))
    _serve(person)
    found = {"left": person.left(), "reached": person.reached()}
    # And now something that does both, or the two lists above say nothing.
    calls = "import pathlib, socket; pathlib.Path.home().joinpath('id').touch()\ntry: socket.create_connection(('192.0.2.1', 9), 1)\nexcept OSError: pass"
    person.start("-c", calls).communicate(timeout=60)
    print(json.dumps(found | {"seen_when_there": {"left": person.left(), "reached": person.reached()}}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "traced")
