"""Exact derivatives of dynamics and forward kinematics, by parameters of the machine too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.model.batch import lane_count
from twin.model.evaluation import check_results, no_solution
from twin.model.machine_model import MachineModel, six_or_zero
from twin.model.parameter_slopes import constants_and_slopes

FEWEST_SLOPES = 4
"""Fewest derivatives of a dual number: fewer do not pay on any processor."""

LARGEST_CONDITION = 1e12
"""Of Jacobian and constraints: beyond it, rounding decides the pose."""


def slope_width() -> tuple[int, ...]:
    """Return the width of duals on this processor: one entry per derivative."""
    return (0,) * max(lane_count(), FEWEST_SLOPES)


def dynamics_width() -> tuple[int, ...]:
    """Return the width of duals for all derivatives of the dynamics: twice `slope_width`.

    With 16, one pass has all 15 variables that the equations are solved anew for.
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
    """`(..., 7)`"""
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
    from twin.kernels.derivatives import forward_dynamics_slopes
    from twin.kernels.parameter_derivatives import forward_dynamics_by_parameters

    states = {
        "pose": pose,
        "twist": twist,
        "deflection": deflection,
        "forces": as_floats(forces, "forces", platform.n_actuators),
        "wrench": six_or_zero(wrench, "wrench"),
    }
    kernels = (forward_dynamics_slopes, forward_dynamics_by_parameters)
    return _derivatives(platform, kernels, states, parameters, 6 + platform.n_deflections)


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
    from twin.kernels.derivatives import inverse_dynamics_slopes
    from twin.kernels.parameter_derivatives import inverse_dynamics_by_parameters

    states = {
        "pose": pose,
        "twist": twist,
        "deflection": deflection,
        "acceleration": acceleration,
        "wrench": six_or_zero(wrench, "wrench"),
    }
    kernels = (inverse_dynamics_slopes, inverse_dynamics_by_parameters)
    return _derivatives(platform, kernels, states, parameters, platform.n_actuators)


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
    from twin.kernels.parameter_derivatives import Slopes, geometry_by_parameters

    poses = platform.forward_kinematics(lengths, guess)
    rows = np.concatenate([platform.jacobian(poses), platform.constraints(poses)], axis=-2)
    flat, legs = poses.reshape(-1, 7), platform.constants.legs
    singular = np.flatnonzero(~(np.linalg.cond(rows) < LARGEST_CONDITION))
    if singular.size:
        raise no_solution(legs, int(singular[0]), flat[singular[0]])
    inverse = np.linalg.pinv(rows)
    found = np.empty((len(flat), rows.shape[-2], len(parameters)))
    slopes = Slopes(*constants_and_slopes(platform.parameters, parameters))
    failed = geometry_by_parameters(legs, slopes, slope_width(), flat, found)
    check_results(failed, found, legs, flat)
    by_parameters = -inverse @ found.reshape((*poses.shape[:-1], *found.shape[1:]))
    return PoseDerivatives(poses, inverse[..., : platform.n_actuators], by_parameters)


def _derivatives(
    platform: MachineModel,
    kernels: tuple[Any, Any],
    states: dict[str, Any],
    parameters: Sequence[str],
    size: int,
) -> Derivatives:
    """Return the derivatives of `size` results that two kernels compute."""
    from twin.kernels.derivatives import States
    from twin.kernels.parameter_derivatives import Slopes

    shape, arrays = platform.checked_states(**states)
    body, legs, _ = platform.constants
    sizes = [array.shape[1] for array in arrays[1:]]
    columns = np.cumsum([6, *sizes[:2], 3, *sizes[2:]])
    batch, count = States(*arrays), len(arrays[0])
    found = np.empty((count, size, columns[-1]))
    check_results(kernels[0](body, legs, dynamics_width(), batch, found), found, legs, arrays[0])
    by_parameters = np.empty((count, size, len(parameters)))
    if len(parameters):
        slopes = Slopes(*constants_and_slopes(platform.parameters, parameters))
        failed = kernels[1](legs, slopes, slope_width(), batch, by_parameters)
        check_results(failed, by_parameters, legs, arrays[0])
    parts = np.split(found.reshape((*shape, size, columns[-1])), columns[:-1], axis=-1)
    pose, twist, deflection, gravity, inputs, wrench = parts
    last = by_parameters.reshape((*shape, size, len(parameters)))
    return Derivatives(pose, twist, deflection, inputs, wrench, gravity, last)
