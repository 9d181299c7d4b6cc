"""The equations of motion in the spaces of actuators, joints and task, as kernels.

`actuator`, actuator-space formulation: the joint-space model mapped to the leg lengths.

y = (lengths, length rates). The twelve angles phi are the root of the rigidity constraints,
followed by Newton from the last ones only; B = -J_phi^-1 J_lengths in the angles and 1 in the
lengths.

Reference: extended-configuration-space paper, section 3.2, equations (11) to (13).

The extended model describes each leg by its joint coordinates, the platform by pose and twist.

Extended coordinates are (platform, leg 1, ..., leg 6); the mass matrix has one block per body and
the loop closure says that the tip of leg i is at the platform's joint i:

    eta_i = p + R b_i - tip_i(q_i) = 0.

Derivation in docs/reproductions.md.

Reference: extended-configuration-space paper, section 4, equations (19) to (21), and section 6.

`extended_to_actuator`: six equations in the actuator coordinates; the pose is tracked.

y = (actuator coordinates, rates): lengths of UPS legs, crank angles of RSS legs. The root of the
loop closure is followed by Newton from the last pose only. With the actuators' rows J of K, the map
from the actuators' rates to the extended ones is B = (J^-1, K J^-1).

Reference: extended-configuration-space paper, section 4.3, equation (25).

Joint-space model (`fill_joint_space`): three tips carry the platform of the extended model, so that
18 joint coordinates remain.

The platform's frame is that of the triangle a, b, c of tips. On the loop closure its twist is the
rigid motion of the corners, (v, omega) = sum over corners of S_k t_k', so that

    M = blockdiag(legs) + P^T M_platform P,   h = h_legs + P^T (h_platform + M_platform beta)

with the map P from joint rates to the twist, and beta = P' times the joint rates.

Any other three tips give another M and h, and the same motion: they differ by constraint forces.

Reference: extended-configuration-space paper, section 3.1, equation (5).

`extended_to_task`, `task`: two formulations in task space, with inverse kinematics in closed form
and equations of motion in the twist.

y = (pose, twist). The loop closure gives the joint rates K (v, omega).

- extended to task space: the extended model with B = (identity, K).
- task space: the joint-space model with B = K. The platform's inertia is first mapped to the joint
  coordinates.

Reference: extended-configuration-space paper, sections 3.3 and 4.2, equations (14) to (17) and
(22) to (24).

`generalised_forces`: inverse dynamics of the extended model, mapped to task or actuator space. With
the independent coordinates z, the extended rates are B z' and their derivatives B z'' + beta:

    Q = B^T M B z'' + B^T (h + M beta)

Reference: extended-configuration-space paper, sections 4.2, 4.3 and 6.1.
"""

from __future__ import annotations

from math import inf

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import field, fill_body
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics import newton
from twin.kernels.legs.ups import leg_vector
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    cross,
    dot,
    factor_general,
    rotate,
    rotate_back,
    rotation,
    row,
    solve_factored,
    solve_positive,
    subtract,
)
from twin.papers.formulations.kernels.arrays import (
    CLOSURE_BIAS,
    CLOSURE_CONSTRAINT,
    LEG_ARM,
    LEG_ARM_BIAS,
    LEG_BIAS,
    LEG_COUNT,
    LEG_JOINT,
    LEG_RATE,
    LEG_SECOND_RATE,
    LEG_TIP_BIAS,
    LEG_TIP_RATE,
    PLATFORM_ACCELERATION,
    PLATFORM_BODY_BIAS,
    PLATFORM_CARRIER_BIAS,
    PLATFORM_POSE,
    PLATFORM_TWIST,
    SCRATCH_ROOT,
    Model,
    Work,
    part,
    put,
    tip_from_joints,
)
from twin.papers.formulations.kernels.legs.dispatch import find_joints, move_leg, place_leg
from twin.papers.formulations.kernels.rigidity import (
    add_legs,
    add_row,
    expand_legs,
    expand_platform,
    fill_closure,
    fill_closure_bias,
    fill_task_map,
    pose_from_tips,
    reduce_platform,
    take_platform,
    task_rates,
)

SMALLEST_PIVOT = 1e-6
"""Pivot ratio of the matrix to be inverted below which the pose counts as singular: accelerations
have lost six digits there."""

NEWTON_STEPS = 20

CONVERGED_RESIDUAL = 1e-15
"""Residual [m] below which Newton stops; the paper's accuracy goal."""

ACCEPTED_RESIDUAL = 1e-14
"""Residual [m] accepted as rounding after a step from below `NEARLY_CONVERGED_RESIDUAL`, which
Newton squares."""

NEARLY_CONVERGED_RESIDUAL = 1e-8
"""Residual [m] from which one more step reaches rounding."""

REFACTORING_RESIDUAL = 1e-10
"""Residual [m] above which Newton factors the matrix again; below it the last factors suffice."""


@device
def joints_from_pose(model: Model, work: Work) -> bool:
    """Fill `joints` from `pose` in closed form; False where a leg has none."""
    state = work.platform
    matrix = rotation(state[3], state[4], state[5], state[6])
    regular = True
    for i in range(LEG_COUNT):
        vector = leg_vector(model.legs.rows, i, part(state, PLATFORM_POSE), matrix)[1]
        regular &= find_joints(model.legs, model, work, i, vector)
    return regular


@device
def place_legs(model: Model, work: Work) -> None:
    """Fill leg frames, tips and the columns T of their velocities from `joints`."""
    for i in range(LEG_COUNT):
        place_leg(model.legs, model, work, i)


@device
def move_legs(model: Model, work: Work) -> None:
    """Fill tip rates, their bias and the legs' blocks of mass and bias from joints and rates."""
    gravity = field(model.body)
    for i in range(LEG_COUNT):
        rates = row(work.legs, i, LEG_RATE)
        put(work.legs, i, LEG_TIP_RATE, tip_from_joints(work.tip_columns[i], rates))
        move_leg(model.legs, model, work, i, gravity)


@device
def move_platform(model: Model, work: Work) -> None:
    """Fill arms, their bias and the platform's block of mass and bias from pose and twist."""
    state = work.platform
    matrix = rotation(state[3], state[4], state[5], state[6])
    omega = part(state, PLATFORM_TWIST + 3)
    for i in range(LEG_COUNT):
        arm = leg_vector(model.legs.rows, i, part(state, PLATFORM_POSE), matrix)[0]
        put(work.legs, i, LEG_ARM, arm)
        put(work.legs, i, LEG_ARM_BIAS, cross(omega, cross(omega, arm)))
    fill_body(model.body, matrix, omega, work.body_mass, state[PLATFORM_BODY_BIAS:])
    for i in range(6):
        for j in range(i):
            work.body_mass[j, i] = work.body_mass[i, j]


@device
def extended_to_actuator(
    model: Model,
    y: FloatArray,
    track: FloatArray,
    forces: FloatArray,
    accelerations: FloatArray,
    work: Work,
) -> bool:
    """Fill `accelerations` (6,) of the actuators at `y` (12,); False at a singular pose.

    `track` (7,) is the last pose; the scratch row `SCRATCH_ROOT` becomes the pose of `y`.
    """
    for k in range(7):
        work.platform[PLATFORM_POSE + k] = track[k]
    converged = newton(model.legs, y[:6], work.platform, work.tracking)[0]
    for k in range(7):
        work.scratch[SCRATCH_ROOT, k] = work.platform[PLATFORM_POSE + k]
    regular = joints_from_pose(model, work)
    place_legs(model, work)
    for k in range(6):
        work.platform[PLATFORM_TWIST + k] = 0.0
    move_platform(model, work)
    fill_task_map(model, work)
    if not (converged and regular and invert_actuator_rows(work)):
        return False
    for j in range(6):
        for k in range(6):
            work.platform[PLATFORM_TWIST + j] += work.columns[k, j] * y[6 + k]
    move_platform(model, work)
    task_rates(model, work)
    move_legs(model, work)
    fill_task_map(model, work)
    fill_actuator_map(work)
    reduce_platform(work, accelerations)
    add_legs(work, forces, work.mapping[6:], accelerations)
    regular &= solve_positive(work.reduced, accelerations, 6)
    expand_platform(work, accelerations)
    expand_legs(work, work.mapping[6:], accelerations)
    return regular


@device
def invert_actuator_rows(work: Work) -> bool:
    """Fill the first rows of `columns` with those of J^-T; False at a singular pose."""
    for i in range(6):
        for k in range(6):
            work.square[i, k] = work.task_map[3 * i + 2, k]
            work.columns[k, i] = 1.0 if i == k else 0.0
    ratio = factor_general(work.square, work.pivots, 6)
    for k in range(6):
        solve_factored(work.square, work.pivots, work.columns[k], 6)
    return abs(ratio) > SMALLEST_PIVOT


@device
def fill_actuator_map(work: Work) -> None:
    """Fill B and its bias from K and the columns of J^-1 in `columns`."""
    for j in range(6):
        work.mapping[j, 6] = 0.0
        for k in range(6):
            work.mapping[j, k] = work.columns[k, j]
            work.mapping[j, 6] -= work.columns[k, j] * work.task_map[3 * k + 2, 6]
    for index in range(18):
        bias = work.task_map[index, 6]
        for j in range(6):
            bias += work.task_map[index, j] * work.mapping[j, 6]
        work.mapping[6 + index, 6] = bias
        for k in range(6):
            total = 0.0
            for j in range(6):
                total += work.task_map[index, j] * work.columns[k, j]
            work.mapping[6 + index, k] = total


@device
def carried(
    corner_twist: FloatArray, matrix: Matrix, k: int, change: Vector
) -> tuple[Vector, Vector]:
    """Return the part of the platform's twist that a change of corner k gives: S_k t_k'."""
    change_in_platform = rotate_back(matrix, change)
    first_entry = 3 * k
    linear = (
        dot(row(corner_twist, 0, first_entry), change_in_platform),
        dot(row(corner_twist, 1, first_entry), change_in_platform),
        dot(row(corner_twist, 2, first_entry), change_in_platform),
    )
    angular = (
        dot(row(corner_twist, 3, first_entry), change_in_platform),
        dot(row(corner_twist, 4, first_entry), change_in_platform),
        dot(row(corner_twist, 5, first_entry), change_in_platform),
    )
    return rotate(matrix, linear), rotate(matrix, angular)


@device
def move_joints(model: Model, work: Work) -> None:
    """Fill all that joints and their rates determine, with the joint-space M (18, 18) and h (18,).

    Needs `joints`, `joint_rates`, legs placed, and `pose`.
    """
    state = work.platform
    matrix = rotation(state[3], state[4], state[5], state[6])
    move_legs(model, work)
    for k in range(6):
        work.platform[PLATFORM_TWIST + k] = 0.0
        work.platform[PLATFORM_CARRIER_BIAS + k] = 0.0
    for k in range(3):
        leg = model.triangle[k]
        for j in range(3):
            linear, angular = carried(
                model.corner_twist, matrix, k, row(work.tip_columns[leg], j, 0)
            )
            for a in range(3):
                work.carrier_map[a, 3 * k + j] = linear[a]
                work.carrier_map[3 + a, 3 * k + j] = angular[a]
            for a in range(6):
                work.platform[PLATFORM_TWIST + a] += (
                    work.carrier_map[a, 3 * k + j] * work.legs[leg, LEG_RATE + j]
                )
    move_platform(model, work)
    for k in range(3):
        leg = model.triangle[k]
        bias_difference = subtract(
            row(work.legs, leg, LEG_TIP_BIAS), row(work.legs, leg, LEG_ARM_BIAS)
        )
        linear, angular = carried(model.corner_twist, matrix, k, bias_difference)
        for a in range(3):
            work.platform[PLATFORM_CARRIER_BIAS + a] += linear[a]
            work.platform[PLATFORM_CARRIER_BIAS + 3 + a] += angular[a]
    fill_joint_space(model, work)


@device
def fill_joint_space(model: Model, work: Work) -> None:
    """Fill M and h of the joint coordinates from the blocks of the extended model."""
    mass = work.mass
    for leg in range(6):
        for a in range(3):
            index = 3 * leg + a
            for k in range(18):
                mass[index, k] = 0.0
            for b in range(3):
                mass[index, 3 * leg + b] = work.leg_mass[leg, a, b]
            mass[index, 18] = work.legs[leg, LEG_BIAS + a]
    carrier = work.carrier_map
    for a in range(6):
        carrier_load = work.platform[PLATFORM_BODY_BIAS + a]
        for b in range(6):
            carrier_load += work.body_mass[a, b] * work.platform[PLATFORM_CARRIER_BIAS + b]
        for corner in range(3):
            for j in range(3):
                column, index = 3 * corner + j, 3 * model.triangle[corner] + j
                mass[index, 18] += carrier[a, column] * carrier_load
                mass_product = 0.0
                for b in range(6):
                    mass_product += work.body_mass[a, b] * carrier[b, column]
                for other_corner in range(3):
                    target_column = 3 * model.triangle[other_corner]
                    for k in range(3):
                        mass[target_column + k, index] += (
                            carrier[a, 3 * other_corner + k] * mass_product
                        )


@device
def reduce_joint_space(
    work: Work, forces: FloatArray, mapping: FloatArray, right_side: FloatArray
) -> None:
    """Fill the reduced mass matrix B^T M B and `right_side` = B^T (Q - h - M beta).

    The columns of `mapping` (18, 7) are B and beta; `forces` (6,) are those of the actuators.
    """
    for j in range(6):
        right_side[j] = 0.0
        for k in range(6):
            work.reduced[j, k] = 0.0
    for leg in range(6):
        for a in range(3):
            joint_load = (forces[leg] if a == 2 else 0.0) - work.mass[3 * leg + a, 18]
            add_row(work.mass, 3 * leg + a, 0, joint_load, mapping, work.reduced, right_side)


@device
def expand_joint_space(
    model: Model, work: Work, mapping: FloatArray, accelerations: FloatArray
) -> None:
    """Fill the joints' accelerations B y'' + beta from the reduced ones, then the platform's."""
    expand_legs(work, mapping, accelerations)
    carry_acceleration(model, work)


@device
def carry_acceleration(model: Model, work: Work) -> None:
    """Fill the platform's acceleration from those of the triangle's legs."""
    for a in range(6):
        carrier_acceleration = work.platform[PLATFORM_CARRIER_BIAS + a]
        for corner in range(3):
            for j in range(3):
                joint_acceleration = work.legs[model.triangle[corner], LEG_SECOND_RATE + j]
                carrier_acceleration += work.carrier_map[a, 3 * corner + j] * joint_acceleration
        work.platform[PLATFORM_ACCELERATION + a] = carrier_acceleration


@device
def actuator(
    model: Model,
    y: FloatArray,
    track: FloatArray,
    forces: FloatArray,
    accelerations: FloatArray,
    work: Work,
) -> bool:
    """Fill `accelerations` (6,) of the lengths at `y` (12,); False at a singular pose.

    `track` (18, 7) are the last joint coordinates and, from column 1 on, how they change with the
    lengths: the first step of Newton from there.
    """
    for leg in range(6):
        for a in range(2):
            joint = track[3 * leg + a, 0]
            for i in range(6):
                joint += track[3 * leg + a, 1 + i] * (y[i] - track[3 * i + 2, 0])
            work.legs[leg, LEG_JOINT + a] = joint
        work.legs[leg, LEG_JOINT + 2] = y[leg]
    if not track_angles(model, work):
        return False
    fill_angle_matrix(work)
    if not abs(factor_general(work.square, work.pivots, 12)) > SMALLEST_PIVOT:
        return False
    fill_length_map(work, y)
    pose_from_tips(model, work)
    move_joints(model, work)
    fill_closure_bias(model, work)
    fill_length_bias(work)
    reduce_joint_space(work, forces, work.mapping, accelerations)
    regular = solve_positive(work.reduced, accelerations, 6)
    expand_joint_space(model, work, work.mapping, accelerations)
    return regular


@device
def fill_angle_matrix(work: Work) -> None:
    """Fill `square` with the constraint Jacobian: columns of J that belong to the angles."""
    for equation in range(12):
        for leg in range(6):
            for a in range(2):
                work.square[equation, 2 * leg + a] = work.closure[equation, 3 * leg + a]


@device
def track_angles(model: Model, work: Work) -> bool:
    """Move the angles onto the rigidity constraints by Newton; False when it does not converge.

    A change of sign of the determinant on the way would be another assembly branch.
    """
    newton_step, branch, last_residual = work.columns[0], 0.0, inf
    for iteration in range(NEWTON_STEPS):
        place_legs(model, work)
        fill_closure(model, work)
        error = 0.0
        for a in range(12):
            newton_step[a] = -work.closure[a, CLOSURE_CONSTRAINT]
            error = max(error, abs(newton_step[a]))
        if error <= CONVERGED_RESIDUAL or (
            error <= ACCEPTED_RESIDUAL and last_residual <= NEARLY_CONVERGED_RESIDUAL
        ):
            return True
        if not error < 2.0 * last_residual:
            return False
        if iteration == 0 or error > REFACTORING_RESIDUAL:
            fill_angle_matrix(work)
            regular = factor_general(work.square, work.pivots, 12)
            if iteration == 0:
                branch = regular
            if not (abs(regular) > SMALLEST_PIVOT and regular * branch > 0.0):
                return False
        solve_factored(work.square, work.pivots, newton_step, 12)
        for leg in range(6):
            for a in range(2):
                work.legs[leg, LEG_JOINT + a] += newton_step[2 * leg + a]
        last_residual = error
    return False


@device
def fill_length_map(work: Work, y: FloatArray) -> None:
    """Fill B and the joint rates from the factored constraint Jacobian."""
    for leg in range(6):
        work.legs[leg, LEG_RATE], work.legs[leg, LEG_RATE + 1] = 0.0, 0.0
        work.legs[leg, LEG_RATE + 2] = y[6 + leg]
    for i in range(6):
        column = work.columns[i]
        for equation in range(12):
            column[equation] = -work.closure[equation, 3 * i + 2]
        solve_factored(work.square, work.pivots, column, 12)
        for leg in range(6):
            for a in range(2):
                column_entry = column[2 * leg + a]
                work.mapping[3 * leg + a, i] = column_entry
                work.legs[leg, LEG_RATE + a] += column_entry * y[6 + i]
            work.mapping[3 * leg + 2, i] = 1.0 if leg == i else 0.0


@device
def fill_length_bias(work: Work) -> None:
    """Fill beta from the factored constraint Jacobian: -J_phi^-1 J' q' in the angles."""
    column = work.columns[0]
    for equation in range(12):
        column[equation] = -work.closure[equation, CLOSURE_BIAS]
    solve_factored(work.square, work.pivots, column, 12)
    for leg in range(6):
        work.mapping[3 * leg, 6] = column[2 * leg]
        work.mapping[3 * leg + 1, 6] = column[2 * leg + 1]
        work.mapping[3 * leg + 2, 6] = 0.0


@device
def keep_root(track: FloatArray, work: Work) -> None:
    """Store the root of the last evaluation in `track`, to start from."""
    for leg in range(6):
        for a in range(3):
            track[3 * leg + a, 0] = work.legs[leg, LEG_JOINT + a]
            for i in range(6):
                track[3 * leg + a, 1 + i] = work.mapping[3 * leg + a, i]


@device
def read_task_state(model: Model, y: FloatArray, work: Work) -> bool:
    """Fill everything that position and velocity in task space determine; False where singular."""
    for k in range(7):
        work.platform[PLATFORM_POSE + k] = y[k]
    for k in range(6):
        work.platform[PLATFORM_TWIST + k] = y[7 + k]
    regular = joints_from_pose(model, work)
    place_legs(model, work)
    move_platform(model, work)
    task_rates(model, work)
    move_legs(model, work)
    fill_task_map(model, work)
    return regular


@device
def extended_to_task(
    model: Model, y: FloatArray, forces: FloatArray, accelerations: FloatArray, work: Work
) -> bool:
    """Fill `accelerations` (6,) of the twist at `y` (13,); False where they do not exist."""
    regular = read_task_state(model, y, work)
    take_platform(work, accelerations)
    add_legs(work, forces, work.task_map, accelerations)
    regular &= solve_positive(work.reduced, accelerations, 6)
    for k in range(6):
        work.platform[PLATFORM_ACCELERATION + k] = accelerations[k]
    expand_legs(work, work.task_map, accelerations)
    return regular


@device
def task(
    model: Model, y: FloatArray, forces: FloatArray, accelerations: FloatArray, work: Work
) -> bool:
    """Fill `accelerations` (6,) of the twist at `y` (13,); False where they do not exist."""
    regular = read_task_state(model, y, work)
    move_joints(model, work)
    reduce_joint_space(work, forces, work.task_map, accelerations)
    regular &= solve_positive(work.reduced, accelerations, 6)
    expand_joint_space(model, work, work.task_map, accelerations)
    return regular


@compiled
def generalised_forces(
    actuators: bool,
    model: Model,
    states: FloatArray,
    accelerations: FloatArray,
    forces: FloatArray,
    work: Work,
) -> int:
    """Fill `forces` (k, 6) for `accelerations` (k, 6) at `states` (k, 13); return the number done.

    Of the actuator coordinates where `actuators` is true, else of the twist. It stops at the first
    state that is singular.
    """
    no_forces = work.scratch[0, :6]
    for k in range(states.shape[0]):
        regular = read_task_state(model, states[k], work)
        if actuators:
            regular &= invert_actuator_rows(work)
            fill_actuator_map(work)
            reduce_platform(work, forces[k])
        else:
            take_platform(work, forces[k])
        if not regular:
            return k
        no_forces[:] = 0.0
        add_legs(work, no_forces, work.mapping[6:] if actuators else work.task_map, forces[k])
        for i in range(6):
            generalised_force = -forces[k, i]
            for j in range(6):
                generalised_force += work.reduced[max(i, j), min(i, j)] * accelerations[k, j]
            forces[k, i] = generalised_force
    return states.shape[0]
