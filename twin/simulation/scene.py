"""Scene of a machine at one instant, independent of the engine."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray


class Scene(NamedTuple):
    """Places of all that moves, as `SceneModel.place` takes them."""

    pose: FloatArray
    """`(7,)` of the platform in the base frame"""
    deflection: FloatArray | None = None
    """`(2k,)` coordinates inside the legs, then their rates"""
    ghost: FloatArray | None = None
    """`(7,)` pose of the setpoint"""
    ball: FloatArray | None = None
    """`(7,)` pose of the ball in the base frame; what follows it, as its twist, is not seen"""
    base_displacement: FloatArray | None = None
    """`(3,)` [m] of the base in the room"""
