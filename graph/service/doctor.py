"""`cordon doctor`: the effective settings with secrets hidden, what is missing, what to do about it."""

import sys
import time
from collections.abc import Callable
from dataclasses import astuple
from importlib.util import find_spec
from typing import Any

from pydantic import SecretStr

from graph.deps import stores
from graph.errors import CordonError, Unavailable
from graph.extractive.reader import reader
from graph.knowledge.embeddings import embedder, verify_weights
from graph.models.detector import detector
from graph.models.support_encoder import support_encoder
from graph.onnx.folder import is_folder
from graph.settings import Settings, origin, without_credentials
from graph.stores import HealthStatus
from graph.tracing import refuse_uninvited


def examine(settings: Settings) -> dict[str, Any]:
    """{"ok": bool, "checks": [{what, status ok|warn|fail, found, do}], "settings": {name: {value, from}}}."""
    health = stores(settings).examine()
    checks = [
        _python(health["engine"]),
        _check("home", *astuple(health["place"])),
        _tried("embeddings", _weights, settings),
        _tried("reader", _reader, settings),
        _tried("support", _support, settings),
        _guards(),
        _detector(settings),
        _check("documents", *astuple(health["documents"])),
        _vectors(settings),
        _model(settings),
        _tried("journal", _journal, settings),
        _tried("tracing", _tracing, settings),
        _check("studio", "ok", "installed" if find_spec("langgraph_api") else "not installed (make studio)"),
    ]
    return {
        "ok": all(check["status"] != "fail" for check in checks),
        "checks": checks,
        "settings": {name: _setting(settings, name) for name in Settings.model_fields},
    }


def _check(what: str, status: str, finding: str, do: str = "") -> dict[str, str]:
    return {"what": what, "status": status, "found": finding, "do": do}


def _tried(what: str, look: Callable[[Settings], dict[str, str]], settings: Settings) -> dict[str, str]:
    try:
        return look(settings)
    except CordonError as error:
        return _check(what, "fail", str(error), error.hint)


def _python(engine: HealthStatus) -> dict[str, str]:
    return _check("Python", engine.status, f"{'.'.join(map(str, sys.version_info[:3]))}, {engine.found}", engine.do)


def _weights(settings: Settings) -> dict[str, str]:
    if is_folder(settings.embeddings):
        return _own_encoder(settings)
    if settings.embeddings != "embedded":
        return _check("embeddings", "ok", f"{settings.embeddings} at {_host(settings)}")
    if verify_weights():
        return _check("embeddings", "ok", "all-MiniLM-L6-v2, the published weights")
    return _check("embeddings", "fail", "the weights are not the published ones", "Reinstall: make clean install.")


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
    """Whether the operator's own detector loads and judges, and how fast."""
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
    finding = f"{settings.detector} {settings.detector_role}, digest {own.digest[:12]}, {spent:.0f} ms a question"
    return _check("detector", "ok", finding)


_LIKE = ("How many days of leave do I have?", "Staff have 25 days of leave a year.", "The door of the lab is green.")


def _own_encoder(settings: Settings) -> dict[str, str]:
    """Dimensions and speed, and whether a question is nearer to its answer than to something else."""
    own = embedder(settings)
    own.embed([_LIKE[1]])  # the first run takes longer than the next
    begun = time.perf_counter()
    question, answer, other = own.embed([own.query_prefix + _LIKE[0], *_LIKE[1:]])
    spent = (time.perf_counter() - begun) * 1_000 / 3
    finding = f"{own.name}, {len(question)} dimensions, {spent:.0f} ms a sentence"
    if question @ answer > question @ other:
        return _check("embeddings", "ok", finding)
    return _check("embeddings", "warn", f"{finding}; it takes no question for near to its answer", "Check its pooling.")


def _reader(settings: Settings) -> dict[str, str]:
    own = reader(settings)
    begun = time.perf_counter()
    answer, other = own.scores(_LIKE[0], [("", text) for text in _LIKE[1:]])
    if answer > other:
        return _check("reader", "ok", f"{settings.reader}, {(time.perf_counter() - begun) * 500:.0f} ms a sentence")
    return _check(
        "reader", "warn", f"{settings.reader}; it puts no answer first", "Is it a cross-encoder for questions?"
    )


def _vectors(settings: Settings) -> dict[str, str]:
    if settings.vectors == "exact" or not settings.chroma_url:
        return _check("vectors", "ok", "compared one by one" if settings.vectors == "exact" else "Chroma's files")
    import httpx

    place = _netloc(settings.chroma_url)
    try:
        answered = httpx.get(
            f"{settings.chroma_url.rstrip('/')}/api/v2/heartbeat", timeout=5, trust_env=False
        ).is_success
    except httpx.HTTPError:
        answered = False
    if not answered:  # questions are answered without it, more slowly
        return _check(
            "vectors", "warn", f"no Chroma server answers at {place}", "Start it, or correct CORDON_CHROMA_URL."
        )
    return _check("vectors", "ok", f"Chroma at {place}")


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
    return _netloc(settings.openai_base_url) or "the default endpoint"


def _netloc(url: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url).netloc.rpartition("@")[2]


def _journal(settings: Settings) -> dict[str, str]:
    try:
        proof = stores(settings).journal.prove()
    except OSError as error:
        finding = f"{error.filename} cannot be read ({error.strerror})"
        return _check("journal", "fail", finding, "Mend its permissions.")
    if proof.broken:
        return _check("journal", "fail", proof.says, "Compare with a backup; keep the files as they are.")
    if proof.doubt:
        return _check("journal", "warn", proof.doubt, "The next question writes what is missing.")
    return _check("journal", "ok", proof.says)


def _tracing(settings: Settings) -> dict[str, str]:
    refuse_uninvited(settings)
    return _check("tracing", "ok" if settings.tracing == "off" else "warn", settings.tracing)


def _setting(settings: Settings, name: str) -> dict[str, str]:
    value = getattr(settings, name)
    if isinstance(value, SecretStr):
        shown = "set" if value.get_secret_value() else "not set"
    else:
        shown = without_credentials(str(value))
    return {"value": shown, "from": origin(name)}


def _support(settings: Settings) -> dict[str, str]:
    """The encoder of the support check."""
    same, other = support_encoder(settings)([(_LIKE[1], _LIKE[1]), (_LIKE[1], _LIKE[2])])
    if same[0] - max(same[1:]) > other[0] - max(other[1:]):
        return _check("support", "ok", settings.support_model)
    hint = "Is it a cross-encoder for natural language inference?"
    return _check("support", "warn", f"{settings.support_model}; to it a sentence does not follow from itself", hint)
