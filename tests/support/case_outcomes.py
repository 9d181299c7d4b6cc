"""Outcomes of validation cases as tests look at them."""

from __future__ import annotations

from collections.abc import Iterable

from twin.validation.case import Measure


def failed(measures: Iterable[Measure]) -> list[tuple[str, float, float | None]]:
    """Return the measures that fail, with value and tolerance."""
    return [(m.name, m.value, m.tolerance) for m in measures if m.verdict == "fail"]


def failed_names(measures: Iterable[Measure]) -> list[str]:
    """Return the names of the measures that fail."""
    return [name for name, _, _ in failed(measures)]
