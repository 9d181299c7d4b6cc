"""Strut: a UPS leg with a spring and a damper beside its actuator.

The rod is pushed with forces + k (l_0 - l) - c l'. A commanded rest length r in place of l_0 is
the actuator force k (r - l_0).
"""

from __future__ import annotations

from twin.kernels.jit import device
from twin.kernels.legs.ups import dynamics as ups
from twin.kernels.legs.ups.kinematics import leg_line
from twin.kernels.vectors import add, cross, dot, scale

STIFFNESS = ups.LEG_SIZE
DAMPING = ups.LEG_SIZE + 1
REST_LENGTH = ups.LEG_SIZE + 2
LEG_SIZE = ups.LEG_SIZE + 3


@device
def stretch(legs, i, position, matrix, velocity, omega):
    """Return direction, extension from the rest length and its rate."""
    arm, along, length = leg_line(legs, i, position, matrix)
    rate = dot(along, add(velocity, cross(omega, arm)))
    return along, length - legs[i, REST_LENGTH], rate


@device
def response(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return how leg i answers the platform; see `twin.kernels.legs.dynamics`."""
    arm, drive, first, second, third, masses, force, regular = ups.response(
        legs, i, position, matrix, velocity, omega, gravity, deflection
    )
    along, extension, rate = stretch(legs, i, position, matrix, velocity, omega)
    pull = legs[i, STIFFNESS] * extension + legs[i, DAMPING] * rate
    return arm, drive, first, second, third, masses, add(force, scale(pull, along)), regular


@device
def leg_energy(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return kinetic and potential energy and dissipated power; see `response`."""
    kinetic, potential, _ = ups.leg_energy(
        legs, i, position, matrix, velocity, omega, gravity, deflection
    )
    _, extension, rate = stretch(legs, i, position, matrix, velocity, omega)
    spring = 0.5 * legs[i, STIFFNESS] * extension * extension
    return kinetic, potential + spring, legs[i, DAMPING] * rate * rate
