"""Poses in words, as seen from home: "highest", or "12 mm up, pitched forward 8 deg"."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.charts.panels import number
from twin.model.machine_model import MachineModel
from twin.rotations import displacement

END_TOLERANCE = 1e-6
"""Fraction of the stroke: an actuator so close to an end is at it."""

MIN_STROKE_FRACTION = 0.01
"""Fraction of the stroke above which a displacement is named."""

MIN_RELATIVE_SIZE = 0.2
"""Fraction of the largest displacement above which another one is named too."""

MAX_NAMED_AXES = 3
"""Displacements that are named at most."""

TRANSLATION_WORDS = (("forward", "back"), ("left", "right"), ("up", "down"))
"""Positive and negative displacements along x, y and z."""

ROTATION_WORDS = (
    ("rolled right", "rolled left"),
    ("pitched forward", "pitched back"),
    ("turned left", "turned right"),
)
"""Positive and negative rotations about x, y and z."""


def pose_name(platform: MachineModel, pose: Any) -> str:
    """Return a pose `(7,)` in words: its largest displacements and turns from home.

    Raises:
        InputError: not a pose.
        UnreachablePoseError: a leg cannot reach it.
    """
    stroke = platform.maximum_coordinates - platform.minimum_coordinates
    shares = (platform.inverse_kinematics(pose) - platform.minimum_coordinates) / stroke
    moved = displacement(pose, platform.home)
    if (shares < END_TOLERANCE).all() or (shares > 1.0 - END_TOLERANCE).all():
        return "highest" if moved[2] > 0.0 else "lowest"
    reach = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    travel = float(stroke.mean()) if platform.coordinate_unit == "m" else reach
    sizes = np.abs(moved) * np.repeat([1.0, reach], 3) / travel
    named = (sizes > MIN_STROKE_FRACTION) & (sizes > MIN_RELATIVE_SIZE * sizes.max())
    parts = []
    for column in sorted(np.argsort(-sizes)[:MAX_NAMED_AXES]):
        if not named[column]:
            continue
        direction = (*TRANSLATION_WORDS, *ROTATION_WORDS)[column][int(moved[column] < 0.0)]
        if column < len(TRANSLATION_WORDS):
            parts.append(f"{number(1e3 * abs(moved[column]), 3)} mm {direction}")
        else:
            parts.append(f"{direction} {number(float(np.degrees(abs(moved[column]))), 2)} deg")
    return ", ".join(parts) or "home"
