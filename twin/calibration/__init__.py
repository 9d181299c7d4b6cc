"""Calibration: joints and offsets of a machine from measured poses, and poses to measure."""

from __future__ import annotations

from twin.calibration.calibration import Calibration, PoseErrors, calibrate
from twin.calibration.frames import Frames
from twin.calibration.leg_errors import LegErrors
from twin.calibration.measured import MeasuredPoses, read_poses
from twin.calibration.pose_plan import Plan, plan
from twin.calibration.simulated import poses_within, simulated

__all__ = [
    "Calibration",
    "Frames",
    "LegErrors",
    "MeasuredPoses",
    "Plan",
    "PoseErrors",
    "calibrate",
    "plan",
    "poses_within",
    "read_poses",
    "simulated",
]
