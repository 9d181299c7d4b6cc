"""Task-space formulation: the joint-space model mapped to the twist by inverse kinematics.

y = (pose, twist), B = K. The platform's inertia takes the way through the joint coordinates.

Reference: extended-configuration-space paper, section 3.3, equations (14) to (17).
"""

from __future__ import annotations

from twin.kernels.jit import device
from twin.kernels.linear_algebra.solve import solve_positive
from twin.papers.formulations.kernels.extended_to_task import read_task_state
from twin.papers.formulations.kernels.joint_space import (
    expand_joint_space,
    move_joints,
    reduce_joint_space,
)


@device
def task(model, y, forces, accelerations, work):
    """Fill `accelerations` (6,) of the twist at `y` (13,); False where they do not exist."""
    regular = read_task_state(model, y, work)
    move_joints(model, work)
    for index in range(18):
        for k in range(6):
            work.mapping[index, k] = work.task_map[index, k]
        work.mapping[index, 6] = work.task_map[index, 6]
    reduce_joint_space(work, forces, accelerations)
    regular &= solve_positive(work.reduced, accelerations, 6)
    expand_joint_space(model, work, accelerations)
    return regular
