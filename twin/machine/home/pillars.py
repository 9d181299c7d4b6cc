"""Checks of machines on pillars: their feet, their plane and the plate's attitude."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twin.basics import canonical
from twin.machine.legs.pillar import PillarLeg
from twin.machine.legs.place import COINCIDENT
from twin.machine.problem import problem

if TYPE_CHECKING:
    from twin.machine.description import MachineDescription

LARGEST_YAW = 1e-9
"""Part of the plate's y axis along x of the base; above it a pose does not fit the fixed foot."""


def check_feet(machine: MachineDescription) -> None:
    """Raise a problem unless a machine on pillars has one fixed foot, one floor and no yaw."""
    count = len(machine.base.joints.points)
    tables = machine.leg_tables()
    feet = [(table, leg.fixed_foot) for table, leg in tables if isinstance(leg, PillarLeg)]
    for table, foot in feet:
        if not 1 <= foot <= count:
            raise problem(f"{table}.fixed_foot", f"there is no leg {foot} of {count}")
        if foot != feet[0][1]:
            raise problem(f"{table}.fixed_foot", "one foot is fixed, for all legs alike; remove it")
    if not feet:
        return
    yaw = machine.home_rotation[0, 1]
    if abs(yaw) > LARGEST_YAW:
        raise problem(
            "home.orientation",
            "pillars only roll and pitch: the plate's y axis must be at a right angle to x of the "
            f"base, but has {yaw:.3g} of it; with w, x, y, z of the quaternion make w z = x y",
        )
    heights = machine.base.joints.points[:, 2]
    for number, height in enumerate(heights, start=1):
        if abs(height - heights[0]) > COINCIDENT:
            raise problem(
                "base.joints",
                f"all feet stand in one horizontal plane, but foot {number} is "
                f"{height - heights[0]:.6g} m above foot 1; give all the same z",
            )


def check_corners(machine: MachineDescription) -> None:
    """Raise a problem if all corners of a machine on pillars lie on one line."""
    if not isinstance(machine.leg, PillarLeg):
        return
    corners = machine.platform.joints.points
    spread = np.linalg.svd(corners - corners.mean(axis=0))
    if spread.S[1] < COINCIDENT:
        line = ", ".join(
            f"{value:.3g}"
            for value in machine.home_rotation @ canonical.with_signs(spread.Vh[:1].T)[:, 0]
        )
        raise problem(
            "platform.joints",
            f"the corners of legs 1 to {len(corners)} lie on one line: nothing holds turning about "
            f"the direction [{line}]; move one off it",
        )
