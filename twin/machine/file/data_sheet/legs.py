"""Legs and joints of a data sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.machine.file.data_sheet import estimates
from twin.machine.file.data_sheet.estimates import SHEET_SOURCE, body_table, quoted
from twin.machine.file.data_sheet.sheet import DataSheet
from twin.machine.layout.joints import PairedCircle, nearest_shift
from twin.machine.legs.leg import COINCIDENCE_DISTANCE

CORNER_SIGNS = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
"""Signs of x and y at the front right, front left, rear left and rear right corner; x is forward, y
to the left.
"""

THIRD_TURNS = np.radians([0.0, 120.0, 240.0])
"""Angles [rad] from x of three joints on a circle."""

MIRRORED_PAIRS = ((1, 3, 5), (2, 4, 6))
"""Numbers of the legs (from 1) whose cranks point one way round, and of their mirror images."""

DEFAULT_DAMPING_RATIO = 0.05
"""Damping ratio of springs where the sheet gives none."""

PART_LENGTH_RATIOS = {
    "spring_length": 0.2,
    "housing_length": 0.3,
    "follower_start": 0.25,
    "follower_length": 0.25,
}
"""Lengths of the parts of a leg with a spring in series, over the shortest length of the leg."""

PART_MASS_FRACTIONS = {"spring_mass": 0.1, "housing_mass": 0.6, "follower_mass": 0.3}
"""Fractions of the mass of a leg with a spring in series in its parts."""

FOOT_MASS_FRACTION = 0.15
"""Fraction of a pillar's mass that slides with its foot."""

PILLAR_RADIUS_RATIO = 3.0
"""Radius of a pillar over that of another leg of its length: its motor is next to its short
actuator.
"""


def joint_tables(sheet: DataSheet) -> Iterator[str]:
    """Yield the tables of base, platform and their joints."""
    for side in ("base", "platform"):
        yield f'[{side}]\nsource = "{SHEET_SOURCE}"'
        if side == "platform":
            thickness = estimates.PLATE_THICKNESS_RATIO * outer_radius(sheet)
            yield f"thickness = {thickness:.4g}  # [m] for drawing only"
        yield _paired_joints(sheet, side) if sheet.has_pairs else _single_joints(sheet, side)


def outer_radius(sheet: DataSheet) -> float:
    """Return the radius [m] of a round plate over the joints, or of equal area over a rectangle."""
    length, width = sheet.si("length"), sheet.si("width")
    if length is not None and width is not None:
        return math.sqrt(length * width / math.pi)
    return sheet.si("platform_radius") or 0.0


def _single_points(sheet: DataSheet, side: str) -> FloatArray:
    """Return the joints `(3 or 4, 2)` [m] of single legs; feet are straight below their corners."""
    length, width = sheet.si("length"), sheet.si("width")
    if length is not None and width is not None:
        return 0.5 * CORNER_SIGNS * [length, width]
    circle = np.stack([np.cos(THIRD_TURNS), np.sin(THIRD_TURNS)], axis=1)
    radius = sheet.si(f"{side}_radius") if sheet.takes("base_radius") else None
    return (radius or sheet.si("platform_radius") or 0.0) * circle


def _single_joints(sheet: DataSheet, side: str) -> str:
    """Return the table of the joints of three or four single legs on one side."""
    rows = "".join(f"    [{x:.9g}, {y:.9g}, 0.0],\n" for x, y in _single_points(sheet, side))
    source = SHEET_SOURCE
    if side == "base" and not sheet.takes("base_radius"):
        source += "; adopted: feet straight below the corners"
    return f"""
[{side}.joints]
source = "{source}"
layout = "points"
coordinates = [
{rows}]
"""


def _paired_joints(sheet: DataSheet, side: str) -> str:
    """Return the table of a side's joints; the pairing with the shortest legs needs no `shift`."""
    field, _ = sheet.spacing(side)
    angle = 60 if side == "platform" else 0
    return f"""
[{side}.joints]  # three pairs on a circle
source = "{SHEET_SOURCE}"
layout = "paired_circle"
radius = {quoted(getattr(sheet, f"{side}_radius"))}
{field} = {quoted(getattr(sheet, f"{side}_spacing"))}  # between the joints of a pair
center_angle = "{angle} deg"  # of the middle of the first pair
"""


def leg_texts(sheet: DataSheet) -> list[str]:
    """Return candidates for the tables of the legs: one text, or one per layout of cranks."""
    if not sheet.has_cranks:
        return ["\n".join(LEG_WRITERS.get(sheet.legs, _actuators)(sheet))]
    reversed_legs: tuple[tuple[int, ...], ...] = MIRRORED_PAIRS
    if sheet.legs == "rrs":
        reversed_legs = ((),)
    elif sheet.horns == "same":
        reversed_legs = ((), tuple(range(1, 7)))
    choices = product(reversed_legs, ("inward", "outward"))
    return ["\n".join(_cranks(sheet, *choice)) for choice in choices]


def _limits(sheet: DataSheet) -> str:
    effort = "torque" if sheet.has_cranks else "force"
    limit_values = (("speed", sheet.speed), (effort, sheet.force))
    return "".join(
        f"{name} = {quoted(text)}\n" if text else f"# {name} = unknown\n"
        for name, text in limit_values
    )


def lengths(sheet: DataSheet) -> tuple[float, float, str]:
    """Return the shortest and longest leg length [m] between joint centres, and their source.

    Raises:
        InputError: the stroke is longer than the legs at home allow, or the legs do not reach the
            height given.
    """
    stroke = sheet.si("stroke") or 0.0
    shortest = sheet.si("shortest")
    if shortest is not None:
        if sheet.height is not None and not shortest <= _length_at_home(sheet) <= shortest + stroke:
            raise InputError(
                "height",
                f"{sheet.height} contradicts --shortest and --stroke: legs would be "
                f"{_length_at_home(sheet):.4g} m long at home, and they go from {shortest:.4g} to "
                f"{shortest + stroke:.4g} m; leave --height out for the middle of the stroke",
            )
        return (
            shortest,
            shortest + stroke,
            f"{SHEET_SOURCE}: shortest length, and stroke added to it",
        )
    source = f"{SHEET_SOURCE}: stroke; home at the height given is adopted as its middle"
    mean = _length_at_home(sheet)
    if mean <= 0.5 * stroke:
        raise InputError(
            "stroke",
            f"{sheet.stroke} is too long for the height {sheet.height}: legs are {mean:.4g} m "
            "long at home, so the shortest would have no length; give --shortest, or change one",
        )
    return mean - 0.5 * stroke, mean + 0.5 * stroke, source


def _length_at_home(sheet: DataSheet) -> float:
    """Return the length [m] of the legs where the platform joints are at the height given."""
    height = sheet.si("height") or 0.0
    if not sheet.has_pairs:
        return math.hypot(height, _widening(sheet))
    joint_circles = [_pair_points(sheet, "base", 0.0), _pair_points(sheet, "platform", np.pi / 3)]
    shift = nearest_shift(joint_circles[0], joint_circles[1], COINCIDENCE_DISTANCE) or 0
    x, y, _ = np.roll(joint_circles[1], shift, axis=0)[0] - joint_circles[0][0]
    return float(np.linalg.norm([x, y, height]))


def _widening(sheet: DataSheet) -> float:
    """Return the distance [m] from a platform joint outward to the end of what it stands on.

    That is its base joint, or the end of its crank, level and outward; zero of pillars.
    """
    if not sheet.takes("base_radius"):
        return 0.0
    radii = sheet.si("base_radius") or 0.0, sheet.si("platform_radius") or 0.0
    return radii[0] + (sheet.si("crank") or 0.0) - radii[1]


def middle_height(sheet: DataSheet) -> float:
    """Return the height [m] of single legs in the middle of their strokes.

    Raises:
        InputError: the legs are too short to meet the platform.
    """
    length = sheet.si("rod") if sheet.has_cranks else 0.5 * sum(lengths(sheet)[:2])
    if not (length or 0.0) > abs(_widening(sheet)):
        raise InputError(
            "rod" if sheet.has_cranks else "shortest",
            f"legs of {length:.4g} m cannot join a base and a platform whose joints are "
            f"{abs(_widening(sheet)):.4g} m apart seen from above",
        )
    return math.sqrt((length or 0.0) ** 2 - _widening(sheet) ** 2)


def _pair_points(sheet: DataSheet, side: str, angle: float) -> FloatArray:
    """Return the joints `(6, 3)` [m] of three pairs, the first at an angle [rad]."""
    field, value = sheet.spacing(side)
    radius = sheet.si(f"{side}_radius") or 0.0
    joints = {"source": SHEET_SOURCE, "radius": radius, field: value, "center_angle": angle}
    return PairedCircle.model_validate(joints).points


def _mass(sheet: DataSheet, shortest: float, thickness: float = 1.0) -> tuple[float, str]:
    """Return a leg's mass [kg] and its source; `thickness` is a ratio to an ordinary leg's."""
    mass = sheet.si("leg_mass")
    if mass is not None:
        return mass, f"leg of {sheet.leg_mass}"
    return thickness**2 * estimates.leg_mass(shortest), "leg of steel and aluminium"


def _actuator(sheet: DataSheet, description: str) -> str:
    """Return the table of the actuators: their range and limits."""
    shortest, longest, source = lengths(sheet)
    return f"""\
[leg.actuator]  # {description}
source = {quoted(source)}
minimum = {shortest:.9g}
maximum = {longest:.9g}
{_limits(sheet)}"""


def _universal(sheet: DataSheet, source: str = SHEET_SOURCE) -> str:
    return f"""\
[leg]
source = "{source}"
kind = "{sheet.legs}"
first_axis = "horizontal"  # of the joint below, perpendicular to each leg at home
"""


def _actuators(sheet: DataSheet) -> Iterator[str]:
    """Yield the tables of legs with universal joints: joints, spring, housing and rod."""
    shortest = lengths(sheet)[0]
    mass, mass_basis = _mass(sheet, shortest)
    length, radius = estimates.PART_LENGTH_RATIO * shortest, estimates.LEG_RADIUS_RATIO * shortest
    housing_fraction = estimates.HOUSING_MASS_FRACTION
    yield _universal(sheet)
    if sheet.legs == "upu":
        yield 'platform_axis = "horizontal"  # of the joint above, likewise\n'
    if sheet.lead is not None:
        yield f"""\
[leg.screw]
source = "{SHEET_SOURCE}"
lead = {quoted(sheet.lead)}
hand = "right"
"""
    if sheet.stiffness is not None:
        damping, source = _damping(sheet)
        yield f"""\
[leg.axial]  # relaxed at home
source = "{source}"
stiffness = {quoted(sheet.stiffness)}
damping = {damping}
"""
    housing = estimates.rod(housing_fraction * mass, length, radius, 0.5 * length)
    sliding = estimates.rod((1.0 - housing_fraction) * mass, length, 0.6 * radius, -0.5 * length)
    text = f"Estimated: {mass_basis}, {housing_fraction:.0%} of it in the housing, as cylinders"
    yield body_table("leg.housing", housing, text)
    yield body_table("leg.rod", sliding, text, symmetric=sheet.legs == "upu")
    yield _actuator(sheet, "lengths between the centres of the joints")


def _damping(sheet: DataSheet) -> tuple[str, str]:
    """Return the damping of a spring as TOML writes it, and the source of the spring."""
    if sheet.damping is not None:
        return quoted(sheet.damping), SHEET_SOURCE
    radius = outer_radius(sheet)
    moving_mass = (sheet.si("payload") or 0.0) + estimates.plate(
        radius, sheet.si("plate_mass")
    ).mass
    value = (
        2.0 * DEFAULT_DAMPING_RATIO * math.sqrt((sheet.si("stiffness") or 0.0) * moving_mass / 6.0)
    )
    return (
        f"{value:.4g}",
        f"{SHEET_SOURCE}; estimated: damping, {DEFAULT_DAMPING_RATIO:g} of the critical",
    )


def _springs(sheet: DataSheet) -> Iterator[str]:
    """Yield the tables of legs with a spring in series."""
    shortest = lengths(sheet)[0]
    mass, mass_basis = _mass(sheet, shortest)
    damping, source = _damping(sheet)
    part_lines = [
        f"{name} = {ratio * shortest:.9g}\n" for name, ratio in PART_LENGTH_RATIOS.items()
    ]
    part_lines += [f"{name} = {ratio * mass:.6g}\n" for name, ratio in PART_MASS_FRACTIONS.items()]
    yield _universal(sheet, f"{source}. Estimated: {mass_basis}; lengths and masses of its parts")
    yield f"{''.join(part_lines)}stiffness = {quoted(sheet.stiffness)}\ndamping = {damping}\n"
    yield _actuator(sheet, "lengths between the joint centres with the spring relaxed")


def _pillars(sheet: DataSheet) -> Iterator[str]:
    """Yield the tables of pillars."""
    mass, mass_basis = _mass(sheet, lengths(sheet)[0], PILLAR_RADIUS_RATIO)
    count = 3 if sheet.length is None else 4
    foot = f"{FOOT_MASS_FRACTION:.0%} of it in the foot"
    yield f"""\
[leg]
source = "Estimated: {mass_basis}, {foot}; adopted: which foot is fixed"
kind = "pillar"
fixed_foot = {count}  # the others slide; a table [leg.friction] gives them friction
upper_mass = {(1.0 - FOOT_MASS_FRACTION) * mass:.6g}  # kg
foot_mass = {FOOT_MASS_FRACTION * mass:.6g}  # kg
"""
    yield _actuator(sheet, "lengths from the foot to the plate")


def _cranks(sheet: DataSheet, mirrored: tuple[int, ...], branch: str) -> Iterator[str]:
    """Yield the tables of cranks and rods."""
    crank, length = sheet.si("crank") or 0.0, sheet.si("rod") or 0.0
    half_travel = np.degrees(0.5 * (sheet.si("stroke") or 0.0))
    mass = sheet.si("leg_mass")
    mass_basis = f"leg of {sheet.leg_mass}" if mass else "steel and aluminium"
    crank_mass = 0.5 * mass if mass else estimates.leg_mass(1.5 * crank)
    yield f"""\
[leg]
source = "{SHEET_SOURCE}; adopted: the directions of the cranks"
kind = "{sheet.legs}"
{_crank_axes(sheet, mirrored)}
zero = "horizontal"  # cranks are level at angle 0, and a growing angle lifts them
branch = "{branch}"
crank_length = {quoted(sheet.crank)}
rod_length = {quoted(sheet.rod)}
"""
    text = f"Estimated: {mass_basis}"
    yield body_table("leg.crank", estimates.rod(crank_mass, crank, 0.1 * crank, 0.5 * crank), text)
    rod_mass = 0.5 * mass if mass else 0.1 * estimates.leg_mass(length)
    yield f"[leg.rod]\nsource = {quoted(text)}\nmass = {rod_mass:.6g}  # kg\n"
    yield f"""\
[leg.actuator]  # angles of the cranks
source = "{SHEET_SOURCE}; adopted: the same up and down"
minimum = "{-half_travel:.9g} deg"
maximum = "{half_travel:.9g} deg"
{_limits(sheet)}"""
    if sheet.drive is not None:
        backlash = f"backlash = {quoted(sheet.backlash)}\n" if sheet.backlash else ""
        yield f"""\
[configuration.hardware]  # the machine with its servos: name it where a configuration is asked for
source = "{SHEET_SOURCE}"

[configuration.hardware.leg.drive]
kind = "{sheet.drive}"
stall_torque = {quoted(sheet.force)}
no_load_speed = {quoted(sheet.speed)}
{backlash}"""


def _crank_axes(sheet: DataSheet, mirrored: tuple[int, ...]) -> str:
    """Return the entries for the axes of cranks that are level at angle 0.

    A crank points along z x axis. Along the circle the axes are radial; turned outward by an angle
    t, a crank is at the angle of its base joint plus 90 deg - t, its axis 90 deg before that, and
    of mirrored legs at the angle of the joint less 90 deg - t.
    """
    if not sheet.has_pairs:
        degrees = ", ".join(f'"{angle:.9g} deg"' for angle in np.degrees(THIRD_TURNS) - 90.0)
        return f"axis_angles = [{degrees}]  # level cranks point outward"
    horn_angle = sheet.turn()
    if horn_angle == 0.0:
        return (
            'axis = "radial"  # or "tangential", or a list of directions\n'
            f"mirrored = {list(mirrored)}  # the other legs: horns the other way"
        )
    x, y, _ = _pair_points(sheet, "base", 0.0).T
    side_signs = [-1.0 if number in mirrored else 1.0 for number in range(1, 7)]
    axis_angles = np.arctan2(y, x) + np.array(side_signs) * (0.5 * np.pi - horn_angle)
    degrees = ", ".join(f'"{angle:.9g} deg"' for angle in np.degrees(axis_angles - 0.5 * np.pi))
    return f"axis_angles = [{degrees}]  # of the horizontal axes of legs 1 to 6"


LEG_WRITERS: dict[str, Callable[[DataSheet], Iterator[str]]] = {
    "viscoelastic": _springs,
    "pillar": _pillars,
}
"""Functions that write the tables of straight legs without a universal joint or with a spring in
series, by kind; `_actuators` writes those of all others.
"""
