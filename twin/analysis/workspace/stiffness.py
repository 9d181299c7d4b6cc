"""Stiffness over the workspace: the softest and the stiffest direction at every pose.

The elastic part K = J^T diag(k) J of `twin.analysis.stiffness.matrix`, without the parts from
loads. Blocks: translations with the attitude held, rotations about the reference point with its
place held. Of machines with three degrees of freedom, K is taken over unit rates of height and of
the turning of the platform's normal about the base's x and y axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import jacobians
from twin.basics.arrays import FloatArray, as_floats, as_pose
from twin.errors import InputError
from twin.model.machine_model import MachineModel

CHOSEN = (2, 3, 4)
"""Twist entries that a machine on pillars can choose: height, and turning about x and y."""


class LegStiffness(NamedTuple):
    """Stiffness along the actuators, and where it is from."""

    values: FloatArray
    """`(n,)` [N/m], for cranks [N m/rad]; one where nothing is known"""
    source: str
    """"struts", "springs in the legs", "given" or "relative": per stiffness of an actuator"""


class StiffnessRange(NamedTuple):
    """Eigenvalues of the stiffness at poses `(...)`; per actuator stiffness if that is relative."""

    softest_translation: FloatArray
    """[N/m]"""
    stiffest_translation: FloatArray
    """[N/m]"""
    softest_rotation: FloatArray
    """[N m/rad]"""
    stiffest_rotation: FloatArray
    """[N m/rad]"""


def leg_stiffness(platform: MachineModel, stiffness: Any = None) -> LegStiffness:
    """Return the stiffness along the legs: the machine's own springs, what is given, or one.

    Args:
        platform: the machine.
        stiffness: one number or `(n,)` above zero [N/m], for cranks [N m/rad], such as that of
            position loops; machines with springs have their own.

    Raises:
        InputError: not above zero, or given for a machine that has springs.
    """
    n = platform.n_actuators
    if platform.leg.has_spring:
        if stiffness is not None:
            raise InputError("stiffness", f"{platform.name} has its own springs; leave it out")
        label = "struts" if platform.leg.has_axial_spring else "springs in the legs"
        return LegStiffness(platform.leg_springs.stiffness.copy(), label)
    if stiffness is None:
        return LegStiffness(np.ones(n), "relative")
    values = as_floats(stiffness, "stiffness")
    if values.shape not in ((), (n,)) or not (values > 0.0).all():
        raise InputError("stiffness", f"must be one number or {n} numbers above zero")
    return LegStiffness(np.broadcast_to(values, (n,)).copy(), "given")


def stiffness_range(platform: MachineModel, pose: Any, stiffness: Any = None) -> StiffnessRange:
    """Return the extreme stiffnesses of poses `(..., 7)`; NaN where there is no Jacobian.

    Raises:
        InputError: wrong shapes, not finite, or as for `leg_stiffness`.
    """
    poses = as_pose(pose)
    shape = poses.shape[:-1]
    poses = poses.reshape(-1, 7)
    found = np.full((4, len(poses)), np.nan)
    rates = jacobians(platform, poses)
    finite = np.isfinite(rates).all(axis=(1, 2))
    rates, count = rates[finite], 3
    if platform.dof < 6:
        rates, count = rates @ _chosen_twists(platform, poses[finite]), 1
    legs = leg_stiffness(platform, stiffness).values
    matrices = np.einsum("kia,i,kib->kab", rates, legs, rates)
    if len(matrices):
        translation = np.linalg.eigvalsh(matrices[:, :count, :count])
        rotation = np.linalg.eigvalsh(matrices[:, count:, count:])
        ends = (translation[:, 0], translation[:, -1], rotation[:, 0], rotation[:, -1])
        found[:, finite] = np.array(ends)
    return StiffnessRange(*(row.reshape(shape) for row in found))


def _chosen_twists(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return `(m, 6, 3)`: the twists of unit rates of what pillars can choose."""
    unit = np.eye(6)[list(CHOSEN)]
    twists = platform.constrain(poses[:, None], unit).twist
    return np.asarray(np.swapaxes(twists, 1, 2))
