"""Sweeps: many closed loops of one machine, on all cores or on a cluster, into one table."""

from twin.sweep.description import ControllerChoice, PayloadChoice, Person, Sweep, read_sweep
from twin.sweep.folder import read_results
from twin.sweep.plan import MEASURE_UNITS, Task, plan
from twin.sweep.workers import BACKEND_NAMES, run_sweep

__all__ = [
    "BACKEND_NAMES",
    "MEASURE_UNITS",
    "ControllerChoice",
    "PayloadChoice",
    "Person",
    "Sweep",
    "Task",
    "plan",
    "read_results",
    "read_sweep",
    "run_sweep",
]
