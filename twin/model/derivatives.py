"""Derivatives of forward and inverse dynamics by state, inputs, wrench and gravity, exact."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.model.evaluation import no_solution
from twin.model.lanes import lane_count
from twin.model.machine_model import MachineModel, six_or_zero

FEWEST_SLOPES = 4
"""Derivatives of a dual: fewer do not pay, whatever the processor."""


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


def forward_dynamics_derivatives(
    platform: MachineModel,
    pose: Any,
    twist: Any,
    forces: Any,
    wrench: Any = None,
    *,
    deflection: Any = None,
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

    Raises:
        InputError: as `forward_dynamics`.
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution.
    """
    from twin.kernels.derivatives import forward_dynamics_slopes

    states = {
        "pose": pose,
        "twist": twist,
        "deflection": deflection,
        "forces": as_floats(forces, "forces", platform.n_actuators),
        "wrench": six_or_zero(wrench, "wrench"),
    }
    return _derivatives(platform, forward_dynamics_slopes, states, 6 + platform.n_deflections)


def inverse_dynamics_derivatives(
    platform: MachineModel,
    pose: Any,
    twist: Any,
    acceleration: Any,
    wrench: Any = None,
    *,
    deflection: Any = None,
) -> Derivatives:
    """Return the derivatives of the actuator forces `(n)` of `inverse_dynamics`.

    Args:
        platform: the machine.
        pose: `(..., 7)`.
        twist: `(..., 6)`.
        acceleration: `(..., 6)`.
        wrench: `(..., 6)` on the platform, default none.
        deflection: `(..., 2k)` of springs in series, default at rest length.

    Raises:
        InputError: as `inverse_dynamics`.
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution.
    """
    from twin.kernels.derivatives import inverse_dynamics_slopes

    states = {
        "pose": pose,
        "twist": twist,
        "deflection": deflection,
        "acceleration": acceleration,
        "wrench": six_or_zero(wrench, "wrench"),
    }
    return _derivatives(platform, inverse_dynamics_slopes, states, platform.n_actuators)


def _derivatives(
    platform: MachineModel, kernel: Any, states: dict[str, Any], size: int
) -> Derivatives:
    """Return the derivatives of `size` results that a kernel computes."""
    from twin.kernels.derivatives import States

    shape, arrays = platform.checked_states(**states)
    columns = np.cumsum([6, *(array.shape[1] for array in arrays[1:]), 3])
    out = np.empty((len(arrays[0]), size, columns[-1]))
    width = (0,) * max(lane_count(), FEWEST_SLOPES)
    body, legs, _ = platform.constants
    failed = kernel(body, legs, width, States(*arrays), out)
    if failed >= 0 or not np.isfinite(out).all():
        bad = ~np.isfinite(out).all(axis=(1, 2))
        index = failed if failed >= 0 else int(np.argmax(bad))
        raise no_solution(legs, index, arrays[0][index])
    parts = np.split(out.reshape((*shape, size, columns[-1])), columns[:-1], axis=-1)
    return Derivatives(*parts)
