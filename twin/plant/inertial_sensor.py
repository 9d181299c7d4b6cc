"""An inertial sensor on the platform: specific force and angular rate, with their errors.

The errors of one sensor are drawn once, as when it is made and switched on.
"""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_vector,
    not_negative,
    quaternion_norm,
    read_only,
)
from twin.errors import InputError, brief
from twin.kernels.plant import inertial_sensor as layout
from twin.kernels.plant.inertial_sensor import MotionSamples, advance_many, begin
from twin.kernels.plant.inertial_sensor import advance as advance_sensor
from twin.machine.hardware.drive import Accelerometers, Gyroscopes, InertialSensor
from twin.plant.signals import seed_sequence

STANDARD_GRAVITY = 9.80665
"""[m/s2] Standard gravity, the unit g in data sheets."""


class InertialErrors(NamedTuple):
    """Errors of an inertial sensor's readings, before filter and noise.

    Rows and columns: specific force [m/s2], then angular rate [rad/s], along the sensor's axes.
    """

    matrix: FloatArray
    """`(6, 6)` scale factors, misalignments, and sensitivity of the angular rate to specific
    force"""
    bias: FloatArray
    """`(6,)` turn-on bias of this run"""
    instability: FloatArray
    """`(6,)` standard deviations of the wandering bias"""
    drift_decay_rate: FloatArray
    """`(6,)` [1/s] one over its correlation time"""
    noise: FloatArray
    """`(6,)` root mean square of the noise"""
    range: FloatArray
    """`(6,)` largest readings; infinite for no limit"""

    def model(self) -> FloatArray:
        """Return the table `(6, COLUMNS)` that the kernel takes."""
        model = np.empty((6, layout.COLUMN_COUNT))
        model[:, :6] = self.matrix
        model[:, layout.BIAS] = self.bias
        model[:, layout.NOISE] = self.noise
        model[:, layout.INSTABILITY] = self.instability
        model[:, layout.DRIFT_DECAY_RATE] = self.drift_decay_rate
        model[:, layout.RANGE] = self.range
        return model


def draw_errors(parameters: InertialSensor, random: np.random.Generator) -> InertialErrors:
    """Draw the errors of one sensor from the standard deviations in its data sheet.

    Every scale, axis and bias is drawn independently, and so is the sensitivity to specific force
    in every direction, so that a specific force in any direction causes the stated false rate in
    the mean square.
    """
    gyroscopes = parameters.gyroscopes or Gyroscopes(source="exact")
    triads: list[Accelerometers | Gyroscopes] = [
        parameters.accelerometers or Accelerometers(source="exact"),
        gyroscopes,
    ]
    matrix = np.eye(6)
    bias = np.empty(6)
    for k, triad in enumerate(triads):
        axes = slice(3 * k, 3 * k + 3)
        draws = random.standard_normal((3, 3))
        error_std = np.full((3, 3), triad.misalignment)
        np.fill_diagonal(error_std, triad.scale_factor)
        matrix[axes, axes] += error_std * draws
        bias[axes] = triad.bias * random.standard_normal(3)
    sensitivity = gyroscopes.acceleration_sensitivity / STANDARD_GRAVITY
    matrix[3:, :3] = sensitivity * random.standard_normal((3, 3))
    ranges = [np.inf if triad.range is None else triad.range for triad in triads]
    numbers = [
        [triad.instability for triad in triads],
        [1.0 / triad.correlation_time for triad in triads],
        [triad.noise for triad in triads],
        ranges,
    ]
    return InertialErrors(matrix, bias, *np.repeat(numbers, 3, axis=1))


class InertialLog(NamedTuple):
    """Readings of an inertial sensor in its own axes, one row per time."""

    time: FloatArray
    """`(m,)` [s]"""
    specific_force: FloatArray
    """`(m, 3)` [m/s2]: acceleration minus gravity"""
    angular_rate: FloatArray
    """`(m, 3)` [rad/s]"""

    @property
    def readings(self) -> FloatArray:
        """Specific force and angular rate in one array `(m, 6)`."""
        return np.hstack([self.specific_force, self.angular_rate])


DRAWS_PER_BLOCK = 256
"""Steps whose random numbers are drawn in one block, to bound the memory."""

ZERO_VECTOR = read_only(np.zeros(6))


class InertialUnit:
    """An inertial sensor with the errors that its seed draws.

    Its point has the acceleration a_p. It reads the specific force f and the angular rate w:

        a_p = a + alpha x r + omega x (omega x r)
        f = S^T R^T (a_p - g)
        w = S^T R^T omega

    with R the platform's rotation and S the sensor's on the platform. Scale, misalignment and bias
    are added, then a second-order low-pass, and noise inside its bandwidth. Readings are cut at the
    ranges and come at the output rate. See docs/plant.md.

    `measure` does it for a motion as a whole; `start` and `step` do it along a running loop. Both
    give the same readings, and the same ones at every start.

    Attributes:
        parameters: of the sensor.
        gravity: [m/s2], along -z of the base.
        seed: of all random numbers.
        errors: what was drawn for this sensor.
        rotation: `(3, 3)` sensor axes to platform axes.
    """

    def __init__(self, parameters: InertialSensor, *, gravity: float = 9.81, seed: int = 0) -> None:
        """Draw the errors of a sensor.

        Args:
            parameters: of the sensor.
            gravity: [m/s2], zero or more.
            seed: of all random numbers, zero or more.

        Raises:
            InputError: not the parameters of a sensor, an invalid seed or gravity.
        """
        from scipy.spatial.transform import Rotation

        if not isinstance(parameters, InertialSensor):
            raise InputError("parameters", f"must be an InertialSensor, not {brief(parameters)}")
        self.gravity = not_negative(gravity, "gravity")
        self.parameters, self.seed = parameters, seed
        errors, self._noise = seed_sequence(seed, "inertial sensor").spawn(2)
        self.errors = draw_errors(parameters, np.random.default_rng(errors))
        self.rotation = read_only(Rotation.from_euler("ZYX", parameters.attitude).as_matrix())
        settings = np.zeros(layout.SETTING_COUNT)
        settings[layout.FREQUENCY] = 2.0 * pi * (parameters.bandwidth or 0.0)
        settings[layout.DAMPING] = parameters.damping_ratio
        settings[layout.PERIOD] = 1.0 / parameters.output_rate if parameters.output_rate else 0.0
        settings[layout.GRAVITY] = self.gravity
        settings[layout.POSITION : layout.POSITION + 3] = parameters.position
        settings[layout.AXES : layout.AXES + 9] = self.rotation.ravel()
        self._model, self._settings = self.errors.model(), settings
        self._states, self._true_motion = np.zeros(layout.STATE_COUNT), np.empty(6)
        self._started = False

    def __repr__(self) -> str:
        return f"<inertial sensor at {self.parameters.position}, seed {self.seed}>"

    @property
    def reading(self) -> FloatArray:
        """The last reading `(6,)`: specific force [m/s2], angular rate [rad/s], sensor axes."""
        return self._states[layout.READING : layout.READING + 6].copy()

    def start(self, pose: Any, twist: Any) -> FloatArray:
        """Start in the steady state of a platform with this pose and twist; return the reading.

        Args:
            pose: `(7,)`.
            twist: `(6,)`.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion, or a reading beyond floats.
        """
        self._random = np.random.default_rng(self._noise)
        self._draws, self._next = (
            self._random.standard_normal((DRAWS_PER_BLOCK, layout.DRAW_COUNT)),
            1,
        )
        unit_pose = _unit_poses(as_vector(pose, "pose", 7))
        rates = as_vector(twist, "twist", 6)
        self._begin(self._states, unit_pose, rates, ZERO_VECTOR, self._draws[0])
        self._started = True
        return self.reading

    def step(self, pose: FloatArray, twist: FloatArray, interval: float) -> FloatArray:
        """Return the reading `(6,)` after a step that ended with this pose and twist.

        Between two readings of the output rate the last one is returned again.

        Args:
            pose: `(7,)` float64, as engines give it.
            twist: `(6,)` float64.
            interval: [s] the step took.

        Raises:
            InputError: before `start`, an interval that is not above zero, or numbers that are
                not finite.
        """
        self.advance(pose, twist, interval)
        return self.reading

    def advance(self, pose: FloatArray, twist: FloatArray, interval: float) -> None:
        """Take a step as `step` does, without a copy of the reading.

        Raises:
            InputError: as `step`.
        """
        if not (self._started and interval > 0.0):
            raise InputError("interval", "must be above zero, and the sensor started")
        if self._next == DRAWS_PER_BLOCK:
            self._draws, self._next = (
                self._random.standard_normal((DRAWS_PER_BLOCK, layout.DRAW_COUNT)),
                0,
            )
        draws = self._draws[self._next]
        self._next += 1
        status = advance_sensor(
            self._model,
            self._settings,
            self._states,
            pose,
            twist,
            interval,
            self._true_motion,
            draws,
        )
        if status < 0:
            raise InputError("pose, twist", "must be finite")

    def measure(self, time: Any, pose: Any, twist: Any, acceleration: Any = None) -> InertialLog:
        """Return the readings of the sensor along a motion.

        Args:
            time: `(k,)` [s], increasing; the motion is steady before.
            pose: `(k, 7)`.
            twist: `(k, 6)`.
            acceleration: `(k, 6)`; default: the mean over each step, from the twist's change, as
                `step` has it.

        Raises:
            InputError: wrong shapes, not finite, no unit quaternions, time that does not increase.
        """
        times, poses = as_floats(time, "time"), _unit_poses(pose)
        has_acceleration = acceleration is not None
        rates = as_floats(twist, "twist", 6)
        accelerations = as_floats(
            acceleration if has_acceleration else np.zeros((len(poses), 6)), "acceleration", 6
        )
        if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0.0).all():
            raise InputError("time", "must be two times or more, increasing")
        parts = {"pose": poses, "twist": rates, "acceleration": accelerations}
        for name, values in parts.items():
            if values.ndim != 2 or len(values) != len(times):
                raise InputError(name, f"must have {len(times)} rows, got shape {values.shape}")
        random = np.random.default_rng(self._noise)
        states = self._states.copy()
        self._begin(
            states, poses[0], rates[0], accelerations[0], random.standard_normal(layout.DRAW_COUNT)
        )
        readings, is_new = np.empty((len(times), 6)), np.ones(len(times))
        readings[0] = states[layout.READING : layout.READING + 6]
        for block_start in range(0, len(times) - 1, DRAWS_PER_BLOCK):
            block = slice(block_start, min(block_start + DRAWS_PER_BLOCK + 1, len(times)))
            draws = random.standard_normal((len(times[block]) - 1, layout.DRAW_COUNT))
            motion = MotionSamples(times[block], poses[block], rates[block], accelerations[block])
            failed_row = advance_many(
                self._model, self._settings, states, motion,
                has_acceleration, draws, readings[block], is_new[block],
            )  # fmt: skip
            if failed_row >= 0:
                raise InputError(
                    "pose, twist, acceleration", f"row {block_start + failed_row} is too large"
                )
        new_rows = is_new > 0.0
        return InertialLog(
            times[new_rows], readings[new_rows, :3].copy(), readings[new_rows, 3:].copy()
        )

    def _begin(self, states: FloatArray, *start: FloatArray) -> None:
        """Set the states for pose, twist, acceleration and normal numbers."""
        if not begin(self._model, self._settings, states, *start):
            raise InputError("pose, twist, acceleration", "are too large")


def _unit_poses(pose: Any) -> FloatArray:
    """Return poses as they are given: `step` does not normalise them either."""
    poses = as_floats(pose, "pose", 7)
    quaternion_norm(poses[..., 3:], "pose")
    return poses
