"""Base of the cueing algorithms: samples of a manoeuvre in, axes of the platform out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.model.machine_model import MachineModel, as_model

REST = np.array([0.0, 0.0, GRAVITY])
"""[m/s2] specific force at rest"""


class CueingAlgorithm(ABC):
    """A filter stepped at an even period, from rest at the machine's home.

    Attributes:
        platform: the machine.
        period: [s].
        head: `(3,)` [m] driver's head from the platform's reference point, platform axes.
        point: `(3,)` [m] that the axes displace: the head, or the reference point.
        values: `(6,)` x, y, z [m], yaw, pitch, roll [rad] of that point about home.
        rates: `(6,)`.
        accelerations: `(6,)`.
    """

    name: ClassVar[str]
    latency: ClassVar[int] = 0
    """periods by which the sample given lies before the end of the step"""
    keeps_limits: ClassVar[bool] = False
    """whether the axes never take an actuator beyond its limits"""

    def __init__(self, platform: MachineModel, head: object, period: float) -> None:
        """Prepare the parts that all algorithms have.

        Raises:
            InputError: not a machine, no point, period not above zero.
        """
        self.platform = as_model(platform)
        self.head = as_vector(head, "head", 3)
        self.point = self.head
        self.period = positive(period, "period")
        self.values, self.rates, self.accelerations = np.zeros((3, 6))

    @abstractmethod
    def step(self, specific_force: FloatArray, angular_rate: FloatArray) -> None:
        """Advance by one period to the sample `(3,)`, `(3,)` of a manoeuvre at its end."""

    def row(self) -> FloatArray:
        """Return values, rates and accelerations `(3, 6)`."""
        return np.stack([self.values, self.rates, self.accelerations])


def saturated(
    values: FloatArray, scale: FloatArray | float, most: FloatArray | float
) -> FloatArray:
    """Return inputs scaled and cut off: `scale` times `values`, at most `most` in magnitude."""
    return np.asarray(np.clip(scale * values, -most, most))


def euler_rates(angles: FloatArray, rate: FloatArray) -> FloatArray:
    """Return the rates of yaw, pitch, roll [rad/s] for an angular rate in platform axes."""
    _, pitch, roll = angles
    turning = rate[1] * np.sin(roll) + rate[2] * np.cos(roll)
    return np.array(
        [
            turning / np.cos(pitch),
            rate[1] * np.cos(roll) - rate[2] * np.sin(roll),
            rate[0] + turning * np.tan(pitch),
        ]
    )


def to_base(angles: FloatArray, vector: FloatArray) -> FloatArray:
    """Return a vector given in platform axes in base axes, at yaw, pitch, roll [rad]."""
    (cy, cp, cr), (sy, sp, sr) = np.cos(angles), np.sin(angles)
    x, y, z = vector
    y, z = cr * y - sr * z, sr * y + cr * z
    x, z = cp * x + sp * z, -sp * x + cp * z
    return np.array([cy * x - sy * y, sy * x + cy * y, z])
