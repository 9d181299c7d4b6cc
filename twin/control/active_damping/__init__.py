"""Active damping of machines with springs in their legs: force and velocity feedback, HAC-LAC."""

from twin.control.active_damping.closed_loop import (
    BestGain,
    best_gain,
    closed_loop,
    smallest_damping,
)
from twin.control.active_damping.hac_lac import HacLac
from twin.control.active_damping.local import DirectVelocityFeedback, IntegralForceFeedback

__all__ = [
    "BestGain",
    "DirectVelocityFeedback",
    "HacLac",
    "IntegralForceFeedback",
    "best_gain",
    "closed_loop",
    "smallest_damping",
]
