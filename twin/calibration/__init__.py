"""Calibration: joints and offsets of a machine from measured poses, and poses to measure."""

from __future__ import annotations

from twin.calibration.calibration import Calibration, PoseErrors, calibrate
from twin.calibration.measured import Frames, MeasuredPoses, read_poses
from twin.calibration.measurement_model import LegErrors
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
