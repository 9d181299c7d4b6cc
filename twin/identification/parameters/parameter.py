"""One parameter to identify: where it is, what it is in words, and its prior."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields

from twin.errors import InputError

TILT, SIGNAL = "tilt.", "signal."
"""First words of the paths of parameters that no platform.toml has."""


@dataclass(frozen=True)
class Parameter:
    """A parameter with its data-sheet value, its spread and its bounds, all in SI."""

    path: str
    """numeric path of platform.toml, or one that begins with "tilt." or "signal." """
    words: str
    """what it is, such as "mass of the platform body" """
    unit: str
    """SI unit; empty for none"""
    nominal: float
    """value of the file or data sheet"""
    spread: float
    """standard deviation of the prior, above zero"""
    lower: float
    """smallest value that is possible"""
    upper: float
    """largest value that is possible"""

    def __post_init__(self) -> None:
        """Check that the numbers are finite and fit together."""
        for each in fields(self)[3:]:
            if not math.isfinite(getattr(self, each.name)):
                raise InputError(f"{self.path}.{each.name}", "must be a finite number")
        if not self.spread > 0.0:
            raise InputError(f"{self.path}.spread", f"must be above zero, not {self.spread:g}")
        if not self.lower <= self.nominal <= self.upper or not self.lower < self.upper:
            bounds = f"{self.lower:g} to {self.upper:g} {self.unit}"
            raise InputError(self.path, f"{self.nominal:g} {self.unit} is not inside {bounds}")

    @property
    def is_of_machine(self) -> bool:
        """Whether platform.toml has this number; else it is a tilt or an error of a signal."""
        return not self.path.startswith((TILT, SIGNAL))

    @property
    def leg(self) -> int | None:
        """Index of the leg that alone has it, from 0; None for others."""
        found = re.match(r"leg\.(\d+)\.", self.path)
        return int(found[1]) - 1 if found else None
