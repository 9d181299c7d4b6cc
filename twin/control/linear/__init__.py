"""Machines linearised about a pose of rest, and designs on them: LQR, H-infinity loop shaping."""

from twin.control.linear.drives import driven_system, with_delay, with_drives, with_lag
from twin.control.linear.linearise import linearise
from twin.control.linear.machine import LinearMachine, OperatingPoint, rest_at
from twin.control.linear.state_space import StateSpace, sampled

__all__ = [
    "LinearMachine",
    "OperatingPoint",
    "StateSpace",
    "driven_system",
    "linearise",
    "rest_at",
    "sampled",
    "with_delay",
    "with_drives",
    "with_lag",
]
