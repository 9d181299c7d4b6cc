"""Errors in task space along a reference, by Jacobians that are computed once."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.reference import Reference
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.plant.signals import Measurement


class TaskErrors:
    """Small displacements from the reference by the inverse Jacobian at its pose.

    d = J^-1 (q - q_ref), v = J^-1 (q' - q'_ref): exact to second order in the error. Springs in
    series with the actuators are not seen.
    """

    def __init__(self, platform: MachineModel, reference: Reference) -> None:
        """Compute the Jacobians of all rows.

        Rows that cannot be reached, at which the loop stops, take the last one before them.

        Raises:
            InputError: a machine whose pose does not follow from its actuators.
        """
        if platform.dof != 6 or platform.n_actuators != 6:
            raise InputError(
                "platform", f"{platform.name} must have six degrees of freedom and actuators"
            )
        self._reference = reference
        good = reference.reachable > 0.0
        last = np.maximum.accumulate(np.where(good, np.arange(len(good)), -1))
        poses = np.where((last >= 0)[:, None], reference.pose[last], platform.home)
        self._jacobian = platform.jacobian(poses)

    def of(self, row: int, measurement: Measurement) -> tuple[FloatArray, FloatArray]:
        """Return displacement and twist `(6,)` from row `row` of the reference, base axes."""
        reference, inverse = self._reference, np.linalg.inv(self._jacobian[row])
        return (
            inverse @ (measurement.coordinates - reference.coordinates[row]),
            inverse @ (measurement.rates - reference.rates[row]),
        )
