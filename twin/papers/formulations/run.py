"""The result of integrating a formulation: motion, errors of the loop closure, energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.model.constraints import characteristic_length
from twin.model.machine_model import MachineModel
from twin.papers.formulations.kernels import measures as columns
from twin.papers.formulations.kernels.arrays import ACCELERATION, JOINTS, TWIST


@dataclass(frozen=True)
class FormulationRun:
    """Motion of a machine by one formulation at `k` times.

    `configuration` and its derivatives hold, leg by leg, two angles [rad] and the actuator's length
    [m] or angle [rad], as `Formulation` has them.
    """

    formulation: str
    method: str
    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    """`(k, 7)`"""
    twist: FloatArray
    """`(k, 6)`"""
    acceleration: FloatArray
    """`(k, 6)`"""
    configuration: FloatArray
    """`(k, 18)`"""
    rates: FloatArray
    """`(k, 18)`"""
    accelerations: FloatArray
    """`(k, 18)`"""
    e1: FloatArray
    """`(k,)` [m] largest error of the loop closure"""
    e2: FloatArray
    """`(k,)` [m/s] of its rate"""
    e3: FloatArray
    """`(k,)` [m/s2] of its second rate"""
    resolution: FloatArray
    """`(k, 3)` machine epsilon times the size of the terms that cancel in e1, e2, e3"""
    kinetic: FloatArray
    """`(k,)` [J]"""
    potential: FloatArray
    """`(k,)` [J], zero at z = 0 of the base"""
    determinant: FloatArray
    """`(k,)` of the legs' Jacobian, moments scaled by the platform joints' mean radius"""

    def __len__(self) -> int:
        """Return the number of times."""
        return len(self.time)

    @property
    def energy_error(self) -> FloatArray:
        """Change of the total energy `(k,)` in percent of that at the start."""
        total = self.kinetic + self.potential
        return np.asarray(100.0 * (total - total[0]) / total[0])

    @property
    def crossings(self) -> FloatArray:
        """Times [s] at which a singular pose was passed: the determinant changes sign.

        A platform that turns back at the singular pose, where it could also have gone on, has no
        crossing there; two crossings between neighbouring times cancel.
        """
        before, after = self.determinant[:-1], self.determinant[1:]
        k = np.flatnonzero(before * after < 0.0)
        part = before[k] / (before[k] - after[k])
        return np.asarray(self.time[k] + part * (self.time[k + 1] - self.time[k]))


def run_of(
    platform: MachineModel, name: str, method: str, time: FloatArray, records: FloatArray
) -> FormulationRun:
    """Return the motion that records `(k, RECORD_SIZE)` hold at `time` `(k,)` [s].

    Quaternions change sign where they have to, so that they are continuous.
    """
    pose = records[:, :7].copy()
    turn = np.einsum("ij,ij->i", pose[1:, 3:], pose[:-1, 3:])
    pose[1:, 3:] *= np.cumprod(np.where(turn < 0.0, -1.0, 1.0))[:, None]
    jacobian = platform.jacobian(as_floats(pose, "pose"))
    radius = characteristic_length(platform.platform_joints)
    errors = records[:, columns.ERRORS : columns.ERRORS + 3]
    return FormulationRun(
        name,
        method,
        time.copy(),
        pose,
        records[:, TWIST : TWIST + 6].copy(),
        records[:, ACCELERATION : ACCELERATION + 6].copy(),
        records[:, columns.JOINTS : columns.JOINTS + JOINTS].copy(),
        records[:, columns.JOINT_RATES : columns.JOINT_RATES + JOINTS].copy(),
        records[:, columns.JOINT_ACCELERATIONS : columns.ERRORS].copy(),
        errors[:, 0].copy(),
        errors[:, 1].copy(),
        errors[:, 2].copy(),
        np.finfo(float).eps * records[:, columns.SIZES : columns.SIZES + 3],
        records[:, columns.ENERGIES].copy(),
        records[:, columns.ENERGIES + 1].copy(),
        np.linalg.det(jacobian) / radius**3,
    )
