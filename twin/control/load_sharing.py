"""Sharing of the load among more legs than degrees of freedom."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.position_loop import PositionLoop
from twin.control.reference import Reference
from twin.model.machine_model import MachineModel
from twin.plant.signals import Measurement

DROOP = 0.01
"""Adopted: speed that a leg gives way per internal force, times the gain of its velocity loop.
Internal forces decay in some 100 integral times of that loop, slower than legs swing."""


class LoadSharing:
    """Correction of position loops of redundant legs, each with integrals of its own.

    Forces N of legs that hold each other move nothing, and to first order no motion of the
    platform changes the coordinates along them: N' dq = 0. So an integral along N never comes to
    rest: small errors of the readings let some legs lift the others, without limit. The law
    leaves that part out of the position errors, and lets legs give way to the internal force that
    is measured:

        e <- e - N N' e,        v <- v - D N N' f,        D = DROOP / gain of the velocity loop

    Derivation: docs/control.md.
    """

    def __init__(self, platform: MachineModel, reference: Reference, gain: FloatArray) -> None:
        """Compute internal forces along a reference.

        Args:
            platform: with more legs than degrees of freedom, without springs in the legs.
            reference: at the control instants.
            gain: `(n,)` of the velocity loops [N s/m] or [N m s/rad].
        """
        # The supervisor stops the machine before it follows a pose that its legs cannot reach.
        reachable = reference.reachable[:, None] > 0.0
        poses = np.where(reachable, reference.pose, platform.home)
        self._internal = internal_forces(platform, poses)
        self._droop = DROOP / gain

    def consistent(self, row: int, error: FloatArray) -> FloatArray:
        """Return position errors `(n,)` of a row of the reference without what legs cannot do."""
        internal = self._internal[row]
        return np.asarray(error - internal @ (internal.T @ error))

    def giving_way(self, row: int, forces: FloatArray) -> FloatArray:
        """Return speeds `(n,)` by which legs give way to the internal part of `forces` `(n,)`."""
        internal = self._internal[row]
        return np.asarray(-self._droop * (internal @ (internal.T @ forces)))

    def speeds(
        self,
        row: int,
        loop: PositionLoop,
        setpoint: FloatArray,
        rates: FloatArray,
        measurement: Measurement,
        share: float = 1.0,
    ) -> FloatArray:
        """Return the speeds `(n,)` [m/s, rad/s] of position loops whose legs share the load.

        Args:
            row: of the reference.
            loop: position loops, advanced by one period.
            setpoint: `(n,)` [m, rad].
            rates: `(n,)` of the reference [m/s, rad/s], fed forward.
            measurement: coordinates and forces of the legs.
            share: of the rates that is fed forward.
        """
        measured = setpoint - self.consistent(row, setpoint - measurement.coordinates)
        speeds = loop.update(setpoint, measured, rates, share)
        return speeds + self.giving_way(row, measurement.forces)


def shares_loads(platform: MachineModel) -> bool:
    """Return whether legs are redundant and rigid, so that their integrals need a sharing law.

    Springs in or beside the legs give every error of a length a force that balances it.
    """
    springs = platform.n_deflections or platform.leg.has_axial_spring
    return platform.n_actuators > platform.dof and not springs


def internal_forces(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return orthonormal forces `(k, n, n - dof)` that hold each other at poses `(k, 7)`.

    They are the actuators' part of the null space of [J; C]^T.
    """
    n, free = platform.n_actuators, platform.n_actuators - platform.dof
    rows = np.concatenate([platform.jacobian(poses), platform.constraints(poses)], axis=1)
    balanced = np.linalg.svd(np.swapaxes(rows, 1, 2))[2][:, -free:, :n]
    return np.asarray(np.linalg.qr(np.swapaxes(balanced, 1, 2))[0])
