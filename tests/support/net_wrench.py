"""The net wrench on a machine on springs, from its Jacobian, springs and weights alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.analysis.platform import Platform
from twin.analysis.stiffness import springs_of, weight_wrench


def net_wrench(
    machine: Platform,
    pose: Any,
    coordinates: Any = None,
    *,
    forces: Any = 0.0,
    wrench: Any = 0.0,
    stiffness: Any = None,
) -> NDArray[np.float64]:
    """Return the net wrench `(..., 6)` [N], [N m] at rest; `coordinates` are those without load."""
    springs = springs_of(machine, stiffness)
    rest = springs.rest if coordinates is None else coordinates
    carried = springs.stiffness * (rest - machine.inverse_kinematics(pose)) + forces
    legs = np.einsum("...ij,...i->...j", machine.jacobian(pose), carried)
    return np.asarray(legs + weight_wrench(machine, pose) + wrench)
