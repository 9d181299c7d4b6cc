"""Numbers as texts of the command line."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.simulation.platform import Platform

HOLD = "hold"
"""Word for the forces that carry a machine at the pose it starts from."""


def constant_forces(platform: Platform, text: str, pose: Any) -> FloatArray:
    """Return forces `(n,)` [N or N m] from a number, a list of numbers or `HOLD` at `pose`.

    Raises:
        InputError: something else, or another count than the machine has actuators.
    """
    if text.strip() == HOLD:
        rest = np.zeros(6)
        start = platform.home if pose is None else pose
        return platform.inverse_dynamics(start, rest, rest)
    values = numbers(text, "force")
    if len(values) not in (1, platform.n_actuators):
        raise InputError(
            "force",
            f"give one number, {platform.n_actuators} numbers separated by commas, or '{HOLD}'; "
            f"got {len(values)} numbers",
        )
    return np.broadcast_to(np.array(values), (platform.n_actuators,)).copy()


def numbers(text: str, field: str) -> list[float]:
    """Return the numbers of a text such as "0,0,0.87"; raises InputError where there is none."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(field, f"must be numbers separated by commas, got {text!r}") from None
