"""Descriptions of poses relative to home, such as "12 mm up, pitched forward 8 deg"."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.charts.panels import number
from twin.model.machine_model import MachineModel
from twin.rotations import displacement

END_TOLERANCE = 1e-6
"""Fraction of the stroke within which an actuator counts as being at its end."""

MIN_STROKE_FRACTION = 0.01
"""Fraction of the stroke above which a displacement is named."""

MIN_RELATIVE_SIZE = 0.2
"""Fraction of the largest displacement above which another one is named too."""

MAX_NAMED_AXES = 3
"""Maximum number of displacements that are named."""

TRANSLATION_WORDS = (("forward", "back"), ("left", "right"), ("up", "down"))
"""Positive and negative displacements along x, y and z."""

ROTATION_WORDS = (
    ("rolled right", "rolled left"),
    ("pitched forward", "pitched back"),
    ("turned left", "turned right"),
)
"""Positive and negative rotations about x, y and z."""


def pose_name(platform: MachineModel, pose: Any) -> str:
    """Return a description of a pose `(7,)`: its largest displacements and rotations from home.

    Raises:
        InputError: not a pose.
        UnreachablePoseError: a leg cannot reach it.
    """
    stroke = platform.maximum_coordinates - platform.minimum_coordinates
    stroke_fractions = (platform.inverse_kinematics(pose) - platform.minimum_coordinates) / stroke
    displacements = displacement(pose, platform.home)
    if (stroke_fractions < END_TOLERANCE).all() or (stroke_fractions > 1.0 - END_TOLERANCE).all():
        return "highest" if displacements[2] > 0.0 else "lowest"
    joint_radius = float(np.linalg.norm(platform.platform_joints, axis=1).mean())
    travel = float(stroke.mean()) if platform.coordinate_unit == "m" else joint_radius
    relative_sizes = np.abs(displacements) * np.repeat([1.0, joint_radius], 3) / travel
    is_named = (relative_sizes > MIN_STROKE_FRACTION) & (
        relative_sizes > MIN_RELATIVE_SIZE * relative_sizes.max()
    )
    parts = []
    for column in sorted(np.argsort(-relative_sizes)[:MAX_NAMED_AXES]):
        if not is_named[column]:
            continue
        direction = (*TRANSLATION_WORDS, *ROTATION_WORDS)[column][int(displacements[column] < 0.0)]
        if column < len(TRANSLATION_WORDS):
            parts.append(f"{number(1e3 * abs(displacements[column]), 3)} mm {direction}")
        else:
            parts.append(
                f"{direction} {number(float(np.degrees(abs(displacements[column]))), 2)} deg"
            )
    return ", ".join(parts) or "home"
