"""Reference: a motion sampled once at the control instants, with what the actuators have to do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, positive, read_only
from twin.errors import InputError, brief
from twin.kernels.kinematics.inverse import inverse_kinematics_batch
from twin.model.machine_model import MachineModel, as_model
from twin.model.static_deflection import static_deflection
from twin.motion import Motion
from twin.motion.fitting import followed

LARGEST_COUNT = 10_000_000


class Reference(NamedTuple):
    """A motion at every control instant; after its end the last row holds. Read-only arrays.

    A part of a longer motion says with `begin` where it belongs.
    """

    period: float
    """[s] between two rows"""
    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    """`(k, 7)`"""
    twist: FloatArray
    """`(k, 6)`"""
    acceleration: FloatArray
    """`(k, 6)`"""
    coordinates: FloatArray
    """`(k, n)` of what the actuators move [m, rad], without springs in series; where a leg cannot
    reach the pose, those before"""
    rates: FloatArray
    """`(k, n)` [m/s, rad/s]"""
    accelerations: FloatArray
    """`(k, n)` [m/s2, rad/s2]"""
    reachable: FloatArray
    """`(k,)` 1 where all legs reach the pose within their limits, else 0"""
    begin: int = 0
    """control period of the first row, counted from the start of the loop"""

    def row(self, step: int) -> int:
        """Return the row of a control period: the last one after the end, before it the first."""
        return min(max(step - self.begin, 0), len(self.time) - 1)


def sample_reference(
    platform: MachineModel, motion: Motion, period: float = 1e-3, duration: float | None = None
) -> Reference:
    """Return a motion at the control instants.

    Args:
        platform: the machine.
        motion: where it shall go. After its end the machine rests at its last pose.
        period: of the controller [s].
        duration: [s], default that of the motion; longer ones rest at the end. The last row is at
            rest, also where the motion ends on the way.

    Raises:
        InputError: not a motion, one along an axis that the machine cannot move, or times that are
            not above zero.
    """
    as_model(platform)
    if not isinstance(motion, Motion):
        raise InputError("motion", f"must be a motion of twin.motion, not {brief(motion)}")
    step = positive(period, "period")
    length = positive(motion.duration if duration is None else duration, "duration")
    if length / step > LARGEST_COUNT:
        raise InputError("duration", f"takes more than {LARGEST_COUNT} control periods")
    count = int(np.ceil(length / step - 1e-9)) + 1
    time = np.asarray(np.arange(count) * step, dtype=np.float64)
    inside = np.minimum(time, motion.duration)
    pose, twist, acceleration = followed(platform, motion, inside)
    rest = time > motion.duration * (1.0 + 1e-12)
    rest[-1] = True  # it holds for ever
    twist, acceleration = (np.where(rest[:, None], 0.0, part) for part in (twist, acceleration))
    return reference_of(platform, step, time, pose, twist, acceleration)


def still_reference(platform: MachineModel, pose: FloatArray, period: float = 1e-3) -> Reference:
    """Return the reference of a machine that shall stay where it is."""
    rows = np.asarray(pose, dtype=float)[None]
    zero = np.zeros((1, 6))
    return reference_of(platform, period, np.zeros(1), rows, zero, zero)


def reference_of(
    platform: MachineModel,
    period: float,
    time: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    *,
    begin: int = 0,
) -> Reference:
    """Return the reference with given rows, from a control period on; see `Reference`."""
    poses = np.ascontiguousarray(pose)
    coordinates = np.empty((len(poses), platform.n_actuators))
    inverse_kinematics_batch(platform.constants.legs, poses, coordinates)
    reached = np.isfinite(coordinates).all(axis=1)
    low, high = platform.minimum_coordinates, platform.maximum_coordinates
    slack = 1e-9 * (high - low)
    within = (coordinates >= low - slack) & (coordinates <= high + slack)
    coordinates = _held(coordinates, reached, platform.home_coordinates)
    rates, accelerations = (np.zeros_like(coordinates) for _ in range(2))
    if reached.any():
        motion = (part[reached] for part in (poses, twist, acceleration))
        rates[reached], accelerations[reached] = _derivatives(platform, *motion)
    if platform.n_deflections:
        good = reached & within.all(axis=1)
        along = (coordinates, rates, accelerations)
        _leave_out_springs(platform, (poses, twist, acceleration), period, along, good)
    parts = (
        time,
        poses,
        twist,
        acceleration,
        coordinates,
        rates,
        accelerations,
        (reached & within.all(axis=1)).astype(float),
    )
    return Reference._make((period, *(read_only(part) for part in parts), begin))


def _leave_out_springs(
    platform: MachineModel,
    motion: tuple[FloatArray, FloatArray, FloatArray],
    period: float,
    along: tuple[FloatArray, FloatArray, FloatArray],
    good: Any,
) -> None:
    """Take from coordinates and derivatives, in place, what springs in series yield on the way.

    The springs follow without swinging; what they do beyond that is the plant's to show. Rows that
    are not `good`, out of reach, keep the yield before them.
    """
    k = platform.n_deflections
    yields: FloatArray = np.zeros((len(good), k))
    if good.any():
        yields[good] = static_deflection(platform, *(part[good] for part in motion))[:, :k]
    yields = _held(yields, good, np.zeros(k))
    for part in along:
        part -= yields
        yields = np.gradient(yields, period, axis=0) if len(yields) > 1 else 0.0 * yields
    if not (motion[1][-1].any() or motion[2][-1].any()):
        # Differences give no rate for springs that have just come to rest.
        along[1][-1] = along[2][-1] = 0.0


def _held(values: FloatArray, good: Any, first: FloatArray) -> FloatArray:
    """Return rows `(k, n)`, those that are not `good` replaced by the last good one before."""
    last = np.maximum.accumulate(np.where(good, np.arange(len(good)), -1))
    return np.where((last >= 0)[:, None], values[last], first)


def _derivatives(
    platform: MachineModel, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return rates and accelerations `(k, n)` of the actuators' coordinates."""
    jacobian = platform.jacobian(pose)
    change = platform.jacobian_derivative(pose, twist)
    rates = np.einsum("kij,kj->ki", jacobian, twist)
    bent = np.einsum("kij,kj->ki", change, twist)
    return rates, np.einsum("kij,kj->ki", jacobian, acceleration) + bent
