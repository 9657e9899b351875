"""Whether the service can do its work now: the home, the model, the disk, the journal."""

import os
import threading
import time
from typing import Any

FRESH_S = 2.0  # anybody may ask often: the checks run at most this often
MODEL_FRESH_S = 15.0


class Readiness:
    """The checks, each "ok" or a word for what is wrong. No path, no text of the machine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, str] = {}
        self._at = self._model_at = 0.0
        self._model = "unknown"

    def look(self, service: Any) -> dict[str, str]:
        """The checks by name, at most `FRESH_S` old."""
        with self._lock:
            now = time.monotonic()
            if not self._seen or now - self._at > FRESH_S:
                self._seen, self._at = self._checks(service, now), now
            stopping = "stopping" if service.draining.begun else "ok"
            return {"service": stopping, **self._seen}

    def _checks(self, service: Any, now: float) -> dict[str, str]:
        settings = service.settings
        if now - self._model_at > MODEL_FRESH_S or self._model != "ok":
            self._model, self._model_at = _model(settings), now
        return {
            "index": _index(service),
            "model": self._model,
            "disk": "ok" if free_mb(settings) >= settings.min_free_mb else "full",
            "journal": service.agent.deps.journal.state(),
            "processes": "ok" if service.agent.answering else "none",
        }


def _index(service: Any) -> str:
    locked = "lock" in service.agent.deps.__dict__ and service.agent.deps.lock.held()
    lost = "database away" if service.settings.database_url.get_secret_value() else "lock lost"
    return "ok" if locked else lost


def free_mb(settings: Any) -> float:
    """Free space on the disk of the home, in MiB."""
    disk = os.statvfs(settings.home)
    return disk.f_bavail * disk.f_frsize / 2**20


def _model(settings: Any) -> str:
    if settings.embedded:
        return "ok"
    import httpx

    base = (settings.openai_base_url or "https://api.openai.com/v1").rstrip("/")
    headers = {"Authorization": f"Bearer {settings.openai_api_key.get_secret_value() or 'none'}"}
    try:
        status = httpx.get(f"{base}/models", headers=headers, timeout=3, trust_env=False).status_code
    except httpx.HTTPError:
        return "no answer"
    if status in (401, 403):
        return "key refused"
    return "ok" if status < 500 else "failing"
