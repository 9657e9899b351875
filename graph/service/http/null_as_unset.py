"""null is the same as left out: clients fill in with it what they do not set."""

from typing import Any

from pydantic import BaseModel, model_validator


class NullAsUnset(BaseModel):
    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        """Only of fields there are: the others are refused or not read, whatever is in them."""
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value is not None or name not in cls.model_fields}
