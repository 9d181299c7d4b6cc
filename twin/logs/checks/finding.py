"""A finding: what is wrong with a channel of a log."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """One fault of a log."""

    check: str
    """"empty", "gap", "clock", "unit", "legs" or "saturation\""""
    channel: str
    message: str
    """what is wrong and what to do"""
    time: float | None = None
    """[s] of the first sample that it concerns; None for all"""

    def __str__(self) -> str:
        when = "" if self.time is None else f" at {self.time:.9g} s"
        return f"{self.check}: {self.channel}{when}: {self.message}"
