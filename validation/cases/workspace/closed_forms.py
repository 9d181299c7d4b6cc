"""Workspaces in closed form: shells of straight legs, shares of the stroke of pillars."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.analysis.workspace.admissible import Admissible, Cause, coordinates, square
from twin.analysis.workspace.closed_forms import (
    bounding_box,
    plane_exits,
    shell_centers,
    shell_exits,
    within_shells,
)
from twin.analysis.workspace.dexterity import conditioning_over, dexterity
from twin.analysis.workspace.motion_ranges import AxisRange
from twin.analysis.workspace.region import Region
from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.papers.driving_simulator.closed_forms import ExactKinematics
from twin.papers.driving_simulator.plate import PlateModel
from twin.papers.driving_simulator.studies.motion_ranges import (
    exact_ranges,
    exact_ranges_at_best_heave,
    small_angle_ranges,
    stroke_shares,
)
from twin.validation.measures.metrics import largest
from twin.validation.results import Entry, Measure, Quantity

EDGE = 1e-9
"""Radii of rays per the platform joints' radius: 44 halvings of a step leave rounding of the limits
(1e-12 of a length) times the obliqueness of the boundary."""

POINTS = 1 << 17
"""Random points for volumes; their error is 1/sqrt of those inside."""

FEWEST = 200
"""Points inside, of which a mean and its spread are taken."""

MARGIN = 0.1
"""About the box of the region, per its size."""

SEED = 2016

SIGMAS = 4.0

OBLIQUE = (
    "bisection and rounding of the limits, as changes of the limiting leg's length: a ray that "
    "grazes a shell ends elsewhere by more"
)

CHANCE = (
    "standard deviations of random points, and the change of rays between the last two levels; "
    "chance keeps to 4 in 16000 of 16001 draws"
)

FREE = 1e-7
"""[m], [rad]: the search with others free ends at mu = 1e-9 per limit, 14 of which may act."""


def shell_measures(platform: Platform, found: Region) -> Iterator[Entry]:
    """Yield a constant-orientation workspace against shells about shifted base joints."""
    scale = float(found.chart.scale[0])
    directions = found.rays.directions
    exits = shell_exits(platform, platform.home, directions)
    exits = np.minimum(exits, plane_exits(platform, platform.home, directions))
    early = found.rays.exits * scale - exits
    # A singular pose comes before the end of the shells, never behind it.
    early = np.where(found.rays.causes == Cause.SINGULAR, np.maximum(early, 0.0), early)
    early *= _obliqueness(platform, directions, exits)
    off = float(np.abs(early).max() / scale)
    yield Measure("ends of rays against shells", off, EDGE, OBLIQUE)
    low, high, places = _places(platform, found)
    poses = np.tile(platform.home, (POINTS, 1))
    poses[:, :3] = places
    inside = within_shells(platform, platform.home, places)
    admissible = Admissible(platform, platform.home)
    wrong = admissible.within(coordinates(platform, poses)) != inside
    yield Measure(
        f"places judged differently by shells and kinematics, of {POINTS}",
        wrong.sum(),
        0.0,
        "only a place within rounding of the edge could be",
    )
    # Shells have a mirror image below the base, on the other side of its plane.
    inside[inside] = admissible.inside(poses[inside])
    yield _volume(found, inside.mean(), float(np.prod(high - low)), "shells")
    values = dexterity(platform, poses[inside]).conditioning
    mean = conditioning_over(found).mean
    spread = values.std() / np.sqrt(len(values)) + mean * found.uncertainty / SIGMAS
    off = float(abs(values.mean() - mean) / spread)
    yield Measure("conditioning index against random places", off, SIGMAS, CHANCE)


def _obliqueness(platform: Platform, directions: FloatArray, exits: FloatArray) -> FloatArray:
    """Return the rates `(m,)` of the limiting leg's length along rays that end at shells.

    A length that is wrong by its rounding moves the end of a ray by that over the rate, and much
    where the ray grazes a shell. The rate is 1 where plates are level.
    """
    places = platform.home[:3] + exits[:, None] * directions
    vectors = places[:, None] - shell_centers(platform, platform.home)
    lengths = np.linalg.norm(vectors, axis=2)
    ends = (platform.minimum_coordinates, platform.maximum_coordinates)
    left = np.minimum(*(np.abs(lengths - end) for end in ends))
    limiting = left.argmin(axis=1)
    rows = np.arange(len(exits))
    along = np.einsum("ki,ki->k", directions, vectors[rows, limiting])
    at_shell = left[rows, limiting] <= EDGE * lengths[rows, limiting]
    return np.where(at_shell, np.abs(along) / lengths[rows, limiting], 1.0)


def _places(platform: Platform, found: Region) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a box `(3,)`, `(3,)` about a workspace and random points `(POINTS, 3)` in it [m].

    The box of the shells, unless hardly a point is in them or no determinant distinguishes their
    other aspects: then what the rays found, with a margin.
    """
    low, high = bounding_box(platform, platform.home)
    places = np.random.default_rng(SEED).uniform(low, high, (POINTS, 3))
    if square(platform) and within_shells(platform, platform.home, places).sum() >= FEWEST:
        return low, high, places
    ends = np.array(found.extremes)
    least, most = platform.home[:3] + ends + MARGIN * np.diff(ends, axis=0) * [[-1.0], [1.0]]
    low, high = np.maximum(low, least), np.minimum(high, most)
    return low, high, np.random.default_rng(SEED).uniform(low, high, (POINTS, 3))


def plate_measures(
    platform: Platform, found: Region, ranges: tuple[AxisRange, ...]
) -> Iterator[Entry]:
    """Yield the workspace of a machine on pillars against the plate's closed forms.

    Nothing where it is no such plate: not four equal pillars below a centred rectangle.
    """
    try:
        plate = PlateModel.from_parameters(platform.parameters)
    except InputError:
        return
    printed, held, free = (
        forms._asdict() | {"z": forms.heave}
        for forms in (
            small_angle_ranges(plate),
            exact_ranges(plate),
            exact_ranges_at_best_heave(plate),
        )
    )
    for one in ranges:
        for name, value, expected, tolerance in (
            ("others held", one.alone[1], held[one.axis], EDGE),
            ("others free", one.free[1], free[one.axis], FREE),
        ):
            yield Measure(
                f"{one.axis}, {name}: against the closed form",
                abs(value - expected),
                tolerance,
                f"of {expected:.6g}; bisection, or the end of the search with others free",
                unit=one.unit,
            )
        off = abs(one.free[1] - printed[one.axis])
        note = f"of {printed[one.axis]:.6g}, the paper's small-angle range"
        yield Quantity(
            f"{one.axis}, others free: less than printed by", off, note=note, unit=one.unit
        )
    model = ExactKinematics(plate)
    home = np.array([plate.home_length, 0.0, 0.0])
    # Axes of the chart are z, roll and pitch, the plate's own.
    shares = stroke_shares(model, home + found.surface).sum(axis=1)
    off = largest(shares - 1.0)
    name = "shares of the stroke at the ends of rays, sum less 1"
    yield Measure(name, off, EDGE, "bisection and rounding")
    low, high = (1.02 * end for end in found.extremes)
    places = np.random.default_rng(SEED).uniform(low, high, (POINTS, 3))
    inside = stroke_shares(model, home + places).sum(axis=1) <= 1.0
    yield _volume(found, inside.mean(), float(np.prod(high - low)), "the closed form")


def _volume(found: Region, share: float, box: float, what: str) -> Measure:
    """Compare the volume of rays with that of random points; both have an error of their own."""
    spread = box * np.sqrt(share * (1.0 - share) / POINTS)
    spread += found.uncertainty * found.volume / SIGMAS
    off = float(abs(found.volume - box * share) / spread)
    return Measure(f"volume of rays against random points in {what}", off, SIGMAS, CHANCE)
