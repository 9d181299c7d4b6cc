"""The twin that runs next to a real machine: its state, residuals and alarms."""

from __future__ import annotations

from twin.shadow.derive import derive_thresholds, read_thresholds, write_thresholds
from twin.shadow.detectors import ALARM_KINDS, Alarm, Thresholds
from twin.shadow.shadow import Shadow, ShadowState

__all__ = [
    "ALARM_KINDS",
    "Alarm",
    "Shadow",
    "ShadowState",
    "Thresholds",
    "derive_thresholds",
    "read_thresholds",
    "write_thresholds",
]
