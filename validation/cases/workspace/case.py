"""Workspace.

Rays from home find where the machine leaves its workspace and integrate its volume. Straight legs
have a closed form that uses no kinematics of the platform: shells about shifted base joints; random
points in them give the same volume and mean conditioning. Pillars have one too: the shares of the
stroke add up to one. Machines that look the same after a third of a turn have a workspace that
does. Condition number and stiffness are held against differences of the inverse kinematics, the
reachable set against a random walk through all poses.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.analysis.stiffness.matrix import characteristic_scale
from twin.analysis.workspace.chart import Chart, own_axes
from twin.analysis.workspace.closed_forms import third_turn
from twin.analysis.workspace.dexterity import (
    conditioning_over,
    dexterity,
    leg_stiffness,
    stiffness_range,
)
from twin.analysis.workspace.motion_ranges import AxisRange, motion_ranges
from twin.analysis.workspace.region import Region, region, stretches_along
from twin.analysis.workspace.search.free_rays import wander
from twin.analysis.workspace.search.rays import search, singular_distance, sphere
from twin.model.integrate import integrate
from twin.rotations import displaced
from twin.validation.case import Case
from twin.validation.cases.general.free_fall import singular_time
from twin.validation.cases.workspace.closed_forms import EDGE, plate_measures, shell_measures
from twin.validation.measures.metrics import largest
from twin.validation.results import CaseResult, Curve, Entry, Measure, Panel, Plot, Quantity

SAME = "its joints and lengths are those of stewart"

CASE = Case(
    "workspace",
    __doc__,
    condition=lambda platform: SAME if platform.name == "compliant_stewart" else "",
    cost=3.0,
)

LEVELS = (8, 16, 32)
"""128, 512 and 2048 rays."""

SEED = 7
"""Of the walk that looks for places outside; the search begins at others."""

DROP_TIME = 0.52
"""[s] srspm's free fall passes the plane of its base before."""

WALKED = 40
"""Poses of the walk that are farthest out, which the reachable set must contain."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    chart = Chart.about(platform, own_axes(platform)[:3])
    found = region(chart, LEVELS)
    ranges = motion_ranges(platform)
    measures = [
        *_figures(platform, found, ranges),
        *(shell_measures(platform, found) if platform.leg.is_straight else ()),
        *(plate_measures(platform, found, ranges) if platform.leg.has_foot else ()),
        *_symmetry(platform),
        *_differences(platform, found),
        *(_reached(platform) if platform.dof == 6 else ()),
        *(_fall(platform) if platform.name == "srspm" else ()),
    ]
    return CASE.result(platform, measures, [_convergence(found)])


def _figures(platform: Platform, found: Region, ranges: tuple[AxisRange, ...]) -> Iterator[Entry]:
    unit = "m3" if platform.dof == 6 else "m rad2"
    note = f"to {100 * found.uncertainty:.2g} %, {found.counts[-1]} rays"
    name = "constant-orientation workspace" if platform.dof == 6 else "workspace, z roll pitch"
    yield Quantity(name, found.volume, note=note, unit=unit)
    over = conditioning_over(found)
    yield Quantity("global conditioning index", over.mean, note="mean of 1/condition number")
    for one in ranges:
        ends = ", ".join(f"{value:.4g}" for value in one.alone)
        yield Quantity(
            f"range of {one.axis}, others free",
            one.free[1] - one.free[0],
            note=f"others held: {ends} {one.unit}",
            unit=one.unit,
        )


def _symmetry(platform: Platform) -> Iterator[Entry]:
    if platform.dof < 6 or not third_turn(platform):
        return
    # 24 directions about the axis: the same ones after a third of a turn.
    rays = search(Chart.about(platform, ("x", "y", "z")), sphere(12)[0])
    radii = rays.exits.reshape(12, 24)
    off = largest(radii - np.roll(radii, 8, axis=1))
    yield Measure("workspace after a third of a turn", off, EDGE, "bisection and rounding")


def _differences(platform: Platform, found: Region) -> Iterator[Entry]:
    """Compare condition number and stiffness with differences of the inverse kinematics."""
    scale = characteristic_scale(platform)
    poses = found.chart.poses(0.3 * found.surface[::200])
    step = 1e-3
    slopes = []
    for factor in (1.0, 0.5):
        moves = step * factor * np.diag(scale)
        if platform.dof < 6:
            moves = moves[[2, 3, 4]]
        ahead, behind = (
            platform.inverse_kinematics(
                platform.constrain(displaced(poses[:, None], sign * moves)).pose
            )
            for sign in (1.0, -1.0)
        )
        slopes.append((ahead - behind) / (2.0 * step * factor * scale[0]))
    # [pose, displacement, leg], displacements at the platform's radius
    rates = np.swapaxes((4.0 * slopes[1] - slopes[0]) / 3.0, 1, 2)
    if platform.dof == 6:
        values = np.linalg.svd(rates, compute_uv=False)
        ratio = values[:, -1] / values[:, 0] / dexterity(platform, poses).conditioning
        reason = "fourth order of steps of 1e-3"
        off = largest(ratio - 1.0)
        yield Measure("conditioning against differences", off, 1e-9, reason)
    legs = leg_stiffness(platform).values
    count = 3 if platform.dof == 6 else 1
    matrices = np.einsum("kia,i,kib->kab", rates, legs, rates)
    softest = np.linalg.eigvalsh(matrices[:, :count, :count])[:, 0]
    turning = np.linalg.eigvalsh(matrices[:, count:, count:])[:, 0] * scale[0] ** 2
    ours = stiffness_range(platform, poses)
    for name, theirs, mine in (
        ("translation", softest, ours.softest_translation),
        ("rotation", turning, ours.softest_rotation),
    ):
        off = largest(theirs / mine - 1.0)
        reason = "fourth order of steps of 1e-3, twice in a stiffness"
        yield Measure(f"softest {name} against differences", off, 1e-8, reason)


def _reached(platform: Platform) -> Iterator[Entry]:
    """Look for poses of a random walk outside the reachable set; the walk knows no rays."""
    axes = ("x", "y", "z", "angle_x", "angle_y", "angle_z")
    chart = Chart.about(platform, axes, convention="rotation_vector")
    places = wander(chart, SEED)[:, :3] * chart.scale[0]
    radii = np.linalg.norm(places, axis=1)
    farthest = np.argsort(-radii)[:WALKED]
    found = stretches_along(platform, places[farthest] / radii[farthest, None])
    short = radii[farthest] / found.far - 1.0
    tolerance, reason = 1e-6, "negative: inside; the search ends within 1e-8 of the limits"
    yield Measure("farthest walked places beyond the reachable set", short.max(), tolerance, reason)


def _fall(platform: Platform) -> Iterator[Entry]:
    """Compare the singular pose below home with the one that the free fall passes."""
    fall = integrate(platform, DROP_TIME)
    crossing = singular_time(platform, fall)
    assert crossing is not None
    dropped = platform.home[2] - fall(crossing)[0][2]
    chart = Chart.about(platform, ("x", "y", "z"))
    below = singular_distance(chart, np.array([[0.0, 0.0, -1.0]]))[0] * chart.scale[0]
    yield Measure(
        f"singular pose straight below home, less that of the fall at {crossing:.4f} s",
        abs(below - dropped),
        2e-3,
        "the falling platform is no longer level, and meets it a little above the base's plane",
        unit="m",
    )
    scaled = float(dexterity(platform, fall(crossing)[0]).smallest)
    yield Measure(
        "smallest singular value at the singular pose of the fall",
        scaled,
        1e-9,
        "time known to 1e-12 s",
    )


def _convergence(found: Region) -> Plot:
    counts = np.array(found.counts, dtype=float)
    panel = Panel(
        "volume / that of most rays",
        Curve("volume", counts, found.volumes / found.volume, "line+markers"),
    )
    return Plot("Volume over the number of rays", "rays", panel, log_x=True)
