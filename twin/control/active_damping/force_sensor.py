"""The force in a leg, as a load cell in line with it would read it."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel
from twin.plant.signals import Measurement


class ForceSensor:
    """Load cells of a machine's legs, derived from what is measured anyway.

    Struts: the cell is in line with actuator and spring, F = f + k (l_0 - q) - c q', with the
    leg's parameters k, c and l_0. Viscoelastic legs: the cell is between housing and follower, in
    line with the actuator alone, F = f: series elements carry the same force (the cell's own place
    matters, for below the housing its mass would come in). All other legs: F = f. Positive pushes
    the platform. A real cell would not depend on parameters; here they are the model's own, so
    that errors in k and c are not seen.
    """

    def __init__(self, platform: MachineModel) -> None:
        self._rest = platform.home_coordinates
        self._stiffness, self._damping = np.zeros((2, platform.n_actuators))
        if platform.leg.has_axial_spring:
            self._stiffness, self._damping, self._rest = platform.leg_springs

    def read(self, measurement: Measurement) -> FloatArray:
        """Return the forces `(n,)` [N] of a measurement."""
        return self.along(measurement.coordinates, measurement.rates, measurement.forces)

    def along(self, coordinates: FloatArray, rates: FloatArray, forces: FloatArray) -> FloatArray:
        """Return the forces `(..., n)` [N] of coordinates, rates and actuator forces."""
        spring = self._stiffness * (self._rest - coordinates) - self._damping * rates
        return np.asarray(forces + spring)


def leg_forces(platform: MachineModel, measurement: Measurement) -> FloatArray:
    """Return the forces `(n,)` [N] that load cells in the legs would read; see `ForceSensor`."""
    return ForceSensor(platform).read(measurement)
