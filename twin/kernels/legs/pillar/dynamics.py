"""Pillar: the mass of a foot that slides on the floor, with friction.

The mass at the upper end belongs to the platform's body. The foot moves by (e_x . a, e_y . a) in
the floor when the platform moves its arm's end by a, so its mass acts along these two directions.
Gravity along the floor acts on the foot as well; the floor carries the rest of its weight.
A foot that is held does not move.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import LegResponse
from twin.kernels.legs.pillar.kinematics import (
    FIXED,
    PILLAR_GEOMETRY_SIZE,
    SMALLEST_RISE,
    foot,
    foot_bias,
    plane_directions,
)
from twin.kernels.platform_state import PlatformState
from twin.kernels.vectors import Vector, add, dot, scale

FOOT_MASS = PILLAR_GEOMETRY_SIZE
VISCOUS = PILLAR_GEOMETRY_SIZE + 1
COULOMB = PILLAR_GEOMETRY_SIZE + 2
TRANSITION_SPEED = PILLAR_GEOMETRY_SIZE + 3
"""Speed [m/s] over which Coulomb friction changes its sign; above zero."""
LEG_SIZE = PILLAR_GEOMETRY_SIZE + 4


class PillarLegs(NamedTuple):
    """Constants of prismatic actuators square to the platform, with feet on the floor."""

    rows: FloatArray
    """`(n, LEG_SIZE)`"""


@device
def friction(legs: FloatArray, i: int, speed: Vector) -> float:
    """Return the coefficient [N s/m] of the foot's friction at a velocity in the floor."""
    square = speed[0] * speed[0] + speed[1] * speed[1]
    transition = legs[i, TRANSITION_SPEED]
    return legs[i, VISCOUS] + legs[i, COULOMB] / sqrt(square + transition * transition)


@device
def response(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return the force that it takes to move the foot of leg i."""
    arm, upward, rise, _ = foot(legs, i, state.position, state.matrix)
    w = (0.0, 0.0, 1.0 / rise)
    first, second = plane_directions(upward, rise)
    mass, force = 0.0, (0.0, 0.0, 0.0)
    if legs[i, FIXED] != 1.0:
        mass = legs[i, FOOT_MASS]
        speed, bias = foot_bias(arm, upward, rise, state)
        drag = friction(legs, i, speed)
        force = add(
            scale(mass * (bias[0] - gravity[0]) + drag * speed[0], first),
            scale(mass * (bias[1] - gravity[1]) + drag * speed[1], second),
        )
    masses = (mass, mass, 0.0)
    return LegResponse(arm, w, first, second, w, masses, force, rise > SMALLEST_RISE)


@device
def leg_energy(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy and dissipated power."""
    arm, upward, rise, _ = foot(legs, i, state.position, state.matrix)
    weight = -legs[i, FOOT_MASS] * dot(gravity, add(state.position, arm))
    if legs[i, FIXED] == 1.0:
        return 0.0, weight, 0.0
    speed, _ = foot_bias(arm, upward, rise, state)
    square = speed[0] * speed[0] + speed[1] * speed[1]
    return 0.5 * legs[i, FOOT_MASS] * square, weight, friction(legs, i, speed) * square
