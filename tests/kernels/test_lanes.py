"""Lanes: the same results as one state at a time, and states that fail alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twin
from twin.errors import SingularPoseError, UnreachablePoseError
from twin.model import batch, lanes

CALLS = {
    "inverse_kinematics": lambda p, s: p.inverse_kinematics(s["pose"]),
    "jacobian": lambda p, s: p.jacobian(s["pose"]),
    "jacobian_derivative": lambda p, s: p.jacobian_derivative(s["pose"], s["twist"]),
    "forward_dynamics": lambda p, s: p.forward_dynamics(
        s["pose"], s["twist"], s["forces"], s["wrench"], deflection=s["deflection"]
    ),
    "inverse_dynamics": lambda p, s: p.inverse_dynamics(
        s["pose"], s["twist"], s["acceleration"], s["wrench"], deflection=s["deflection"]
    ),
    "mass_matrix": lambda p, s: p.mass_matrix(s["pose"], deflection=s["deflection"]),
    "energy": lambda p, s: np.stack(p.energy(s["pose"], s["twist"], deflection=s["deflection"])),
}

COUNT = 1031
"""A prime: the last group of lanes is not full."""
