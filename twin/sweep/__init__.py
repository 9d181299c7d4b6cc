"""Sweeps: many closed loops of one machine, on all cores or on a cluster, into one table."""

from twin.sweep.description import (
    ControllerChoice,
    MotionChoice,
    PayloadChoice,
    Person,
    Range,
    Sampling,
    Sweep,
    read_sweep,
)
from twin.sweep.folder import BACKEND_NAMES, read_results
from twin.sweep.plan import MEASURE_UNITS, Task, plan
from twin.sweep.run import run_sweep

__all__ = [
    "BACKEND_NAMES",
    "MEASURE_UNITS",
    "ControllerChoice",
    "MotionChoice",
    "PayloadChoice",
    "Person",
    "Range",
    "Sampling",
    "Sweep",
    "Task",
    "plan",
    "read_results",
    "read_sweep",
    "run_sweep",
]
