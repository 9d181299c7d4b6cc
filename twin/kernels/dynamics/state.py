"""Equations of motion of first order: y = (pose, twist, deflection), dy/dt = f(y, forces)."""

from __future__ import annotations

from math import sqrt

from twin.kernels.dynamics.forward import forward_dynamics
from twin.kernels.jit import device
from twin.kernels.legs.dynamics import deflection_count
from twin.kernels.legs.kinematics import settle
from twin.kernels.quaternions import quaternion_rate

STATE_SIZE = 13
"""Entries of a state without coordinates inside the legs."""


@device
def derivative(body, legs, y, forces, slope, elapsed, wrench, dy, work):
    """Fill `dy` at `y` (13 + 2k,) under the forces `forces + elapsed * slope`; False if singular.

    `work` comes from `make_work` and is overwritten.
    """
    force, count = work.force, deflection_count(legs)
    for i in range(legs.rows.shape[0]):
        force[i] = forces[i] + elapsed * slope[i]
    for k in range(3):
        dy[k] = y[7 + k]
    dy[3], dy[4], dy[5], dy[6] = quaternion_rate(y[3], y[4], y[5], y[6], y[10], y[11], y[12])
    # Accelerations fill 6 + k entries; those of the legs then move behind the rates.
    regular = forward_dynamics(body, legs, y[:7], y[7:13], y[13:], force, wrench, dy[7:], work)
    for i in range(count):
        dy[13 + count + i] = dy[13 + i]
        dy[13 + i] = y[13 + count + i]
    return regular


@device
def normalise_quaternion(y):
    """Scale the quaternion in `y` to length one; integration lets it drift by its own error."""
    inverse = 1.0 / sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6])
    for k in range(3, 7):
        y[k] *= inverse


@device
def normalise(legs, y):
    """Remove from `y` what integration lets drift: the quaternion's length, the constraints."""
    normalise_quaternion(y)
    settle(legs, y)
