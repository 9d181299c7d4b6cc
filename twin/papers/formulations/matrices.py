"""Mass and Coriolis matrices of the extended and the configuration space, in the paper's terms.

The formulations here never form a Coriolis matrix; these are for tables 1 to 4 and figure 6.

Reference: extended-configuration-space paper, equations (5), (15) and (21).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.interpret import interpreted
from twin.model.machine_model import MachineModel
from twin.papers.formulations.kernels import extended, joint_space, rigidity
from twin.papers.formulations.kernels.arrays import (
    BIAS,
    CONSTRAINTS,
    JOINT,
    JOINTS,
    LEGS,
    RATE,
    TWIST,
)
from twin.papers.formulations.model import extended_joints, make_work, pack_model

MassMatrix = Callable[[FloatArray], FloatArray]

STEP = 1e-5
"""Step of the central differences of eq. (15)."""


class CoefficientMatrices:
    """Matrices of one machine as functions of its coordinates.

    Extended coordinates `(24,)`: position [m], Rodrigues parameters, joint coordinates leg by leg.
    """

    def __init__(self, platform: MachineModel) -> None:
        self.platform = platform
        self.model, self.work = pack_model(platform), make_work()

    def coordinates(self, pose: FloatArray) -> FloatArray:
        """Return the extended coordinates `(24,)` of a pose `(7,)` with closed loops."""
        joints = extended_joints(self.platform, self.platform.leg_coordinates(pose).values)
        joints[:, 2] += self.platform.home_coordinates
        return np.concatenate([pose[:3], pose[4:] / pose[3], joints.reshape(JOINTS)])

    def extended_mass(self, coordinates: FloatArray) -> FloatArray:
        """Return M `(24, 24)` of eq. (21)."""
        parameters, work = coordinates[3:6], self.work
        share = 1.0 / (1.0 + parameters @ parameters)
        work.platform[:3], work.platform[3] = coordinates[:3], np.sqrt(share)
        work.platform[4:7] = np.sqrt(share) * parameters
        work.platform[TWIST : TWIST + 6] = 0.0
        self._place(coordinates[6:])
        interpreted(extended.move_legs)(self.model, work)
        interpreted(extended.move_platform)(self.model, work)
        rates = np.eye(6)
        # Angular velocity of the rates of the Rodrigues parameters.
        rates[3:, 3:] = 2.0 * share * (np.eye(3) + np.cross(np.eye(3), parameters))
        mass = np.zeros((6 + JOINTS, 6 + JOINTS))
        mass[:6, :6] = rates.T @ work.body_mass @ rates
        for leg in range(LEGS):
            part = slice(6 + 3 * leg, 9 + 3 * leg)
            mass[part, part] = work.leg_mass[leg]
        return mass

    def configuration_mass(self, joints: FloatArray) -> FloatArray:
        """Return M `(18, 18)` of eq. (5) at joint coordinates `(18,)`."""
        self._place(joints)
        interpreted(rigidity.pose_from_tips)(self.model, self.work)
        interpreted(joint_space.move_joints)(self.model, self.work)
        return np.array(self.work.mass[:, :JOINTS])

    def closure(self, joints: FloatArray) -> FloatArray:
        """Return the Jacobian of the rigidity constraints `(12, 18)` at joint coordinates."""
        self._place(joints)
        interpreted(rigidity.fill_closure)(self.model, self.work)
        return np.array(self.work.closure[:CONSTRAINTS, :JOINTS])

    def leg_forces(self, joints: FloatArray, rates: FloatArray) -> FloatArray:
        """Return Coriolis and centrifugal forces of the legs `(18,)` by the formulations."""

        def bias(rates: FloatArray) -> FloatArray:
            self._place(joints, rates)
            interpreted(extended.move_legs)(self.model, self.work)
            return np.array(self.work.legs[:, BIAS : BIAS + 3].ravel())

        return np.asarray(bias(rates) - bias(0.0 * rates))

    def configuration_forces(self, joints: FloatArray, rates: FloatArray) -> FloatArray:
        """Return those of the configuration space `(18,)`, up to forces of its constraints."""

        def bias(rates: FloatArray) -> FloatArray:
            self._place(joints, rates)
            interpreted(rigidity.pose_from_tips)(self.model, self.work)
            interpreted(joint_space.move_joints)(self.model, self.work)
            return np.array(self.work.mass[:, JOINTS])

        return np.asarray(bias(rates) - bias(0.0 * rates))

    def _place(self, joints: FloatArray, rates: FloatArray | None = None) -> None:
        self.work.legs[:, JOINT : JOINT + 3] = joints.reshape(LEGS, 3)
        self.work.legs[:, RATE : RATE + 3] = 0.0 if rates is None else rates.reshape(LEGS, 3)
        interpreted(extended.place_legs)(self.model, self.work)


def coriolis(mass: MassMatrix, coordinates: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the Coriolis matrix `(k, k)` of eq. (15) by central differences of the mass matrix."""
    size = len(coordinates)
    slopes = np.empty((size, size, size))
    for k in range(size):
        step = np.zeros(size)
        step[k] = STEP
        slopes[k] = (mass(coordinates + step) - mass(coordinates - step)) / (2.0 * STEP)
    along = np.einsum("kij,k->ij", slopes, rates)
    across = np.einsum("jik,k->ij", slopes, rates)
    return np.asarray(0.5 * (along + across - across.T))
