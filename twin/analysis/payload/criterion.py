"""Criterion of shaking: sines on all axes at once, over a range of frequencies.

A machine under a criterion: largest masses of positions, one frequency at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.body import ScaledPayload, as_sense
from twin.basics.arrays import FloatArray, as_flag, as_floats, positive
from twin.errors import InputError
from twin.kernels.dynamics.assembly import BODY_MASS, BODY_TENSOR, GRAVITY
from twin.kernels.dynamics.payload import Limits, Motion, largest_payloads
from twin.model.batch import run_batch
from twin.model.machine_model import MachineModel
from twin.motion import SineMotion
from twin.motion.axes import axis_names, axis_values
from twin.motion.motion import MotionSample
from twin.plant.drives import actuator_limit

CONVENTION = "yaw_pitch_roll"
LEVEL = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

DIRECTIONS = {"x": 0, "y": 1, "z": 2, "roll": 3, "pitch": 4, "yaw": 5}
"""Rows of an acceleration `(6,)` in base axes that the axes of a small motion move."""

INVERSE = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
"""Turns a pose's rotation into its inverse."""


class Criterion(NamedTuple):
    """Peak accelerations of sines that all axes make at once, and their frequencies.

    Displacements are along the base axes from a centre pose; the angles (yaw, pitch, roll) turn
    about base axes on top of the centre's attitude. Without phases all axes are in phase.
    """

    accelerations: FloatArray
    """`(6,)` amplitudes [m/s2], [rad/s2] of x, y, z, yaw, pitch, roll"""
    frequencies: FloatArray
    """`(f,)` [Hz]"""
    phases: FloatArray
    """`(6,)` [rad]"""
    reversed_rotation: bool = False
    """whether every rotation runs backwards, as in the Stewart thesis' (2.3) and A.2"""

    @classmethod
    def of(
        cls,
        accelerations: Mapping[str, float],
        frequencies: Any,
        phases: Any = 0.0,
        *,
        reversed_rotation: bool = False,
    ) -> Criterion:
        """Return a checked criterion.

        Args:
            accelerations: axis name -> peak [m/s2], [rad/s2]; axes left out rest.
            frequencies: `(f,)` [Hz].
            phases: [rad], one for all axes, by axis name, or `(6,)`.
            reversed_rotation: whether every rotation runs backwards.

        Raises:
            InputError: unknown axis, not finite, nothing that moves, or frequencies not above zero.
        """
        peaks = axis_values(accelerations, "accelerations", CONVENTION)
        rates = np.atleast_1d(as_floats(frequencies, "frequencies"))
        if rates.ndim != 1 or not rates.size or not (rates > 0.0).all():
            raise InputError("frequencies", "must be numbers above zero, in Hz")
        if not peaks.any():
            raise InputError("accelerations", "at least one axis must move")
        shifts = axis_values(phases, "phases", CONVENTION, one_for_all=True)
        return cls(peaks, rates, shifts, as_flag(reversed_rotation, "reversed_rotation"))

    def with_phases(self, phases: Any) -> Criterion:
        """Return it with other phases `(6,)` [rad]; raises InputError if they are none."""
        return self._replace(phases=axis_values(phases, "phases", CONVENTION, one_for_all=True))

    def backwards(self) -> Criterion:
        """Return it with rotations that run backwards."""
        return self._replace(reversed_rotation=True)

    def samples(self, frequency: Any, count: int) -> MotionSample:
        """Return one period about a level pose at the origin, at `count` times.

        Raises:
            InputError: a frequency that is no number above zero.
        """
        rate = positive(frequency, "frequency")
        motion = SineMotion(
            LEVEL,
            amplitude=self.accelerations / (2.0 * np.pi * rate) ** 2,
            frequency=rate,
            duration=1.0 / rate,
            phase=self.phases,
        )
        sample = motion(np.arange(count) / count * motion.duration)
        return _backwards(sample) if self.reversed_rotation else sample

    def unit_accelerations(self) -> FloatArray:
        """Return `(6, 6)`: a row per axis with what its peak adds to the acceleration at rest."""
        rows = np.zeros((6, 6))
        for row, (axis, peak) in enumerate(
            zip(axis_names(CONVENTION), self.accelerations, strict=True)
        ):
            column = DIRECTIONS[axis]
            rows[row, column] = -peak if self.reversed_rotation and column > 2 else peak
        return rows

    def actuator_speeds(
        self, platform: MachineModel, pose: Any, frequency: Any, count: int = 720
    ) -> FloatArray:
        """Return the largest speed of every actuator `(n,)` about a centre pose `(7,)`.

        Raises:
            InputError: not a pose, or a frequency that is no number above zero.
            UnreachablePoseError: the motion leads out of reach.
        """
        from twin.basics.quaternions import quaternion_product

        sample = self.samples(frequency, count)
        center = np.broadcast_to(as_floats(pose, "pose", 7), (count, 7))
        poses = np.hstack(
            [
                center[:, :3] + sample.pose[:, :3],
                quaternion_product(sample.pose[:, 3:], center[:, 3:]),
            ]
        )
        rates = np.einsum("kij,kj->ki", platform.jacobian(poses), sample.twist)
        return np.asarray(np.abs(rates).max(axis=0))


THESIS_MACHINE = "stewart"
"""Machine of the thesis, whose rotations run backwards in print."""

THESIS_CRITERION = Criterion.of(
    {"x": 2.0, "y": 2.0, "z": 2.5, "yaw": 1.0, "pitch": 3.0, "roll": 0.5},
    np.arange(2.0, 70.0, 10.0),
)
"""Stewart thesis, section 4.2.2: 2 to 70 Hz in steps of 10 Hz, the last at 62 Hz."""


def _backwards(sample: MotionSample) -> MotionSample:
    """Return a motion with the inverse rotation, which turns the other way in its own axes."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_quat(sample.pose[:, [4, 5, 6, 3]]).inv()
    turned = [
        np.hstack([part[:, :3], -turn.apply(part[:, 3:])])
        for part in (sample.twist, sample.acceleration)
    ]
    return MotionSample(sample.pose * INVERSE, *turned)


SAMPLES = 24
"""Times in a period: a peak between two is missed by at most 0.9 percent of what moves."""

NEVER = 1e299
"""Masses above are infinite: compiled code has no infinity."""


class Runs(NamedTuple):
    """Runs of positions at one frequency."""

    mass: FloatArray
    """`(k,)` [kg]; infinite where left out"""
    leg: FloatArray
    """`(k,)` that reaches its limit, from 1; 0: none"""
    outcome: FloatArray
    """`(k,)` 0: done; 1: left out, beyond an actuator's ends; 2: left out, faster than one"""


class VibrationTest:
    """A machine, the limits of its actuators, and the sense of its forces.

    Attributes:
        payload: the machine with its body scaled.
        sense: "magnitude" or "signed".
    """

    def __init__(
        self,
        platform: MachineModel,
        limit: Any = None,
        sense: str = "magnitude",
        *,
        checked: bool = True,
    ) -> None:
        """Prepare the machine.

        Args:
            platform: with six actuators and degrees of freedom.
            limit: largest force [N] or torque [N m], default what the file gives.
            sense: "magnitude" or "signed".
            checked: whether runs beyond the actuators' ends or speeds are left out.

        Raises:
            InputError: another machine, legs that give way, no limit known.
        """
        self.payload = ScaledPayload(platform, limit)
        self.sense = as_sense(sense)
        if platform.dof != 6:
            raise InputError(
                "platform",
                f"{platform.name} has {platform.dof} degrees of freedom; the criterion moves six "
                "axes. The static search works for it",
            )
        if platform.n_actuators != 6:
            raise InputError(
                "platform",
                f"{platform.name} has {platform.n_actuators} actuators: under shaking, machines "
                "with six are searched. The static search works for it",
            )
        speeds = actuator_limit(platform, "speed")
        low, high = platform.minimum_coordinates, platform.maximum_coordinates
        limits = np.array([low, high, speeds, self.payload.limits])
        self._limits = Limits(limits, self.sense == "signed", checked)
        body = platform.constants.body
        self._unit = body.copy()
        self._unit[BODY_TENSOR : BODY_TENSOR + 6] /= body[BODY_MASS]
        self._unit[BODY_MASS] = 1.0
        self._empty = np.zeros_like(body)
        self._empty[GRAVITY:] = body[GRAVITY:]

    def run(
        self, criterion: Criterion, frequency: float, centers: FloatArray, samples: int = SAMPLES
    ) -> Runs:
        """Return the largest masses at centre poses `(k, 7)` for one frequency [Hz]."""
        course = criterion.samples(frequency, samples)
        motion = Motion(
            np.ascontiguousarray(course.pose),
            np.ascontiguousarray(course.twist),
            np.ascontiguousarray(course.acceleration),
        )
        legs = self.payload.platform.constants.legs
        constants: tuple[Any, ...] = (self._unit, self._empty, legs, motion, self._limits)
        out = np.empty((len(centers), 3))
        run_batch(largest_payloads, constants, (np.ascontiguousarray(centers), out))
        mass = np.where(out[:, 0] < NEVER, out[:, 0], np.inf)
        return Runs(mass, out[:, 1], out[:, 2])
