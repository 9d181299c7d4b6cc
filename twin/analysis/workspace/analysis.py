"""The whole workspace analysis of one machine."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import square
from twin.analysis.workspace.chart import MAX_ANGLE, Chart, dof_axes
from twin.analysis.workspace.dexterity import (
    Conditioning,
    Dexterity,
    LegStiffness,
    PlaneMap,
    StiffnessRange,
    conditioning_over,
    dexterity,
    leg_stiffness,
    plane_map,
    stiffness_over,
    stiffness_range,
)
from twin.analysis.workspace.region import RAY_LEVELS, AxisRange, Region, motion_ranges, region
from twin.analysis.workspace.search import singular_distance, sphere
from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel, as_model

SINGULAR_LEVEL = 24
"""Heights of directions of the search for the closest singular pose."""

CONE_HALVINGS = 14
"""Number of times that the cone about the best direction is halved."""

DIRECTION_STRIDE = 19
"""Stride through the directions that are tried in each cone: every 19th of them."""


class SingularDistance(NamedTuple):
    """The closest singular poses from the centre, the actuators' limits aside; None if none."""

    translation: float | None
    """distance [m] with the attitude fixed"""
    direction: FloatArray | None
    """`(3,)` unit vector there"""
    rotation: float | None
    """angle [rad] with the position fixed"""
    axis: FloatArray | None
    """`(3,)` unit vector to turn about"""


class Workspace(NamedTuple):
    """Results of the analysis about one pose, the `center`."""

    platform: MachineModel
    center: FloatArray
    """pose `(7,)` about which the workspace is analysed"""
    ranges: tuple[AxisRange, ...]
    region: Region
    """constant-orientation workspace over x, y, z; on pillars the whole one over z, roll, pitch"""
    attitudes: Region | None
    """workspace over yaw, pitch and roll with the position fixed; None on pillars"""
    dexterity: Dexterity
    """at the centre"""
    conditioning: Conditioning
    """conditioning over the region"""
    singular: SingularDistance
    legs: LegStiffness
    stiffness: StiffnessRange
    """at the centre"""
    softest: StiffnessRange
    """lowest over the region for the softest, highest for the stiffest direction"""
    maps: tuple[PlaneMap, ...]
    """maps over pairs of x, y and z; on pillars of z, roll and pitch"""
    attitude_maps: tuple[PlaneMap, ...]
    """maps over pairs of yaw, pitch and roll; empty on pillars"""


def workspace_analysis(
    platform: MachineModel,
    center: Any = None,
    *,
    stiffness: Any = None,
    levels: tuple[int, ...] = RAY_LEVELS,
) -> Workspace:
    """Return the workspace analysis of a machine about a pose.

    Args:
        platform: the machine.
        center: pose `(7,)` inside the limits, default home.
        stiffness: of the actuators, see `leg_stiffness`.
        levels: heights of directions for the volumes, see `region`.

    Raises:
        InputError: not a machine, a centre outside the workspace, or a stiffness that does not fit.
    """
    has_six_dof = as_model(platform).dof == 6
    axes = dof_axes(platform)
    legs = leg_stiffness(platform, stiffness)
    given_stiffness = legs.values if legs.source == "given" else None
    chart = Chart.about(platform, axes[:3], center)
    positions = region(chart, levels)
    attitudes = region(Chart.about(platform, axes[3:], center), levels[:2]) if has_six_dof else None
    maps, attitude_maps = (
        tuple(
            plane_map(platform, pair, center, stiffness=given_stiffness)
            for pair in combinations(names, 2)
        )
        for names in (axes[:3], axes[3:])
    )
    return Workspace(
        platform=platform,
        center=chart.center,
        ranges=motion_ranges(platform, center),
        region=positions,
        attitudes=attitudes,
        dexterity=dexterity(platform, chart.center),
        conditioning=conditioning_over(positions),
        singular=closest_singular(platform, center),
        legs=legs,
        stiffness=stiffness_range(platform, chart.center, given_stiffness),
        softest=stiffness_over(positions, given_stiffness),
        maps=maps,
        attitude_maps=attitude_maps,
    )


def closest_singular(platform: MachineModel, center: Any = None) -> SingularDistance:
    """Return the closest singular poses by pure translation and by pure rotation.

    Raises:
        InputError: not a machine, or a singular centre.
    """
    if not square(as_model(platform)):
        return SingularDistance(None, None, None, None)
    candidates: list[Any] = []
    directions, _ = sphere(SINGULAR_LEVEL)
    for axes, convention, max_radius in (
        (("x", "y", "z"), None, None),
        (("angle_x", "angle_y", "angle_z"), "rotation_vector", 2.0 * MAX_ANGLE),
    ):
        chart = Chart.about(platform, axes, center, convention)
        radii = singular_distance(chart, directions, max_radius)
        radius, best_direction = float(radii.min()), directions[int(radii.argmin())]
        if not np.isfinite(radius):
            candidates += [None, None]
            continue
        cone = np.pi / SINGULAR_LEVEL
        for _ in range(CONE_HALVINGS):
            cone_directions = best_direction + cone * directions[::DIRECTION_STRIDE]
            cone_directions /= np.linalg.norm(cone_directions, axis=1, keepdims=True)
            # Rays need to be only slightly longer than the shortest distance so far.
            radii = singular_distance(chart, cone_directions, 1.01 * radius)
            if radii.min() < radius:
                radius, best_direction = float(radii.min()), cone_directions[int(radii.argmin())]
            cone *= 0.5
        candidates += [radius * float(chart.scale[0]), best_direction]
    return SingularDistance(*candidates)
