"""Reference motions: time to pose, twist and acceleration, with exact derivatives."""

from twin.motion.axes import AxisSample, axis_names
from twin.motion.barriers import Barriers, barrier_course
from twin.motion.chirp import ChirpMotion
from twin.motion.motion import Motion, MotionSample
from twin.motion.multi_sine import MultiSineMotion
from twin.motion.recording import RecordedMotion, read_recording
from twin.motion.rest_to_rest import LAWS, RestToRestMotion, shortest_rise
from twin.motion.rotational_motion import RotationSample, rotational_motion
from twin.motion.sine import SineMotion
from twin.motion.step import StepMotion
from twin.motion.tank_track import TankTrackMotion, TrackedVehicle

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
