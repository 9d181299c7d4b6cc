"""Machines linearised about a pose of rest, and designs on them: LQR, H-infinity loop shaping."""

from twin.control.linear.lqr import linearise
from twin.control.linear.machine import (
    LinearMachine,
    OperatingPoint,
    StateSpace,
    discretise,
    driven_system,
    rest_at,
    with_delay,
    with_drives,
    with_lag,
)

__all__ = [
    "LinearMachine",
    "OperatingPoint",
    "StateSpace",
    "discretise",
    "driven_system",
    "linearise",
    "rest_at",
    "with_delay",
    "with_drives",
    "with_lag",
]
