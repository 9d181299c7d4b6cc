"""The normal state of a machine: residuals as its motion explains them, learned once."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray

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
