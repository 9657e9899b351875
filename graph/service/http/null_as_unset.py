"""null is the same as left out: clients fill in with it what they do not set."""

from typing import Any

from pydantic import BaseModel, model_validator


class NullAsUnset(BaseModel):
    """A field that is null takes its default."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        """Leave out nulls of known fields; unknown fields are refused or not read, whatever is in them."""
        if not isinstance(data, dict):
            return data
        return {name: value for name, value in data.items() if value is not None or name not in cls.model_fields}
