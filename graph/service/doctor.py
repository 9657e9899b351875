"""`cordon doctor`: the effective settings with secrets hidden, what is missing, what to do about it."""

import os
import sqlite3
import sys
import time
from importlib.util import find_spec
from typing import Any

from pydantic import SecretStr

from graph.deps import stores
from graph.errors import BadSettings, CordonError, Unavailable
from graph.knowledge.embeddings import embedder, verify_weights
from graph.models.detector import detector
from graph.models.reader import reader
from graph.parts import is_folder
from graph.settings import Settings, origin, without_credentials
from graph.tracing import refuse_uninvited


def examine(settings: Settings) -> dict[str, Any]:
    """{"ok": bool, "checks": [{what, status ok|warn|fail, found, do}], "settings": {name: {value, from}}}."""
    checks = [
        _python(),
        _home(settings),
        _weights(settings),
        _reader(settings),
        _guards(),
        _detector(settings),
        _documents(settings),
        _model(settings),
        _journal(settings),
    ]
    checks += [_tracing(settings), _studio()]
    return {
        "ok": all(check["status"] != "fail" for check in checks),
        "checks": checks,
        "settings": {name: _setting(settings, name) for name in Settings.model_fields},
    }


def _check(what: str, status: str, found: str, do: str = "") -> dict[str, str]:
    return {"what": what, "status": status, "found": found, "do": do}


def _python() -> dict[str, str]:
    version = ".".join(map(str, sys.version_info[:3]))
    fts = sqlite3.connect(":memory:").execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()[0]
    if not fts:
        return _check("Python", "fail", f"{version}, its SQLite has no FTS5", "Use a Python whose SQLite has FTS5.")
    return _check("Python", "ok", f"{version}, SQLite {sqlite3.sqlite_version} with FTS5")


def _home(settings: Settings) -> dict[str, str]:
    home = settings.home
    if not home.exists():
        return _check("home", "ok", f"{home} does not exist yet; it is made on first use")
    if not os.access(home, os.W_OK | os.X_OK):
        return _check("home", "fail", f"{home} cannot be written", "Set CORDON_HOME to a directory of yours.")
    free = os.statvfs(home).f_bavail * os.statvfs(home).f_frsize
    if free < 100 * 2**20:
        return _check(
            "home",
            "fail",
            f"only {free // 2**20} MB are free at {home}",
            "Make room: no run can be recorded on a full disk.",
        )
    if home.stat().st_mode & 0o077:
        return _check("home", "warn", f"{home} can be read by others", f"chmod 700 {home}")
    return _check("home", "ok", f"{home}, {free / 2**30:.1f} GB free")


def _weights(settings: Settings) -> dict[str, str]:
    if is_folder(settings.embeddings):
        return _own_encoder(settings)
    if settings.embeddings != "embedded":
        return _check("embeddings", "ok", f"{settings.embeddings} at {_host(settings)}")
    try:
        if verify_weights():
            return _check("embeddings", "ok", "all-MiniLM-L6-v2, the published weights")
        return _check("embeddings", "fail", "the weights are not the published ones", "Reinstall: make clean install.")
    except CordonError as error:
        return _check("embeddings", "fail", str(error), error.hint)


def _guards() -> dict[str, str]:
    """Whether the guards' weights load and run; without them every question is refused as unavailable."""
    from graph.policy.threats import assess, learned

    try:
        assess("Which gloves protect against acids?")
        learned.tuned().margins(["Which gloves protect against acids?"])
    except CordonError as error:
        return _check("guards", "fail", str(error), error.hint)
    except Exception as error:  # whatever a damaged file makes of it
        return _check(
            "guards", "fail", f"the weights do not load ({type(error).__name__})", "Reinstall: make clean install."
        )
    return _check("guards", "ok", f"weights {learned.digest()[:12]}")


def _detector(settings: Settings) -> dict[str, str]:
    """Whether the operator's own loads and judges, and how fast."""
    try:
        own = detector(settings)
        if own is None:
            return _check("detector", "ok", "none of your own")
        own.open()
        begun = time.perf_counter()
        own.scores(["Which gloves protect against acids?"], own.until(1))
    except CordonError as error:
        why = f" {error.__cause__}" if isinstance(error, Unavailable) else ""
        return _check("detector", "fail", f"{error}{why}", error.hint)
    spent = (time.perf_counter() - begun) * 1_000
    found = f"{settings.detector} {settings.detector_role}, digest {own.digest[:12]}, {spent:.0f} ms a question"
    return _check("detector", "ok", found)


_LIKE = ("How many days of leave do I have?", "Staff have 25 days of leave a year.", "The door of the lab is green.")


def _own_encoder(settings: Settings) -> dict[str, str]:
    """Dimensions and speed, and whether a question is nearer to its answer than to something else."""
    try:
        own = embedder(settings)
        own.embed([_LIKE[1]])  # the first run takes longer than the next
        begun = time.perf_counter()
        asked, answer, other = own.embed([own.query_prefix + _LIKE[0], *_LIKE[1:]])
    except CordonError as error:
        return _check("embeddings", "fail", str(error), error.hint)
    spent = (time.perf_counter() - begun) * 1_000 / 3
    found = f"{own.name}, {len(asked)} dimensions, {spent:.0f} ms a sentence"
    if asked @ answer > asked @ other:
        return _check("embeddings", "ok", found)
    return _check("embeddings", "warn", f"{found}; it takes no question for near to its answer", "Check its pooling.")


def _reader(settings: Settings) -> dict[str, str]:
    try:
        own = reader(settings)
        begun = time.perf_counter()
        answer, other = own.scores(_LIKE[0], [("", text) for text in _LIKE[1:]])
    except CordonError as error:
        return _check("reader", "fail", str(error), error.hint)
    if answer > other:
        return _check("reader", "ok", f"{settings.reader}, {(time.perf_counter() - begun) * 500:.0f} ms a sentence")
    return _check(
        "reader", "warn", f"{settings.reader}; it puts no answer first", "Is it a cross-encoder for questions?"
    )


def _documents(settings: Settings) -> dict[str, str]:
    files = sorted((settings.home / "index" / "spaces").glob("*.db"))
    if not files:
        return _check("documents", "warn", "none yet", "cordon ingest PATH --tenant T (or --public)")
    total = 0
    for file in files:
        try:
            total += (
                sqlite3.connect(f"file:{file}?mode=ro", uri=True)
                .execute("SELECT count(*) FROM documents")
                .fetchone()[0]
            )
        except sqlite3.Error as error:
            return _check("documents", "fail", f"{file.name}: {error}", "Restore it, or ingest again.")
    return _check("documents", "ok", f"{total} in {len(files)} spaces")


def _model(settings: Settings) -> dict[str, str]:
    if settings.embedded:
        return _check("model", "ok", "embedded: extractive answers, no server, no key")
    if not settings.openai_base_url and not settings.openai_api_key.get_secret_value():
        return _check("model", "fail", f"{settings.model} has no server", "Set OPENAI_BASE_URL.")
    import httpx

    base = (settings.openai_base_url or "https://api.openai.com/v1").rstrip("/")
    headers = {"Authorization": f"Bearer {settings.openai_api_key.get_secret_value() or 'none'}"}
    try:
        response = httpx.get(f"{base}/models", headers=headers, timeout=5, trust_env=False)
        served = [str(m.get("id")) for m in response.json().get("data", [])]
    except (httpx.HTTPError, ValueError, AttributeError, TypeError) as error:
        return _check(
            "model",
            "fail",
            f"{_host(settings)} does not answer ({type(error).__name__})",
            "Start the server, or correct OPENAI_BASE_URL.",
        )
    if response.status_code in (401, 403):
        return _check("model", "fail", f"{_host(settings)} does not accept the key", "Check OPENAI_API_KEY.")
    if settings.model not in served and f"{settings.model}:latest" not in served:
        return _check(
            "model",
            "fail",
            f"{_host(settings)} does not serve {settings.model}",
            f"It serves: {', '.join(served[:8]) or 'nothing'}.",
        )
    return _check("model", "ok", f"{settings.model} at {_host(settings)}")


def _host(settings: Settings) -> str:
    from urllib.parse import urlsplit

    return urlsplit(settings.openai_base_url).netloc.rpartition("@")[2] or "the default endpoint"


def _journal(settings: Settings) -> dict[str, str]:
    try:
        proof = stores(settings).journal.prove()
    except OSError as error:
        found = f"{error.filename} cannot be read ({error.strerror})"
        return _check("journal", "fail", found, "Mend its permissions.")
    if proof.broken:
        return _check("journal", "fail", proof.says, "Compare with a backup; keep the files as they are.")
    if proof.doubt:
        return _check("journal", "warn", proof.doubt, "The next question writes what is missing.")
    return _check("journal", "ok", proof.says)


def _tracing(settings: Settings) -> dict[str, str]:
    try:
        refuse_uninvited(settings)
    except BadSettings as error:
        return _check("tracing", "fail", str(error), error.hint)
    return _check("tracing", "ok" if settings.tracing == "off" else "warn", settings.tracing)


def _studio() -> dict[str, str]:
    found = find_spec("langgraph_api") is not None
    return _check("studio", "ok", "installed") if found else _check("studio", "ok", "not installed (make studio)")


def _setting(settings: Settings, name: str) -> dict[str, str]:
    value = getattr(settings, name)
    if isinstance(value, SecretStr):
        shown = "set" if value.get_secret_value() else "not set"
    else:
        shown = without_credentials(str(value))
    return {"value": shown, "from": origin(name)}
