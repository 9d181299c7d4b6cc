"""What a controller asks of the drives."""

from __future__ import annotations

from typing import Literal, NamedTuple

from twin.basics.arrays import FloatArray

Mode = Literal["velocity", "force"]
MODES: tuple[Mode, ...] = ("velocity", "force")


class Command(NamedTuple):
    """What the drives do until the next command."""

    values: FloatArray
    """`(n,)` speeds [m/s, rad/s] or forces [N, N m]"""
    mode: Mode = "velocity"
    """"velocity": each drive closes a PI loop around its motor's speed; "force": none"""
    feedforward: FloatArray | None = None
    """`(n,)` force added to that of the velocity loop"""
    brakes: FloatArray | None = None
    """`(n,)` 1 where the brake shall hold, 0 where it shall be free; None for free"""
