"""A step of time of a machine, and its derivatives by state, forces, wrench and gravity, exact."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, positive
from twin.model.derivatives import slope_width
from twin.model.evaluation import check_results
from twin.model.machine_model import MachineModel, six_or_zero


class StepDerivatives(NamedTuple):
    """States after a step, and their derivatives; m = 12 + 2k. Leading axes are the states'.

    Displacements of the pose are a translation [m] and a rotation vector [rad] in base axes, before
    the step as after it.
    """

    pose: FloatArray
    """`(..., 7)`"""
    twist: FloatArray
    """`(..., 6)`"""
    deflection: FloatArray
    """`(..., 2k)`"""
    state: FloatArray
    """`(..., m, m)` by displacement, twist and deflection: the discrete-time A"""
    forces: FloatArray
    """`(..., m, n)` by the actuator forces held over the step: the discrete-time B"""
    wrench: FloatArray
    """`(..., m, 6)` by the wrench held over the step"""
    gravity: FloatArray
    """`(..., m, 3)` by the field of gravity, base axes"""


def step_derivatives(
    platform: MachineModel,
    pose: Any,
    twist: Any,
    forces: Any,
    time_step: Any,
    *,
    wrench: Any = None,
    deflection: Any = None,
) -> StepDerivatives:
    """Return the states after one Runge-Kutta step of order four, and their derivatives.

    Of machines with constraints, only displacements and twists that these allow have a meaning.

    Args:
        platform: the machine.
        pose: `(..., 7)`.
        twist: `(..., 6)`.
        forces: `(..., n)` [N] or [N m], held over the step.
        time_step: [s].
        wrench: `(..., 6)` on the platform, held over the step, default none.
        deflection: `(..., 2k)` of springs in series, default at rest length.

    Raises:
        InputError: as `forward_dynamics`, or a step that is not above zero.
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution.
    """
    from twin.kernels.derivatives import States
    from twin.kernels.step_derivatives import step_slopes

    step = positive(time_step, "time_step")
    shape, arrays = platform.checked_states(
        pose,
        twist,
        deflection,
        forces=as_floats(forces, "forces", platform.n_actuators),
        wrench=six_or_zero(wrench, "wrench"),
    )
    n, k = platform.n_actuators, 2 * platform.n_deflections
    columns = np.cumsum([12 + k, 3, n, 6])
    size = len(arrays[0])
    after, out = np.empty((size, 13 + k)), np.empty((size, 12 + k, columns[-1]))
    body, legs, _ = platform.constants
    batch = States(*arrays)
    failed = step_slopes(body, legs, np.zeros(n), slope_width(), batch, step, after, out)
    check_results(failed, out, legs, arrays[0])
    pose, swing, inner = np.split(after.reshape((*shape, 13 + k)), [7, 13], axis=-1)
    parts = np.split(out.reshape((*shape, 12 + k, columns[-1])), columns[:-1], axis=-1)
    by_state, by_gravity, by_forces, by_wrench = parts
    return StepDerivatives(pose, swing, inner, by_state, by_forces, by_wrench, by_gravity)
