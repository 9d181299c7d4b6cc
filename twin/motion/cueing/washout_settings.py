"""Settings of the washout filters, derived from how far and fast the machine moves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, read_only
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.motion.cueing.machine_ranges import MachineRanges, machine_ranges

EXPECTED_FORCE = np.array([4.0, 4.0, 2.0])
"""[m/s2] sudden change of specific force that a translation is laid out for (adopted)"""

EXPECTED_RATE = 0.3
"""[rad/s] sudden angular rate that a rotation is laid out for (adopted)"""

SHARE = 0.5
"""Of travel and speed along one axis that one input may take; several act at a time."""

LOWEST = 0.3
"""[rad/s] Slower washout is of no use: tilt has taken over."""

LOWEST_LEAN = 1.5
"""[rad/s] Of pitch and roll: slower, and gravity along the rotated axes is felt (adopted)."""

RATE_SCALE = (0.5, 0.5, 1.0)
"""Of roll, pitch and yaw rate, for the same reason (adopted)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class WashoutSettings:
    """Common settings of classical and adaptive washout; axes x, y, z or yaw, pitch, roll."""

    free: FloatArray
    """`(6,)` 1 for axes x, y, z, yaw, pitch, roll that the machine has, else 0"""
    force_scale: FloatArray
    """`(3,)` of specific force, less gravity"""
    force_limit: FloatArray
    """`(3,)` [m/s2] after scaling"""
    rate_scale: FloatArray
    """`(3,)` of angular rate about x, y, z"""
    rate_limit: FloatArray
    """`(3,)` [rad/s] after scaling"""
    translation_frequency: FloatArray
    """`(3,)` [rad/s] of the high-pass of translation, damping ratio 1"""
    return_frequency: float = 0.2
    """[rad/s] of its third order, which brings the platform back from steady forces"""
    rotation_frequency: FloatArray
    """`(3,)` [rad/s] of the high-pass of yaw, pitch, roll, damping ratio 1"""
    tilt_frequency: float = 3.0
    """[rad/s] of the low-pass of tilt coordination, damping ratio 1"""
    tilt_rate: float = 0.0524
    """[rad/s] limit of tilting: 3 deg/s, the threshold of the canals"""
    tilt_limit: float
    """[rad] of tilt coordination"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for each in fields(self):
            values = as_floats(getattr(self, each.name), each.name)
            shape = () if each.type == "float" else ((6,) if each.name == "free" else (3,))
            if values.shape != shape or values.min(initial=0.0) < 0.0 or values.max() > 1e3:
                raise InputError(each.name, f"must have shape {shape} and lie in 0 to 1000")
            object.__setattr__(self, each.name, read_only(values) if shape else float(values))
        if not 1e-6 < self.tilt_limit < 1.2 or not self.tilt_rate > 0.0:
            raise InputError("tilt_limit, tilt_rate", "must be above 0, the limit below 1.2 rad")

    @classmethod
    def of(cls, platform: MachineModel, **changes: Any) -> WashoutSettings:
        """Return settings laid out for a machine.

        After a step a of acceleration, a high-pass of frequency w and damping ratio 1 has the
        travel a / w^2 and the speed a / (e w); after a step r of angular rate, the angle r / (e w).
        The frequency w follows from the `SHARE` of what the machine has along the axis.

        Args:
            platform: the machine.
            changes: settings to be used instead.

        Raises:
            InputError: unknown settings, wrong shapes, out of range.
        """
        ranges = machine_ranges(platform)
        known = {each.name for each in fields(cls)}
        for name in changes:
            if name not in known:
                raise InputError(name, f"no such setting; known: {', '.join(sorted(known))}")
        return cls(**(_laid_out(ranges) | changes))


def _laid_out(ranges: MachineRanges) -> dict[str, Any]:
    with np.errstate(divide="ignore"):
        travel, speed = SHARE * ranges.travel, SHARE * ranges.speed
        straight = np.maximum(
            np.sqrt(EXPECTED_FORCE / travel[:3]), EXPECTED_FORCE / (np.e * speed[:3])
        )
        turning = np.maximum(EXPECTED_RATE / (np.e * travel[3:]), [0.0, *[LOWEST_LEAN] * 2])
    free = ranges.free.astype(np.float64)
    tilts = ranges.travel[4:][ranges.free[4:]]
    return {
        "free": free,
        "force_scale": np.ones(3),
        "force_limit": np.array([6.0, 6.0, 4.0]),
        "rate_scale": np.array(RATE_SCALE),
        "rate_limit": np.full(3, 0.5),
        "translation_frequency": np.where(ranges.free[:3], np.clip(straight, LOWEST, 50.0), 1.0),
        "rotation_frequency": np.where(ranges.free[3:], np.clip(turning, LOWEST, 50.0), 1.0),
        "tilt_limit": float(tilts.min()) if tilts.size else 1e-3,
    }
