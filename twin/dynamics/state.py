"""Equations of motion as a first-order system: y = (pose, twist), dy/dt = f(y, forces)."""

from __future__ import annotations

from math import sqrt

from twin.compiled.jit import device
from twin.compiled.quaternions import quaternion_rate
from twin.dynamics.forward import forward_dynamics

STATE_SIZE = 13


@device
def derivative(body, legs, y, forces, slope, elapsed, wrench, dy, force, matrix, bias, jacobian):
    """Fill `dy` (13,) at `y` under the forces `forces + elapsed * slope`; False where singular.

    `force` (n,), `matrix` (6, 6), `bias` (6,) and `jacobian` (n, 6) are work arrays.
    """
    for i in range(legs.shape[0]):
        force[i] = forces[i] + elapsed * slope[i]
    for k in range(3):
        dy[k] = y[7 + k]
    dy[3], dy[4], dy[5], dy[6] = quaternion_rate(y[3], y[4], y[5], y[6], y[10], y[11], y[12])
    return forward_dynamics(body, legs, y[:7], y[7:], force, wrench, dy[7:], matrix, bias, jacobian)


@device
def normalise(y):
    """Scale the quaternion in `y` to length one; integration lets it drift by its own error."""
    inverse = 1.0 / sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6])
    for k in range(3, 7):
        y[k] *= inverse
