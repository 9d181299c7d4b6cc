"""Viscoelastic legs, with a spring and a damper in series with the actuator: dynamics.

A leg has three point masses on its axis. Its kinematics is that of a UPS leg whose length is shared
by actuator and spring.

Along the leg, from the base joint: a spring of length 2 l_1 + delta_1 with m_1 in its middle,
the actuator's housing m_2 at its end plus l_2, the follower m_3 at l_4 below the tip. Z is the
leg's direction, s_1 and s_2 are the distances of m_1 and m_2 from the base joint, B is the
damping, and l_3 the gap between m_2 and m_3 of a retracted leg. In the coordinates (direction,
length l, delta_1) the mass matrix is diagonal, because l moves m_3 alone and delta_1 only m_1 and
m_2: the platform feels the transverse inertia of all three and the axial one of m_3, and

    (m_1 / 4 + m_2) delta_1'' = (m_1 s_1 / 2 + m_2 s_2) |Z'|^2 + (m_1 / 2 + m_2) g . Z
                                - k delta_1 - B delta_1' - F

with the actuator force F, which acts on delta_2 = l - delta_1 - (2 l_1 + l_2 + l_3 + l_4).

Reference: compliant-legs paper, sections 1.6 to 1.11, derived independently; see
docs/reproductions.md.
"""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs import ups
from twin.kernels.legs.interface import (
    AXIS,
    BASE_JOINT,
    GEOMETRY_SIZE,
    Acceleration,
    LegResponse,
    PlatformState,
)
from twin.kernels.legs.ups import SINGULAR_SINE, leg_frame, leg_line
from twin.kernels.linear_algebra import Vector, add, cross, dot, row, scale, subtract

JOINT_COUNT = 4

DEFLECTION_COUNT = 1
"""Springs in series with the actuator of one leg."""

SPRING_LENGTH = GEOMETRY_SIZE
"""Length 2 l_1 of the relaxed spring [m]."""

HOUSING_LENGTH = GEOMETRY_SIZE + 1
"""Distance l_2 from the end of the spring to m_2 [m]."""

FOLLOWER_LENGTH = GEOMETRY_SIZE + 2
"""Distance l_4 from m_3 to the tip [m]."""

SPRING_MASS = GEOMETRY_SIZE + 3

HOUSING_MASS = GEOMETRY_SIZE + 4

FOLLOWER_MASS = GEOMETRY_SIZE + 5

STIFFNESS = GEOMETRY_SIZE + 6

DAMPING = GEOMETRY_SIZE + 7

LEG_SIZE = GEOMETRY_SIZE + 8


class ViscoelasticLegs(NamedTuple):
    """Constants of UPS legs with a viscoelastic element in series with the actuator."""

    rows: FloatArray
    """`(n, LEG_SIZE)` constants of each leg"""


@device
def fill_joints(
    legs: FloatArray,
    home: FloatArray,
    i: int,
    state: PlatformState,
    acceleration: Acceleration,
    out: FloatArray,
) -> bool:
    """Fill `out` (4, 3) with (first angle, second angle, spring, actuator).

    The spring's row is zero and the actuator's that of the whole leg: the spring moves apart from
    the platform. A caller that knows its state moves it from one row to the other.
    """
    regular = ups.fill_joints(legs, home, i, state, acceleration, out)
    for k in range(3):
        out[3, k] = out[2, k]
        out[2, k] = 0.0
    return regular


@device
def mass_distances(legs: FloatArray, i: int, length: float, spring: float) -> Vector:
    """Return the distances [m] of the three masses from the base joint."""
    housing_end = legs[i, SPRING_LENGTH] + spring
    return (
        0.5 * housing_end,
        housing_end + legs[i, HOUSING_LENGTH],
        length - legs[i, FOLLOWER_LENGTH],
    )


@device
def moments(
    legs: FloatArray, i: int, length: float, rate: float, spring: float, spring_rate: float
) -> Vector:
    """Return sum m s^2, sum m s, and sum m s s'."""
    first_distance, second_distance, third_distance = mass_distances(legs, i, length, spring)
    m1, m2, m3 = legs[i, SPRING_MASS], legs[i, HOUSING_MASS], legs[i, FOLLOWER_MASS]
    return (
        m1 * first_distance * first_distance
        + m2 * second_distance * second_distance
        + m3 * third_distance * third_distance,
        m1 * first_distance + m2 * second_distance + m3 * third_distance,
        (0.5 * m1 * first_distance + m2 * second_distance) * spring_rate
        + m3 * third_distance * rate,
    )


@device
def response(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return effective masses and bias force of leg i at its tip; see `LegResponse`."""
    n_legs = legs.shape[0]
    spring, spring_rate = deflection[i], deflection[n_legs + i]
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    arm_rate = cross(state.omega, arm)
    tip_velocity = add(state.velocity, arm_rate)
    tip_acceleration = cross(state.omega, arm_rate)
    rate = dot(along, tip_velocity)
    inverse = 1.0 / length
    direction_rate = scale(inverse, subtract(tip_velocity, scale(rate, along)))
    direction_rate_square = dot(direction_rate, direction_rate)
    axial = dot(along, tip_acceleration)
    # Transverse acceleration of the leg's direction, and the part of gravity across the leg.
    bending = scale(
        inverse,
        subtract(
            subtract(tip_acceleration, scale(axial, along)), scale(2.0 * rate, direction_rate)
        ),
    )
    axial_gravity = dot(gravity, along)
    transverse_gravity = subtract(scale(axial_gravity, along), gravity)
    inertia, first_moment, coriolis = moments(legs, i, length, rate, spring, spring_rate)
    force = add(
        scale(inertia * inverse, bending),
        add(
            scale(2.0 * coriolis * inverse, direction_rate),
            scale(first_moment * inverse, transverse_gravity),
        ),
    )
    mass = legs[i, FOLLOWER_MASS]
    third_distance = length - legs[i, FOLLOWER_LENGTH]
    axial_force = mass * (axial + (length - third_distance) * direction_rate_square - axial_gravity)
    x, y, _, axis_sine = leg_frame(row(legs, i, AXIS), along)
    transverse = inertia * inverse * inverse
    masses = (transverse, transverse, mass)
    regular = axis_sine > SINGULAR_SINE and length > 0.0
    force = add(force, scale(axial_force, along))
    return LegResponse(arm, along, cross(arm, along), x, y, along, masses, force, regular)


@device
def deflection_acceleration(
    legs: FloatArray,
    i: int,
    state: PlatformState,
    gravity: Vector,
    deflection: FloatArray,
    actuator_force: float,
) -> float:
    """Return the second rate of the spring's extension [m/s2]."""
    n_legs = legs.shape[0]
    spring, spring_rate = deflection[i], deflection[n_legs + i]
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    tip_velocity = add(state.velocity, cross(state.omega, arm))
    length_rate = dot(along, tip_velocity)
    direction_rate_square = (dot(tip_velocity, tip_velocity) - length_rate * length_rate) / (
        length * length
    )
    first_distance, second_distance, _ = mass_distances(legs, i, length, spring)
    m1, m2 = legs[i, SPRING_MASS], legs[i, HOUSING_MASS]
    force = (0.5 * m1 * first_distance + m2 * second_distance) * direction_rate_square + (
        0.5 * m1 + m2
    ) * dot(gravity, along)
    force -= legs[i, STIFFNESS] * spring + legs[i, DAMPING] * spring_rate + actuator_force
    return force / (0.25 * m1 + m2)


@device
def leg_energy(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy and dissipated power."""
    n_legs = legs.shape[0]
    spring, spring_rate = deflection[i], deflection[n_legs + i]
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    tip_velocity = add(state.velocity, cross(state.omega, arm))
    rate = dot(along, tip_velocity)
    direction_rate_square = (dot(tip_velocity, tip_velocity) - rate * rate) / (length * length)
    inertia, first_moment, _ = moments(legs, i, length, rate, spring, spring_rate)
    m1, m2, m3 = legs[i, SPRING_MASS], legs[i, HOUSING_MASS], legs[i, FOLLOWER_MASS]
    axial_energy = (0.25 * m1 + m2) * spring_rate * spring_rate + m3 * rate * rate
    moment = add(scale(first_moment, along), scale(m1 + m2 + m3, row(legs, i, BASE_JOINT)))
    spring_energy = 0.5 * legs[i, STIFFNESS] * spring * spring
    dissipated_power = legs[i, DAMPING] * spring_rate * spring_rate
    return (
        0.5 * (inertia * direction_rate_square + axial_energy),
        spring_energy - dot(gravity, moment),
        dissipated_power,
    )
