"""Whether a machine looks the same after a third of a turn about the base's z axis."""

from __future__ import annotations

import numpy as np

from twin.model.machine_model import MachineModel, as_model

CLOSE = 1e-9
"""[m] and [1]; joints given in degrees agree to rounding."""


def third_turn(platform: MachineModel) -> bool:
    """Return whether every leg has an equal one a third of a turn further on.

    Base and platform joints, first axes and limits are compared, and home must be level on the
    axis.

    Raises:
        InputError: not a machine.
    """
    as_model(platform)
    if np.abs(platform.home[[0, 1, 4, 5, 6]]).max() > CLOSE:
        return False
    cosine, sine = -0.5, np.sqrt(0.75)
    turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    limits = np.column_stack([platform.minimum_coordinates, platform.maximum_coordinates])
    points = [platform.base_joints, platform.platform_joints]
    if platform.kind == "rss":
        points.append(platform.first_axes)
    here = np.hstack([*points, limits])
    there = np.hstack([*(part @ turn.T for part in points), limits])
    apart = np.abs(there[:, None] - here[None]).max(axis=2).min(axis=1)
    return bool(apart.max() <= CLOSE)
