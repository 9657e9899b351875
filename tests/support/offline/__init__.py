"""No network but loopback. Child processes get the same through sitecustomize.py, with this folder on PYTHONPATH."""

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class NetworkUsed(AssertionError):
    """A test tried to leave the machine."""


def check(family: int, address: Any) -> None:
    if family not in (socket.AF_INET, socket.AF_INET6):
        return
    host = str(address[0])
    try:
        inside = ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        inside = host in ("localhost", "")
    if not inside:
        raise NetworkUsed(f"tried to connect to {address!r}")


@contextmanager
def loopback_only() -> Iterator[None]:
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded(self: socket.socket, address: Any) -> None:
        check(self.family, address)
        return connect(self, address)

    def guarded_ex(self: socket.socket, address: Any) -> int:
        check(self.family, address)
        return connect_ex(self, address)

    socket.socket.connect, socket.socket.connect_ex = guarded, guarded_ex  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        socket.socket.connect, socket.socket.connect_ex = connect, connect_ex  # type: ignore[method-assign]
