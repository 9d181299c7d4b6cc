"""Struts, UPS legs with a spring and a damper in parallel with the actuator: dynamics.

The rod is pushed with forces + k (l_0 - l) - c l'. A commanded rest length r in place of l_0 is
the actuator force k (r - l_0).
"""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs import ups
from twin.kernels.legs.interface import LegResponse, PlatformState
from twin.kernels.legs.ups import leg_line
from twin.kernels.linear_algebra import Vector, add, cross, dot, scale

STIFFNESS = ups.LEG_SIZE

DAMPING = ups.LEG_SIZE + 1

REST_LENGTH = ups.LEG_SIZE + 2

LEG_SIZE = ups.LEG_SIZE + 3


class StrutLegs(NamedTuple):
    """Constants of UPS legs with a spring and a damper in parallel with the actuator."""

    rows: FloatArray
    """`(n, LEG_SIZE)` constants of each leg"""


@device
def stretch(legs: FloatArray, i: int, state: PlatformState) -> tuple[Vector, float, float]:
    """Return direction, extension from the rest length and its rate."""
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    rate = dot(along, add(state.velocity, cross(state.omega, arm)))
    return along, length - legs[i, REST_LENGTH], rate


@device
def response(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return effective masses and bias force of leg i at its tip; see `LegResponse`."""
    leg = ups.response(legs, i, state, gravity, deflection)
    along, extension, rate = stretch(legs, i, state)
    spring_force = legs[i, STIFFNESS] * extension + legs[i, DAMPING] * rate
    force = add(leg.force, scale(spring_force, along))
    return LegResponse(
        leg.arm,
        leg.actuation,
        leg.actuation_moment,
        leg.first,
        leg.second,
        leg.third,
        leg.masses,
        force,
        leg.regular,
    )


@device
def leg_energy(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy and dissipated power."""
    kinetic, potential, _ = ups.leg_energy(legs, i, state, gravity, deflection)
    _, extension, rate = stretch(legs, i, state)
    spring = 0.5 * legs[i, STIFFNESS] * extension * extension
    return kinetic, potential + spring, legs[i, DAMPING] * rate * rate
