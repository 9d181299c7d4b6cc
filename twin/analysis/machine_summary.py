"""Summary of a machine at home: ranges, conditioning, static load, distance between legs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray
from twin.machine.legs.leg import COINCIDENT
from twin.model.evaluation import without_compiling
from twin.model.machine_model import MachineModel
from twin.model.motions import REST
from twin.rotations import angles_from_quaternion, quaternion_from_angles

SAMPLES = 2001
"""Poses tried along each half axis; gaps in a range shorter than 1/2000 of it may be missed."""

PARTS = 40
"""The poses are tried in so many parts: most are beyond the limit and need not be evaluated."""

BISECTIONS = 30
"""Halvings of the last step: the end of a range is exact to nine digits of it."""

LEG_POINTS = 1001
"""Points tried along a leg; crossing legs are found to a thousandth of their length."""

LARGEST_ANGLE = np.radians(89.0)
"""Rotations are searched up to a quarter turn, where yaw, pitch and roll stop being unique and a
plate on pillars is vertical."""


class SummaryRow(NamedTuple):
    """One derived quantity: a number or a list of numbers."""

    name: str
    value: Any
    unit: str
    note: str


def machine_summary(platform: MachineModel) -> list[SummaryRow]:
    """Return derived figures of a machine at its home pose."""
    unit, legs = platform.coordinate_unit, platform.parameters.legs
    with without_compiling():
        condition = float(platform.condition_number(platform.home))
        forces = platform.inverse_dynamics(platform.home, REST, REST).tolist()
        ranges = axis_ranges(platform)
    body, stroke = platform.parameters.platform.body, sorted({leg.actuator.stroke for leg in legs})
    rows = [
        SummaryRow(
            "degrees of freedom",
            platform.dof,
            "",
            "of the platform; the others are held by the legs",
        ),
        SummaryRow(
            f"{platform.parameters.leg.coordinate}s at home",
            platform.home_coordinates.tolist(),
            unit,
            "actuator coordinates",
        ),
        SummaryRow("stroke", stroke[0] if len(stroke) == 1 else stroke, unit, "of the actuators"),
        SummaryRow("mass of the platform", body.mass, "kg", "without legs"),
        SummaryRow("mass of the legs", sum(leg.mass for leg in legs), "kg", "all legs"),
        SummaryRow(
            "condition number at home",
            condition,
            "",
            "of the Jacobian, moments scaled; 1 is the best, infinite at a singular pose",
        ),
        SummaryRow(
            "forces at rest",
            forces,
            platform.force_unit,
            "of the actuators that carry the machine at home"
            + (", the smallest of many" if platform.n_actuators > platform.dof else ""),
        ),
    ]
    if platform.n_actuators > platform.dof:
        numbers = ", ".join(map(str, platform.parameters.redundant_legs))
        note = "can push against each other without moving the platform"
        rows.append(SummaryRow("redundant legs", numbers, "", note))
    distance, first, second = closest_legs(platform)
    rows.append(
        SummaryRow(
            "closest legs at home",
            distance,
            "m",
            f"between the axes of legs {first} and {second}, of those that share no joint; less "
            "than a leg's width: they collide, are the joints in the right order?",
        )
    )
    note = "from home, inside the actuators' limits, with the other coordinates as at home"
    for name, unit, (low, high) in ranges:
        rows.append(SummaryRow(f"{name} range", [low, high], unit, note))
    return rows


def closest_legs(platform: MachineModel) -> tuple[float, int, int]:
    """Return the smallest distance [m] between two legs at home, and their numbers from 1.

    Legs are the straight lines from base joint to platform joint, those with cranks two lines.
    Two legs that share a joint meet there by design and are left out.
    """
    legs = _lines(platform)
    shared = _shared(platform.base_joints) | _shared(platform.platform_joints)
    along = np.linspace(0.0, 1.0, LEG_POINTS)[:, None]
    best = (np.inf, 0, 0)
    for j, other in enumerate(legs):
        points = np.concatenate([start + along * vector for start, vector in other])
        for i in np.flatnonzero(~shared[j, :j]):
            for start, vector in legs[i]:
                shares = (points - start) @ vector / (vector @ vector)
                feet = start + np.clip(shares, 0.0, 1.0)[:, None] * vector
                distance = float(np.linalg.norm(points - feet, axis=1).min())
                best = min(best, (distance, int(i) + 1, j + 1))
    return best


def _shared(joints: FloatArray) -> NDArray[np.bool_]:
    """Return `(n, n)` whether two legs have the same joint `(n, 3)`."""
    return np.asarray(np.linalg.norm(joints[:, None] - joints, axis=2) < COINCIDENT)


def _lines(platform: MachineModel) -> list[list[tuple[FloatArray, FloatArray]]]:
    """Return the lines (start, vector) that each leg consists of at home."""
    parameters = platform.parameters
    pairs = zip(parameters.legs, parameters.home_places, strict=True)
    return [leg.home_lines(place) for leg, place in pairs]


def axis_ranges(platform: MachineModel) -> list[tuple[str, str, tuple[float, float]]]:
    """Return (axis, unit, (lowest, highest)) of moves from home along one coordinate at a time.

    x, y and z [m] in the base frame from home; yaw, pitch and roll [deg] added to those at home;
    of a machine with three degrees of freedom, z, pitch and roll. The range is the connected one
    around home.
    """
    reach = 2.0 * float(platform.home_reaches.max())
    if platform.coordinate_unit == "m":
        reach = float((2.0 * platform.maximum_coordinates - platform.minimum_coordinates).max())
    axes = [(name, "m", reach, 1.0) for name in ("x", "y", "z")]
    axes += [(name, "deg", LARGEST_ANGLE, 180.0 / np.pi) for name in ("yaw", "pitch", "roll")]
    ranges = []
    for column, (name, unit, span, scale) in enumerate(axes):
        if platform.dof < 6 and name in ("x", "y", "yaw"):
            continue
        low, high = (scale * _last_inside(platform, column, side * span) for side in (-1.0, 1.0))
        ranges.append((name, unit, (low, high)))
    return ranges


def _last_inside(platform: MachineModel, column: int, span: float) -> float:
    """Return the largest offset towards `span` up to which all poses tried are inside the limits.

    The first sample outside is found on a grid, the limit between it and the last by bisection.
    """
    low = 0.0
    for part in np.array_split(np.linspace(0.0, span, SAMPLES), PARTS):
        inside = platform.within_limits(_moved(platform, column, part))
        if not inside.all():
            first = int(np.argmin(inside))
            return _limit(platform, column, part[first - 1] if first else low, part[first])
        low = part[-1]
    return float(low)


def _limit(platform: MachineModel, column: int, low: float, high: float) -> float:
    """Return the offset of the limit between `low`, which is inside, and `high`, which is not."""
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if platform.within_limits(_moved(platform, column, np.array([middle])))[0]:
            low = middle
        else:
            high = middle
    return float(low)


def _moved(platform: MachineModel, column: int, offsets: FloatArray) -> FloatArray:
    poses = np.tile(platform.home, (len(offsets), 1))
    if column < 3:
        poses[:, column] += offsets
    else:
        angles = np.tile(angles_from_quaternion(platform.home[3:]), (len(offsets), 1))
        angles[:, column - 3] += offsets
        poses[:, 3:] = quaternion_from_angles(angles)
    return platform.constrain(poses).pose
