"""Machines with more actuators than dof: legs beside those of the Stewart simulator."""

from __future__ import annotations

from typing import Any

import numpy as np

import twin
from twin.analysis.platform import Platform
from twin.machine import MachineParameters

EXTRA = {
    "base": [[0.1, 0.02, -0.01], [-0.2, 0.3, 0.0]],
    "platform": [[0.05, 0.2, 0.0], [0.1, -0.3, 0.02]],
}
"""[m] base and platform joints of a seventh and an eighth leg."""


def redundant_machine(legs: int) -> Platform:
    """Return the Stewart simulator with seven or eight legs."""
    stewart = twin.load("stewart").parameters
    content: dict[str, Any] = stewart.model_dump()
    content["name"] = f"stewart_on_{legs}"
    for table, added in EXTRA.items():
        points = np.vstack(
            [getattr(stewart, table).joints.points, np.reshape(added[: legs - 6], (-1, 3))]
        )
        content[table]["joints"] = {"source": "Test", "coordinates": points.tolist()}
    content["leg"]["actuator"] |= {"minimum": 0.8, "maximum": 1.15}
    return Platform(MachineParameters.model_validate(content))
