"""Equations of motion of first order: y = (pose, twist, deflection), dy/dt = f(y, forces)."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.forward import forward_dynamics
from twin.kernels.dynamics.work import Work
from twin.kernels.jit import device
from twin.kernels.legs.dispatch import deflections_per_leg, project_onto_constraints
from twin.kernels.legs.interface import Legs
from twin.kernels.platform_state import platform_state
from twin.kernels.quaternions import quaternion_rate

STATE_SIZE = 13
"""Entries of a state without deflections."""


class Load(NamedTuple):
    """Forces on a machine over a time: actuator forces `forces + t * slope`, constant wrench.

    Kernels that Python calls every step take it as a plain tuple: numba needs a microsecond to
    recognise each NamedTuple of a call.
    """

    forces: FloatArray
    """`(n,)` [N] or [N m] at t = 0"""
    slope: FloatArray
    """`(n,)` their rate [N/s]"""
    wrench: FloatArray
    """`(6,)` on the platform, base axes [N, N m]"""


@device
def derivative(
    body: FloatArray,
    legs: Legs,
    y: FloatArray,
    load: Load,
    time: float,
    dy: FloatArray,
    work: Work,
) -> bool:
    """Fill `dy` at `y` (13 + 2k,) under the load at `time` [s]; return False if singular.

    `work` comes from `make_work` and is overwritten.
    """
    force, count = work.force, deflections_per_leg(legs) * legs.rows.shape[0]
    for i in range(legs.rows.shape[0]):
        force[i] = load.forces[i] + time * load.slope[i]
    fill_pose_rate(y, dy)
    # Accelerations fill 6 + k entries; those of the deflections then move behind the rates.
    state = platform_state(y[:7], y[7:13])
    regular = forward_dynamics(body, legs, state, y[13:], force, load.wrench, dy[7:], work)
    for i in range(count):
        dy[13 + count + i] = dy[13 + i]
        dy[13 + i] = y[13 + count + i]
    return regular


@device
def fill_pose_rate(y: FloatArray, dy: FloatArray) -> None:
    """Fill the rate of the pose in `dy` from the twist in `y` (13 or more)."""
    for k in range(3):
        dy[k] = y[7 + k]
    dy[3], dy[4], dy[5], dy[6] = quaternion_rate(y[3], y[4], y[5], y[6], y[10], y[11], y[12])


@device
def normalise_quaternion(y: FloatArray) -> None:
    """Scale the quaternion in `y` to length one; integration lets it drift by its own error."""
    inverse = 1.0 / sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6])
    for k in range(3, 7):
        y[k] *= inverse


@device
def normalise(legs: Legs, y: FloatArray) -> None:
    """Remove the drift of an integration from `y`: quaternion's length, constraints."""
    normalise_quaternion(y)
    project_onto_constraints(legs, y)
