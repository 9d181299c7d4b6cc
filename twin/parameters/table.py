"""Base of all tables of a platform.toml: frozen, strict about names, and with a source."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Table(BaseModel):
    """A table whose numbers come from one stated source."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True
    )

    source: str = Field(min_length=1, description="Where the numbers of this table are from")
