"""The reference over the horizon, what a plan shall cost, and deviations from the reference.

A deviation (12,) is a displacement [m] and a rotation vector [rad] from the reference's pose, base
axes, and the difference of the twists.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.control.computed_torque import FOUND, RigidMachine, required_forces
from twin.kernels.control.task_state import pose_error
from twin.kernels.jit import compiled, device
from twin.kernels.quaternions import turned


class Course(NamedTuple):
    """The reference at the S + 1 nodes of a plan, and between them."""

    pose: FloatArray
    """`(S + 1, 7)`"""
    twist: FloatArray
    """`(S + 1, 6)`"""
    acceleration: FloatArray
    """`(S, 6)` mean between two nodes"""
    forces: FloatArray
    """`(S, n)` of the motors, friction left out"""
    low: FloatArray
    """`(S, n)` smallest forces of the motors"""
    high: FloatArray
    """`(S, n)` largest"""


class Cost(NamedTuple):
    """Weights of a plan's cost, which has no unit."""

    scale: FloatArray
    """`(6,)` of squared deviations of the pose [1/m2, 1/rad2]"""
    speed: float
    """of those of the twist, against those of the pose [s2]"""
    effort: float
    """of those of the acceleration [s4]"""
    terminal: FloatArray
    """`(2, 2)` of pose and twist at the end, against `scale`"""
    low: FloatArray
    """`(n,)` coordinates from which on short legs cost"""
    high: FloatArray
    """`(n,)` the same of long ones"""
    fastest: FloatArray
    """`(n,)` rates from which on they cost"""
    stroke_weight: FloatArray
    """`(n,)` of squared coordinates beyond [1/m2, 1/rad2]"""
    speed_weight: FloatArray
    """`(n,)` of squared rates beyond"""


@compiled
def course_forces(
    machine: RigidMachine,
    y: FloatArray,
    accelerations: FloatArray,
    forces: FloatArray,
    slopes: FloatArray,
    work: Any,
) -> int:
    """Fill the motors' forces of states and accelerations, and the derivatives by these.

    Args:
        machine: constants.
        y: `(S, 13)` states.
        accelerations: `(S, 6)`; the same afterwards.
        forces: `(S, n)`, overwritten.
        slopes: `(S, n, 6)` [kg] and so on, overwritten; or with no rows.
        work: as for inverse dynamics.

    Returns:
        A code of `twin.kernels.control.computed_torque`.
    """
    n = forces.shape[1]
    legs, turning, acceleration = forces[0].copy(), forces[0].copy(), accelerations[0].copy()
    for s in range(forces.shape[0]):
        for column in range(-1, 6 if slopes.shape[0] else 0):
            acceleration[:] = accelerations[s]
            if column >= 0:
                acceleration[column] += 1.0
            code = required_forces(machine, y[s], acceleration, legs, turning, work)
            if code != FOUND:
                return code
            for i in range(n):
                if column < 0:
                    forces[s, i] = legs[i] + turning[i]
                else:
                    slopes[s, i, column] = legs[i] + turning[i] - forces[s, i]
    return FOUND


@device
def displace(pose: FloatArray, deviation: FloatArray, out: FloatArray) -> None:
    """Fill `out` (7,) with `pose` (7,), displaced by the first six entries of a deviation."""
    for k in range(3):
        out[k] = pose[k] + deviation[k]
    a, b, c = deviation[3], deviation[4], deviation[5]
    out[3], out[4], out[5], out[6] = turned(pose[3], pose[4], pose[5], pose[6], a, b, c)


@device
def place(pose: FloatArray, deviation: FloatArray, out: FloatArray) -> None:
    """Fill `out` (7,) as `displace` does, of lanes too, for rotations well below 1 rad.

    The quaternion (1, r / 2) turns by 2 atan(r / 2) in place of r: 0.7 mrad less at 0.2 rad.
    """
    a, b, c = 0.5 * deviation[3], 0.5 * deviation[4], 0.5 * deviation[5]
    w, x, y, z = pose[3], pose[4], pose[5], pose[6]
    inverse = 1.0 / sqrt(1.0 + a * a + b * b + c * c)
    for k in range(3):
        out[k] = pose[k] + deviation[k]
    out[3] = (w - a * x - b * y - c * z) * inverse
    out[4] = (x + a * w + b * z - c * y) * inverse
    out[5] = (y - a * z + b * w + c * x) * inverse
    out[6] = (z + a * y - b * x + c * w) * inverse


@device
def deviate(pose: FloatArray, twist: FloatArray, y: FloatArray, out: FloatArray) -> None:
    """Fill the deviation `out` (12,) of a state `y` (13,) from a pose and a twist."""
    pose_error(y, pose, out)
    for k in range(6):
        out[6 + k] = y[7 + k] - twist[k]


@compiled
def deviation_of(pose: FloatArray, twist: FloatArray, y: FloatArray, out: FloatArray) -> None:
    """Fill the deviation `out` (12,) of a state `y` (13,) from a pose and a twist."""
    deviate(pose, twist, y, out)


@compiled
def along(path: FloatArray, span: float, share: float, setpoint: FloatArray) -> None:
    """Add the deviation between two nodes to a setpoint, by the cubic that has both rates.

    Args:
        path: `(2, 12)` deviations at the nodes.
        span: [s] between them.
        share: of the span, 0 to 1.
        setpoint: `(19,)` pose, twist and acceleration, overwritten.
    """
    u, v = share, 1.0 - share
    pose, moved = setpoint[:7].copy(), path[0].copy()
    for k in range(6):
        a, b, r, q = path[0, k], path[1, k], span * path[0, 6 + k], span * path[1, 6 + k]
        moved[k] = v * v * (a * (1.0 + 2.0 * u) + r * u) + u * u * (b * (1.0 + 2.0 * v) - q * v)
        rate = 6.0 * u * v * (b - a) + r * v * (1.0 - 3.0 * u) + q * u * (3.0 * u - 2.0)
        bend = 6.0 * (b - a) * (1.0 - 2.0 * u) + r * (6.0 * u - 4.0) + q * (6.0 * u - 2.0)
        setpoint[7 + k] += rate / span
        setpoint[13 + k] += bend / (span * span)
    displace(pose, moved, setpoint)
