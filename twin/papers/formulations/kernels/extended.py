"""The extended model: each leg in its joint coordinates, the platform by its pose and twist.

Extended coordinates are (platform, leg 1, ..., leg 6); the mass matrix has one block per body and
the loop closure says that the tip of leg i is at the platform's joint i:

    eta_i = p + R b_i - tip_i(q_i) = 0.

Derivation in docs/formulations.md.

Reference: extended-configuration-space paper, section 4, equations (19) to (21), and section 6.
"""

from __future__ import annotations

from twin.kernels.dynamics.assembly import add_body, field
from twin.kernels.jit import device
from twin.kernels.legs.ups.kinematics import leg_vector
from twin.kernels.vectors import cross, rotation, row
from twin.papers.formulations.kernels.arrays import (
    ARM,
    ARM_BIAS,
    BODY_BIAS,
    LEGS,
    POSE,
    RATE,
    TIP_RATE,
    TWIST,
    Model,
    Work,
)
from twin.papers.formulations.kernels.entries import part, put, tip_from_joints
from twin.papers.formulations.kernels.legs.dispatch import find_joints, move_leg, place_leg


@device
def joints_from_pose(model: Model, work: Work) -> bool:
    """Fill `joints` from `pose` in closed form; False where a leg has none."""
    state = work.platform
    matrix = rotation(state[3], state[4], state[5], state[6])
    regular = True
    for i in range(LEGS):
        vector = leg_vector(model.legs.rows, i, part(state, POSE), matrix)[1]
        regular &= find_joints(model.legs, model, work, i, vector)
    return regular


@device
def place_legs(model: Model, work: Work) -> None:
    """Fill leg frames, tips and the columns T of their velocities from `joints`."""
    for i in range(LEGS):
        place_leg(model.legs, model, work, i)


@device
def move_legs(model: Model, work: Work) -> None:
    """Fill tip rates, their bias and the legs' blocks of mass and bias from joints and rates."""
    gravity = field(model.body)
    for i in range(LEGS):
        rates = row(work.legs, i, RATE)
        put(work.legs, i, TIP_RATE, tip_from_joints(work.tip_columns[i], rates))
        move_leg(model.legs, model, work, i, gravity)


@device
def move_platform(model: Model, work: Work) -> None:
    """Fill arms, their bias and the platform's block of mass and bias from pose and twist."""
    state = work.platform
    matrix = rotation(state[3], state[4], state[5], state[6])
    omega = part(state, TWIST + 3)
    for i in range(LEGS):
        arm = leg_vector(model.legs.rows, i, part(state, POSE), matrix)[0]
        put(work.legs, i, ARM, arm)
        put(work.legs, i, ARM_BIAS, cross(omega, cross(omega, arm)))
    add_body(model.body, matrix, omega, work.body_mass, state[BODY_BIAS:])
    for i in range(6):
        for j in range(i):
            work.body_mass[j, i] = work.body_mass[i, j]
