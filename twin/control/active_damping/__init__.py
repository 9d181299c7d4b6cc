"""Active damping of machines with springs in their legs: force and velocity feedback, HAC-LAC."""

from twin.control.active_damping.closed_loop import (
    BestGain,
    LargestDamping,
    best_gain,
    closed_loop,
    largest_damping,
    root_locus,
    smallest_damping,
)
from twin.control.active_damping.hac_lac import HacLac
from twin.control.active_damping.local import (
    DirectVelocityFeedback,
    IntegralForceFeedback,
    leg_forces,
)

__all__ = [
    "BestGain",
    "DirectVelocityFeedback",
    "HacLac",
    "IntegralForceFeedback",
    "LargestDamping",
    "best_gain",
    "closed_loop",
    "largest_damping",
    "leg_forces",
    "root_locus",
    "smallest_damping",
]
