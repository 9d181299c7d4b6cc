"""Record of an evaluation: states, errors of the loop closure e1, e2, e3, and energy.

Reference: extended-configuration-space paper, section 5.3, equations (26) to (29).
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import BODY_CENTER, BODY_MASS, field
from twin.kernels.jit import device
from twin.kernels.legs.interface import BASE_JOINT
from twin.kernels.linear_algebra import Vector, add, cross, dot, rotate, rotation, row, subtract
from twin.papers.formulations.kernels.arrays import (
    CLOSURE_BIAS,
    CLOSURE_CONSTRAINT,
    LEG_ARM,
    LEG_ARM_BIAS,
    LEG_JOINT,
    LEG_RATE,
    LEG_SECOND_RATE,
    LEG_TIP,
    LEG_TIP_BIAS,
    PLATFORM_ACCELERATION,
    PLATFORM_POSE,
    PLATFORM_TWIST,
    Model,
    Work,
    part,
    tip_from_joints,
)
from twin.papers.formulations.kernels.legs.dispatch import leg_potential
from twin.papers.formulations.kernels.rigidity import fill_closure, fill_closure_bias

JOINT_ENTRY, JOINT_RATE_ENTRY, JOINT_ACCELERATION_ENTRY = 19, 37, 55
"""First of the 18 joint coordinates, of their rates and of their accelerations in a record. Before
them are pose, twist and acceleration of the platform, as in the work arrays."""

ERROR_ENTRY = 73
"""Record entry of the first of the errors e1, e2, e3."""

SIZE_ENTRY = 76
"""Record entry of the first of three sums of the absolute terms that cancel in e1, e2, e3."""

ENERGY_ENTRY = 79
"""Record entry of the kinetic energy; the potential energy follows it."""

RECORD_SIZE = 81


@device
def record(model: Model, work: Work, extended: bool, out: FloatArray) -> None:
    """Fill `out` (RECORD_SIZE,) from the work arrays of an evaluation.

    `extended`: errors of the 18 equations between legs and platform instead of the 12 rigidity
    constraints between tips.
    """
    for k in range(JOINT_ENTRY):
        out[k] = work.platform[k]
    for j in range(18):
        out[JOINT_ENTRY + j] = work.legs[j // 3, LEG_JOINT + j % 3]
        out[JOINT_RATE_ENTRY + j] = work.legs[j // 3, LEG_RATE + j % 3]
        out[JOINT_ACCELERATION_ENTRY + j] = work.legs[j // 3, LEG_SECOND_RATE + j % 3]
    for k in range(6):
        out[ERROR_ENTRY + k] = 0.0
    if extended:
        for i in range(6):
            leg_errors(model, work, i, out)
    else:
        rigidity_errors(model, work, out)
    out[ENERGY_ENTRY], out[ENERGY_ENTRY + 1] = energies(model, work)


@device
def leg_errors(model: Model, work: Work, i: int, out: FloatArray) -> None:
    """Raise the errors and sizes in `out` to those of the loop closure of leg i."""
    velocity, omega = part(work.platform, PLATFORM_TWIST), part(work.platform, PLATFORM_TWIST + 3)
    linear, angular = (
        part(work.platform, PLATFORM_ACCELERATION),
        part(work.platform, PLATFORM_ACCELERATION + 3),
    )
    arm, tip, columns = row(work.legs, i, LEG_ARM), row(work.legs, i, LEG_TIP), work.tip_columns[i]
    leg_vector = subtract(tip, row(model.legs.rows, i, BASE_JOINT))
    raise_error(out, 0, part(work.platform, PLATFORM_POSE), arm, tip, leg_vector)
    arm_velocity = cross(omega, arm)
    raise_error(
        out,
        1,
        velocity,
        arm_velocity,
        tip_from_joints(columns, row(work.legs, i, LEG_RATE)),
        arm_velocity,
    )
    arm_acceleration = add(cross(angular, arm), row(work.legs, i, LEG_ARM_BIAS))
    bias = row(work.legs, i, LEG_TIP_BIAS)
    tip_acceleration = add(tip_from_joints(columns, row(work.legs, i, LEG_SECOND_RATE)), bias)
    raise_error(out, 2, linear, arm_acceleration, tip_acceleration, bias)


@device
def raise_error(
    out: FloatArray, order: int, first: Vector, second: Vector, third: Vector, cancelled: Vector
) -> None:
    """Raise error and size of an order to first + second - third; `cancelled` is part of third."""
    remainder = subtract(add(first, second), third)
    for k in range(3):
        size = abs(first[k]) + abs(second[k]) + abs(third[k]) + abs(cancelled[k])
        out[ERROR_ENTRY + order] = max(out[ERROR_ENTRY + order], abs(remainder[k]))
        out[SIZE_ENTRY + order] = max(out[SIZE_ENTRY + order], size)


@device
def rigidity_errors(model: Model, work: Work, out: FloatArray) -> None:
    """Raise the errors and sizes in `out` to those of the rigidity constraints."""
    fill_closure(model, work)
    fill_closure_bias(model, work)
    for i in range(6):
        for k in range(3):
            out[SIZE_ENTRY] = max(out[SIZE_ENTRY], 4.0 * abs(work.legs[i, LEG_TIP + k]))
    for a in range(12):
        rate, second_rate = 0.0, work.closure[a, CLOSURE_BIAS]
        rate_size, second_rate_size = 0.0, abs(second_rate)
        for j in range(18):
            entry = work.closure[a, j]
            velocity = entry * work.legs[j // 3, LEG_RATE + j % 3]
            closure_change = entry * work.legs[j // 3, LEG_SECOND_RATE + j % 3]
            rate, second_rate = rate + velocity, second_rate + closure_change
            rate_size, second_rate_size = (
                rate_size + abs(velocity),
                second_rate_size + abs(closure_change),
            )
        out[ERROR_ENTRY] = max(out[ERROR_ENTRY], abs(work.closure[a, CLOSURE_CONSTRAINT]))
        out[ERROR_ENTRY + 1] = max(out[ERROR_ENTRY + 1], abs(rate))
        out[ERROR_ENTRY + 2] = max(out[ERROR_ENTRY + 2], abs(second_rate))
        out[SIZE_ENTRY + 1] = max(out[SIZE_ENTRY + 1], rate_size)
        out[SIZE_ENTRY + 2] = max(out[SIZE_ENTRY + 2], second_rate_size)


@device
def energies(model: Model, work: Work) -> tuple[float, float]:
    """Return kinetic and potential energy [J] of the extended model; zero at the base's origin."""
    body, gravity = model.body, field(model.body)
    kinetic = 0.0
    for a in range(6):
        for b in range(6):
            kinetic += (
                0.5
                * work.body_mass[a, b]
                * work.platform[PLATFORM_TWIST + a]
                * work.platform[PLATFORM_TWIST + b]
            )
    state = work.platform
    matrix = rotation(state[3], state[4], state[5], state[6])
    center = rotate(matrix, part(body, BODY_CENTER))
    potential = -body[BODY_MASS] * dot(gravity, add(part(state, PLATFORM_POSE), center))
    for i in range(6):
        rates = row(work.legs, i, LEG_RATE)
        for a in range(3):
            for b in range(3):
                kinetic += 0.5 * work.leg_mass[i, a, b] * rates[a] * rates[b]
        potential += leg_potential(model.legs, work, i, gravity)
    return kinetic, potential
