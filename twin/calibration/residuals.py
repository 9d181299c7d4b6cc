"""Residuals of measured poses in standard deviations of their noise, with exact derivatives.

Predicted minus measured: a pose is the forward solution at the recorded coordinates, whose
derivative by parameters is that of f(x, p) = 0: dx/dp = -(df/dx)^-1 df/dp. Residuals of the legs at
measured poses would need no forward solution, but noise of the poses would be in their slopes too,
which biases estimates of what is hard to see.
"""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import cross_matrix
from twin.calibration.measured import MeasuredPoses
from twin.calibration.measurement_model import MeasurementModel, Setting
from twin.errors import InputError
from twin.rotations import angles_from_quaternion, displacement


class Residuals:
    """Residuals `(m, 6)` of poses by the unknowns `(u,)` of a model; zero where not measured."""

    def __init__(self, model: MeasurementModel, poses: MeasuredPoses) -> None:
        """Prepare the residuals, weighted for the machine without errors.

        Raises:
            InputError: coordinates without a pose.
        """
        self.model, self.poses = model, poses
        self._start = model.start(poses)
        setting = model.at(np.zeros(model.size))
        predicted = self._predicted(setting)
        if not np.isfinite(predicted).all():
            message = "no pose was found for some of them; check units and the order of legs"
            raise InputError("coordinates", message)
        rates = self._rates(predicted) @ model.pose_slopes(setting, predicted)[1]
        covariance = np.einsum("mij,m,mkj->mik", rates, poses.noise[:, 2] ** 2, rates)
        covariance[:, range(6), range(6)] += np.repeat(poses.noise[:, :2] ** 2, 3, axis=1)
        self._weights = np.zeros_like(covariance)
        for weight, given, there in zip(
            self._weights, covariance, np.isfinite(poses.values), strict=True
        ):
            block = np.ix_(there, there)
            weight[block] = np.linalg.inv(np.linalg.cholesky(given[block]))

    def values(self, unknowns: FloatArray) -> FloatArray:
        """Return the residuals `(m, 6)`; NaN where there is no solution."""
        predicted = self._predicted(self.model.at(unknowns))
        if not np.isfinite(predicted).all():
            return np.full((len(predicted), 6), np.nan)
        found = np.nan_to_num(differences(predicted, self.poses))
        return np.asarray(np.einsum("mij,mj->mi", self._weights, found))

    def slopes(self, unknowns: FloatArray) -> FloatArray:
        """Return the derivatives `(m, 6, u)` of the residuals."""
        setting = self.model.at(unknowns)
        predicted = self._predicted(setting)
        slopes, _ = self.model.pose_slopes(setting, predicted)
        found: FloatArray = self._weights @ self._rates(predicted) @ slopes
        return found

    def _predicted(self, setting: Setting) -> FloatArray:
        return self.model.predicted(setting, self.poses, self._start)

    def _rates(self, predicted: FloatArray) -> FloatArray:
        """Return the derivatives `(m, 6, 6)` of `differences` by displacement and turn."""
        rates = np.tile(np.eye(6), (len(predicted), 1, 1))
        turns = displacement(predicted, self.poses.poses)[:, 3:]
        whole = self.poses.full[:, None, None]
        rates[:, 3:, 3:] = np.where(whole, _of_vector(turns), _of_angles(predicted))
        return rates


def differences(predicted: FloatArray, poses: MeasuredPoses) -> FloatArray:
    """Return predicted minus measured components `(m, 6)`; NaN where not measured.

    Of poses that are measured as a whole the last three are a rotation vector [rad], of others
    differences of yaw, pitch and roll.
    """
    angles = angles_from_quaternion(predicted[:, 3:]) - poses.values[:, 3:]
    turns = (angles + np.pi) % (2.0 * np.pi) - np.pi
    whole = displacement(predicted, poses.poses)[:, 3:]
    turns = np.where(poses.full[:, None], whole, turns)
    return np.hstack([predicted[:, :3] - poses.values[:, :3], turns])


def _of_angles(poses: FloatArray) -> FloatArray:
    """Return the derivatives `(m, 3, 3)` of yaw, pitch and roll by a rotation vector on top."""
    yaw, pitch, _ = angles_from_quaternion(poses[:, 3:]).T
    cosine, sine, zero = np.cos(yaw), np.sin(yaw), np.zeros(len(yaw))
    flat, tangent = 1.0 / np.cos(pitch), np.tan(pitch)
    rows = [
        [cosine * tangent, sine * tangent, zero + 1.0],
        [-sine, cosine, zero],
        [cosine * flat, sine * flat, zero],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def _of_vector(turns: FloatArray) -> FloatArray:
    """Return the derivatives `(m, 3, 3)` of rotation vectors `(m, 3)` by another one on top.

    1 - [v] / 2 + (1 - h cot h) [v]^2 / |v|^2 with h = |v| / 2.
    """
    cross, half = cross_matrix(turns), 0.5 * np.linalg.norm(turns, axis=1)
    safe = np.maximum(half, 1e-4)  # Below, the last factor is 1 / 12 to rounding.
    factor = np.where(half > safe * 0.99, 1.0 - safe / np.tan(safe), safe**2 / 3.0) / (
        4.0 * safe**2
    )
    rates: FloatArray = np.eye(3) - 0.5 * cross + factor[:, None, None] * cross @ cross
    return rates
