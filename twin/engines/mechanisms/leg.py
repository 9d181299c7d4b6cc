"""What every kind of leg adds to a mechanism."""

from __future__ import annotations

from typing import NamedTuple

from twin.engines.mechanism import Actuator, Body, Friction, Loop, Point
from twin.engines.shapes import Shape


class Leg(NamedTuple):
    """One leg between base and platform."""

    joints: tuple[str, ...]
    """in the order of the platform's leg coordinates"""
    bodies: tuple[Body, ...]
    actuator: Actuator
    points: tuple[Point, ...] = ()
    loops: tuple[Loop, ...] = ()
    internal: tuple[str, ...] = ()
    frictions: tuple[Friction, ...] = ()
    base_shapes: tuple[Shape, ...] = ()
