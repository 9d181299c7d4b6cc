"""Saturation: which drives were at their limits of force or speed, and for how long."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.plant.actuation import AT_EFFORT, AT_SPEED

LIMITS = (("force", AT_EFFORT), ("speed", AT_SPEED))


class Saturation(NamedTuple):
    """Shares of the time that drives spent at their limits, 0 to 1."""

    force: FloatArray
    """`(n,)` at the limit of force or torque"""
    speed: FloatArray
    """`(n,)` at the limit of speed"""
    any_force: float
    """with at least one drive at its limit of force or torque"""
    any_speed: float
    """with at least one drive at its limit of speed"""

    def __bool__(self) -> bool:
        """Return whether any drive was at a limit."""
        return self.any_force > 0.0 or self.any_speed > 0.0

    def sentences(self, *, rotary: bool = False) -> list[str]:
        """Return one sentence per limit that was reached; `rotary`: of cranks."""
        parts = ((self.force, self.any_force), (self.speed, self.any_speed))
        return [
            f"{_legs(shares > 0.0)} at {_limit(name, rotary, shares)} {_percent(share)} of the time"
            for (name, _), (shares, share) in zip(LIMITS, parts, strict=True)
            if share > 0.0
        ]


def saturation(limited: FloatArray) -> Saturation:
    """Return the shares of the time `(m, n)` of which `limited` gives the limits, 0 for none."""
    if not len(limited):
        none = np.zeros(np.shape(limited)[1])
        return Saturation(none, none, 0.0, 0.0)
    force, speed = (limited == code for _, code in LIMITS)
    return Saturation(
        force.mean(axis=0),
        speed.mean(axis=0),
        float(force.any(axis=1).mean()),
        float(speed.any(axis=1).mean()),
    )


def at_limits(limited: FloatArray, rotary: bool) -> list[str]:
    """Return which drives are at which limit, `limited` `(n,)`; `rotary`: of cranks."""
    return [
        f"{_legs(limited == code)} at {_limit(name, rotary, limited == code)}"
        for name, code in LIMITS
        if (limited == code).any()
    ]


def _legs(which: Any) -> str:
    if which.all():
        return "all legs"
    numbers = ", ".join(str(index + 1) for index in np.flatnonzero(which))
    return f"{'legs' if which.sum() > 1 else 'leg'} {numbers}"


def _limit(name: str, rotary: bool, which: Any) -> str:
    kind = "torque" if rotary and name == "force" else name
    return f"{'their' if np.count_nonzero(which) > 1 else 'its'} {kind} limit"


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 0.995 else f"{100.0 * share:.3g} %"
