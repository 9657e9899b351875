"""What a service keeps of uploads, wherever its stores are."""

from pathlib import Path

from graph.settings import Settings


def uploads(settings: Settings) -> dict[str, str]:
    """Each upload that was begun: the job as it is stored, "" of one that never was one. Nothing is changed."""
    if not (url := settings.database_url.get_secret_value()):
        folders = (settings.home / "uploads").iterdir()
        return {folder.name: _text(folder / "job.json") for folder in folders}
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("SET search_path = cordon; SET cordon.tenant = '*'")
        return {job_id: job or "" for job_id, job in connection.execute("SELECT job_id, job FROM jobs")}


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
