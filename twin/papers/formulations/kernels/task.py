"""Two formulations in task space: inverse kinematics in closed form, equations in the twist.

y = (pose, twist). The loop closure gives the joint rates K (v, omega).

- extended to task space: the extended model with B = (1, K).
- task space: the joint-space model with B = K. The platform's inertia takes the way through the
  joint coordinates.

Reference: extended-configuration-space paper, sections 3.3 and 4.2, equations (14) to (17) and
(22) to (24).
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.linear_algebra import solve_positive
from twin.papers.formulations.kernels.arrays import ACCELERATION, POSE, TWIST, Model, Work
from twin.papers.formulations.kernels.extended import (
    joints_from_pose,
    move_legs,
    move_platform,
    place_legs,
)
from twin.papers.formulations.kernels.joint_space import (
    expand_joint_space,
    move_joints,
    reduce_joint_space,
)
from twin.papers.formulations.kernels.reduction import (
    add_legs,
    expand_legs,
    fill_task_map,
    take_platform,
    task_rates,
)


@device
def read_task_state(model: Model, y: FloatArray, work: Work) -> bool:
    """Fill everything that position and velocity in task space determine; False where singular."""
    for k in range(7):
        work.platform[POSE + k] = y[k]
    for k in range(6):
        work.platform[TWIST + k] = y[7 + k]
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
        work.platform[ACCELERATION + k] = accelerations[k]
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
