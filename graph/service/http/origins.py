"""From which pages in a browser a door may be called that is made for programs.

A page whose name is pointed at this machine (DNS rebinding) has the name in its Host too, so that header says nothing.
Known are loopback, the address that was connected to, the host the service was told to be, and the listed origins.
"""

import ipaddress
from urllib.parse import urlsplit

from graph.settings import Settings


class Origins:
    def __init__(self, settings: Settings) -> None:
        self._listed = {o.strip().rstrip("/") for o in settings.cors_origins.split(",")} - {""}
        self._host = settings.serve_host.lower()

    def known(self, origin: str, address: str) -> bool:
        """`address` is the one of this machine at which the request arrived."""
        if "*" in self._listed or origin in self._listed:
            return True
        try:
            host = urlsplit(origin).hostname or ""
        except ValueError:
            return False
        return (host in (self._host, address) and not _anywhere(host)) or is_loopback(host)


def is_loopback(host: str) -> bool:
    """Whether a name or an address is always that of the machine itself."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _anywhere(host: str) -> bool:
    return host in ("", "0.0.0.0", "::")
