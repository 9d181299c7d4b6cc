"""Model of a measurement: poses of the target that recorded coordinates lead to, and residuals.

Unknowns `(u,)` are the errors of the legs, leg after leg, then the twelve of the frames, each
divided by its scale: the size that moves a point of the machine by about 1 m.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, cross_matrix, rotation_matrix
from twin.calibration.measured import FRAME_UNKNOWN_NAMES, Frames, MeasuredPoses, by_frames
from twin.errors import ForwardKinematicsError, InputError
from twin.kernels.legs.interface import AXIS, BASE_JOINT, PLATFORM_JOINT, Legs
from twin.kernels.legs.rss import CRANK_LENGTH, ROD_LENGTH, ZERO_DIRECTION
from twin.model.derivatives import slope_width
from twin.model.forward_kinematics import Geometry, geometry
from twin.model.machine_model import MachineModel
from twin.rotations import angles_from_quaternion, displaced, displacement

JOINT_ERROR_NAMES = tuple(
    f"{joint} joint {axis}" for joint in ("base", "platform") for axis in "xyz"
)

CRANK_ERROR_NAMES = ("crank axis 1", "crank axis 2", "crank length", "rod length")
"""Names of the errors of a crank: its axis rotates about the crank's direction at angle 0, and
about the direction perpendicular to both.
"""

COMPLEX_STEP = 1e-30
"""Imaginary step [m, rad] of complex-step derivatives."""

MAX_NEWTON_STEPS = 40
"""Maximum number of Newton steps from the pose of the machine without errors."""

MAX_STEP_ANGLE = 1.0
"""[rad] Largest rotation in one Newton step; longer ones diverge."""

STEP_TOLERANCE = 1e-13
"""Newton step [m, rad] below which a pose is solved; convergence is quadratic."""

N_FRAME_UNKNOWNS = len(FRAME_UNKNOWN_NAMES)

MAX_CONTRADICTION = 1.0
"""[m] or [rad] by which coordinates of redundant legs may contradict each other before the fit,
which explains it."""


class LegErrors:
    """Errors `(n, k)` of n legs: three of each joint, those of a crank, and the offset.

    The offset is added to recorded coordinates. Lengths are in m, turns and offsets of cranks in
    rad.
    """

    def __init__(self, machine: MachineModel) -> None:
        """Store the geometry of `machine` as that without errors."""
        self.machine = machine
        self.nominal: FloatArray = machine.constants.legs.rows
        self.has_crank: bool = machine.leg.has_crank
        self.names = (*JOINT_ERROR_NAMES, *(CRANK_ERROR_NAMES if self.has_crank else ()), "offset")
        self.shape = machine.n_actuators, len(self.names)
        self.arms = np.ones(len(self.nominal))
        if self.has_crank:
            self.arms = self.nominal[:, CRANK_LENGTH]

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the errors of one leg."""
        crank = ("rad", "rad", "m", "m") if self.has_crank else ()
        return (*("m",) * 6, *crank, self.machine.coordinate_unit)

    @property
    def scales(self) -> FloatArray:
        """Scale `(n, k)` of each error: the size that moves a point of the leg by about 1 m."""
        angles = np.array(self.units) == "rad"
        return np.where(angles, 1.0 / self.arms[:, None], 1.0)

    def rows(self, errors: FloatArray) -> FloatArray:
        """Return the kernels' constants `(n, LEG_SIZE)` of the legs with errors `(n, k)`.

        The errors of a crank's axis are twice the axis times the tangent of half the angle of its
        turn, the angle itself for small ones.
        """
        rows = self.nominal.astype(errors.dtype)
        rows[:, BASE_JOINT : BASE_JOINT + 3] += errors[:, :3]
        rows[:, PLATFORM_JOINT : PLATFORM_JOINT + 3] += errors[:, 3:6]
        if self.has_crank:
            rows[:, CRANK_LENGTH] += errors[:, 8]
            rows[:, ROD_LENGTH] += errors[:, 9]
            axis = self.nominal[:, AXIS : AXIS + 3]
            zero = self.nominal[:, ZERO_DIRECTION : ZERO_DIRECTION + 3]
            rotation = 0.5 * (errors[:, 6:7] * zero + errors[:, 7:8] * np.cross(axis, zero))
            for entry in (AXIS, ZERO_DIRECTION):
                vector = self.nominal[:, entry : entry + 3]
                half_rotated = vector + np.cross(rotation, vector)
                size = 1.0 + np.einsum("ni,ni->n", rotation, rotation)[:, None]
                rows[:, entry : entry + 3] = vector + 2.0 * np.cross(rotation, half_rotated) / size
        return rows

    def slopes(self, errors: FloatArray) -> FloatArray:
        """Return the derivatives of `rows` by each of the n k errors, leg after leg.

        Their shape is `(n k, n, LEG_SIZE)`, the last two axes those of `rows`. By complex steps,
        which are exact to rounding, because `rows` are rational functions of the errors.
        """
        steps = 1j * COMPLEX_STEP * np.eye(errors.size).reshape(-1, *self.shape)
        return np.array([self.rows(errors + step).imag / COMPLEX_STEP for step in steps])


def legs_with(errors: LegErrors, values: FloatArray) -> Legs:
    """Return the kernels' legs with errors `(n, k)`."""
    legs = errors.machine.constants.legs
    changed_legs: Legs = type(legs)(errors.rows(values))  # type: ignore[call-arg]
    return changed_legs


def by_errors(errors: LegErrors, values: FloatArray, poses: FloatArray) -> FloatArray:
    """Return the derivatives `(m, n + c, n k)` of `geometry` by the errors `(n, k)`.

    Those of the offsets are zero here.
    """
    from twin.kernels.derivatives import DifferentiatedConstants, geometry_by_parameters

    legs, count = legs_with(errors, values), errors.machine.n_actuators
    slopes = np.concatenate([legs.rows[None], errors.slopes(values)])
    body_slopes = np.zeros((len(slopes), len(errors.machine.constants.body)))
    slopes_of_poses = np.full((len(poses), count + 6 - errors.machine.dof, len(slopes) - 1), np.nan)
    constants = DifferentiatedConstants(body_slopes, slopes)
    if geometry_by_parameters(legs, constants, slope_width(), poses, slopes_of_poses) >= 0:
        slopes_of_poses[:] = np.nan
    return slopes_of_poses


def solved(legs: Legs, coordinates: FloatArray, start: FloatArray, constraints: int) -> FloatArray:
    """Return the poses `(m, 7)` of coordinates `(m, n)` near `start`; all NaN if one has none.

    Where coordinates contradict each other, the nearest pose by least squares.
    """
    poses = start.copy()
    for _ in range(MAX_NEWTON_STEPS):
        at = geometry(legs, poses, constraints)
        residual = np.pad(coordinates, ((0, 0), (0, constraints))) - at.values
        if not (np.isfinite(at.rows).all() and np.isfinite(residual).all()):
            break
        step = np.einsum("mij,mj->mi", np.linalg.pinv(at.rows), residual)
        if not np.abs(step[:, 3:]).max(initial=0.0) < MAX_STEP_ANGLE:
            break
        poses = displaced(poses, step)
        if np.abs(step).max(initial=0.0) < STEP_TOLERANCE:
            return poses
    return np.full_like(start, np.nan)


class Setting(NamedTuple):
    """Legs and frames with the errors of a vector of unknowns."""

    errors: FloatArray
    """`(n, k)` of the legs"""
    legs: Legs
    frames: Frames
    frame_errors: FloatArray
    """errors of tracker and target frames `(12,)` [m], [rad]"""


class MeasurementModel:
    """Measurement model: poses of the target as functions of the unknowns."""

    def __init__(self, errors: LegErrors, frames: Frames | None, free: tuple[bool, bool]) -> None:
        """Prepare the model about the machine without errors.

        Args:
            errors: of the machine's legs.
            frames: of the tracker and of the target, known or fitted; None: not yet.
            free: whether each of them is unknown.
        """
        self.errors, self.frames = errors, frames or Frames()
        self._located = frames is not None or not any(free)
        self.machine = errors.machine
        self.constraints = 6 - self.machine.dof
        angle_scale = 1.0 / self.machine.parameters.mean_arm
        scales = np.repeat(free, 6) * np.tile(np.repeat([1.0, angle_scale], 3), 2)
        self.scales = np.concatenate([errors.scales.ravel(), scales])
        self.size = len(self.scales)

    @property
    def names(self) -> tuple[str, ...]:
        """Names `(u,)` of the unknowns."""
        legs = range(1, self.machine.n_actuators + 1)
        return (
            *(f"{name} of leg {leg}" for leg in legs for name in self.errors.names),
            *FRAME_UNKNOWN_NAMES,
        )

    def at(self, unknowns: FloatArray) -> Setting:
        """Return the legs and frames of a vector of unknowns."""
        values = unknowns * self.scales
        errors = values[:-N_FRAME_UNKNOWNS].reshape(self.errors.shape)
        frames = values[-N_FRAME_UNKNOWNS:]
        return Setting(errors, legs_with(self.errors, errors), self.frames.moved(frames), frames)

    def geometry(self, setting: Setting, platform: FloatArray) -> Geometry:
        """Return coordinates and constraints at platform poses `(m, 7)`."""
        return geometry(setting.legs, platform, self.constraints)

    def start(self, poses: MeasuredPoses) -> FloatArray:
        """Return platform poses `(m, 7)` of the machine without errors.

        The search begins at the true poses of simulated ones; at measured ones where all six
        components are and the frames are known; else, or where that finds nothing, at home.

        Raises:
            InputError: no pose is found for some coordinates.
        """
        near = np.full((len(poses), 7), np.nan) if poses.platform is None else poses.platform
        if poses.platform is None and self._located:
            near = np.where(poses.full[:, None], self.frames.platform(poses.poses), np.nan)
        poses_found = np.empty((len(poses), 7))
        for row, coordinates in enumerate(poses.coordinates):
            try:
                poses_found[row] = self._pose(coordinates, near[row])
            except ForwardKinematicsError:
                number = f"{poses.numbers[row]:.9g}"
                message = f"no pose of the file's machine was found for those at {number}"
                hint = "check units, signs and the order of legs"
                raise InputError("coordinates", f"{message}; {hint}") from None
        return poses_found

    def _pose(self, coordinates: FloatArray, near: FloatArray) -> FloatArray:
        """Return the platform pose `(7,)` of coordinates `(n,)`, from a pose near it if finite."""
        pose_of = partial(self.machine.forward_kinematics, tolerance=MAX_CONTRADICTION)
        if np.isfinite(near).all():
            with suppress(ForwardKinematicsError):
                return pose_of(coordinates, near)
        return pose_of(coordinates)

    def predicted(self, setting: Setting, poses: MeasuredPoses, start: FloatArray) -> FloatArray:
        """Return the poses `(m, 7)` of the target at recorded coordinates; NaN without solution.

        Args:
            setting: of the unknowns.
            poses: as measured.
            start: platform poses `(m, 7)` near them.
        """
        coordinates = poses.coordinates + setting.errors[:, -1]
        platform = solved(setting.legs, coordinates, start, self.constraints)
        return setting.frames.measured(platform)

    def coordinate_slopes(self, setting: Setting, platform: FloatArray) -> FloatArray:
        """Return the derivatives `(m, n + c, n k)` of coordinates minus recorded ones by errors."""
        slopes = by_errors(self.errors, setting.errors, platform)
        n, k = self.errors.shape
        slopes[:, range(n), range(k - 1, n * k, k)] -= 1.0
        return slopes

    def platform_slopes(self, setting: Setting, platform: FloatArray) -> FloatArray:
        """Return the displacement `(m, 6, 6)` of the platform per displacement of the target.

        The platform's in axes of the base, the target's in axes of the tracker.
        """
        base_to_tracker = rotation_matrix(setting.frames.tracker[3:]).T
        target = rotation_matrix(platform[:, 3:]) @ setting.frames.target[:3]
        slopes = np.zeros((len(platform), 6, 6))
        slopes[:, :3, :3] = slopes[:, 3:, 3:] = base_to_tracker
        slopes[:, :3, 3:] = cross_matrix(target) @ base_to_tracker
        return slopes

    def pose_slopes(self, setting: Setting, measured: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of poses `(m, 7)` of the target: displacements, then turns.

        Returns:
            `(m, 6, u)` by the unknowns, and `(m, 6, n)` by the recorded coordinates.
        """
        platform = setting.frames.platform(measured)
        to_target = np.linalg.inv(self.platform_slopes(setting, platform))
        inverse = to_target @ np.linalg.pinv(self.geometry(setting, platform).rows)
        by_legs = -inverse @ self.coordinate_slopes(setting, platform)
        frame_slopes = by_frames(setting.frames, setting.frame_errors, measured)
        slopes = np.concatenate([by_legs, frame_slopes], axis=2)
        return slopes * self.scales, inverse[:, :, : self.machine.n_actuators]


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
        # Column 2 of the noise is that of the coordinates.
        covariance = np.einsum("mij,m,mkj->mik", rates, poses.noise[:, 2] ** 2, rates)
        covariance[:, range(6), range(6)] += np.repeat(poses.noise[:, :2] ** 2, 3, axis=1)
        self._weights = np.zeros_like(covariance)
        for weight, deviations, is_measured in zip(
            self._weights, covariance, np.isfinite(poses.values), strict=True
        ):
            block = np.ix_(is_measured, is_measured)
            weight[block] = np.linalg.inv(np.linalg.cholesky(deviations[block]))

    def values(self, unknowns: FloatArray) -> FloatArray:
        """Return the residuals `(m, 6)`; NaN where there is no solution."""
        predicted = self._predicted(self.model.at(unknowns))
        if not np.isfinite(predicted).all():
            return np.full((len(predicted), 6), np.nan)
        errors = np.nan_to_num(differences(predicted, self.poses))
        return np.asarray(np.einsum("mij,mj->mi", self._weights, errors))

    def slopes(self, unknowns: FloatArray) -> FloatArray:
        """Return the derivatives `(m, 6, u)` of the residuals."""
        setting = self.model.at(unknowns)
        predicted = self._predicted(setting)
        slopes, _ = self.model.pose_slopes(setting, predicted)
        weighted_slopes: FloatArray = self._weights @ self._rates(predicted) @ slopes
        return weighted_slopes

    def _predicted(self, setting: Setting) -> FloatArray:
        return self.model.predicted(setting, self.poses, self._start)

    def _rates(self, predicted: FloatArray) -> FloatArray:
        """Return the derivatives `(m, 6, 6)` of `differences` by displacement and turn."""
        rates = np.tile(np.eye(6), (len(predicted), 1, 1))
        rotation_errors = displacement(predicted, self.poses.poses)[:, 3:]
        has_all_angles = self.poses.full[:, None, None]
        rates[:, 3:, 3:] = np.where(
            has_all_angles, _of_vector(rotation_errors), _of_angles(predicted)
        )
        return rates


def differences(predicted: FloatArray, poses: MeasuredPoses) -> FloatArray:
    """Return predicted minus measured components `(m, 6)`; NaN where not measured.

    Of poses that are measured as a whole the last three are a rotation vector [rad], of others
    differences of yaw, pitch and roll.
    """
    angles = angles_from_quaternion(predicted[:, 3:]) - poses.values[:, 3:]
    angle_errors = (angles + np.pi) % (2.0 * np.pi) - np.pi
    rotation_errors = displacement(predicted, poses.poses)[:, 3:]
    angle_errors = np.where(poses.full[:, None], rotation_errors, angle_errors)
    return np.hstack([predicted[:, :3] - poses.values[:, :3], angle_errors])


def _of_angles(poses: FloatArray) -> FloatArray:
    """Return the derivatives `(m, 3, 3)` of yaw, pitch and roll by a rotation vector on top."""
    yaw, pitch, _ = angles_from_quaternion(poses[:, 3:]).T
    cosine, sine, zero = np.cos(yaw), np.sin(yaw), np.zeros(len(yaw))
    inverse_cosine, tangent = 1.0 / np.cos(pitch), np.tan(pitch)
    rows = [
        [cosine * tangent, sine * tangent, zero + 1.0],
        [-sine, cosine, zero],
        [cosine * inverse_cosine, sine * inverse_cosine, zero],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def _of_vector(turns: FloatArray) -> FloatArray:
    """Return the derivatives `(m, 3, 3)` of rotation vectors `(m, 3)` by another one on top.

    1 - [v] / 2 + (1 - h cot h) [v]^2 / |v|^2 with h = |v| / 2.
    """
    cross, half_angle = cross_matrix(turns), 0.5 * np.linalg.norm(turns, axis=1)
    safe_half_angle = np.maximum(half_angle, 1e-4)  # Below, the last factor is 1 / 12 to rounding.
    factor = np.where(
        half_angle > safe_half_angle * 0.99,
        1.0 - safe_half_angle / np.tan(safe_half_angle),
        safe_half_angle**2 / 3.0,
    ) / (4.0 * safe_half_angle**2)
    rates: FloatArray = np.eye(3) - 0.5 * cross + factor[:, None, None] * cross @ cross
    return rates
