"""A Git repository, read with the program `git`: one commit, no history, nothing checked out, no hook, no submodule."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from posixpath import basename
from urllib.parse import quote, unquote, urlsplit

from graph.errors import BadInput, DocumentError, Quarantined, Unavailable
from graph.files import private_directory
from graph.knowledge import folders
from graph.knowledge.fetch import reachable
from graph.knowledge.origins import Content, Entry, hidden
from graph.knowledge.origins.address import Address, parsed
from graph.settings import Settings

_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}")
_LISTING = 256 * 2**20  # bytes of the names of all files
_LOOK = 1.0  # seconds between two looks at how much there is


class Repository:
    """`url` is `https://HOST/PATH[@REF]` or `file:///PATH[@REF]`; REF is a branch, a tag or a commit, or what the
    repository itself shows first. Raises BadInput for another one."""

    whole = True

    def __init__(self, url: str, settings: Settings) -> None:
        parts = urlsplit(url)
        path, _, self._ref = parts.path.partition("@")
        if parts.scheme not in ("https", "http", "file") or (self._ref and not _REF.fullmatch(self._ref)):
            raise BadInput(
                "this is no address of a Git repository.",
                hint="An example: git+https://example.org/team/notes.git@main",
            )
        if shutil.which("git") is None:
            raise Unavailable("the program git is not installed.", hint="Install it, for example `apt install git`.")
        self._settings, self._until = settings, time.monotonic() + settings.sync_seconds
        at = f"@{self._ref}" if self._ref else ""
        self._address: Address | None = None
        if parts.scheme == "file":
            local = Path(unquote(path)).resolve()
            if parts.netloc not in ("", "localhost") or not folders.is_folder(local):
                raise BadInput(f"there is no folder {unquote(path)!r}: nothing was removed.", hint="Check the path.")
            self._url, self._shown = f"file://{quote(str(local))}", local.name + at
            self.place = folders.digest(Path(f"{local}{at}.git"))
        else:
            self._address = parsed(parts._replace(path=path, query="", fragment="").geturl(), settings)
            self._url, self._shown = self._address.url, f"git+{self._address.shown}{at}"
            self.place = parsed(f"{self._address.url}{at}.git", settings).place
        self.label = basename(path.rstrip("/")).removesuffix(".git")
        parent = private_directory(settings.home / "pages")  # what is left here is cleared
        self._folder = Path(tempfile.mkdtemp(prefix="git-", dir=parent))

    def listed(self, known: Mapping[str, str]) -> Iterator[Entry]:
        self._git("init", "--quiet", "--bare", "--template=", ".")
        self._git("remote", "add", "origin", self._url)
        # Where most is here already, only the files that changed are fetched: each when it is read.
        part = ["--filter=blob:none"] if known else []
        self._git("fetch", "--quiet", "--depth=1", "--no-tags", *part, "origin", self._ref or "HEAD")
        listing = self._git("ls-tree", "-r", "-z", "--full-tree", "FETCH_HEAD", most=_LISTING)
        for line in listing.split(b"\0"):
            about, _, path = line.partition(b"\t")
            mode, _, sha = about.decode().partition(" blob ")
            name = os.fsdecode(path)
            if mode in ("100644", "100755") and not hidden(name):
                yield Entry(name, sha, None, sha)

    def read(self, entry: Entry, stamp: str) -> Content | None:
        most = self._settings.max_file_mb * 2**20
        data = self._git("cat-file", "blob", entry.key, most=most + 1)
        if len(data) > most:
            raise Quarantined("oversize", f"it is larger than {self._settings.max_file_mb} MiB")
        return Content(data, entry.stamp)

    def source(self, entry: Entry) -> str:
        return f"{self._shown}/{quote(entry.name, errors='surrogateescape')}"

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _git(self, *arguments: str, most: int = 2**20) -> bytes:
        """What git prints, at most so many bytes and a few. Raises DocumentError."""
        with tempfile.TemporaryFile(dir=self._folder.parent) as out, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                ["git", *arguments], cwd=self._folder, env=self._environment(), stdin=subprocess.DEVNULL,
                stdout=out, stderr=errors, start_new_session=True,
            )  # fmt: skip
            try:
                self._waited(process, out.fileno(), most)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            errors.seek(0)
            if process.returncode:
                reason = errors.read(2_000).decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
                raise DocumentError(
                    "url_unreachable",
                    f"git could not read {self._shown}: {''.join(c for c in reason[0] if c.isprintable())[:300]}",
                    hint="check address, branch and sign-in: CORDON_SYNC_USER, CORDON_SYNC_PASSWORD",
                )
            out.seek(0)
            return out.read(most + 1)

    def _waited(self, process: "subprocess.Popen[bytes]", out: int, most: int) -> None:
        room, pause = self._settings.sync_mb * 2**20, 0.005
        while process.poll() is None:
            try:
                process.wait(pause)
            except subprocess.TimeoutExpired:
                pause = min(_LOOK, pause * 2)
            if time.monotonic() > self._until:
                raise DocumentError("url_too_slow", f"{self._shown} did not come in time", hint="try again later")
            if os.fstat(out).st_size > most:
                return
            if pause == _LOOK and _size(self._folder) > room:
                raise DocumentError("url_too_large", f"{self._shown} is too large", hint="raise CORDON_SYNC_MB")

    @cached_property
    def _addresses(self) -> str:
        """Looked up and checked once: git connects to these and no others."""
        assert self._address is not None
        return ",".join(reachable(self._url, seconds=20, allow_private=self._address.private))

    def _environment(self) -> dict[str, str]:
        """Git never waits for input. Other settings of git, such as a helper for signing in, hold."""
        scheme = urlsplit(self._url).scheme
        config = {
            "core.hooksPath": os.devnull,
            "core.fsmonitor": "false",
            "fetch.recurseSubmodules": "false",
            "gc.auto": "0",
            "maintenance.auto": "false",
            "protocol.allow": "never",
            f"protocol.{scheme}.allow": "always",
            "http.followRedirects": "false",
            "http.lowSpeedLimit": "100",
            "http.lowSpeedTime": "60",
        }
        if self._address:
            parts = urlsplit(self._url)
            port = parts.port or {"http": 80, "https": 443}[scheme]
            config["http.curloptResolve"] = f"{parts.hostname}:{port}:{self._addresses}"
            if self._address.authorization:  # not on a command line, which everybody on the machine may read
                config["http.extraHeader"] = f"Authorization: {self._address.authorization}"
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "SSH_ASKPASS", "CORDON_"))}
        numbered = {f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(config)}
        numbered |= {f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(config.values())}
        return {
            **inherited, **numbered, "GIT_CONFIG_COUNT": str(len(config)), "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "", "GIT_DIR": ".", "LC_ALL": "C",
        }  # fmt: skip


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue  # gone since it was listed
    return total
