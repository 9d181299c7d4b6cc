"""Exact derivatives of dynamics and forward kinematics, by parameters of the machine too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, positive, read_only
from twin.errors import InputError
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.sampler import nominal_value, with_values
from twin.model.batch import lane_count
from twin.model.constants import pack, without_shortcuts
from twin.model.machine_base import check_results, no_solution
from twin.model.machine_model import MachineModel, six_or_zero

RELATIVE_STEP = 1e-3
"""Finite-difference step of a parameter, relative to its value."""

ZERO_VALUE_STEPS = (1e-3, 1e-6, 1e-9)
"""Steps of a parameter that is zero, in its unit: the largest that gives a machine is taken."""

DIFFERENCE_STENCILS = (np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), np.arange(6.0), -np.arange(6.0))
"""Steps at which constants are computed: to both sides, or to the only one that is possible."""

MIN_SLOPES = 4
"""Smallest number of derivatives per dual number; fewer are not faster on any processor."""

MAX_CONDITION = 1e12
"""Largest condition number of Jacobian and constraints; beyond, the pose is rounding error."""


def constants_and_slopes(
    parameters: MachineParameters, paths: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return constants of a machine and their derivatives by p parameters.

    The constants are smooth functions of few operations, evaluated in Python: differences of the
    fourth order are exact to some 1e-11.

    Args:
        parameters: the machine.
        paths: parameters, as `numeric_paths` lists them.

    Returns:
        Constants `(1 + p, BODY_SIZE)` of the body and `(1 + p, n, LEG_SIZE)` of the legs, the
        values first and then the derivatives.

    Raises:
        InputError: a path that the machine does not have, or a value that cannot be changed.
    """
    if isinstance(paths, str):
        raise InputError("parameters", f"must be a list of paths, such as [{paths!r}]")
    path_slopes = [_slopes(parameters, path) for path in paths]
    constants = pack(parameters)
    legs = without_shortcuts(parameters, constants.legs.rows)
    return (
        np.array([constants.body, *(body for body, _ in path_slopes)]),
        np.array([legs, *(leg_slopes for _, leg_slopes in path_slopes)]),
    )


@lru_cache(maxsize=1024)
def _slopes(parameters: MachineParameters, path: str) -> tuple[FloatArray, FloatArray]:
    """Return the derivatives of body `(BODY_SIZE,)` and legs `(n, LEG_SIZE)` by one parameter."""
    unperturbed = nominal_value(parameters, path)
    for step_size, stencil in product(
        [RELATIVE_STEP * abs(unperturbed)] if unperturbed else ZERO_VALUE_STEPS, DIFFERENCE_STENCILS
    ):
        try:
            shifted_constants = [
                pack(with_values(parameters, {path: unperturbed + step_size * k})) for k in stencil
            ]
        except InputError as error:
            refused = error
            continue
        # Weights of the values at n steps: exact for polynomials of a degree below n.
        powers = stencil ** np.arange(len(stencil))[:, None]
        weights = np.linalg.solve(powers, np.eye(len(stencil))[1]) / step_size
        bodies = np.array([constants.body for constants in shifted_constants])
        legs = np.array([constants.legs.rows for constants in shifted_constants])
        return (
            read_only(np.tensordot(weights, bodies, 1)),
            read_only(np.tensordot(weights, legs, 1)),
        )
    raise refused


def slope_width() -> tuple[int, ...]:
    """Return the width of duals on this processor: one entry per derivative."""
    return (0,) * max(lane_count(), MIN_SLOPES)


def dynamics_width() -> tuple[int, ...]:
    """Return the width of duals for all derivatives of the dynamics: twice `slope_width`.

    With 16, one pass has all 15 variables for which the equations are solved again.
    """
    return 2 * slope_width()


class Derivatives(NamedTuple):
    """Derivatives of `m` results: of accelerations `(6 + k)` or of actuator forces `(n)`.

    Leading axes are those of the states.
    """

    pose: FloatArray
    """`(..., m, 6)` by a displacement of the reference point [m] and a rotation vector [rad] of the
    platform, both in base axes"""
    twist: FloatArray
    """`(..., m, 6)` by the twist [m/s, rad/s]"""
    deflection: FloatArray
    """`(..., m, 2k)` by the deflections [m] and their rates [m/s]"""
    inputs: FloatArray
    """`(..., m, n)` by the actuator forces, or `(..., m, 6)` by the acceleration"""
    wrench: FloatArray
    """`(..., m, 6)` by the wrench [N, N m]"""
    gravity: FloatArray
    """`(..., m, 3)` by the field of gravity [m/s2], base axes"""
    parameters: FloatArray
    """`(..., m, p)` by parameters of the machine, each in its unit in SI"""


class PoseDerivatives(NamedTuple):
    """Derivatives of a pose: displacement of the reference point [m], rotation vector [rad]."""

    pose: FloatArray
    """`(..., 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    coordinates: FloatArray
    """`(..., 6, n)` by the actuators' coordinates"""
    parameters: FloatArray
    """`(..., 6, p)` by parameters of the machine at constant coordinates"""


def forward_dynamics_derivatives(
    platform: MachineModel,
    pose: Any,
    twist: Any,
    forces: Any,
    wrench: Any = None,
    *,
    deflection: Any = None,
    parameters: Sequence[str] = (),
) -> Derivatives:
    """Return the derivatives of the accelerations `(6 + k)` of `forward_dynamics`.

    Of machines with constraints, only displacements and twists that these allow have a meaning.

    Args:
        platform: the machine.
        pose: `(..., 7)`.
        twist: `(..., 6)`.
        forces: `(..., n)` [N] or [N m].
        wrench: `(..., 6)` on the platform, default none.
        deflection: `(..., 2k)` of springs in series, default at rest length.
        parameters: p paths of parameters, as `numeric_paths` lists them.

    Raises:
        InputError: an unknown parameter; as `forward_dynamics`.
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution.
    """
    from twin.kernels.derivatives import forward_dynamics_by_parameters, forward_dynamics_slopes

    shape, states = platform.checked_states(
        pose, twist, deflection, forces=forces, wrench=six_or_zero(wrench, "wrench")
    )
    kernels = (forward_dynamics_slopes, forward_dynamics_by_parameters)
    size = 6 + platform.n_deflections
    return _derivatives(platform, kernels, shape, states, parameters, size)


def inverse_dynamics_derivatives(
    platform: MachineModel,
    pose: Any,
    twist: Any,
    acceleration: Any,
    wrench: Any = None,
    *,
    deflection: Any = None,
    parameters: Sequence[str] = (),
) -> Derivatives:
    """Return the derivatives of the actuator forces `(n)` of `inverse_dynamics`.

    Args:
        platform: the machine.
        pose: `(..., 7)`.
        twist: `(..., 6)`.
        acceleration: `(..., 6)`.
        wrench: `(..., 6)` on the platform, default none.
        deflection: `(..., 2k)` of springs in series, default at rest length.
        parameters: p paths of parameters, as `numeric_paths` lists them.

    Raises:
        InputError: an unknown parameter; as `inverse_dynamics`.
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution.
    """
    from twin.kernels.derivatives import inverse_dynamics_by_parameters, inverse_dynamics_slopes

    shape, states = platform.checked_states(
        pose, twist, deflection, acceleration=acceleration, wrench=six_or_zero(wrench, "wrench")
    )
    kernels = (inverse_dynamics_slopes, inverse_dynamics_by_parameters)
    return _derivatives(platform, kernels, shape, states, parameters, platform.n_actuators)


def forward_kinematics_derivatives(
    platform: MachineModel, lengths: Any, guess: Any = None, *, parameters: Sequence[str] = ()
) -> PoseDerivatives:
    """Return poses of actuator coordinates with their derivatives.

    From f(x, c, p) = 0, loops and constraints: dx/dc and dx/dp are -(df/dx)^-1 times df/dc, df/dp.
    Where there are more actuators than degrees of freedom, those of the nearest pose.

    Args:
        platform: the machine.
        lengths: `(..., n)` as of `forward_kinematics`.
        guess: pose `(..., 7)` as of `forward_kinematics`.
        parameters: p paths of parameters, as `numeric_paths` lists them.

    Raises:
        InputError: an unknown parameter; as `forward_kinematics`.
        ForwardKinematicsError: as `forward_kinematics`.
        SingularPoseError: coordinates that do not determine the pose.
    """
    from twin.kernels.derivatives import DifferentiatedConstants, geometry_by_parameters

    poses = platform.forward_kinematics(lengths, guess)
    motion_rows = np.concatenate([platform.jacobian(poses), platform.constraints(poses)], axis=-2)
    flat_poses, legs = poses.reshape(-1, 7), platform.constants.legs
    singular = np.flatnonzero(~(np.linalg.cond(motion_rows) < MAX_CONDITION))
    if singular.size:
        raise no_solution(legs, int(singular[0]), flat_poses[singular[0]])
    inverse = np.linalg.pinv(motion_rows)
    coordinate_slopes = np.empty((len(flat_poses), motion_rows.shape[-2], len(parameters)))
    slopes = DifferentiatedConstants(*constants_and_slopes(platform.parameters, parameters))
    first_failure = geometry_by_parameters(
        legs, slopes, slope_width(), flat_poses, coordinate_slopes
    )
    check_results(first_failure, coordinate_slopes, legs, flat_poses)
    by_parameters = -inverse @ coordinate_slopes.reshape(
        (*poses.shape[:-1], *coordinate_slopes.shape[1:])
    )
    return PoseDerivatives(poses, inverse[..., : platform.n_actuators], by_parameters)


def _derivatives(
    platform: MachineModel,
    kernels: tuple[Any, Any],
    shape: tuple[int, ...],
    arrays: list[FloatArray],
    parameters: Sequence[str],
    size: int,
) -> Derivatives:
    """Return the derivatives of `size` results that two kernels compute of checked states."""
    from twin.kernels.derivatives import DifferentiatedConstants, States

    body, legs, _ = platform.constants
    input_sizes = [array.shape[1] for array in arrays[1:]]
    columns = np.cumsum([6, *input_sizes[:2], 3, *input_sizes[2:]])
    batch, n_states = States(*arrays), len(arrays[0])
    slopes_out = np.empty((n_states, size, columns[-1]))
    check_results(
        kernels[0](body, legs, dynamics_width(), batch, slopes_out), slopes_out, legs, arrays[0]
    )
    by_parameters = np.empty((n_states, size, len(parameters)))
    if len(parameters):
        slopes = DifferentiatedConstants(*constants_and_slopes(platform.parameters, parameters))
        first_failure = kernels[1](legs, slopes, slope_width(), batch, by_parameters)
        check_results(first_failure, by_parameters, legs, arrays[0])
    parts = np.split(slopes_out.reshape((*shape, size, columns[-1])), columns[:-1], axis=-1)
    pose, twist, deflection, gravity, inputs, wrench = parts
    parameter_slopes = by_parameters.reshape((*shape, size, len(parameters)))
    return Derivatives(pose, twist, deflection, inputs, wrench, gravity, parameter_slopes)


class StepDerivatives(NamedTuple):
    """States after a step, and their derivatives; m = 12 + 2k. Leading axes are the states'.

    Displacements of the pose are a translation [m] and a rotation vector [rad] in base axes, before
    the step as after it.
    """

    pose: FloatArray
    """`(..., 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(..., 6)` of the platform, base axes [m/s, rad/s]"""
    deflection: FloatArray
    """`(..., 2k)` of the springs [m], then their rates [m/s]"""
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
    from twin.kernels.derivatives import States, step_slopes

    timestep = positive(time_step, "time_step")
    shape, arrays = platform.checked_states(
        pose,
        twist,
        deflection,
        forces=forces,
        wrench=six_or_zero(wrench, "wrench"),
    )
    n, k = platform.n_actuators, 2 * platform.n_deflections
    columns = np.cumsum([12 + k, 3, n, 6])
    size = len(arrays[0])
    next_states, slopes_out = np.empty((size, 13 + k)), np.empty((size, 12 + k, columns[-1]))
    body, legs, _ = platform.constants
    batch = States(*arrays)
    first_failure = step_slopes(
        body, legs, np.zeros(n), slope_width(), batch, timestep, next_states, slopes_out
    )
    check_results(first_failure, slopes_out, legs, arrays[0])
    pose, next_twist, next_deflection = np.split(
        next_states.reshape((*shape, 13 + k)), [7, 13], axis=-1
    )
    parts = np.split(slopes_out.reshape((*shape, 12 + k, columns[-1])), columns[:-1], axis=-1)
    by_state, by_gravity, by_forces, by_wrench = parts
    return StepDerivatives(
        pose, next_twist, next_deflection, by_state, by_forces, by_wrench, by_gravity
    )
