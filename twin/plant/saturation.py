"""Saturation: which drives were at their limits of force or speed, and for how long."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.plant.columns import AT_EFFORT, AT_SPEED, OUT_OF_STEP

LIMITS = (("force", AT_EFFORT), ("speed", AT_SPEED), ("", OUT_OF_STEP))


class Saturation(NamedTuple):
    """Shares of the time, 0 to 1, that drives spent at their limits."""

    force: FloatArray
    """`(n,)` at the limit of force or torque"""
    speed: FloatArray
    """`(n,)` at the limit of speed"""
    out_of_step: FloatArray
    """`(n,)` of stepper motors that have lost steps"""
    together: FloatArray
    """`(3,)` with at least one drive at the limit of force, of speed, and out of step"""

    def __bool__(self) -> bool:
        """Return whether any drive was at a limit."""
        return bool(self.together.any())

    def sentences(self, *, rotary: bool = False) -> list[str]:
        """Return one sentence per limit that was reached; `rotary`: of cranks."""
        return [
            f"{_state(name, rotary, shares > 0.0)} {_percent(float(share))} of the time"
            for (name, _), shares, share in zip(LIMITS, self[:3], self.together, strict=True)
            if share > 0.0
        ]


def saturation(limited: FloatArray) -> Saturation:
    """Return the shares of the time `(m, n)` of which `limited` gives the limits, 0 for none."""
    if not len(limited):
        limited = np.zeros((1, np.shape(limited)[1]))
    at = np.array([limited == code for _, code in LIMITS])
    force, speed, out_of_step = at.mean(axis=1)
    return Saturation(force, speed, out_of_step, at.any(axis=2).mean(axis=1))


def at_limits(limited: FloatArray, rotary: bool) -> list[str]:
    """Return which drives are at which limit, `limited` `(n,)`; `rotary`: of cranks."""
    return [
        _state(name, rotary, limited == code) for name, code in LIMITS if (limited == code).any()
    ]


def _state(name: str, rotary: bool, which: Any) -> str:
    if not name:
        return f"{_legs(which)} out of step"
    kind = "torque" if rotary and name == "force" else name
    return f"{_legs(which)} at {'their' if which.sum() > 1 else 'its'} {kind} limit"


def _legs(which: Any) -> str:
    if which.all():
        return "all legs"
    numbers = ", ".join(str(index + 1) for index in np.flatnonzero(which))
    return f"{'legs' if which.sum() > 1 else 'leg'} {numbers}"


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 0.995 else f"{100.0 * share:.3g} %"
