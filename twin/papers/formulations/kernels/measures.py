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
    ACCELERATION,
    ARM,
    ARM_BIAS,
    CONSTRAINT,
    CONSTRAINT_BIAS,
    JOINT,
    POSE,
    RATE,
    SECOND_RATE,
    TIP,
    TIP_BIAS,
    TWIST,
    Model,
    Work,
    part,
    tip_from_joints,
)
from twin.papers.formulations.kernels.legs.dispatch import leg_potential
from twin.papers.formulations.kernels.rigidity import fill_closure, fill_closure_bias

JOINTS, JOINT_RATES, JOINT_ACCELERATIONS = 19, 37, 55
"""18 each; before them pose, twist and acceleration of the platform, as in the work arrays"""
ERRORS = 73
"""e1, e2, e3"""
SIZES = 76
"""sum of the absolute terms that cancel in e1, e2, e3"""
ENERGIES = 79
"""kinetic, potential"""
RECORD_SIZE = 81


@device
def record(model: Model, work: Work, extended: bool, out: FloatArray) -> None:
    """Fill `out` (RECORD_SIZE,) from the work arrays of an evaluation.

    `extended`: errors of the 18 equations between legs and platform instead of the 12 rigidity
    constraints between tips.
    """
    for k in range(JOINTS):
        out[k] = work.platform[k]
    for j in range(18):
        out[JOINTS + j] = work.legs[j // 3, JOINT + j % 3]
        out[JOINT_RATES + j] = work.legs[j // 3, RATE + j % 3]
        out[JOINT_ACCELERATIONS + j] = work.legs[j // 3, SECOND_RATE + j % 3]
    for k in range(6):
        out[ERRORS + k] = 0.0
    if extended:
        for i in range(6):
            leg_errors(model, work, i, out)
    else:
        rigidity_errors(model, work, out)
    out[ENERGIES], out[ENERGIES + 1] = energies(model, work)


@device
def leg_errors(model: Model, work: Work, i: int, out: FloatArray) -> None:
    """Raise the errors and sizes in `out` to those of the loop closure of leg i."""
    velocity, omega = part(work.platform, TWIST), part(work.platform, TWIST + 3)
    linear, angular = part(work.platform, ACCELERATION), part(work.platform, ACCELERATION + 3)
    arm, tip, columns = row(work.legs, i, ARM), row(work.legs, i, TIP), work.tip_columns[i]
    reach = subtract(tip, row(model.legs.rows, i, BASE_JOINT))
    keep(out, 0, part(work.platform, POSE), arm, tip, reach)
    turning = cross(omega, arm)
    keep(out, 1, velocity, turning, tip_from_joints(columns, row(work.legs, i, RATE)), turning)
    left = add(cross(angular, arm), row(work.legs, i, ARM_BIAS))
    bias = row(work.legs, i, TIP_BIAS)
    right = add(tip_from_joints(columns, row(work.legs, i, SECOND_RATE)), bias)
    keep(out, 2, linear, left, right, bias)


@device
def keep(
    out: FloatArray, order: int, first: Vector, second: Vector, third: Vector, cancelled: Vector
) -> None:
    """Raise error and size of an order by first + second - third; `cancelled` is part of third."""
    rest = subtract(add(first, second), third)
    for k in range(3):
        size = abs(first[k]) + abs(second[k]) + abs(third[k]) + abs(cancelled[k])
        out[ERRORS + order] = max(out[ERRORS + order], abs(rest[k]))
        out[SIZES + order] = max(out[SIZES + order], size)


@device
def rigidity_errors(model: Model, work: Work, out: FloatArray) -> None:
    """Raise the errors and sizes in `out` to those of the rigidity constraints."""
    fill_closure(model, work)
    fill_closure_bias(model, work)
    for i in range(6):
        for k in range(3):
            out[SIZES] = max(out[SIZES], 4.0 * abs(work.legs[i, TIP + k]))
    for a in range(12):
        rate, second_rate = 0.0, work.closure[a, CONSTRAINT_BIAS]
        rate_size, second_rate_size = 0.0, abs(second_rate)
        for j in range(18):
            entry = work.closure[a, j]
            velocity = entry * work.legs[j // 3, RATE + j % 3]
            change = entry * work.legs[j // 3, SECOND_RATE + j % 3]
            rate, second_rate = rate + velocity, second_rate + change
            rate_size, second_rate_size = rate_size + abs(velocity), second_rate_size + abs(change)
        out[ERRORS] = max(out[ERRORS], abs(work.closure[a, CONSTRAINT]))
        out[ERRORS + 1] = max(out[ERRORS + 1], abs(rate))
        out[ERRORS + 2] = max(out[ERRORS + 2], abs(second_rate))
        out[SIZES + 1] = max(out[SIZES + 1], rate_size)
        out[SIZES + 2] = max(out[SIZES + 2], second_rate_size)


@device
def energies(model: Model, work: Work) -> tuple[float, float]:
    """Return kinetic and potential energy [J] of the extended model; zero at the base's origin."""
    body, gravity = model.body, field(model.body)
    kinetic = 0.0
    for a in range(6):
        for b in range(6):
            kinetic += (
                0.5 * work.body_mass[a, b] * work.platform[TWIST + a] * work.platform[TWIST + b]
            )
    state = work.platform
    matrix = rotation(state[3], state[4], state[5], state[6])
    center = rotate(matrix, part(body, BODY_CENTER))
    potential = -body[BODY_MASS] * dot(gravity, add(part(state, POSE), center))
    for i in range(6):
        rates = row(work.legs, i, RATE)
        for a in range(3):
            for b in range(3):
                kinetic += 0.5 * work.leg_mass[i, a, b] * rates[a] * rates[b]
        potential += leg_potential(model.legs, work, i, gravity)
    return kinetic, potential
