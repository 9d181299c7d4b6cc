"""UPU legs, UPS legs with a universal joint at both ends: their rod turns against the housing.

A leg on a universal joint with the first axis a turns about its own direction Z with the spin

    omega_Z = h(a) . v / l,    h(a) = c (a x Z) / (1 - c^2),    c = a . Z,

where v is the velocity of its other end as seen from the joint. The housing's axis s is fixed in
the base. The rod's axis t = R t_0 is fixed in the platform, so that the rod follows its turn too:

    omega_Z = h(t) . v / l + (Z - c t) . omega / (1 - c^2).

The twist from housing to rod moves a nut along its screw. The motor turns the screw by what the
leg's extension does not get from the twist, so the actuator's coordinate is

    q = l - (signed lead / 2 pi) (twist - twist at home).

Derivation in docs/theory.md.
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs import ups
from twin.kernels.legs.interface import AXIS, Acceleration, LegResponse, PlatformState
from twin.kernels.legs.rss import nearest
from twin.kernels.legs.ups import SINGULAR_SINE, leg_line, tip_motion
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    rotate,
    row,
    scale,
    subtract,
)

JOINT_COUNT = 6

PLATFORM_AXIS = ups.LEG_SIZE
"""Axis of the platform's joint that is fixed in the platform, platform frame."""

SCREW_TRAVEL = ups.LEG_SIZE + 3
"""Change of the actuator's coordinate per twist from housing to rod [m/rad]."""

HOME_TWIST = ups.LEG_SIZE + 4
"""Twist from the housing's second axis to the rod's at home [rad]."""

HOME_SINE = ups.LEG_SIZE + 5
"""Sine of the angle between the platform's axis and the plane across the leg at home."""

ROD_SPIN_INERTIA = ups.LEG_SIZE + 6
"""[kg m2] of the rod about the leg; the tensor of the other bodies is without it."""

LEG_SIZE = ups.LEG_SIZE + 7


class UpuLegs(NamedTuple):
    """Constants of legs with universal joint, prismatic actuator and universal joint."""

    rows: FloatArray
    """`(n, LEG_SIZE)` constants of each leg"""


class Spin(NamedTuple):
    """Spin [rad/s] about a leg as linear . (velocity of the tip) + angular . (turn of the axis)."""

    linear: Vector
    """[rad/m]"""
    angular: Vector
    """dimensionless"""


@device
def spin_about(axis: Vector, along: Vector, length: float) -> Spin:
    """Return the spin of a leg on a universal joint with this first axis, which may turn."""
    sine = dot(axis, along)
    inverse = 1.0 / (1.0 - sine * sine)
    return Spin(
        scale(sine * inverse / length, cross(axis, along)),
        scale(inverse, subtract(along, scale(sine, axis))),
    )


@device
def spin_rate(
    axis: Vector,
    axis_rate: Vector,
    along: Vector,
    along_rate: Vector,
    length: float,
    length_rate: float,
) -> Spin:
    """Return the time derivative of `spin_about`."""
    sine, normal = dot(axis, along), cross(axis, along)
    sine_rate = dot(axis_rate, along) + dot(axis, along_rate)
    normal_rate = add(cross(axis_rate, along), cross(axis, along_rate))
    inverse = 1.0 / (1.0 - sine * sine)
    growth = sine_rate * (1.0 + sine * sine) * inverse - sine * length_rate / length
    across_rate = subtract(along_rate, add(scale(sine_rate, axis), scale(sine, axis_rate)))
    across = scale(2.0 * sine * sine_rate * inverse, subtract(along, scale(sine, axis)))
    return Spin(
        scale(inverse / length, add(scale(growth, normal), scale(sine, normal_rate))),
        scale(inverse, add(across_rate, across)),
    )


@device
def platform_axis(legs: FloatArray, i: int, matrix: Matrix) -> Vector:
    """Return the axis of the platform's joint that is fixed in the platform, base frame."""
    return rotate(matrix, row(legs, i, PLATFORM_AXIS))


@device
def twist_angle(legs: FloatArray, i: int, along: Vector, platform_direction: Vector) -> float:
    """Return the twist [rad] from housing to rod, zero at home, with the platform's axis turned."""
    axis = row(legs, i, AXIS)
    cosine = dot(axis, platform_direction) - dot(axis, along) * dot(platform_direction, along)
    return nearest(
        atan2(dot(along, cross(axis, platform_direction)), cosine) - legs[i, HOME_TWIST], 0.0
    )


@device
def twisting(
    legs: FloatArray, i: int, along: Vector, length: float, platform_direction: Vector
) -> Spin:
    """Return the rate of the twist from housing to rod: the spin of the rod less the housing's."""
    rod = spin_about(platform_direction, along, length)
    housing = spin_about(row(legs, i, AXIS), along, length)
    return Spin(subtract(rod.linear, housing.linear), rod.angular)


@device
def actuation(
    legs: FloatArray, i: int, position: Vector, matrix: Matrix
) -> tuple[Vector, Vector, float]:
    """Return w, its moment and the actuator's coordinate; see `twin.kernels.legs.dispatch`."""
    arm, along, length = leg_line(legs, i, position, matrix)
    platform_direction, screw = platform_axis(legs, i, matrix), legs[i, SCREW_TRAVEL]
    twist = twisting(legs, i, along, length, platform_direction)
    w = add(along, scale(screw, twist.linear))
    moment = add(cross(arm, w), scale(screw, twist.angular))
    return w, moment, length + screw * twist_angle(legs, i, along, platform_direction)


class LegRates(NamedTuple):
    """Rates of a leg's geometry under the platform's twist, base frame."""

    arm_rate: Vector
    """[m/s]"""
    along_rate: Vector
    """angular velocity of the leg's direction [rad/s]"""
    length_rate: float
    """[m/s]"""
    rod: Spin
    """time derivative of the rod's spin"""
    twist_linear: Vector
    """[1/(m s)] time derivative of the linear part of `twisting`"""


@device
def leg_rates(
    legs: FloatArray, i: int, state: PlatformState, arm: Vector, along: Vector, length: float
) -> LegRates:
    """Return the rates of a leg's geometry."""
    arm_rate, platform_direction = cross(state.omega, arm), platform_axis(legs, i, state.matrix)
    tip_velocity = add(state.velocity, arm_rate)
    length_rate = dot(along, tip_velocity)
    along_rate = scale(1.0 / length, subtract(tip_velocity, scale(length_rate, along)))
    platform_direction_rate = cross(state.omega, platform_direction)
    rod = spin_rate(
        platform_direction, platform_direction_rate, along, along_rate, length, length_rate
    )
    zero_rate = (0.0, 0.0, 0.0)
    housing = spin_rate(row(legs, i, AXIS), zero_rate, along, along_rate, length, length_rate)
    twist_linear = subtract(rod.linear, housing.linear)
    return LegRates(arm_rate, along_rate, length_rate, rod, twist_linear)


@device
def actuation_rate(legs: FloatArray, i: int, state: PlatformState) -> tuple[Vector, Vector]:
    """Return the time derivatives of w and of its moment."""
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    platform_direction, screw = platform_axis(legs, i, state.matrix), legs[i, SCREW_TRAVEL]
    twist = twisting(legs, i, along, length, platform_direction)
    rates = leg_rates(legs, i, state, arm, along, length)
    w = add(along, scale(screw, twist.linear))
    w_rate = add(rates.along_rate, scale(screw, rates.twist_linear))
    turning_rate = scale(screw, rates.rod.angular)
    return w_rate, add(add(cross(rates.arm_rate, w), cross(arm, w_rate)), turning_rate)


@device
def fill_joints(
    legs: FloatArray,
    home: FloatArray,
    i: int,
    state: PlatformState,
    acceleration: Acceleration,
    out: FloatArray,
) -> bool:
    """Fill `out` (6, 3) with (first angle, second angle, extension, twist, upper angle, 0).

    The upper angle is the one about the axis of the platform's joint that is fixed in the rod. The
    last joint, of the pin in an engine's model, does not move.
    """
    regular = ups.fill_joints(legs, home, i, state, acceleration, out)
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    platform_direction, omega = platform_axis(legs, i, state.matrix), state.omega
    twist = twisting(legs, i, along, length, platform_direction)
    rates = leg_rates(legs, i, state, arm, along, length)
    tip_velocity, tip_acceleration = tip_motion(arm, state, acceleration)
    out[3, 0] = twist_angle(legs, i, along, platform_direction)
    out[3, 1] = dot(twist.linear, tip_velocity) + dot(twist.angular, omega)
    out[3, 2] = (
        dot(twist.linear, tip_acceleration)
        + dot(twist.angular, acceleration.angular)
        + dot(rates.twist_linear, tip_velocity)
        + dot(rates.rod.angular, omega)
    )
    second_rate = dot(along, tip_acceleration) + length * dot(rates.along_rate, rates.along_rate)
    bending = subtract(tip_acceleration, scale(second_rate, along))
    bending = subtract(bending, scale(2.0 * rates.length_rate, rates.along_rate))
    platform_direction_rate = cross(omega, platform_direction)
    platform_direction_second_rate = add(
        cross(acceleration.angular, platform_direction), cross(omega, platform_direction_rate)
    )
    sine = dot(platform_direction, along)
    sine_rate = dot(platform_direction_rate, along) + dot(platform_direction, rates.along_rate)
    sine_second_rate = (
        dot(platform_direction_second_rate, along)
        + 2.0 * dot(platform_direction_rate, rates.along_rate)
        + dot(platform_direction, bending) / length
    )
    square = 1.0 - sine * sine
    cosine, home_sine = sqrt(square), legs[i, HOME_SINE]
    out[4, 0] = atan2(sine, cosine) - atan2(home_sine, sqrt(1.0 - home_sine * home_sine))
    out[4, 1] = sine_rate / cosine
    out[4, 2] = (sine_second_rate + sine * sine_rate * sine_rate / square) / cosine
    out[5, :] = 0.0
    return regular and square > SINGULAR_SINE * SINGULAR_SINE


@device
def response(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return effective masses and bias force of leg i at its tip; see `LegResponse`.

    All but what the rod takes to turn about the leg, which `add_rod_spin` adds.
    """
    leg = ups.response(legs, i, state, gravity, deflection)
    w, moment, _ = actuation(legs, i, state.position, state.matrix)
    platform_direction = platform_axis(legs, i, state.matrix)
    sine = dot(platform_direction, leg.actuation)
    regular = leg.regular and 1.0 - sine * sine > SINGULAR_SINE * SINGULAR_SINE
    return LegResponse(
        leg.arm, w, moment, leg.first, leg.second, leg.third, leg.masses, leg.force, regular
    )


@device
def add_rod_spin(
    legs: FloatArray, i: int, state: PlatformState, mass_matrix: FloatArray, bias: FloatArray
) -> None:
    """Add what the rod of leg i takes to turn about its own axis with the platform.

    With its inertia I, spin omega_Z = g . twist and the direction's rate Z', virtual power gives
    I g g^T of mass, the bias I (g' . twist) g and the force I omega_Z (Z' x Z) / l at the tip.
    """
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    platform_direction, inertia = platform_axis(legs, i, state.matrix), legs[i, ROD_SPIN_INERTIA]
    rod = spin_about(platform_direction, along, length)
    rates = leg_rates(legs, i, state, arm, along, length)
    tip_velocity = add(state.velocity, rates.arm_rate)
    spin = dot(rod.linear, tip_velocity) + dot(rod.angular, state.omega)
    bias_rate = (
        dot(rates.rod.linear, tip_velocity)
        + dot(rates.rod.angular, state.omega)
        + dot(rod.linear, cross(state.omega, rates.arm_rate))
    )
    force = scale(inertia * spin / length, cross(rates.along_rate, along))
    force_moment, moment = cross(arm, force), add(cross(arm, rod.linear), rod.angular)
    g = (rod.linear[0], rod.linear[1], rod.linear[2], moment[0], moment[1], moment[2])
    for j in range(3):
        bias[j] += force[j]
        bias[j + 3] += force_moment[j]
    for j in range(6):
        bias[j] += inertia * bias_rate * g[j]
        for k in range(j + 1):
            mass_matrix[j, k] += inertia * g[j] * g[k]


@device
def leg_energy(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy and dissipated power."""
    kinetic, potential, dissipated = ups.leg_energy(legs, i, state, gravity, deflection)
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    rod = spin_about(platform_axis(legs, i, state.matrix), along, length)
    tip_velocity = add(state.velocity, cross(state.omega, arm))
    spin = dot(rod.linear, tip_velocity) + dot(rod.angular, state.omega)
    return kinetic + 0.5 * legs[i, ROD_SPIN_INERTIA] * spin * spin, potential, dissipated
