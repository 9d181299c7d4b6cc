"""Measured poses: coordinates of the legs at rest, with all or a part of the pose there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_instance, not_negative, read_only
from twin.errors import InputError, listed
from twin.logs import Log, LogMapping, read_log
from twin.model.machine_model import MachineModel
from twin.rotations import angles_from_quaternion, pose_from_angles

POSE_COMPONENTS = ("x", "y", "z", "yaw", "pitch", "roll")
"""Components of a pose in m and rad, with angles of the convention `yaw_pitch_roll`."""

NOISE_NAMES = ("position_noise", "angle_noise", "coordinate_noise")
"""Columns of standard deviations in a file."""

DEFAULT_NOISE = (20e-6, 50e-6, 1e-6)
"""Standard deviations [m, rad, m or rad] where none are given: a laser tracker's."""

MIN_NOISE = (1e-12, 1e-12, 0.0)
"""Smallest standard deviations: what is measured is divided by its noise."""

MIN_COS_PITCH = 0.1
"""Least cosine of the pitch at which yaw and roll have a meaning one by one."""


@dataclass(frozen=True, eq=False)
class MeasuredPoses:
    """k poses of a machine at rest."""

    coordinates: FloatArray
    """`(k, n)` as recorded [m or rad]"""
    values: FloatArray
    """`(k, 6)` x, y, z [m], yaw, pitch and roll [rad]; NaN where not measured"""
    noise: FloatArray
    """`(k, 3)` standard deviations of positions [m], angles [rad] and coordinates"""
    numbers: FloatArray
    """`(k,)` times in the file, by which messages name the poses"""
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
            given = np.nan_to_num(array, posinf=np.inf) if name == "values" else array
            shape = as_floats(given, name).shape
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
        given = (position_noise, angle_noise, coordinate_noise)
        for column, (name, option) in enumerate(zip(NOISE_NAMES, given, strict=True)):
            if option is not None:
                table[:, 6 + column] = not_negative(option, name)
        for channel in log.channels:
            found = _columns(channel.name)
            if not found:
                continue
            lost = [time for time in channel.time.tolist() if time not in rows]
            if lost:
                message = f"has a value at {lost[0]:.9g}, where there are no coordinates"
                raise InputError(channel.name, message)
            values = channel.values
            if channel.name == "pose":
                values = np.hstack([values[:, :3], angles_from_quaternion(values[:, 3:])])
            table[np.ix_([rows[time] for time in channel.time.tolist()], found)] = values
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
        parts = [f"{name} {number + 1}" for number in range(widths.get(name, 0))]
        channels = [name] if name in log else [part for part in parts if part in log]
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
    for name, column, least in zip(NOISE_NAMES, np.moveaxis(noise, -1, 0), MIN_NOISE, strict=True):
        if column.size and not column.min() >= least:
            message = f"must be {least:g} or more (m or rad), got {column.min():.3g}"
            raise InputError(name, message)


def _columns(name: str) -> list[int]:
    """Return the columns of a signal among components and noises; none for other signals."""
    known = (*POSE_COMPONENTS, *NOISE_NAMES)
    return list(range(6)) if name == "pose" else [known.index(name)] if name in known else []


def _check(values: FloatArray, numbers: FloatArray) -> None:
    nothing = np.isnan(values).all(axis=1)
    if nothing.all():
        raise InputError("pose", "no row has a pose, or a part of one")
    large = np.abs(np.nan_to_num(values[:, 3:])) > 2.0 * np.pi
    if large.any():
        row, column = np.argwhere(large)[0]
        message = f"is {values[row, 3 + column]:.6g} rad at {numbers[row]:.9g}: maybe degrees"
        raise InputError(POSE_COMPONENTS[3 + column], message)
    partial = np.isnan(values).any(axis=1) & np.isfinite(values[:, 3:]).any(axis=1)
    steep = partial & (np.cos(np.nan_to_num(values[:, 4])) < MIN_COS_PITCH)
    if steep.any():
        row = float(numbers[int(np.argmax(steep))])
        message = f"is near 90 deg at {row:.9g}, where yaw and roll cannot be told apart"
        raise InputError("pitch", f"{message}; turn the frame of the tracker or measure all six")
