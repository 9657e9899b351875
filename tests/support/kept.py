"""What a service keeps of uploads and limits, wherever its stores are."""

from pathlib import Path
from typing import Any

from graph.settings import Settings


def uploads(settings: Settings) -> dict[str, str]:
    """Each upload that was begun: the job as it is stored, "" of one that never was one. Nothing is changed."""
    if not (url := settings.database_url.get_secret_value()):
        folders = (settings.home / "uploads").iterdir()
        return {folder.name: _text(folder / "job.json") for folder in folders}
    return {job_id: job or "" for job_id, job in _rows(url, "SELECT job_id, job FROM jobs")}


def busy(settings: Settings, counters: Any) -> bool:
    """Whether some request has a place."""
    if not (url := settings.database_url.get_secret_value()):
        return bool(counters.busy)
    return bool(_rows(url, "SELECT 1 FROM places WHERE taken > 0"))


def _rows(url: str, sql: str) -> list[Any]:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("SET search_path = cordon; SET cordon.tenant = '*'")
        return connection.execute(sql).fetchall()


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
