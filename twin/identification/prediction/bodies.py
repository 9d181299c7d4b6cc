"""Coordinates of a search in which every point is a possible body.

Principal moments of a body fulfil the triangle inequality: the covariance of its mass about its
centre, S = tr(I) / 2 - I, is positive definite. So S = L L' with a lower triangular L whose
diagonal is positive, and the logarithms of the diagonal may take any value. With mass above zero
and any centre this is the log-Cholesky parametrisation of the pseudo-inertia: S is the Schur
complement of the mass in it.

Reference:
    Rucker and Wensing, Smooth parameterization of rigid-body inertia, IEEE Robotics and Automation
    Letters 7 (2022).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.parameters import Parameter, nominal_array, prior_std_array

TENSOR_ENTRIES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Entries of a tensor of inertia that are parameters."""

LOWER_ENTRIES = tuple(np.array(TENSOR_ENTRIES).T[::-1])
"""Rows and columns of the same entries in a lower triangular matrix."""

IS_DIAGONAL = np.array([row == column for row, column in TENSOR_ENTRIES])
"""Which of the entries are on the diagonal."""

MIN_EIGENVALUE_FRACTION = 1e-4
"""Engineering choice: smallest eigenvalue of a covariance over its trace: a file may have a plane
body, whose logarithm would be infinite.
"""

DIFFERENCE_STEP = 1e-6
"""Difference of the free coordinates for the derivatives of a tensor."""


class BodyCoordinates:
    """Free coordinates of parameters; bodies with all moments free stay possible.

    Other parameters stay as they are, in prior standard deviations from the file.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        """Find the bodies of which all six moments are among the parameters."""
        self._nominal, self._stds = nominal_array(parameters), prior_std_array(parameters)
        bodies: dict[str, dict[tuple[int, int], int]] = {}
        for k, parameter in enumerate(parameters):
            match = re.fullmatch(r"(.*\binertia)\.(\d)\.(\d)", parameter.path)
            if match:
                bodies.setdefault(match[1], {})[int(match[2]), int(match[3])] = k
        self._bodies = [
            [indices[entry] for entry in TENSOR_ENTRIES]
            for indices in bodies.values()
            if set(TENSOR_ENTRIES) <= set(indices)
        ]

    def free(self, x: FloatArray) -> FloatArray:
        """Return the free coordinates `(p,)` of scaled parameters `(p,)`."""
        y = np.array(x)
        for body in self._bodies:
            y[body] = _free(self._nominal[body] + self._stds[body] * x[body])
        return y

    def scaled(self, y: FloatArray) -> FloatArray:
        """Return the scaled parameters `(p,)` of free coordinates `(p,)`."""
        x = np.array(y)
        for body in self._bodies:
            x[body] = (_moments(y[body]) - self._nominal[body]) / self._stds[body]
        return x

    def slopes(self, y: FloatArray) -> FloatArray:
        """Return the derivatives `(p, p)` of scaled parameters by free coordinates."""
        matrix = np.eye(len(y))
        for body in self._bodies:
            steps = DIFFERENCE_STEP * np.eye(len(TENSOR_ENTRIES))
            changes = [_moments(y[body] + step) - _moments(y[body] - step) for step in steps]
            columns = np.array(changes).T / (2.0 * DIFFERENCE_STEP)
            matrix[np.ix_(body, body)] = columns / self._stds[body][:, None]
        return matrix

    def free_bounds(self, bounds: FloatArray) -> FloatArray:
        """Return bounds `(2, p)` of the free coordinates from those of the scaled parameters."""
        free = np.array(bounds)
        for body in self._bodies:
            free[:, body] = np.array([[-np.inf], [np.inf]])
        return free


def second_moments(moments: FloatArray) -> FloatArray:
    """Return the second moments `(3, 3)` [kg m2] about the centre of mass, from six moments.

    A body is physical if its mass is above zero and this matrix positive definite; the same as a
    positive definite pseudo-inertia matrix.

    Reference:
        P. Wensing, S. Kim and J.-J. Slotine, Linear matrix inequalities for physically consistent
        inertial parameter identification, IEEE Robotics and Automation Letters 3 (2018).
    """
    tensor = np.empty((3, 3))
    tensor[LOWER_ENTRIES] = tensor[LOWER_ENTRIES[::-1]] = moments
    return np.asarray(0.5 * np.trace(tensor) * np.eye(3) - tensor)


def _free(moments: FloatArray) -> FloatArray:
    """Return logarithms and entries `(6,)` of the factor of six moments."""
    eigenvalues, axes = np.linalg.eigh(second_moments(moments))
    least = MIN_EIGENVALUE_FRACTION * np.abs(eigenvalues).sum()
    factor = np.linalg.cholesky((axes * np.maximum(eigenvalues, least)) @ axes.T)
    entries = factor[LOWER_ENTRIES]
    entries[IS_DIAGONAL] = np.log(entries[IS_DIAGONAL])
    return np.asarray(entries)


def _moments(free: FloatArray) -> FloatArray:
    """Return six moments from logarithms and entries `(6,)` of the factor."""
    factor = np.zeros((3, 3))
    factor[LOWER_ENTRIES] = np.where(IS_DIAGONAL, np.exp(free), free)
    covariance = factor @ factor.T
    return np.asarray((np.trace(covariance) * np.eye(3) - covariance)[LOWER_ENTRIES])
