"""The errors that one inertial sensor has: drawn once, as when it is made and switched on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.plant.inertial import columns as column
from twin.machine.hardware.sensors import Accelerometers, Gyroscopes, InertialSensor

STANDARD_GRAVITY = 9.80665
"""[m/s2] The g of data sheets."""


class InertialErrors(NamedTuple):
    """Errors of an inertial sensor's readings, before filter and noise.

    Rows and columns: specific force [m/s2], then angular rate [rad/s], along the sensor's axes.
    """

    matrix: FloatArray
    """`(6, 6)` scales, misalignments, and rates that specific force fakes"""
    bias: FloatArray
    """`(6,)` of this start"""
    instability: FloatArray
    """`(6,)` standard deviations of the wandering bias"""
    forgetting: FloatArray
    """`(6,)` [1/s] one over its correlation time"""
    noise: FloatArray
    """`(6,)` root mean squares"""
    range: FloatArray
    """`(6,)` largest readings; infinite for no limit"""

    def model(self) -> FloatArray:
        """Return the table `(6, COLUMNS)` that the kernel takes."""
        model = np.empty((6, column.COLUMNS))
        model[:, :6] = self.matrix
        model[:, column.BIAS] = self.bias
        model[:, column.NOISE] = self.noise
        model[:, column.INSTABILITY] = self.instability
        model[:, column.FORGETTING] = self.forgetting
        model[:, column.RANGE] = self.range
        return model


def draw_errors(parameters: InertialSensor, random: np.random.Generator) -> InertialErrors:
    """Return the errors of one sensor: what its data sheet gives as standard deviations, drawn.

    Every scale, axis and bias is drawn by itself; the sensitivity to specific force likewise for
    every direction, so that a force of any direction fakes the stated rate on the mean square.
    """
    gyroscopes = parameters.gyroscopes or Gyroscopes(source="exact")
    triads: list[Accelerometers | Gyroscopes] = [
        parameters.accelerometers or Accelerometers(source="exact"),
        gyroscopes,
    ]
    matrix = np.eye(6)
    bias = np.empty(6)
    for k, triad in enumerate(triads):
        own = slice(3 * k, 3 * k + 3)
        draws = random.standard_normal((3, 3))
        spread = np.full((3, 3), triad.misalignment)
        np.fill_diagonal(spread, triad.scale_factor)
        matrix[own, own] += spread * draws
        bias[own] = triad.bias * random.standard_normal(3)
    sensitivity = gyroscopes.acceleration_sensitivity / STANDARD_GRAVITY
    matrix[3:, :3] = sensitivity * random.standard_normal((3, 3))
    ranges = [np.inf if triad.range is None else triad.range for triad in triads]
    return InertialErrors(
        matrix,
        bias,
        np.repeat([triad.instability for triad in triads], 3),
        np.repeat([1.0 / triad.correlation_time for triad in triads], 3),
        np.repeat([triad.noise for triad in triads], 3),
        np.repeat(ranges, 3),
    )
