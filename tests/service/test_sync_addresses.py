"""`cordon sync` from servers: WebDAV, Git, sitemaps and feeds. Each is a real one on loopback."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.errors import BadInput, DocumentError
from graph.knowledge.origins import Content, Entry
from graph.knowledge.origins.repository import Repository
from graph.settings import Settings
from tests.service.test_sync import TEXTS, documents, filled, told, until_counts
from tests.support.command import Run, environment
from tests.support.shares import Server, git_http, http, webdav
from tests.support.site import Site

USER, PASSWORD = "ana", "heliotrope-9"


@pytest.fixture
def inside_too() -> dict[str, Any]:
    return {"private_hosts": "127.0.0.1", "artifacts": False}


@pytest.fixture
def agent(settings_of: Callable[..., Settings], inside_too: dict[str, Any]) -> Iterator[Agent]:
    with Agent(settings_of(**inside_too)) as agent:
        yield agent


def nothing_secret(home: Path, *texts: str) -> None:
    """No password in what was said, nor in any file of the home."""
    held = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert held and not any(PASSWORD.encode() in data for data in held)
    assert not any(PASSWORD in text for text in texts)


# -- WebDAV ---------------------------------------------------------------------------------------------------


@pytest.fixture
def share(tmp_path: Path) -> Iterator[Server]:
    filled(tmp_path / "notes", {**TEXTS, "what is it #1%.md": "# What\n\nThe ledger of the mill has a green cover.\n"})
    with webdav(tmp_path / "notes", USER, PASSWORD) as server:
        yield server


def signed(server: Server, scheme: str = "webdav", password: str = PASSWORD) -> str:
    return server.url.replace("http://", f"{scheme}://{USER}:{password}@")


def test_a_webdav_share_is_kept_in_step_and_only_what_changed_is_fetched(
    share: Server, tmp_path: Path, agent: Agent
) -> None:
    notes = tmp_path / "notes"
    assert set(told(agent, signed(share)).values()) == {"indexed"}
    assert len(share.read()) == 5
    before = documents(agent)
    assert set(told(agent, signed(share)).values()) == {"unchanged"} and share.read() == []
    (notes / "loom.md").write_text(TEXTS["loom.md"].replace("Tuesday", "Wednesday"))
    (notes / "kiln.md").rename(notes / "sub" / "oven.md")
    (notes / "dyes.txt").unlink()
    assert told(agent, signed(share)) == {
        "loom.md": "indexed", "sub/yard.md": "unchanged", "what is it #1%.md": "unchanged", "sub/oven.md": "moved",
        "dyes.txt": "removed",
    }  # fmt: skip
    assert sorted(share.read()) == ["/dav/loom.md", "/dav/sub/oven.md"]
    assert documents(agent)["sub/oven.md"] == before["kiln.md"]
    sources = {document["source"] for document in agent.documents(tenant_id="U1")}
    assert f"{share.url}/sub/yard.md" in sources
    nothing_secret(agent.settings.home, *sources)


def test_a_webdav_share_that_fails_removes_nothing_and_tells_no_password(
    share: Server, tmp_path: Path, inside: Run, inside_too: dict[str, Any]
) -> None:
    home = tmp_path / "home"
    done = inside("sync", signed(share), "--tenant", "U1", "--json", home=home, **inside_too)
    assert done.returncode == 0, done.stderr
    wrong = inside("sync", signed(share, password=f"{PASSWORD}x"), "--tenant", "U1", home=home, **inside_too)
    assert wrong.returncode == 1 and "answered 401" in wrong.stderr
    (tmp_path / "notes").rename(tmp_path / "away")
    (tmp_path / "notes").mkdir()
    empty = inside("sync", signed(share), "--tenant", "U1", home=home, **inside_too)
    assert empty.returncode == 2 and "nothing was removed" in empty.stderr
    gone = inside("sync", signed(share) + "/nowhere", "--tenant", "U1", home=home, **inside_too)
    assert gone.returncode == 1 and "answered 404" in gone.stderr
    listed = inside("docs", "list", "--tenant", "U1", "--json", home=home)
    assert len(json.loads(listed.stdout)) == 5
    nothing_secret(home, *(part for one in (done, wrong, empty, gone, listed) for part in (one.stdout, one.stderr)))


def test_a_share_inside_is_reached_only_where_the_settings_say_so(
    share: Server, settings_of: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Agent(settings_of(artifacts=False)) as agent:
        with pytest.raises(BadInput, match="unencrypted"):
            agent.sync(signed(share), tenant_id="U1")
        for scheme in ("webdav", "webdavs", "http", "git+https"):
            with pytest.raises(DocumentError, match=r"not that of a public site|inside a private network") as refused:
                agent.sync(share.url.replace("http", scheme), tenant_id="U1")
            assert "CORDON_PRIVATE_HOSTS" in refused.value.hint
    assert share.asked == []
    rc = tmp_path / ".netrc"
    rc.write_text(f"machine 127.0.0.1 login {USER} password {PASSWORD}\n")
    rc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    with Agent(settings_of(artifacts=False, private_hosts="cloud.local, 127.0.0.1")) as agent:
        assert set(told(agent, share.url.replace("http", "webdav")).values()) == {"indexed"}
    eve = settings_of(artifacts=False, private_hosts="127.0.0.1", sync_user="eve", sync_password="no")
    with Agent(eve) as agent, pytest.raises(DocumentError, match="401"):
        agent.sync(share.url.replace("http", "webdav"), tenant_id="U1")


@pytest.fixture
def scripted() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


def answering(site: Site, rows: str) -> str:
    """The address of a share that answers what the test says."""

    def propfind(handler: BaseHTTPRequestHandler) -> None:
        body = f'<multistatus xmlns="DAV:">{rows}</multistatus>'.encode()
        handler.send_response(207)
        handler.send_header("Content-Type", "application/xml")
        handler.end_headers()
        handler.wfile.write(body)

    return site.raw("/dav/", propfind).replace("http", "webdav")


def row(href: str, *, folder: bool = False) -> str:
    kind = "<resourcetype><collection/></resourcetype>" if folder else "<resourcetype/>"
    return f"<response><href>{href}</href><propstat><prop>{kind}<getetag>1</getetag></prop></propstat></response>"


def test_a_share_that_lies_leads_nowhere(scripted: Site, agent: Agent) -> None:
    for path in ("/dav/loom.md", "/secret.md", "/dav/../secret.md", "/dav/sub/%2e%2e/%2e%2e/secret.md"):
        scripted.page(path, TEXTS["loom.md"].encode(), "text/plain")
    hrefs = [
        "/dav/", "/dav/loom.md", "/secret.md", "/dav/../secret.md", "/dav/sub/%2e%2e/%2e%2e/secret.md",
        "http://127.0.0.2/dav/loom.md", "/dav/a%0Ab.md", "/dav/.hidden.md",
    ]  # fmt: skip
    url = answering(scripted, "".join(map(row, hrefs)) + row("/dav/../", folder=True) + row("/dav/", folder=True))
    found = told(agent, url)
    assert {name for name, status in found.items() if status == "indexed"} == {"loom.md"} == documents(agent).keys()
    assert {name for name, status in found.items() if status == "failed"} == {
        "../secret.md", "sub/../../secret.md", "a\nb.md"
    }  # fmt: skip
    assert [path for path, _ in scripted.asked if path != "/dav/"] == ["/dav/loom.md"]
    for rows in ("", "<response>", '<!DOCTYPE a [<!ENTITY b SYSTEM "/etc/hostname">]>', row("/elsewhere/loom.md")):
        with pytest.raises((DocumentError, BadInput)):
            agent.sync(answering(scripted, rows), tenant_id="U1")
    assert len(documents(agent)) == 1


def test_a_share_that_leads_elsewhere_gets_no_password_there(scripted: Site, agent: Agent) -> None:
    scripted.page("/dav/", status=302, Location=f"{scripted.url}/other/")
    with pytest.raises(DocumentError, match="redirects"):
        agent.sync(scripted.url.replace("http://", f"webdav://{USER}:{PASSWORD}@") + "/dav", tenant_id="U1")
    assert [path for path, _ in scripted.asked] == ["/dav/"]


# -- Git ------------------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    who = {f"GIT_{role}_{what}": "a@b.example" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    found = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments], cwd=folder, check=True, capture_output=True, text=True,
        env={**os.environ, **who},
    )  # fmt: skip
    return found.stdout.strip()


def committed(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "more")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = filled(tmp_path / "notes", {**TEXTS, ".github/hidden.md": "# Hidden\n\nNobody reads this.\n"})
    (folder / "link.md").symlink_to("/etc/hostname")
    git(folder, "init", "--quiet")
    committed(folder)
    return folder


def test_a_git_repository_is_kept_in_step(repository: Path, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    plain = Repository.read

    def noted(self: Repository, entry: Entry, stamp: str) -> Content | None:
        read.append(entry.name)
        return plain(self, entry, stamp)

    monkeypatch.setattr(Repository, "read", noted)
    url = f"git+file://{repository}"
    assert told(agent, url) == dict.fromkeys(TEXTS, "indexed")
    before = documents(agent)
    read.clear()
    assert set(told(agent, f"file://{repository}").values()) == {"unchanged"} and read == []
    (repository / "loom.md").write_text(TEXTS["loom.md"].replace("Tuesday", "Friday"))
    (repository / "kiln.md").rename(repository / "oven.md")
    (repository / "dyes.txt").unlink()
    assert set(told(agent, url).values()) == {"unchanged"}  # nothing is committed
    committed(repository)
    assert told(agent, url) == {
        "loom.md": "indexed",
        "sub/yard.md": "unchanged",
        "oven.md": "moved",
        "dyes.txt": "removed",
    }
    assert sorted(read) == ["loom.md", "oven.md"] and documents(agent)["oven.md"] == before["kiln.md"]
    assert not list((agent.settings.home / "pages").iterdir())  # no copy of it stays


def test_a_repository_is_read_over_http_with_a_password_that_is_told_nobody(
    repository: Path, agent: Agent, settings_of: Callable[..., Settings]
) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    with git_http(repository, USER, PASSWORD) as server:
        url = signed(server, "git+http")
        assert told(agent, url) == dict.fromkeys(TEXTS, "indexed")
        (repository / "loom.md").write_text(TEXTS["loom.md"].replace("Tuesday", "Friday"))
        (repository / "big.txt").write_text("".join(f"{n} is a number.\n" for n in range(9_000)))
        committed(repository)
        found = told(agent, url)
        assert (found["loom.md"], found["kiln.md"], found["big.txt"]) == ("indexed", "unchanged", "indexed")
        with pytest.raises(DocumentError, match="git could not read"):
            agent.sync(signed(server, "git+http", "wrong"), tenant_id="U1")
    with pytest.raises(DocumentError, match="git could not read") as failed:
        agent.sync(url, tenant_id="U1")  # nobody is there any more
    assert len(documents(agent)) == 5
    sources = [document["source"] for document in agent.documents(tenant_id="U1")]
    assert f"git+{server.url}/loom.md" in sources
    nothing_secret(agent.settings.home, str(failed.value), *sources)


def test_a_branch_is_a_source_of_its_own(repository: Path, agent: Agent) -> None:
    git(repository, "checkout", "--quiet", "-b", "team/draft")
    (repository / "wool.md").write_text("# Wool\n\nWool is washed three times in cold water before it is spun.\n")
    committed(repository)
    git(repository, "checkout", "--quiet", "main")
    assert "wool.md" not in told(agent, f"git+file://{repository}")
    assert len(told(agent, f"git+file://{repository}@team/draft")) == 5
    assert len(documents(agent)) == 9
    for ref in ("nowhere", "--upload-pack=touch"):
        with pytest.raises((DocumentError, BadInput)):
            agent.sync(f"git+file://{repository}@{ref}", tenant_id="U1")
    assert len(documents(agent)) == 9


def test_an_address_is_asked_again_after_some_time(repository: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "graph.service.cli", "sync", f"file://{repository}", "--tenant", "U1"]
    process = subprocess.Popen(
        [*command, "--every", "1", "--json"],
        env=environment(tmp_path / "home"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert until_counts(process)["counts"] == {"indexed": 4}
        away = repository.rename(tmp_path / "away")
        assert process.stderr and "there is no folder" in process.stderr.readline()  # and it goes on
        (away / "loom.md").unlink()
        committed(away)
        away.rename(repository)
        while (counts := until_counts(process)["counts"]) == {"unchanged": 4}:
            continue
        assert counts == {"removed": 1, "unchanged": 3}
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


def test_git_runs_no_hook_and_asks_nobody(
    repository: Path, agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: Server
) -> None:
    hooks = filled(tmp_path / "hooks", {"reference-transaction": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    (asking := hooks / "ask").write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\necho somebody\n")
    for program in hooks.iterdir():
        program.chmod(0o755)
    (tmp_path / ".gitconfig").write_text(f"[core]\n\thooksPath = {hooks}\n\taskPass = {asking}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    told(agent, f"git+file://{repository}@main")
    with pytest.raises(DocumentError, match="git could not read") as failed:
        agent.sync(f"git+{share.url}", tenant_id="U1")
    with pytest.raises(DocumentError, match="git could not read") as signed_in:
        agent.sync(signed(share, "git+http"), tenant_id="U1")
    assert ("GET", "/dav/info/refs") in share.asked
    assert not (tmp_path / "ran").exists() and not (tmp_path / "asked").exists()
    nothing_secret(agent.settings.home, str(failed.value), str(signed_in.value))


# -- sitemaps and feeds ---------------------------------------------------------------------------------------


def page(title: str, text: str) -> str:
    return f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1><p>{text}</p></main></body></html>"


PAGES = {
    "loom.html": page("The loom", "The loom of the weaving shed is oiled every Tuesday by the keeper of the shed."),
    "kiln.html": page("The kiln", "The kiln in the yard is fired twice a month, and only with two people present."),
    "yard.html": page("The yard", "The yard behind the shed is swept on Monday before the first delivery arrives."),
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Server]:
    with http(filled(tmp_path / "site", PAGES)) as server:
        yield server


def sitemap(server: Server, *names: str, lastmod: str = "") -> str:
    time = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    rows = "".join(f"<url><loc>{server.url}/{name}</loc>{time}</url>" for name in names)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'


def test_the_pages_of_a_sitemap_are_kept_in_step(site: Server, tmp_path: Path, agent: Agent) -> None:
    place = tmp_path / "site" / "sitemap.xml"
    elsewhere = "<url><loc>http://127.0.0.2/other.html</loc></url></urlset>"
    place.write_text(sitemap(site, *PAGES).replace("</urlset>", elsewhere))
    url = f"{site.url}/sitemap.xml?token={PASSWORD}"
    assert list(told(agent, url).values()) == ["indexed"] * 3
    site.read()
    assert list(told(agent, url).values()) == ["unchanged"] * 3
    assert [code for code, path in site.asked if path.endswith(".html")].count("304") == 3
    changed = tmp_path / "site" / "loom.html"
    changed.write_text(PAGES["loom.html"].replace("Tuesday", "Friday"))
    os.utime(changed, (2_000_000_000, 2_000_000_000))
    (tmp_path / "site" / "oven.html").write_text(PAGES["kiln.html"])
    place.write_text(sitemap(site, "loom.html", "oven.html"))
    port = site.url.rpartition(":")[2]
    assert told(agent, url) == {
        f"127_0_0_1_{name}.md": status for name, status in (("loom", "indexed"), ("oven", "moved"), ("yard", "removed"))
    }, port
    assert {d["source"] for d in agent.documents(tenant_id="U1")} == {f"{site.url}/loom.html", f"{site.url}/oven.html"}
    nothing_secret(agent.settings.home)


def test_a_page_whose_time_in_the_sitemap_stands_is_not_asked_for(site: Server, tmp_path: Path, agent: Agent) -> None:
    (tmp_path / "site" / "part.xml").write_text(sitemap(site, *PAGES, lastmod="2026-11-01"))
    index = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>{}</loc></sitemap></sitemapindex>'
    (tmp_path / "site" / "index.xml").write_text(index.format(f"{site.url}/part.xml"))
    told(agent, f"{site.url}/index.xml")
    site.read()
    assert set(told(agent, f"{site.url}/index.xml").values()) == {"unchanged"}
    assert site.read() == ["/index.xml", "/part.xml"]


RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>http://x.example/</link>
{}</channel></rss>"""
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>{}</feed>'


@pytest.mark.parametrize(
    ("feed", "entry"),
    [
        (RSS, "<item><link>{}</link><pubDate>Sat, 01 Nov 2026 10:00:00 GMT</pubDate></item>"),
        (ATOM, '<entry><link rel="self" href="/no"/><link href="{}"/><updated>2026-11-01T10:00:00Z</updated></entry>'),
    ],
    ids=["rss", "atom"],
)
def test_what_a_feed_does_not_name_any_more_stays(
    feed: str, entry: str, site: Server, tmp_path: Path, agent: Agent
) -> None:
    place = tmp_path / "site" / "feed.xml"
    place.write_text(feed.format("".join(entry.format(f"{site.url}/{name}") for name in ("loom.html", "kiln.html"))))
    assert list(told(agent, f"{site.url}/feed.xml").values()) == ["indexed"] * 2
    place.write_text(feed.format("".join(entry.format(f"/{name}") for name in ("kiln.html", "yard.html"))))
    assert sorted(told(agent, f"{site.url}/feed.xml").values()) == ["indexed", "unchanged"]
    assert len(documents(agent)) == 3


@pytest.mark.parametrize(
    "text",
    [
        PAGES["loom.html"].replace("<html>", '<?xml version="1.0"?><html>'),
        '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">]><urlset><url><loc>&a;</loc></url></urlset>',
        "<urlset>",
        "",
    ],
)
def test_what_is_no_list_of_pages_is_an_error(text: str, site: Server, tmp_path: Path, agent: Agent) -> None:
    (tmp_path / "site" / "list.xml").write_text(sitemap(site, *PAGES))
    told(agent, f"{site.url}/list.xml")
    (tmp_path / "site" / "list.xml").write_text(text)
    with pytest.raises((DocumentError, BadInput)):
        agent.sync(f"{site.url}/list.xml", tenant_id="U1")
    assert len(documents(agent)) == 3


def test_a_page_leads_to_no_other_host_inside(site: Server, tmp_path: Path, agent: Agent) -> None:
    """`private_hosts` names one host: a feed's link to another one inside is refused."""
    other = site.url.replace("127.0.0.1", "127.0.0.2")
    entry = f"<item><link>{other}/loom.html</link></item><item><link>{site.url}/kiln.html</link></item>"
    (tmp_path / "site" / "feed.xml").write_text(RSS.format(entry))
    outcomes = {o.status: o.reason for o in agent.sync(f"{site.url}/feed.xml", tenant_id="U1")}
    assert outcomes.keys() == {"failed", "indexed"} and "url_forbidden" in outcomes["failed"]
