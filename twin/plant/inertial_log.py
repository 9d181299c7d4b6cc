"""What an inertial sensor wrote down."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray


class InertialLog(NamedTuple):
    """Readings of an inertial sensor in its own axes, one row per time."""

    time: FloatArray
    """`(m,)` [s]"""
    specific_force: FloatArray
    """`(m, 3)` [m/s2]: acceleration minus gravity"""
    angular_rate: FloatArray
    """`(m, 3)` [rad/s]"""

    @property
    def readings(self) -> FloatArray:
        """Specific force and angular rate beside each other `(m, 6)`."""
        import numpy as np

        return np.hstack([self.specific_force, self.angular_rate])
