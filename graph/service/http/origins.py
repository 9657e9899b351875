"""From which pages in a browser a door may be called that is made for programs.

A page whose name is pointed at this machine (DNS rebinding) has the name in its Host too, so that header says nothing.
Known are loopback, the address that was connected to, the host the service was told to be, and the listed origins.
"""

from urllib.parse import urlsplit

from graph.settings import Settings, is_loopback


class Origins:
    """The origins that the settings name, besides this machine itself."""

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
        ours = host in (self._host, address) and host not in ("", "0.0.0.0", "::")  # these mean any address
        return ours or is_loopback(host)
