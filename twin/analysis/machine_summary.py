"""Summary of a machine at home: ranges, conditioning, static load, distance between legs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.collisions import closest_legs
from twin.basics.arrays import FloatArray
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

LARGEST_ANGLE = np.radians(89.0)
"""Rotations are searched up to a quarter turn, where yaw, pitch and roll stop being unique and a
plate on pillars is vertical."""


AXES = ("x", "y", "z", "yaw", "pitch", "roll")
"""Axes of a range, in the order of positions and of the angles of `yaw_pitch_roll`."""


Ranges = list[tuple[str, str, tuple[float, float]]]
"""Axis, unit, (lowest, highest) of each range of a machine."""


class SummaryRow(NamedTuple):
    """One derived quantity: a number or a list of numbers."""

    name: str
    value: Any
    unit: str
    note: str


def machine_summary(platform: MachineModel, ranges: Ranges | None = None) -> list[SummaryRow]:
    """Return derived figures of a machine at its home pose; `ranges` where they are known."""
    unit, legs = platform.coordinate_unit, platform.parameters.legs
    with without_compiling():
        condition = float(platform.condition_number(platform.home))
        forces = platform.inverse_dynamics(platform.home, REST, REST).tolist()
        known = axis_ranges(platform) if ranges is None else ranges
        distance, first, second = closest_legs(platform, platform.home[None])
    body, stroke = platform.parameters.platform.body, sorted({leg.actuator.stroke for leg in legs})
    rows = [
        SummaryRow(
            "degrees of freedom",
            platform.dof,
            "",
            "" if platform.dof == 6 else "of the platform; the others are held by the legs",
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
            f"{'torque' if platform.force_unit == 'N m' else 'force'}s at rest",
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
    rows.append(
        SummaryRow(
            "closest legs at home",
            distance,
            "m",
            f"between the axes of legs {first} and {second}, of those that share no joint; "
            "below a leg's width they collide, perhaps as the joints are in the wrong order",
        )
    )
    note = "from home, inside the actuators' limits, with the other coordinates as at home"
    for name, unit, (low, high) in known:
        rows.append(SummaryRow(f"{name} range", [low, high], unit, note))
    return rows


def axis_ranges(platform: MachineModel) -> Ranges:
    """Return (axis, unit, (lowest, highest)) of moves from home along one coordinate at a time.

    x, y and z [m] in the base frame from home; yaw, pitch and roll [deg] added to those at home;
    of a machine with three degrees of freedom, z, pitch and roll. The range is the connected one
    around home.
    """
    reach = 2.0 * float(platform.home_reaches.max())
    if platform.coordinate_unit == "m":
        reach = float((2.0 * platform.maximum_coordinates - platform.minimum_coordinates).max())
    axes = [(name, "m", reach, 1.0) for name in AXES[:3]]
    axes += [(name, "deg", LARGEST_ANGLE, 180.0 / np.pi) for name in AXES[3:]]
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


def moved(platform: MachineModel, axis: str, value: float, unit: str) -> FloatArray:
    """Return home `(7,)` moved along one axis of `axis_ranges` by a value in its unit."""
    scale = np.pi / 180.0 if unit == "deg" else 1.0
    return np.asarray(_moved(platform, AXES.index(axis), np.array([scale * value]))[0])


def _moved(platform: MachineModel, column: int, offsets: FloatArray) -> FloatArray:
    poses = np.tile(platform.home, (len(offsets), 1))
    if column < 3:
        poses[:, column] += offsets
    else:
        angles = np.tile(angles_from_quaternion(platform.home[3:]), (len(offsets), 1))
        angles[:, column - 3] += offsets
        poses[:, 3:] = quaternion_from_angles(angles)
    return platform.constrain(poses).pose
