"""Residual actions: a linear law and a bounded correction of it, which a network learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, bounded, read_only
from twin.errors import InputError


@dataclass(frozen=True, eq=False)
class Residual:
    """A linear law that is corrected: action = clip(gains observation + share correction).

    Reference:
        Johannink et al., "Residual reinforcement learning for robot control", ICRA 2019.
    """

    gains: FloatArray
    """`(a, o)` of the law, in the spaces of the environment"""
    share: float
    """largest correction, as a share of the largest action"""

    def __post_init__(self) -> None:
        """Make the gains read-only and check the numbers.

        Raises:
            InputError: no matrix, or a share outside 0 to 1.
        """
        gains = read_only(as_floats(self.gains, "gains"))
        if gains.ndim != 2:
            raise InputError("gains", f"must be a matrix, not of shape {gains.shape}")
        object.__setattr__(self, "gains", gains)
        object.__setattr__(self, "share", bounded(self.share, "share", 0.0, 1.0))

    def compose(self, observation: Any, correction: Any) -> FloatArray:
        """Return actions `(..., a)` for observations `(..., o)` and corrections `(..., a)`."""
        law = np.asarray(observation, dtype=float) @ self.gains.T
        return np.asarray(np.clip(law + self.share * np.asarray(correction), -1.0, 1.0))
