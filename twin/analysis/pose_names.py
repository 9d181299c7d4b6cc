"""Poses in words, as seen from home: "highest", or "12 mm up, pitched forward 8 deg"."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.charts.panels import number
from twin.model.machine_model import MachineModel
from twin.rotations import displacement

END = 1e-6
"""Of the stroke: an actuator so close to an end is at it."""

SMALL, MINOR, PARTS = 0.01, 0.2, 3
"""A displacement is named if it is more than `SMALL` of the stroke and than `MINOR` of the largest
displacement. At most `PARTS` are named."""

MOVES = (("forward", "back"), ("left", "right"), ("up", "down"))
"""Along x, y and z, positive and negative."""

TURNS = (
    ("rolled right", "rolled left"),
    ("pitched forward", "pitched back"),
    ("turned left", "turned right"),
)
"""About x, y and z."""


def pose_name(platform: MachineModel, pose: Any) -> str:
    """Return a pose `(7,)` in words: its largest displacements and turns from home.

    Raises:
        InputError: not a pose.
        UnreachablePoseError: a leg cannot reach it.
    """
    stroke = platform.maximum_coordinates - platform.minimum_coordinates
    shares = (platform.inverse_kinematics(pose) - platform.minimum_coordinates) / stroke
    moved = displacement(pose, platform.home)
    if (shares < END).all() or (shares > 1.0 - END).all():
        return "highest" if moved[2] > 0.0 else "lowest"
    reach = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    travel = float(stroke.mean()) if platform.coordinate_unit == "m" else reach
    sizes = np.abs(moved) * np.repeat([1.0, reach], 3) / travel
    named = (sizes > SMALL) & (sizes > MINOR * sizes.max())
    parts = []
    for column in sorted(np.argsort(-sizes)[:PARTS]):
        if not named[column]:
            continue
        words = (*MOVES, *TURNS)[column][int(moved[column] < 0.0)]
        if column < len(MOVES):
            parts.append(f"{number(1e3 * abs(moved[column]), 3)} mm {words}")
        else:
            parts.append(f"{words} {number(float(np.degrees(abs(moved[column]))), 2)} deg")
    return ", ".join(parts) or "home"
