"""The twin beside a running machine: its state, residuals and alarms."""

from __future__ import annotations

from twin.shadow.alarm import KINDS, Alarm
from twin.shadow.derive import derive_thresholds, read_thresholds, write_thresholds
from twin.shadow.shadow import Shadow, ShadowState
from twin.shadow.thresholds import Thresholds

__all__ = [
    "KINDS",
    "Alarm",
    "Shadow",
    "ShadowState",
    "Thresholds",
    "derive_thresholds",
    "read_thresholds",
    "write_thresholds",
]
