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
from twin.motion.tank_track import Barriers, TankTrackMotion, TrackedVehicle, barrier_course

__all__ = [
    "LAWS",
    "AxisSample",
    "Barriers",
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
    "TrackedVehicle",
    "axis_names",
    "barrier_course",
    "read_recording",
    "rotational_motion",
    "shortest_rise",
]
