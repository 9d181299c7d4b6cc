"""Feasible ranges and the workspace."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.feasibility.feasibility import feasibility, range_feasibility
from twin.analysis.machine_summary import axis_ranges
from twin.analysis.platform import Platform
from twin.analysis.stiffness import characteristic_scale
from twin.analysis.workspace.dexterity import (
    conditioning_over,
    dexterity,
    leg_stiffness,
    stiffness_range,
)
from twin.analysis.workspace.region import AxisRange, Region, motion_ranges, region
from twin.analysis.workspace.search import (
    Admissible,
    Cause,
    Chart,
    actuator_coordinates,
    bounding_box,
    dof_axes,
    plane_exits,
    search,
    shell_centers,
    shell_exits,
    singular_distance,
    sphere,
    square,
    third_turn,
    within_shells,
)
from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.model.integrate import integrate
from twin.model.machine_base import without_compiling
from twin.papers.driving_simulator.kinematics import ExactKinematics, PlateModel
from twin.papers.driving_simulator.studies import exact_ranges, stroke_fractions
from twin.rotations import displaced
from twin.validation.case import CaseResult, Entry, Measure, validation_case
from twin.validation.cases.general.motions import singular_time
from twin.validation.measures.sampling import largest

MAX_LIMIT_FRACTION = 1.0 + 1e-9
"""Largest fraction of a limit that may be used: all of it, and rounding."""

RANGE_FRACTION = 0.5
"""Fraction of each range, from home to its ends, within which the machine is judged."""


@validation_case(run_time=0.5)
def check_feasibility(platform: Platform) -> CaseResult:
    """Feasibility at rest.

    The machine rests at home, and half way to both ends of each range that `twin info` prints. It
    has to keep the limits that its file gives: force or torque, angles of joints, distances of
    legs, singular poses. A machine that simulates well but cannot hold itself fails here. Limits
    that the file does not give are not judged, nor are the ends themselves: the stroke alone may
    let legs turn the platform beyond a singular pose.
    """
    with without_compiling():
        ranges = axis_ranges(platform)
    results = (
        feasibility(platform),
        range_feasibility(platform, ranges=ranges, fraction=RANGE_FRACTION),
    )
    measures = [
        Measure(
            f"{result.task}: {margin.quantity}, share of its limit",
            margin.share,
            MAX_LIMIT_FRACTION,
            margin.remedy or "the limit itself",
        )
        for result in results
        for margin in result.margins
    ]
    return check_feasibility.result(platform, measures)


RADIUS_TOLERANCE = 1e-9
"""Largest error of rays' radii, relative to the platform joints' radius: 44 halvings of a step
leave rounding of the limits (1e-12 of a length) times the obliqueness of the boundary."""

RANDOM_POINTS = 1 << 17
"""Number of random points for volumes; their relative error is one over the square root of the
points inside."""

MIN_POINTS = 200
"""Minimum number of points inside, of which a mean and its standard deviation are taken."""

BOX_MARGIN = 0.1
"""Margin about the box of the region, relative to the box's size."""

SAMPLING_SEED = 2016
"""Seed of the random points."""

MAX_DEVIATIONS = 4.0
"""Largest error in standard deviations."""

OBLIQUE_REASON = (
    "bisection and rounding of the limits, as changes of the limiting leg's length: a ray that "
    "grazes a shell ends elsewhere by more"
)

CHANCE_REASON = (
    "standard deviations of random points, and the change of rays between the last two levels; "
    "chance keeps to 4 in 16000 of 16001 draws"
)

SAME_MACHINE_REASON = "its joints and lengths are those of stewart"

RAY_LEVELS = (8, 16, 32)
"""Numbers of polar angles of the rays' directions per level: 128, 512 and 2048 rays in all."""

DROP_TIME = 0.52
"""[s] Duration of srspm's free fall; the platform passes the plane of its base before the end."""


def shell_measures(platform: Platform, region: Region) -> Iterator[Entry]:
    """Yield a constant-orientation workspace against shells about shifted base joints."""
    scale = float(region.chart.scale[0])
    directions = region.rays.directions
    exits = shell_exits(platform, platform.home, directions)
    exits = np.minimum(exits, plane_exits(platform, platform.home, directions))
    exit_error = region.rays.exits * scale - exits
    # A singular pose comes before the end of the shells, never behind it.
    exit_error = np.where(
        region.rays.causes == Cause.SINGULAR, np.maximum(exit_error, 0.0), exit_error
    )
    exit_error *= _obliqueness(platform, directions, exits)
    yield Measure(
        "ends of rays against shells", largest(exit_error) / scale, RADIUS_TOLERANCE, OBLIQUE_REASON
    )
    lower_corner, upper_corner, positions = _random_points_about(platform, region)
    poses = np.tile(platform.home, (RANDOM_POINTS, 1))
    poses[:, :3] = positions
    within_limits = within_shells(platform, platform.home, positions)
    admissible = Admissible(platform, platform.home)
    disagreement = admissible.within_limits(actuator_coordinates(platform, poses)) != within_limits
    yield Measure(
        f"places judged differently by shells and kinematics, of {RANDOM_POINTS}",
        disagreement.sum(),
        0.0,
        "only a place within rounding of the edge could be",
    )
    # Shells have a mirror image below the base, on the other side of its plane.
    within_limits[within_limits] = admissible.inside(poses[within_limits])
    yield _volume(
        region, within_limits.mean(), float(np.prod(upper_corner - lower_corner)), "shells"
    )
    values = dexterity(platform, poses[within_limits]).conditioning
    mean = conditioning_over(region).mean
    deviation = values.std() / np.sqrt(len(values)) + mean * region.uncertainty / MAX_DEVIATIONS
    yield Measure(
        "conditioning index against random places",
        abs(values.mean() - mean) / deviation,
        MAX_DEVIATIONS,
        CHANCE_REASON,
    )


def _obliqueness(platform: Platform, directions: FloatArray, exits: FloatArray) -> FloatArray:
    """Return the rates `(m,)` of the limiting leg's length along rays that end at shells.

    A length that is wrong by its rounding moves the end of a ray by that over the rate, and much
    where the ray grazes a shell. The rate is 1 where plates are level.
    """
    positions = platform.home[:3] + exits[:, None] * directions
    vectors = positions[:, None] - shell_centers(platform, platform.home)
    lengths = np.linalg.norm(vectors, axis=2)
    length_limits = (platform.minimum_coordinates, platform.maximum_coordinates)
    limit_distance = np.minimum(*(np.abs(lengths - limit) for limit in length_limits))
    limiting = limit_distance.argmin(axis=1)
    ray_indices = np.arange(len(exits))
    radial_rate = np.einsum("ki,ki->k", directions, vectors[ray_indices, limiting])
    at_shell = (
        limit_distance[ray_indices, limiting] <= RADIUS_TOLERANCE * lengths[ray_indices, limiting]
    )
    return np.where(at_shell, np.abs(radial_rate) / lengths[ray_indices, limiting], 1.0)


def _random_points_about(
    platform: Platform, region: Region
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a box `(3,)`, `(3,)` about a workspace and random points `(POINTS, 3)` in it [m].

    The box of the shells, unless hardly a point is in them or no determinant distinguishes their
    other aspects: then what the rays found, with a margin.
    """
    lower_corner, upper_corner = bounding_box(platform, platform.home)
    positions = _random_points(lower_corner, upper_corner)
    if square(platform) and within_shells(platform, platform.home, positions).sum() >= MIN_POINTS:
        return lower_corner, upper_corner, positions
    low, high = region.extremes
    margin = BOX_MARGIN * (high - low)
    lower_corner = np.maximum(lower_corner, platform.home[:3] + low - margin)
    upper_corner = np.minimum(upper_corner, platform.home[:3] + high + margin)
    return lower_corner, upper_corner, _random_points(lower_corner, upper_corner)


def _random_points(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return random points `(RANDOM_POINTS, 3)` in a box."""
    return np.random.default_rng(SAMPLING_SEED).uniform(low, high, (RANDOM_POINTS, 3))


def plate_measures(
    platform: Platform, region: Region, ranges: tuple[AxisRange, ...]
) -> Iterator[Entry]:
    """Yield the workspace of a machine on pillars against the plate's closed forms.

    Nothing where it is no such plate: not four equal pillars below a centred rectangle.
    """
    try:
        plate = PlateModel.from_parameters(platform.parameters)
    except InputError:
        return
    exact = exact_ranges(plate)
    for axis_range in ranges:
        expected = getattr(exact, "heave" if axis_range.axis == "z" else axis_range.axis)
        yield Measure(
            f"{axis_range.axis}, others held: against the closed form",
            abs(axis_range.span[1] - expected),
            RADIUS_TOLERANCE,
            f"of {expected:.6g}; bisection",
            axis_range.unit,
        )
    model = ExactKinematics(plate)
    home = np.array([plate.home_length, 0.0, 0.0])
    # Axes of the chart are z, roll and pitch, the plate's own.
    fractions = stroke_fractions(model, home + region.surface).sum(axis=1)
    yield Measure(
        "shares of the stroke at the ends of rays, sum less 1",
        largest(fractions - 1.0),
        RADIUS_TOLERANCE,
        "bisection and rounding",
    )
    lower_corner, upper_corner = (1.02 * extreme for extreme in region.extremes)
    positions = _random_points(lower_corner, upper_corner)
    inside = stroke_fractions(model, home + positions).sum(axis=1) <= 1.0
    yield _volume(
        region, inside.mean(), float(np.prod(upper_corner - lower_corner)), "the closed form"
    )


def _volume(region: Region, fraction: float, box: float, region_name: str) -> Measure:
    """Compare the volume of rays with that of random points; both have a statistical error."""
    deviation = box * np.sqrt(fraction * (1.0 - fraction) / RANDOM_POINTS)
    deviation += region.uncertainty * region.volume / MAX_DEVIATIONS
    return Measure(
        f"volume of rays against random points in {region_name}",
        abs(region.volume - box * fraction) / deviation,
        MAX_DEVIATIONS,
        CHANCE_REASON,
    )


@validation_case(
    condition=lambda platform: SAME_MACHINE_REASON if platform.name == "compliant_stewart" else "",
    run_time=3.0,
)
def check_workspace(platform: Platform) -> CaseResult:
    """Workspace.

    Rays from home find where the machine leaves its workspace and integrate its volume. Straight
    legs have a closed form that uses no kinematics of the platform: shells about shifted base
    joints; random points in them give the same volume and mean conditioning. Pillars have one too:
    the shares of the stroke add up to one. Machines that look the same after a third of a turn have
    a workspace that does. Condition number and stiffness are compared with differences of the
    inverse kinematics.
    """
    inside = region(Chart.about(platform, dof_axes(platform)[:3]), RAY_LEVELS)
    ranges = motion_ranges(platform)
    straight = platform.leg.is_straight and platform.dof == 6
    measures = [
        *(shell_measures(platform, inside) if straight else ()),
        *(plate_measures(platform, inside, ranges) if platform.leg.has_foot else ()),
        *_symmetry(platform),
        *_differences(platform, inside),
        *(_fall(platform) if platform.name == "srspm" else ()),
    ]
    return check_workspace.result(platform, measures)


def _symmetry(platform: Platform) -> Iterator[Entry]:
    if platform.dof < 6 or not third_turn(platform):
        return
    # 24 directions about the axis: the same ones after a third of a turn.
    rays = search(Chart.about(platform, ("x", "y", "z")), sphere(12)[0])
    radii = rays.exits.reshape(12, 24)
    yield Measure(
        "workspace after a third of a turn",
        largest(radii - np.roll(radii, 8, axis=1)),
        RADIUS_TOLERANCE,
        "bisection and rounding",
    )


def _differences(platform: Platform, region: Region) -> Iterator[Entry]:
    """Compare condition number and stiffness with differences of the inverse kinematics."""
    scale = characteristic_scale(platform)
    poses = region.chart.poses(0.3 * region.surface[::200])
    step = 1e-3
    length_rates = []
    for factor in (1.0, 0.5):
        offsets = step * factor * np.diag(scale)
        if platform.dof < 6:
            offsets = offsets[[2, 3, 4]]
        forward_lengths, backward_lengths = (
            platform.inverse_kinematics(
                platform.constrain(displaced(poses[:, None], sign * offsets)).pose
            )
            for sign in (1.0, -1.0)
        )
        length_rates.append((forward_lengths - backward_lengths) / (2.0 * step * factor * scale[0]))
    # Richardson extrapolation of both step sizes removes the error of second order.
    # Indices are pose, leg and displacement; displacements are those at the platform's radius.
    rates = np.swapaxes((4.0 * length_rates[1] - length_rates[0]) / 3.0, 1, 2)
    if platform.dof == 6:
        values = np.linalg.svd(rates, compute_uv=False)
        # Singular values are in decreasing order: smallest over largest.
        conditioning_ratio = values[:, -1] / values[:, 0] / dexterity(platform, poses).conditioning
        yield Measure(
            "conditioning against differences",
            largest(conditioning_ratio - 1.0),
            1e-9,
            "fourth order of steps of 1e-3",
        )
    legs = leg_stiffness(platform).values
    count = 3 if platform.dof == 6 else 1
    matrices = np.einsum("kia,i,kib->kab", rates, legs, rates)
    softest_translation = np.linalg.eigvalsh(matrices[:, :count, :count])[:, 0]
    softest_rotation = np.linalg.eigvalsh(matrices[:, count:, count:])[:, 0] * scale[0] ** 2
    stiffness = stiffness_range(platform, poses)
    for name, differenced, computed in (
        ("translation", softest_translation, stiffness.softest_translation),
        ("rotation", softest_rotation, stiffness.softest_rotation),
    ):
        yield Measure(
            f"softest {name} against differences",
            largest(differenced / computed - 1.0),
            1e-8,
            "fourth order of steps of 1e-3, twice in a stiffness",
        )


def _fall(platform: Platform) -> Iterator[Entry]:
    """Compare the singular pose below home with the one that the free fall passes."""
    fall = integrate(platform, DROP_TIME)
    crossing = singular_time(platform, fall)
    assert crossing is not None
    fall_height = platform.home[2] - fall(crossing)[0][2]
    chart = Chart.about(platform, ("x", "y", "z"))
    singular_depth = singular_distance(chart, np.array([[0.0, 0.0, -1.0]]))[0] * chart.scale[0]
    yield Measure(
        f"singular pose straight below home, less that of the fall at {crossing:.4f} s",
        abs(singular_depth - fall_height),
        2e-3,
        "the falling platform is no longer level, and meets it a little above the base's plane",
        "m",
    )
    yield Measure(
        "smallest singular value at the singular pose of the fall",
        float(dexterity(platform, fall(crossing)[0]).smallest),
        1e-9,
        "time known to 1e-12 s",
    )
