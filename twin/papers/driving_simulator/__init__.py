"""Studies of the driving simulator: what its paper calculates, and what its assumptions cost.

Reference: driving simulator paper; derivations in docs/driving_simulator.md.
"""

from twin.papers.driving_simulator.envelope import Envelope, translational_envelope
from twin.papers.driving_simulator.error_map import (
    ErrorMap,
    SmallAngleErrors,
    WorstErrors,
    small_angle_errors,
    small_angle_errors_at,
    worst_small_angle_errors,
)
from twin.papers.driving_simulator.foot_friction import FrictionEffect, friction_effect
from twin.papers.driving_simulator.head import (
    HeadMotion,
    exact_head_motion,
    in_plate_axes,
    small_angle_head_motion,
)
from twin.papers.driving_simulator.motion_ranges import (
    MotionRanges,
    PlateSize,
    exact_ranges,
    exact_ranges_at_best_heave,
    plate_for_ranges,
    small_angle_ranges,
    stroke_shares,
)
from twin.papers.driving_simulator.printed_energy import (
    HomeInertia,
    ModelForces,
    home_inertia,
    model_forces,
    tilting_stiffness,
)
from twin.papers.driving_simulator.redundancy import (
    ForceSplit,
    WrongLength,
    split_forces,
    wrong_force,
    wrong_length,
)

__all__ = [
    "Envelope",
    "ErrorMap",
    "ForceSplit",
    "FrictionEffect",
    "HeadMotion",
    "HomeInertia",
    "ModelForces",
    "MotionRanges",
    "PlateSize",
    "SmallAngleErrors",
    "WorstErrors",
    "WrongLength",
    "exact_head_motion",
    "exact_ranges",
    "exact_ranges_at_best_heave",
    "friction_effect",
    "home_inertia",
    "in_plate_axes",
    "model_forces",
    "plate_for_ranges",
    "small_angle_errors",
    "small_angle_errors_at",
    "small_angle_head_motion",
    "small_angle_ranges",
    "split_forces",
    "stroke_shares",
    "tilting_stiffness",
    "translational_envelope",
    "worst_small_angle_errors",
    "wrong_force",
    "wrong_length",
]
