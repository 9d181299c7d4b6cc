"""Reference motions: time to pose, twist and acceleration, with exact derivatives."""

from twin.motion.motion import (
    AxisSample,
    Motion,
    MotionSample,
    RotationSample,
    axis_names,
    rotational_motion,
)
from twin.motion.profiles import (
    LAWS,
    ChirpMotion,
    MultiSineMotion,
    RestToRestMotion,
    SineMotion,
    StepMotion,
    shortest_rise,
)
from twin.motion.recording import RecordedMotion, read_recording
from twin.motion.tank_track import TankTrackMotion

__all__ = [
    "LAWS",
    "AxisSample",
    "ChirpMotion",
    "Motion",
    "MotionSample",
    "MultiSineMotion",
    "RecordedMotion",
    "RestToRestMotion",
    "RotationSample",
    "SineMotion",
    "StepMotion",
    "TankTrackMotion",
    "axis_names",
    "read_recording",
    "rotational_motion",
    "shortest_rise",
]
