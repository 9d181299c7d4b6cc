"""Residuals of one sample: readings against the model, signatures of faults, and what is normal."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.drive_model import drive_model
from twin.kernels.kinematics.inverse import inverse_kinematics_batch
from twin.shadow.model import ShadowModel

REGRESSORS = 4
"""One, direction, rate and acceleration of an actuator."""

CHANNELS = 2
"""Force against the motor, and play of the transmission."""

RIDGE = 1e-6
"""Share of the regressors' squares that holds coefficients which the motion does not show."""


class Baseline:
    """Linear laws of all legs: residual = c0 + c1 direction + c2 rate + c3 acceleration.

    They take up, to first order, what a machine's file gets wrong: friction, the initial force of
    the drives, delay (a force in proportion to the rate), mass (to the acceleration), load.
    """

    def __init__(self, legs: int) -> None:
        """Begin without data."""
        self._squares = np.zeros((legs, REGRESSORS, REGRESSORS))
        self._products = np.zeros((legs, REGRESSORS, CHANNELS))
        self._law = np.zeros((legs, REGRESSORS, CHANNELS))

    def add(self, regressors: FloatArray, residuals: FloatArray) -> None:
        """Add one sample: regressors `(n, 4)` and residuals `(n, 2)`."""
        self._squares += regressors[:, :, None] * regressors[:, None, :]
        self._products += regressors[:, :, None] * residuals[:, None, :]

    def fit(self) -> None:
        """Solve for the laws by least squares."""
        scale = np.sqrt(np.einsum("nii->ni", self._squares))
        scale[scale == 0.0] = 1.0
        squares = self._squares / (scale[:, :, None] * scale[:, None, :])
        solved = np.linalg.solve(
            squares + RIDGE * np.eye(REGRESSORS), self._products / scale[:, :, None]
        )
        self._law = solved / scale[:, :, None]

    def unexplained(self, regressors: FloatArray, residuals: FloatArray) -> FloatArray:
        """Return what the laws leave of residuals `(n, 2)`."""
        explained = (regressors[:, None, :] @ self._law)[:, 0, :]
        return np.asarray(residuals - explained)

    def shift(self, force: FloatArray) -> None:
        """Add forces `(n,)` to the constant parts of the laws."""
        self._law[:, 0, 0] += force


SMOOTHING = 0.01
"""[s] Adopted: filter behind which the acceleration of an actuator is taken."""

PUSHED = 0.1
"""Share of the holding force from which a transmission lies at one side of its play."""


class Residuals:
    """Reads residuals and signatures of all legs.

    With r the force that a motor gives beyond what the model needs for the same motion, and p the
    lead of the motor over its leg beyond the model's:

        friction of leg i rises by f:    r_i = f direction_i
        payload grows by m:              r = m u,    J' u = (a - g, 0)
        backlash of leg i grows by b:    p_i = b / 2 sign(force_i)

    Attributes:
        values: `(n, 2)` r [N, N m] and p [m, rad]; p is leg of the model less leg by the pose, zero
            without a measured pose.
        regressors: `(n, 4)` of the `Baseline`.
        side: `(n,)` side of its play at which each transmission lies: -1, 0 or 1.
        load: `(n,)` u, force of each leg per mass on the platform [N/kg, N m/kg].
    """

    def __init__(self, model: ShadowModel) -> None:
        """Take the drives of the model's machine."""
        machine = model.machine
        n = machine.n_actuators
        self._model, drives = model, drive_model(machine)
        self._slow = np.maximum(drives.stribeck_speed * (drives.friction > 0.0), drives.smoothing)
        self._touching = drives.touching
        self._keep = exp(-model.period / SMOOTHING)
        self._filtered = np.zeros(n)
        self.values, self.regressors = np.zeros((n, CHANNELS)), np.ones((n, REGRESSORS))
        self.side, self.load = np.zeros(n), np.zeros(n)
        self._poses, self._legs = np.zeros((2, 7)), np.zeros((2, n))
        self._gravity = np.array([0.0, 0.0, machine.parameters.gravity])

    def start(self) -> None:
        """Begin at the present motion of the model."""
        self._filtered[:] = self._model.rates

    def read(self, values: Mapping[str, FloatArray], force: FloatArray) -> None:
        """Take one sample, after the model was corrected by it.

        Args:
            values: fields of the sample.
            force: `(n,)` that is known to be unexplained, on each actuator [N, N m].
        """
        model, regressors = self._model, self.regressors
        rates = model.rates
        regressors[:, 1] = np.minimum(np.maximum(rates / self._slow, -1.0), 1.0)
        regressors[:, 2] = rates
        behind = rates - self._filtered
        regressors[:, 3] = behind / SMOOTHING
        self._filtered += (1.0 - self._keep) * behind
        forces, pose = values.get("forces"), values.get("pose")
        self.values[:, 0] = model.disturbance if forces is None else forces - model.efforts
        if pose is None:
            self.side[:] = 0.0
            return
        self._poses[:] = model.pose, pose
        inverse_kinematics_batch(model.machine.constants.legs, self._poses, self._legs)
        self.values[:, 1] = self._legs[0] - self._legs[1]
        # Where an unknown force could have turned the load, the side is unknown.
        pushed = np.abs(model.forces) > PUSHED * self._touching + np.abs(force)
        self.side[:] = np.sign(model.forces) * pushed

    def refresh(self) -> FloatArray:
        """Return the Jacobian `(n, 6)`, and take `load` anew; they change slowly."""
        jacobian = self._model.jacobian()
        pull = np.zeros(6)
        pull[:3] = self._model.acceleration[:3] + self._gravity
        self.load[:] = np.linalg.lstsq(jacobian.T, pull, rcond=None)[0]
        return jacobian
