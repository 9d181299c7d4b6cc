"""Measured poses: coordinates of the legs at rest, with all or a part of the pose there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_instance,
    cross_matrix,
    not_negative,
    quaternion_product,
    read_only,
    rotated,
    rotation_matrix,
)
from twin.errors import InputError, listed
from twin.logs import Log, LogMapping, read_log
from twin.model.machine_model import MachineModel
from twin.rotations import angles_from_quaternion, pose_from_angles, quaternion_from_angles

POSE_COMPONENTS = ("x", "y", "z", "yaw", "pitch", "roll")
"""Components of a pose in m and rad, with angles of the convention `yaw_pitch_roll`."""

NOISE_NAMES = ("position_noise", "angle_noise", "coordinate_noise")
"""Columns of standard deviations in a file."""

SIGNAL_COLUMNS = {name: [k] for k, name in enumerate((*POSE_COMPONENTS, *NOISE_NAMES))}
SIGNAL_COLUMNS["pose"] = list(range(6))
"""Columns of each signal in a table of components and noises."""

DEFAULT_NOISE = (20e-6, 50e-6, 1e-6)
"""Standard deviations [m, rad, m or rad] where none are given: a laser tracker's."""

MIN_NOISE = (1e-12, 1e-12, 0.0)
"""Smallest standard deviations: what is measured is divided by its noise."""

MIN_COS_PITCH = 0.1
"""Smallest cosine of the pitch at which yaw and roll can be used separately (gimbal lock)."""

FRAME_CHOICES = {
    "both": (True, True),
    "tracker": (True, False),
    "target": (False, True),
    "known": (False, False),
}
"""Choices of the frames that are unknown -> whether those of tracker and target are."""

IDENTITY_POSE = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
"""Pose of a frame in itself."""

CONJUGATE_SIGNS = np.array([1.0, -1.0, -1.0, -1.0])
"""Signs that turn a unit quaternion into its inverse."""

FRAME_UNKNOWN_NAMES = tuple(
    f"{motion} of the {frame} {axis}"
    for frame in ("tracker", "target")
    for motion, axis in (*(("place", axis) for axis in "xyz"), *(("turn", axis) for axis in "xyz"))
)
"""Names of the twelve unknowns of both frames."""

MIN_POSES = 3
"""Minimum number of poses from which the frames can be estimated."""


@dataclass(frozen=True, eq=False)
class MeasuredPoses:
    """k poses of a machine at rest."""

    coordinates: FloatArray
    """`(k, n)` actuator coordinates as recorded [m or rad]"""
    values: FloatArray
    """`(k, 6)` x, y, z [m], yaw, pitch and roll [rad]; NaN where not measured"""
    noise: FloatArray
    """`(k, 3)` standard deviations of positions [m], angles [rad] and coordinates"""
    numbers: FloatArray
    """`(k,)` numbers (times) in the file, by which messages name the poses"""
    platform: FloatArray | None = None
    """`(k, 7)` true poses of the platform in the base, of simulated measurements"""

    def __post_init__(self) -> None:
        """Check the arrays, and make them read-only.

        Raises:
            InputError: wrong shapes, not finite, or noise that is too small.
        """
        numbers = as_floats(self.numbers, "numbers")
        shapes = {"coordinates": -1, "values": len(POSE_COMPONENTS), "noise": 3, "platform": 7}
        arrays = {name: getattr(self, name) for name in shapes if getattr(self, name) is not None}
        for name, array in arrays.items():
            checked = np.nan_to_num(array, posinf=np.inf) if name == "values" else array
            shape = as_floats(checked, name).shape
            if len(shape) != 2 or shape[0] != numbers.size or shapes[name] not in (-1, shape[1]):
                raise InputError(name, f"must have a row for each of {numbers.size} poses")
            arrays[name] = np.asarray(array, dtype=float)
        check_noise(arrays["noise"])
        for name, array in {**arrays, "numbers": numbers}.items():
            object.__setattr__(self, name, read_only(array))

    def __len__(self) -> int:
        return len(self.coordinates)

    @property
    def there(self) -> Any:
        """Whether `(k,)` anything of the pose is measured."""
        return np.isfinite(self.values).any(axis=1)

    @cached_property
    def full(self) -> Any:
        """Whether `(k,)` all six components are measured."""
        return np.isfinite(self.values).all(axis=1)

    @cached_property
    def poses(self) -> FloatArray:
        """Poses `(k, 7)`; components that are not measured count as zero."""
        values = np.nan_to_num(self.values)
        return pose_from_angles(values[:, :3], values[:, 3:])

    def with_legs(self, order: Any) -> MeasuredPoses:
        """Return the poses with the columns of the coordinates in another order."""
        return replace(self, coordinates=self.coordinates[:, order])

    def kept(self, rows: Any) -> MeasuredPoses:
        """Return some of the poses: a mask or indices."""
        return MeasuredPoses(
            self.coordinates[rows],
            self.values[rows],
            self.noise[rows],
            self.numbers[rows],
            None if self.platform is None else self.platform[rows],
        )

    @classmethod
    def of(
        cls,
        log: Log,
        machine: MachineModel,
        *,
        position_noise: float | None = None,
        angle_noise: float | None = None,
        coordinate_noise: float | None = None,
    ) -> Self:
        """Return the poses in a log of signals: a row for every time of `coordinates`.

        Args:
            log: signals `coordinates`, and `pose` or some of `x`, `y`, `z`, `yaw`, `pitch`,
                `roll`, each maybe in some rows only; `position_noise`, `angle_noise` and
                `coordinate_noise` where rows differ in it.
            machine: that was measured.
            position_noise: standard deviation of each coordinate of the target [m].
            angle_noise: of each angle [rad].
            coordinate_noise: of each leg's coordinate [m or rad].

        Raises:
            InputError: a signal is missing, has no pose or no coordinates at a time, or a pose
                is given twice.
        """
        legs = as_instance(log, "log", Log)["coordinates"]
        if legs.width != machine.n_actuators:
            message = f"has {legs.width} columns, {machine.name} has {machine.n_actuators} legs"
            raise InputError("coordinates", message)
        rows = {float(time): row for row, time in enumerate(legs.time)}
        if len(rows) < len(legs):
            raise InputError("time", "every pose needs a time or number of its own")
        table = np.full((len(legs), len(POSE_COMPONENTS) + len(NOISE_NAMES)), np.nan)
        noise_values = (position_noise, angle_noise, coordinate_noise)
        for column, (name, option) in enumerate(zip(NOISE_NAMES, noise_values, strict=True)):
            if option is not None:
                table[:, 6 + column] = not_negative(option, name)
        for channel in log.channels:
            if channel.name not in SIGNAL_COLUMNS:
                continue
            missing_times = [time for time in channel.time.tolist() if time not in rows]
            if missing_times:
                message = f"has a value at {missing_times[0]:.9g}, where there are no coordinates"
                raise InputError(channel.name, message)
            values = channel.values
            if channel.name == "pose":
                values = np.hstack([values[:, :3], angles_from_quaternion(values[:, 3:])])
            own_rows = [rows[time] for time in channel.time.tolist()]
            table[np.ix_(own_rows, SIGNAL_COLUMNS[channel.name])] = values
        values, noise = table[:, :6], table[:, 6:]
        noise = np.where(np.isfinite(noise), noise, DEFAULT_NOISE)
        _check(values, legs.time)
        return cls(legs.values, values, noise, legs.time)


def read_poses(
    path: str | Path, machine: MachineModel, mapping: LogMapping | None = None, **noise: Any
) -> MeasuredPoses:
    """Return the poses in a file of one row per pose; see `MeasuredPoses.of`.

    Args:
        path: as of `read_log`.
        machine: that was measured.
        mapping: which columns are which signals. Without one, columns have the names of signals,
            those of legs numbered (`coordinates 1`), with units in brackets.
        noise: standard deviations as of `MeasuredPoses.of`.

    Raises:
        InputError: as `read_log` and `MeasuredPoses.of`.
    """
    if mapping is None:
        mapping = own_mapping(read_log(path), machine)
    return MeasuredPoses.of(read_log(path, mapping, machine), machine, **noise)


def own_mapping(log: Log, machine: MachineModel) -> LogMapping:
    """Return the mapping of a log whose channels have the names of signals.

    Raises:
        InputError: no coordinates of legs, or nothing of a pose.
    """
    widths = {"coordinates": machine.n_actuators, "pose": 7}
    signals = {}
    for name in ("coordinates", "pose", *POSE_COMPONENTS, *NOISE_NAMES):
        components = [f"{name} {number + 1}" for number in range(widths.get(name, 0))]
        channels = (
            [name] if name in log else [component for component in components if component in log]
        )
        if channels:
            signals[name] = {"channels": channels}
    if "coordinates" not in signals or not signals.keys() & {"pose", *POSE_COMPONENTS}:
        message = (
            "needs columns `coordinates 1` and so on, one per leg, and `x`, `y`, `z`, `yaw`, "
            "`pitch`, `roll` or some of them, with units in brackets; or give a mapping file"
        )
        raise InputError("columns", f"{message}. It has {listed(log.names)}")
    return LogMapping.of({"signals": signals})


def check_noise(noise: FloatArray) -> None:
    """Check standard deviations `(..., 3)` of positions [m], angles [rad] and coordinates.

    Raises:
        InputError: one is below `MIN_NOISE`.
    """
    for name, column, min_noise in zip(
        NOISE_NAMES, np.moveaxis(noise, -1, 0), MIN_NOISE, strict=True
    ):
        if column.size and not column.min() >= min_noise:
            message = f"must be {min_noise:g} or more (m or rad), got {column.min():.3g}"
            raise InputError(name, message)


def _check(values: FloatArray, numbers: FloatArray) -> None:
    """Check poses: not empty, in radians, and parts of one away from 90 deg of pitch."""
    is_empty = np.isnan(values).all(axis=1)
    if is_empty.all():
        raise InputError("pose", "no row has a pose, or a part of one")
    is_too_large = np.abs(np.nan_to_num(values[:, 3:])) > 2.0 * np.pi
    if is_too_large.any():
        row, column = np.argwhere(is_too_large)[0]
        message = f"is {values[row, 3 + column]:.6g} rad at {numbers[row]:.9g}: maybe degrees"
        raise InputError(POSE_COMPONENTS[3 + column], message)
    partial = np.isnan(values).any(axis=1) & np.isfinite(values[:, 3:]).any(axis=1)
    # Component 4 is the pitch.
    is_near_gimbal_lock = partial & (np.cos(np.nan_to_num(values[:, 4])) < MIN_COS_PITCH)
    if is_near_gimbal_lock.any():
        row = float(numbers[int(np.argmax(is_near_gimbal_lock))])
        message = f"is near 90 deg at {row:.9g}, where yaw and roll cannot be told apart"
        raise InputError("pitch", f"{message}; turn the frame of the tracker or measure all six")


class Frames(NamedTuple):
    """Measured pose = tracker * pose of the platform * target."""

    tracker: FloatArray = IDENTITY_POSE
    """`(7,)` pose of the machine's base in the frame of the tracker"""
    target: FloatArray = IDENTITY_POSE
    """`(7,)` pose of the target in the frame of the platform"""

    def moved(self, errors: FloatArray) -> Frames:
        """Return the frames with `errors` `(12,)` on top of both: places [m], then turns.

        A turn is twice the axis times the tangent of half the angle, the angle [rad] if small.
        """
        return Frames(_moved(self.tracker, errors[:6]), _moved(self.target, errors[6:]))

    def measured(self, poses: FloatArray) -> FloatArray:
        """Return what the tracker measures of platform poses `(m, 7)`."""
        return product(product(self.tracker, poses), self.target)

    def platform(self, measured: FloatArray) -> FloatArray:
        """Return the platform poses `(m, 7)` of measured ones."""
        return product(product(inverse(self.tracker), measured), inverse(self.target))


def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the composed poses `(m, 7)`: the frame `right`, which is given in the frame `left`."""
    left, right = np.broadcast_arrays(np.atleast_2d(left), np.atleast_2d(right))
    position = left[:, :3] + rotated(left[:, 3:], right[:, :3])
    return np.hstack([position, quaternion_product(left[:, 3:], right[:, 3:])])


def inverse(pose: FloatArray) -> FloatArray:
    """Return the inverse `(m, 7)` of poses `(m, 7)` or `(7,)`."""
    pose = np.atleast_2d(pose)
    conjugate = pose[:, 3:] * CONJUGATE_SIGNS
    return np.hstack([-rotated(conjugate, pose[:, :3]), conjugate])


def by_frames(frames: Frames, errors: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the derivatives `(m, 6, 12)` of measured poses by the errors of the frames.

    Args:
        frames: with their errors.
        errors: `(12,)` as of `Frames.moved`.
        measured: poses `(m, 7)` in the frame of the tracker.

    Returns:
        Displacements [m] and rotation vectors [rad], axes of the tracker.
    """
    slopes = np.zeros((len(measured), 6, 12))
    rotation_rates = _rates(errors[3:6])
    slopes[:, :3, :3], slopes[:, 3:, 3:6] = np.eye(3), rotation_rates
    slopes[:, :3, 3:6] = -cross_matrix(measured[:, :3] - frames.tracker[:3]) @ rotation_rates
    platform = rotation_matrix(product(measured, inverse(frames.target))[:, 3:])
    slopes[:, :3, 6:9], slopes[:, 3:, 9:] = platform, platform @ _rates(errors[9:])
    return slopes


def _moved(pose: FloatArray, errors: FloatArray) -> FloatArray:
    rotation = quaternion_from_angles(0.5 * errors[3:], "rodrigues")
    return np.concatenate(
        [pose[:3] + errors[:3], quaternion_product(rotation[None], pose[None, 3:])[0]]
    )


def _rates(turn: FloatArray) -> FloatArray:
    """Return the derivative `(3, 3)` of the rotation vector by the Rodrigues error `turn`."""
    half_angle = 0.5 * turn
    rates: FloatArray = (np.eye(3) + cross_matrix(half_angle)) / (1.0 + half_angle @ half_angle)
    return rates


def aligned(platform: FloatArray, poses: MeasuredPoses, free: tuple[bool, bool]) -> Frames:
    """Return frames that lead from platform poses `(m, 7)` to about the measured ones.

    Turns follow from A R = Y B^T, linear in both, by the smallest singular vector; places from
    least squares. Without angles the tracker's turn is that between both clouds of points.
    """
    from scipy.spatial.transform import Rotation

    position_mask = np.isfinite(poses.values[:, :3]).all(axis=1)
    rotation_mask = np.isfinite(poses.values[:, 3:]).all(axis=1)
    tracker: FloatArray = np.eye(3)
    target: FloatArray = np.eye(3)
    if not any(free):
        return Frames()
    if rotation_mask.sum() >= MIN_POSES:
        platform_rotations, measured_rotations = (
            rotation_matrix(poses_of_side[rotation_mask, 3:])
            for poses_of_side in (platform, poses.poses)
        )
        tracker, target = _turns(platform_rotations, measured_rotations, free)
    elif position_mask.sum() >= MIN_POSES and free[0]:
        platform_rotations, measured_rotations = (
            a[position_mask, :3] - a[position_mask, :3].mean(axis=0)
            for a in (platform, poses.values)
        )
        tracker = _nearest(measured_rotations.T @ platform_rotations)
    origins: FloatArray = np.zeros(6)
    if position_mask.sum() >= MIN_POSES:
        platform_positions = platform[position_mask]
        measured_positions = poses.values[position_mask, :3]
        rows = np.tile(np.eye(3, 6), (len(platform_positions), 1, 1)) * free[0]
        rows[:, :, 3:] = tracker @ rotation_matrix(platform_positions[:, 3:]) * free[1]
        residual = measured_positions - platform_positions[:, :3] @ tracker.T
        origins = np.asarray(np.linalg.lstsq(rows.reshape(-1, 6), residual.ravel(), rcond=1e-6)[0])
    turns = Rotation.from_matrix([tracker, target]).as_quat(scalar_first=True)
    return Frames(*np.hstack([origins.reshape(2, 3), turns]))


def _turns(
    platform_rotations: FloatArray, measured_rotations: FloatArray, free: tuple[bool, bool]
) -> tuple[FloatArray, FloatArray]:
    """Return rotations A, B of tracker and target: measured = A platform B, `(m, 3, 3)` each."""
    if free == (True, False):
        return _nearest(np.einsum("mij,mkj->ik", measured_rotations, platform_rotations)), np.eye(3)
    if free == (False, True):
        return np.eye(3), _nearest(np.einsum("mji,mjk->ik", platform_rotations, measured_rotations))
    rows = [
        np.hstack([np.kron(np.eye(3), a.T), -np.kron(b, np.eye(3))])
        for a, b in zip(platform_rotations, measured_rotations, strict=True)
    ]
    null_vector = np.linalg.svd(np.concatenate(rows))[2][-1].reshape(2, 3, 3)
    sign = np.sign(np.linalg.det(null_vector[0])) or 1.0
    return _nearest(sign * null_vector[0]), _nearest(sign * null_vector[1]).T


def _nearest(matrix: FloatArray) -> FloatArray:
    """Return the rotation nearest to a matrix `(3, 3)`."""
    left_vectors, _, right = np.linalg.svd(matrix)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left_vectors @ right))])
    nearest: FloatArray = left_vectors @ flip @ right
    return nearest
