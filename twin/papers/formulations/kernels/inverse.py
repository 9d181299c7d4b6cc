"""Inverse dynamics by the extended model, mapped to task space or to the actuators.

    Q = B^T M B y'' + B^T (h + M beta)

Reference: extended-configuration-space paper, sections 4.2, 4.3 and 6.1.
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled
from twin.papers.formulations.kernels.arrays import Model, Work
from twin.papers.formulations.kernels.extended_to_actuator import (
    fill_actuator_map,
    invert_actuator_rows,
)
from twin.papers.formulations.kernels.reduction import add_legs, reduce_platform, take_platform
from twin.papers.formulations.kernels.task import read_task_state


@compiled
def generalised_forces(
    actuators: bool,
    model: Model,
    states: FloatArray,
    accelerations: FloatArray,
    forces: FloatArray,
    work: Work,
) -> int:
    """Fill `forces` (k, 6) that give `accelerations` (k, 6) at `states` (k, 13); count those done.

    Of the actuator coordinates where `actuators` is true, else of the twist. It stops at the first
    state that is singular.
    """
    none = work.scratch[0, :6]
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
        none[:] = 0.0
        add_legs(work, none, work.mapping[6:] if actuators else work.task_map, forces[k])
        for i in range(6):
            total = -forces[k, i]
            for j in range(6):
                total += work.reduced[max(i, j), min(i, j)] * accelerations[k, j]
            forces[k, i] = total
    return states.shape[0]
