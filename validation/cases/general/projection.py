"""Algebraic projection on random states."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.validation.case import CaseResult, Panel, Plot, validation_case
from twin.validation.measures.comparison import projection_errors
from twin.validation.measures.sampling import random_states

STATE_COUNT = 50
"""Number of random states put into the open tree of each engine."""


@validation_case(run_time=0.5)
def check_projection(platform: Platform) -> CaseResult:
    """Algebraic projection on random states.

    Random states with random accelerations are put into each engine's open tree (loops cut where
    the engine closes them by constraints). The tree's own inverse dynamics is projected through the
    loop-closure Jacobian onto the actuators. It has to give the reference's actuator forces, those
    of smallest norm where there are more actuators than degrees of freedom. No constraint solver
    and no time step take part: agreement proves that the engine's model has the right masses,
    inertias, centres of mass, points and axes.
    """
    states = random_states(platform, STATE_COUNT)
    measures, curves = projection_errors(platform, states, x=np.arange(1.0, STATE_COUNT + 1.0))
    points = [curve._replace(style="markers") for curve in curves]
    panel = Panel("largest error / largest force", *points, log_y=True)
    return check_projection.result(
        platform, measures, (Plot("Projected actuator forces", "state", panel),)
    )
