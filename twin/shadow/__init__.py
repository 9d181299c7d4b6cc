"""The twin that runs next to a real machine: its state, residuals and alarms."""

from __future__ import annotations

from twin.shadow.detectors import ALARM_KINDS, Alarm
from twin.shadow.shadow import Shadow, ShadowState
from twin.shadow.thresholds import (
    Thresholds,
    default_thresholds,
    read_thresholds,
    write_thresholds,
)

__all__ = [
    "ALARM_KINDS",
    "Alarm",
    "Shadow",
    "ShadowState",
    "Thresholds",
    "default_thresholds",
    "read_thresholds",
    "write_thresholds",
]
