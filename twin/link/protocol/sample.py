"""A sample: what a datagram says, with values in SI by the names of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from twin.basics.arrays import FloatArray

Kind = Literal["command", "measurement", "estimate"]
KINDS: tuple[Kind, ...] = ("command", "measurement", "estimate")
"""Their numbers in a datagram are 1, 2 and 3."""

State = Literal["running", "holding", "stopped"]
STATES: tuple[State, ...] = ("running", "holding", "stopped")
"""Of the machine; their numbers in a datagram are 0, 1 and 2."""

SEQUENCES = 2**32
"""Sequence numbers begin again at zero after this many."""


class Sample(NamedTuple):
    """One command, measurement or estimate.

    A command with `command_forces` alone sets forces. With `command_rates` it sets speeds, and
    with `setpoint` positions, to which the other two are feedforward. Without a field it holds.
    A measurement holds the command in force beside what was measured.
    """

    kind: Kind
    time: float
    """[s] of the sender's clock, which may begin anywhere"""
    values: Mapping[str, FloatArray]
    """name of a field -> `(w,)`; read-only where it was received"""
    sequence: int = 0
    """number of the sample, one more than the sender's last; 0 after 4294967295"""
    acknowledged: int = 0
    """sequence number of the last command that was received before; 0 without one"""
    state: State = "running"
    """of the machine: it follows commands, holds its position without them, or has stopped"""
