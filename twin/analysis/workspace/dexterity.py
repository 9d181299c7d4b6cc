"""Dexterity and stiffness of the platform at poses and over a workspace.

Dexterity is how evenly the platform moves along its axes, and its distance from singularity.
With the Jacobian's moment columns divided by the platform joints' mean radius L and the twists
restricted to those the machine can have, J' (n, dof) has singular values s_1 >= ... >= s_dof:

| measure | value |
| --- | --- |
| condition number | `s_1 / s_dof`, 1 is the best |
| conditioning | `s_dof / s_1`, 0 at a singular pose |
| smallest singular value | `s_dof`: rate of the actuators per speed in the worst direction |
| manipulability | `s_1 s_2 ... s_dof = sqrt(det(J'^T J'))`, per its value at home |

The mean of the conditioning over a workspace is the global conditioning index.

Stiffness is that of the softest and the stiffest direction at every pose, from the elastic part
K = J^T diag(k) J of `twin.analysis.stiffness`, without the parts from loads. Its blocks are
translations with the attitude fixed, and rotations about the reference point with its position
fixed. For machines with three degrees of freedom, K is taken over unit rates of height and of the
rotation of the platform's normal about the base's x and y axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.region import Region, volume_nodes
from twin.analysis.workspace.search import (
    Admissible,
    Chart,
    circle,
    jacobians,
    search,
    singular_distance,
    square,
)
from twin.basics.arrays import FloatArray, as_pose, one_or_each
from twin.errors import InputError
from twin.model.machine_base import null_space
from twin.model.machine_model import MachineModel, as_model

PILLAR_AXES = [2, 3, 4]
"""Twist entries that a machine on pillars can choose: height, and turning about x and y."""

MAP_POINTS = 101
"""Points per axis of a map."""

BOUNDARY_RAYS = 360
"""Rays in the plane of a map that find the workspace's boundary."""

MAP_SCALE = 1.06
"""Size of a map, relative to that of the workspace in it."""


class Dexterity(NamedTuple):
    """Measures at poses `(...)`; NaN where the machine has no Jacobian."""

    conditioning: FloatArray
    """smallest over largest singular value [1]"""
    smallest: FloatArray
    """smallest singular value: 1 for lengths, [rad/m] for cranks"""
    manipulability: FloatArray
    """product of the singular values, per that at home [1]"""


class Conditioning(NamedTuple):
    """Conditioning over a region."""

    mean: float
    """global conditioning index: mean over the volume [1]"""
    lowest: float
    """lowest conditioning [1] over all points of the mean"""
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
    home = singular_values(platform, as_model(platform).home[None])
    values = singular_values(platform, poses.reshape(-1, 7))
    with np.errstate(invalid="ignore", over="ignore"):
        volume = np.prod(values, axis=1) / np.prod(home)
        measures = (values[:, -1] / values[:, 0], values[:, -1], volume)
    return Dexterity(*(measure.reshape(shape) for measure in measures))


def conditioning_over(region: Region) -> Conditioning:
    """Return mean and extremes of the conditioning over a region."""
    poses, weights = volume_nodes(region)
    values = dexterity(region.chart.platform, poses)
    mean = (weights * values.conditioning).sum() / weights.sum()
    lowest, highest = values.conditioning.min(), values.conditioning.max()
    return Conditioning(float(mean), float(lowest), float(highest), float(values.smallest.min()))


def singular_values(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return singular values `(m, dof)`, the largest first; NaN where there is no Jacobian."""
    moment_scale = np.repeat([1.0, platform.joint_radius], 3)
    scaled_jacobians = jacobians(platform, poses) / moment_scale
    finite = np.isfinite(scaled_jacobians).all(axis=(1, 2))
    scaled_jacobians = scaled_jacobians[finite]
    if platform.dof < 6:
        scaled_jacobians = scaled_jacobians @ null_space(
            platform.constraints(poses[finite]) / moment_scale
        )
    singular_values = np.full((len(poses), platform.dof), np.nan)
    if len(scaled_jacobians):
        singular_values[finite] = np.linalg.svd(scaled_jacobians, compute_uv=False)
    return singular_values


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
    """Return the actuator stiffness: that of the machine's springs, else the given one, else 1.

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
    return LegStiffness(one_or_each(stiffness, "stiffness", n), "given")


def stiffness_range(platform: MachineModel, pose: Any, stiffness: Any = None) -> StiffnessRange:
    """Return the extreme stiffnesses of poses `(..., 7)`; NaN where there is no Jacobian.

    Raises:
        InputError: wrong shapes, not finite, or as for `leg_stiffness`.
    """
    poses = as_pose(pose)
    shape = poses.shape[:-1]
    poses = poses.reshape(-1, 7)
    extremes = np.full((4, len(poses)), np.nan)
    jacobian_rows = jacobians(platform, poses)
    finite = np.isfinite(jacobian_rows).all(axis=(1, 2))
    jacobian_rows, translations = jacobian_rows[finite], 3
    if platform.dof < 6:
        jacobian_rows, translations = jacobian_rows @ _chosen_twists(platform, poses[finite]), 1
    leg_stiffnesses = leg_stiffness(platform, stiffness).values
    matrices = np.einsum("kia,i,kib->kab", jacobian_rows, leg_stiffnesses, jacobian_rows)
    if len(matrices):
        translation = np.linalg.eigvalsh(matrices[:, :translations, :translations])
        rotation = np.linalg.eigvalsh(matrices[:, translations:, translations:])
        eigenvalue_ends = (translation[:, 0], translation[:, -1], rotation[:, 0], rotation[:, -1])
        extremes[:, finite] = eigenvalue_ends
    return StiffnessRange(*(row.reshape(shape) for row in extremes))


def stiffness_over(region: Region, stiffness: Any = None) -> StiffnessRange:
    """Return the extremes over a region: lowest for the softest, highest for the stiffest.

    Raises:
        InputError: as for `leg_stiffness`.
    """
    over_region = stiffness_range(region.chart.platform, volume_nodes(region)[0], stiffness)
    extremes = (
        np.nanmin(values) if name.startswith("softest") else np.nanmax(values)
        for name, values in over_region._asdict().items()
    )
    return StiffnessRange(*(np.asarray(value) for value in extremes))


def _chosen_twists(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return the twists `(m, 6, 3)` per unit rate of the free coordinates of pillars."""
    twists = platform.constrain(poses[:, None], np.eye(6)[PILLAR_AXES]).twist
    return np.swapaxes(twists, 1, 2)


class PlaneMap(NamedTuple):
    """Quantities over two axes of a chart; NaN outside the workspace."""

    chart: Chart
    x: FloatArray
    """`(k,)` values of the first axis from the centre [m] or [rad]"""
    y: FloatArray
    """`(k,)` values of the second axis"""
    dexterity: Dexterity
    """fields `(k, k)`, rows along y"""
    stiffness: StiffnessRange
    """fields `(k, k)`"""
    boundary: FloatArray
    """`(m, 2)` closed curve where rays from the centre first leave"""
    singular: FloatArray
    """`(m, 2)` first singular poses along the same rays, limits aside; NaN where there is none"""


def plane_map(
    platform: MachineModel,
    axes: Sequence[str],
    center: Any = None,
    *,
    stiffness: Any = None,
    points: int = MAP_POINTS,
) -> PlaneMap:
    """Return the map over two axes about a pose (default home).

    Args:
        platform: the machine.
        axes: two names, see `Chart.about`; for places ("x", "z"), for attitudes ("pitch", "roll").
        center: pose `(7,)`, default home.
        stiffness: of the actuators, see `leg_stiffness`.
        points: per axis.

    Raises:
        InputError: not two axes, a centre outside the workspace, or as for `leg_stiffness`.
    """
    chart = Chart.about(platform, axes, center)
    if len(chart.axes) != 2:
        raise InputError("axes", "must be two")
    circle_directions = circle(BOUNDARY_RAYS)
    rays = search(chart, circle_directions)
    boundary_points = circle_directions[rays.ray] * rays.stop[:, None] * chart.scale
    low, high = boundary_points.min(axis=0), boundary_points.max(axis=0)
    middle, half_size = 0.5 * (low + high), 0.5 * MAP_SCALE * (high - low)
    x, y = (np.linspace(m - h, m + h, points) for m, h in zip(middle, half_size, strict=True))
    poses = chart.poses(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
    is_inside = Admissible(platform, chart.center).inside(poses)

    def field(values: FloatArray) -> FloatArray:
        grid_values = np.full(len(poses), np.nan)
        grid_values[is_inside] = values
        return grid_values.reshape(points, points)

    kinematics = dexterity(platform, poses[is_inside])
    stiffnesses = stiffness_range(platform, poses[is_inside], stiffness)
    closed = np.r_[np.arange(BOUNDARY_RAYS), 0]
    boundary = (circle_directions * rays.exits[:, None] * chart.scale)[closed]
    singular_radii = np.full(BOUNDARY_RAYS, np.nan)
    if square(platform):
        radii = singular_distance(chart, circle_directions)
        singular_radii = np.where(np.isfinite(radii), radii, np.nan)
    singular = (circle_directions * singular_radii[:, None] * chart.scale)[closed]
    return PlaneMap(
        chart,
        x,
        y,
        Dexterity(*(field(part) for part in kinematics)),
        StiffnessRange(*(field(part) for part in stiffnesses)),
        boundary,
        singular,
    )
