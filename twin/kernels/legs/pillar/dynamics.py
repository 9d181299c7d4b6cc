"""Pillar: the mass of a foot that slides on the floor, with friction.

The mass at the upper end belongs to the platform's body. The foot moves by (e_x . a, e_y . a) in
the floor when the platform moves its arm's end by a, so its mass acts along these two directions.
Gravity along the floor is felt by the foot as well; what presses it down is carried by the floor.
A foot that is held does not move.
"""

from __future__ import annotations

from math import sqrt

from twin.kernels.jit import device
from twin.kernels.legs.pillar.kinematics import (
    FIXED,
    PILLAR_GEOMETRY_SIZE,
    SMALLEST_RISE,
    foot,
    foot_bias,
    plane_directions,
)
from twin.kernels.vectors import add, dot, scale

FOOT_MASS = PILLAR_GEOMETRY_SIZE
VISCOUS = PILLAR_GEOMETRY_SIZE + 1
COULOMB = PILLAR_GEOMETRY_SIZE + 2
TRANSITION_SPEED = PILLAR_GEOMETRY_SIZE + 3
"""Speed [m/s] over which Coulomb friction changes its sign; above zero."""
LEG_SIZE = PILLAR_GEOMETRY_SIZE + 4


@device
def friction(legs, i, speed):
    """Return the coefficient [N s/m] of the foot's friction at a velocity in the floor."""
    square = speed[0] * speed[0] + speed[1] * speed[1]
    transition = legs[i, TRANSITION_SPEED]
    return legs[i, VISCOUS] + legs[i, COULOMB] / sqrt(square + transition * transition)


@device
def response(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return how leg i answers the platform; see `twin.kernels.legs.dynamics`."""
    arm, upward, rise, _ = foot(legs, i, position, matrix)
    drive = (0.0, 0.0, 1.0 / rise)
    first, second = plane_directions(upward, rise)
    mass, force = 0.0, (0.0, 0.0, 0.0)
    if legs[i, FIXED] != 1.0:
        mass = legs[i, FOOT_MASS]
        speed, bias = foot_bias(arm, upward, rise, velocity, omega)
        drag = friction(legs, i, speed)
        force = add(
            scale(mass * (bias[0] - gravity[0]) + drag * speed[0], first),
            scale(mass * (bias[1] - gravity[1]) + drag * speed[1], second),
        )
    return arm, drive, first, second, drive, (mass, mass, 0.0), force, rise > SMALLEST_RISE


@device
def leg_energy(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return kinetic and potential energy and dissipated power; see `response`."""
    arm, upward, rise, _ = foot(legs, i, position, matrix)
    weight = -legs[i, FOOT_MASS] * dot(gravity, add(position, arm))
    if legs[i, FIXED] == 1.0:
        return 0.0, weight, 0.0
    speed, _ = foot_bias(arm, upward, rise, velocity, omega)
    square = speed[0] * speed[0] + speed[1] * speed[1]
    return 0.5 * legs[i, FOOT_MASS] * square, weight, friction(legs, i, speed) * square
