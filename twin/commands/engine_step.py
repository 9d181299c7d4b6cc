"""The engine's time step in a closed loop, where none is given."""

from __future__ import annotations

import numpy as np

from twin.control.controller import Controller
from twin.engines.stability import suitable_timestep
from twin.simulation.platform import Platform

FINEST_RATIO = 0.5
"""Engine's step in parts of the control period, unless a stiff machine needs a shorter one."""


def dividing_step(platform: Platform, controller: Controller) -> float:
    """Return the longest step [s] that divides the control period and suits engine and drives."""
    period = controller.period
    most = min(suitable_timestep(platform), FINEST_RATIO * period)
    return period / int(np.ceil(period / most - 1e-9))
