"""Sweeps: many closed loops of one machine, on all cores or on a cluster, into one table."""

from twin.sweep.choices import ControllerChoice, MotionChoice, PayloadChoice, Person, Sampling
from twin.sweep.description import Sweep, read_sweep
from twin.sweep.folder import read_results
from twin.sweep.measure import MEASURES
from twin.sweep.outcomes import BACKENDS
from twin.sweep.plan import plan
from twin.sweep.run import run_sweep
from twin.sweep.task import Task
from twin.sweep.values import Range

__all__ = [
    "BACKENDS",
    "MEASURES",
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
