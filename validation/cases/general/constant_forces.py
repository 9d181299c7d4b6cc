"""Motion under constant actuator forces."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.validation.case import validation_case
from twin.validation.measures.comparison import trajectory_comparison
from twin.validation.measures.equilibrium import duration_for, followed_duration, offset_force, rest
from twin.validation.results import CaseResult

MAX_DURATION = 0.3
"""[s] Longest duration of the run."""


@validation_case(cost=0.4)
def check_constant_forces(platform: Platform) -> CaseResult:
    """Motion under constant actuator forces.

    From rest at home, each actuator keeps its holding force plus a constant offset of its own. The
    offset is at most a tenth of the mean holding force. Where legs have stiff springs, it is a
    tenth of the force for a hundredth of the stroke. The run takes 0.3 s, less in small machines,
    in stiff ones and in those that topple. The platform moves in all its degrees of freedom.
    """
    forces = constant_forces(platform)
    duration = followed_duration(platform, duration_for(platform, MAX_DURATION), forces)
    deflection = rest(platform).deflection
    measures, plots = trajectory_comparison(
        platform, duration, "Constant forces", forces, deflection=deflection
    )
    return check_constant_forces.result(platform, measures, plots)


def constant_forces(platform: Platform) -> FloatArray:
    """Return holding forces plus a different constant offset for each actuator, `(n,)` [N, N m]."""
    pattern = np.cos(2.0 * np.arange(platform.n_actuators))
    return np.asarray(rest(platform).forces + offset_force(platform) * pattern)
