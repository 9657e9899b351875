"""`cordon sync s3://…` from a real server that speaks S3 and checks signatures (s3rver, from npm)."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.errors import BadInput, DocumentError
from graph.settings import Settings
from tests.service.test_sync import TEXTS, documents, told
from tests.service.test_sync_addresses import scripted
from tests.support.command import Run
from tests.support.shares import Server, signed_s3
from tests.support.site import Site

__all__ = ["scripted"]

S3Store = pytest.importorskip("obstore.store", reason="the extra s3 is not installed").S3Store
SERVER = Path(__file__).resolve().parents[2] / "build/s3/node_modules/s3rver/bin/s3rver.js"
pytestmark = pytest.mark.skipif(
    not SERVER.exists() or not shutil.which("node"), reason="there is no S3 server here (make s3)"
)
KEY, SECRET = "AKIAHELIOTROPE", "heliotrope-9"


@dataclass
class Bucket:
    door: Server
    store: Any

    def put(self, name: str, text: str) -> None:
        self.store.put(f"shed/{name}", text.encode())

    def read(self) -> list[str]:
        """What was fetched since the last time this was asked."""
        return sorted(path.removeprefix("/notes/shed/") for path in self.door.read() if "?" not in path)


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    log = tmp_path / "server.log"
    command = ["node", str(SERVER), "-d", str(tmp_path / "s3"), "-a", "127.0.0.1", "-p", "0", "--no-vhost-buckets"]
    (tmp_path / "s3").mkdir()
    with log.open("ab") as out:
        server = subprocess.Popen([*command, "--configure-bucket", "notes"], stdout=out, stderr=out)
    try:
        while not (address := re.search(r"127\.0\.0\.1:\d+", log.read_text())):
            assert server.poll() is None, log.read_text()
            time.sleep(0.02)
        with signed_s3(address[0], KEY, SECRET) as door:
            yield _filled(address[0], door, monkeypatch)
    finally:
        server.terminate()
        server.wait()


def _filled(upstream: str, door: Server, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    known = {"AWS_ENDPOINT_URL": door.url, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
    for name, value in known.items():
        monkeypatch.setenv(name, value)
    own = {"endpoint": f"http://{upstream}", "access_key_id": "S3RVER", "secret_access_key": "S3RVER"}
    made = Bucket(door, S3Store("notes", config=own, client_options={"allow_http": True}))
    for name, text in {**TEXTS, "what is it #1%.md": "# What\n\nThe ledger of the mill has a green cover.\n"}.items():
        made.put(name, text)
    made.store.put("elsewhere/other.md", b"# Other\n\nThe other file is not below the prefix at all.\n")
    made.put(".hidden.md", "# Hidden\n\nNobody shows this hidden file to anybody.\n")
    return made


@pytest.fixture
def agent(settings_of: Callable[..., Settings]) -> Iterator[Agent]:
    with Agent(settings_of(private_hosts="127.0.0.1", artifacts=False)) as agent:
        yield agent


def test_a_bucket_is_kept_in_step_and_only_what_changed_is_fetched(bucket: Bucket, agent: Agent) -> None:
    first = told(agent, "s3://notes/shed")
    assert set(first) == {*TEXTS, "what is it #1%.md"} and set(first.values()) == {"indexed"}
    assert len(bucket.read()) == 5
    before = documents(agent)
    assert set(told(agent, "s3://notes/shed/").values()) == {"unchanged"} and bucket.read() == []
    bucket.put("loom.md", TEXTS["loom.md"].replace("Tuesday", "Wednesday"))
    bucket.put("sub/oven.md", TEXTS["kiln.md"])
    bucket.store.delete(["shed/kiln.md", "shed/dyes.txt"])
    bucket.read()
    assert told(agent, "s3://notes/shed") == {
        "loom.md": "indexed", "sub/yard.md": "unchanged", "what is it #1%.md": "unchanged", "sub/oven.md": "moved",
        "dyes.txt": "removed",
    }  # fmt: skip
    assert bucket.read() == ["loom.md", "sub/oven.md"]
    assert documents(agent)["sub/oven.md"] == before["kiln.md"]
    assert "s3://notes/shed/sub/yard.md" in {one["source"] for one in agent.documents(tenant_id="U1")}


def test_a_bucket_that_fails_removes_nothing_and_tells_no_key(
    bucket: Bucket, tmp_path: Path, inside: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, known = tmp_path / "home", {"private_hosts": "127.0.0.1", "artifacts": False}
    done = inside("sync", "s3://notes/shed", "--tenant", "U1", home=home, **known)
    assert done.returncode == 0, done.stderr
    gone = inside("sync", "s3://no-such-bucket", "--tenant", "U1", home=home, **known)
    bucket.store.delete([found["path"] for some in bucket.store.list("shed") for found in some])
    empty = inside("sync", "s3://notes/shed", "--tenant", "U1", home=home, **known)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "heliotrope-8")
    wrong = inside("sync", "s3://notes/shed", "--tenant", "U1", home=home, **known)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    away = inside("sync", "s3://notes/shed", "--tenant", "U1", home=home, **known)
    codes = [one.returncode for one in (empty, gone, wrong, away)]
    assert codes == [2, 1, 1, 4], [one.stderr for one in (empty, gone, wrong, away)]
    assert "does not let these keys in" in wrong.stderr and "no such bucket" in gone.stderr
    listed = inside("docs", "list", "--tenant", "U1", home=home)
    assert "loom" in listed.stdout
    texts = [part for one in (done, empty, gone, wrong, away, listed) for part in (one.stdout, one.stderr)]
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    for secret in (KEY, "heliotrope"):
        assert not any(secret in text for text in texts) and not any(secret.encode() in data for data in files)


def test_a_server_inside_is_reached_only_where_the_settings_say_so(
    bucket: Bucket, settings_of: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Agent(settings_of(artifacts=False)) as agent:
        with pytest.raises(BadInput, match="unencrypted"):
            agent.sync("s3://notes/shed", tenant_id="U1")
        monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.door.url.replace("http", "https"))
        with pytest.raises(DocumentError, match="not that of a public site"):
            agent.sync("s3://notes/shed", tenant_id="U1")
        for odd in ("s3://", "s3://notes/shed?versionId=1", "s3://ana:secret@notes/shed", "s3://Notes"):
            with pytest.raises(BadInput, match="names no bucket") as raised:
                agent.sync(odd, tenant_id="U1")
            assert "secret@" not in str(raised.value)
    assert bucket.read() == []


def test_what_is_too_large_is_refused_before_it_is_fetched(
    bucket: Bucket, settings_of: Callable[..., Settings]
) -> None:
    bucket.put("large.md", "# Large\n\n" + "The large file goes on and on. " * 60_000)
    bucket.read()
    with Agent(settings_of(private_hosts="127.0.0.1", artifacts=False, max_file_mb=1)) as agent:
        assert told(agent, "s3://notes/shed")["large.md"] == "quarantined"
    assert "large.md" not in bucket.read()


def test_a_name_that_the_library_does_not_take_is_told(
    scripted: Site, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = '<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"1"</ETag><Size>3</Size>'
    listing = f"<ListBucketResult><Contents><Key>a//b.md</Key>{about}</Contents></ListBucketResult>"
    scripted.page("/notes", listing.encode(), "application/xml")
    monkeypatch.setenv("AWS_ENDPOINT_URL", scripted.url)
    with pytest.raises(DocumentError, match="such as a//b"):
        agent.sync("s3://notes", tenant_id="U1")


def test_without_keys_nothing_is_signed(bucket: Bucket, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is looked for anywhere else: the server sees an unsigned request, and refuses it."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(DocumentError, match="does not let these keys in"):
        agent.sync("s3://notes/shed", tenant_id="U1")
