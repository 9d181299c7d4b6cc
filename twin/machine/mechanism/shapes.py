"""Shapes for drawing bodies, none of them with mass, placed in the frame of their body."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray


class Cylinder(NamedTuple):
    """A solid cylinder between two points [m]."""

    name: str
    color: str
    """one of `COLORS`"""
    radius: float
    start: FloatArray
    end: FloatArray


class Ball(NamedTuple):
    """A sphere of a radius [m]."""

    name: str
    color: str
    radius: float
    center: FloatArray


class Box(NamedTuple):
    """A box along the axes of its body; `size` are its edges [m]."""

    name: str
    color: str
    center: FloatArray
    size: FloatArray


class Plate(NamedTuple):
    """A flat plate across the z axis between two heights [m]."""

    name: str
    color: str
    outline: FloatArray
    """`(m, 2)` corners"""
    radius: float
    """of the round plate that formats without outlines draw"""
    bottom: float
    top: float


Shape = Cylinder | Ball | Box | Plate
