"""Times as they are stored and sent: ISO 8601 in UTC, to the millisecond, with a Z."""

from datetime import UTC, datetime, timedelta


def timestamp(moment: datetime | None = None, *, days: int = 0) -> str:
    """Of the moment (an aware datetime) or of now, so many days later; earlier where they are negative."""
    moment = (moment or datetime.now(UTC)) + timedelta(days=days)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
