"""Failures of checks across several tables; they name the field that should change."""

from __future__ import annotations

from pydantic_core import PydanticCustomError


def problem(field: str, message: str) -> PydanticCustomError:
    """Return a cross-check failure that names its field."""
    return PydanticCustomError("machine", "{message}", {"message": message, "field": field})
