"""Machines about to move: where from, and at what pace."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scales import scale_of

from twin.analysis.platform import Platform
from twin.machine import MachineParameters
from twin.model.integrate import integrate

SHARES = np.array([0.016, -0.013, 0.03, 0.063, -0.047, 0.03])
"""Start twist in lengths and radians in the machine's pace."""


class Start(NamedTuple):
    """A machine about to move at home."""

    platform: Platform
    pace: float
    """[s] in which its motion changes"""
    twist: Any
    deflection: Any
    holding: Any
    """actuator forces that hold it at home"""

    def run(self, duration, **options):
        """Return the motion over `duration` paces; `timestep` in paces."""
        if "timestep" in options:
            options["timestep"] *= self.pace
        given = {"twist": self.twist, "deflection": self.deflection} | options
        return integrate(self.platform, duration * self.pace, **given)


def start_of(platform):
    """Return a machine at home, its springs a little stretched."""
    scale, k = scale_of(platform), platform.n_deflections
    twist = SHARES * np.repeat([scale.length, 1.0], 3) / scale.pace
    random = np.random.default_rng(91)
    return Start(
        platform,
        scale.pace,
        platform.constrain(platform.home, twist).twist,
        np.repeat([0.004, 0.004 / scale.pace], k) * random.normal(size=2 * k),
        platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6)),
    )


def without_damping(platform):
    """Return the machine with dampers and friction removed."""
    content = platform.parameters.model_dump()
    for table in (content["leg"], *(variant["leg"] for variant in content["variant"])):
        for name in ("axial", "damping", "friction"):
            if name == "axial" and name in table:
                table["axial"]["damping"] = 0.0
            elif name in table:
                table[name] = 0.0 if name == "damping" else None
    return Platform(MachineParameters.model_validate(content))
