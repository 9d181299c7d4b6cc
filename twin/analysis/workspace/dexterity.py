"""Dexterity: evenness of the platform's motion over its axes, and distance from singularity.

With the Jacobian's moment columns divided by the platform joints' mean radius L and the twists
restricted to those the machine can have, J' (n, dof) has singular values s_1 >= ... >= s_dof:

    condition number         s_1 / s_dof, 1 is the best
    conditioning             s_dof / s_1, 0 at a singular pose
    smallest singular value  s_dof: rate of the actuators per speed in the worst direction
    manipulability           s_1 s_2 ... s_dof = sqrt(det(J'^T J')), per its value at home

The mean of the conditioning over a workspace is the global conditioning index.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import jacobians
from twin.analysis.workspace.region import Region, mean_over
from twin.basics.arrays import FloatArray, as_pose
from twin.model.conditioning import characteristic_length, null_space
from twin.model.machine_model import MachineModel


class Dexterity(NamedTuple):
    """Measures at poses `(...)`; NaN where the machine has no Jacobian."""

    conditioning: FloatArray
    """smallest by largest singular value [1]"""
    smallest: FloatArray
    """smallest singular value: 1 for lengths, [rad/m] for cranks"""
    manipulability: FloatArray
    """product of the singular values, per that at home [1]"""


class Conditioning(NamedTuple):
    """Conditioning over a region."""

    mean: float
    """global conditioning index: over the volume [1]"""
    lowest: float
    """[1] over all points of the mean"""
    highest: float
    lowest_singular_value: float


def dexterity(platform: MachineModel, pose: Any) -> Dexterity:
    """Return the dexterity of poses `(..., 7)`.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.

    Reference: Gosselin and Angeles, A global performance index for the kinematic optimization of
    robotic manipulators, 1991.
    """
    poses = as_pose(pose)
    shape = poses.shape[:-1]
    home = _singular_values(platform, platform.home[None])
    values = _singular_values(platform, poses.reshape(-1, 7))
    volume = np.prod(values, axis=1) / np.prod(home)
    parts = (values[:, -1] / values[:, 0], values[:, -1], volume)
    return Dexterity(*(part.reshape(shape) for part in parts))


def conditioning_over(found: Region) -> Conditioning:
    """Return mean and extremes of the conditioning over a region."""
    platform = found.chart.platform
    smallest = []

    def conditioning(poses: FloatArray) -> FloatArray:
        values = dexterity(platform, poses)
        smallest.append(float(values.smallest.min()))
        return values.conditioning

    mean, values = mean_over(found, conditioning)
    return Conditioning(mean, float(values.min()), float(values.max()), smallest[0])


def _singular_values(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return `(m, dof)`, the largest first; NaN where there is no Jacobian."""
    length = characteristic_length(platform.platform_joints)
    units = np.array([1.0, 1.0, 1.0, length, length, length])
    scaled = jacobians(platform, poses) / units
    finite = np.isfinite(scaled).all(axis=(1, 2))
    scaled = scaled[finite]
    if platform.dof < 6:
        scaled = scaled @ null_space(platform.constraints(poses[finite]) / units)
    found = np.full((len(poses), platform.dof), np.nan)
    if len(scaled):
        found[finite] = np.linalg.svd(scaled, compute_uv=False)
    return found
