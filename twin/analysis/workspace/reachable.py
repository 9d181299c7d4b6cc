"""Reachable set: positions that the reference point reaches with some attitude.

Along every ray from the centre the attitude is chosen so that the platform gets as far as it can
(`search.barrier`): everything up to `near` is reached. The set need not be seen whole from the
centre: a platform with its reference point high above the joints reaches, by tilting, places behind
ones that it does not reach. Poses of a random walk through the workspace (`search.walk`) close to a
ray start searches for such a second stretch, from `behind` to `far`. Further stretches of
a ray count as the second.

The attitude that carries farthest is one of several local optima. Every ray therefore starts from
poses of the walk as well, and tries the attitudes of rays beside it. What is still missed is
measured in docs/workspace.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import BoolArray
from twin.analysis.workspace.chart import Chart
from twin.analysis.workspace.search.free_rays import (
    FreeRays,
    neighbour_starts,
    scattered_starts,
    walked_starts,
    wander,
)
from twin.analysis.workspace.search.rays import sphere
from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.rotations import angle_between

LEVELS = (10, 20)
"""Heights of directions: 200 and 800 rays."""

AXES = ("x", "y", "z", "angle_x", "angle_y", "angle_z")

ROUNDS = 4
"""How often rays learn from those beside them."""


class Stretches(NamedTuple):
    """Reach of rays `(m,)` with free attitude [m]: up to `near`, and from `behind` to `far`."""

    near: FloatArray
    behind: FloatArray
    """equal to `near` where nothing is hidden"""
    far: FloatArray
    poses: FloatArray
    """`(m, 7)` at the far end"""
    blocked: BoolArray
    """whether a singular pose ended the search: the set may go on behind it"""


class ReachableSet(NamedTuple):
    """Reachable set, found by rays with free attitude."""

    center: FloatArray
    """`(7,)`"""
    directions: FloatArray
    """`(m, 3)` unit vectors of the finest level"""
    stretches: Stretches
    turns: FloatArray
    """`(m,)` [rad] between the attitude at the far end and at the centre"""
    counts: tuple[int, ...]
    volumes: FloatArray
    """per level [m^3]"""
    hidden: float
    """volume [m^3] that is not seen from the centre"""

    @property
    def volume(self) -> float:
        """Volume [m^3] of the finest level."""
        return float(self.volumes[-1])

    @property
    def uncertainty(self) -> float:
        """Change of the volume between the last two levels, per volume."""
        return float(abs(self.volumes[-1] - self.volumes[-2]) / self.volumes[-1])


def reachable_set(
    platform: MachineModel, center: Any = None, levels: tuple[int, ...] = LEVELS
) -> ReachableSet:
    """Return the positions reached with some attitude, seen from a pose (default home).

    Raises:
        InputError: a machine with fewer than six degrees of freedom, a centre not inside its
            limits, or levels that are not two growing numbers or more.
    """
    if len(levels) < 2 or list(levels) != sorted(set(levels)) or levels[0] < 2:
        raise InputError("levels", "must be two growing numbers or more, from 2 on")
    chart = _chart(platform, center)
    places = wander(chart)
    volumes, counts = [], []
    for level in levels:
        directions, weights = sphere(level)
        found = _stretches(chart, directions, places)
        seen = float((weights * found.near**3).sum() / 3.0)
        whole = seen + float((weights * (found.far**3 - found.behind**3)).sum() / 3.0)
        volumes.append(whole)
        counts.append(len(directions))
    return ReachableSet(
        chart.center,
        directions,
        found,
        angle_between(found.poses[:, 3:], chart.center[3:]),
        tuple(counts),
        np.array(volumes),
        whole - seen,
    )


def stretches_along(platform: MachineModel, directions: Any, center: Any = None) -> Stretches:
    """Return what rays along unit vectors `(m, 3)` from a pose (default home) reach.

    Raises:
        InputError: as for `reachable_set`, or directions of another shape.
    """
    chart = _chart(platform, center)
    return _stretches(chart, as_floats(directions, "directions", 3), wander(chart))


def _chart(platform: MachineModel, center: Any) -> Chart:
    if as_model(platform).dof < 6:
        raise InputError(
            "platform",
            f"{platform.name} does not choose its place and attitude independently; its whole "
            "workspace is the region over z, roll and pitch",
        )
    return Chart.about(platform, AXES, center, "rotation_vector")


def _stretches(chart: Chart, directions: FloatArray, places: FloatArray) -> Stretches:
    rays = FreeRays(chart, directions)
    rays.extend(*walked_starts(rays, places))
    rays.extend(*scattered_starts(rays, places))
    for _ in range(ROUNDS):
        ray, start = neighbour_starts(rays)
        if not ray.size:
            break
        rays.extend(ray, start, start)
    scale = float(chart.scale[0])
    behind = np.maximum(rays.behind, rays.near)
    return Stretches(scale * rays.near, scale * behind, scale * rays.far, rays.poses, rays.blocked)
