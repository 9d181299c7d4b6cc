"""Payload of the platform as bodies of a mechanism: segments on springs and dampers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi, sqrt
from typing import Any, Literal

import numpy as np

from twin.errors import InputError
from twin.machine.mechanism.parts import PLATFORM, Body, Joint, Mass, Spring
from twin.machine.mechanism.shapes import Cylinder, Shape
from twin.machine.payload.occupant import Occupant
from twin.machine.payload.segments import JOINTS, Segment, origins

WATER = 1000.0
"""[kg/m3] of the cylinders that segments are drawn as."""


def as_segments(payload: Any, gravity: float) -> tuple[Segment, ...]:
    """Return a payload as segments; none for None.

    Args:
        payload: an `Occupant`, segments, or what `plain` made of them.
        gravity: [m/s2] that an occupant's springs carry; 0 is taken for the earth's.

    Raises:
        InputError: something else, or segments that do not form a tree.
    """
    if payload is None:
        return ()
    if isinstance(payload, Occupant):
        return payload.segments(gravity) if gravity > 0.0 else payload.segments()
    try:
        segments = tuple(_segment(part) for part in payload)
    except (TypeError, ValueError) as error:
        raise InputError("payload", f"must be an Occupant or segments ({error})") from None
    origins(segments)
    for segment in segments:
        numbers = np.concatenate([np.ravel(field) for field in segment[3:]])
        if segment.joint not in JOINTS:
            raise InputError("payload", f"{segment.name}: no joint {segment.joint!r}")
        if not (np.isfinite(numbers).all() and segment.mass > 0.0):
            raise InputError("payload", f"{segment.name}: needs finite numbers and a mass above 0")
    return segments


def plain(segments: Iterable[Segment]) -> list[list[Any]]:
    """Return segments as lists of texts and numbers, for files."""
    return [[np.asarray(field).tolist() for field in segment] for segment in segments]


def carried_bodies(segments: Sequence[Segment]) -> tuple[Body, ...]:
    """Return the bodies `payload_<segment>`, each on a joint of the same name, or fixed."""
    return tuple(_body(segment) for segment in segments)


def _segment(part: Any) -> Segment:
    arrays = ("axis", "position", "center", "inertia", "end")
    fields = dict(zip(Segment._fields, part, strict=True))
    fields |= {name: np.array(fields[name], dtype=float) for name in arrays}
    return Segment(**fields)


def _body(segment: Segment) -> Body:
    name = f"payload_{segment.name}"
    joints: tuple[Joint, ...] = ()
    if segment.joint != "fixed":
        kind: Literal["hinge", "slide"] = "hinge" if segment.joint == "hinge" else "slide"
        spring = Spring(segment.stiffness, segment.damping, segment.rest)
        joints = (Joint(name, kind, segment.axis, spring=spring),)
    return Body(
        name,
        PLATFORM if segment.parent == PLATFORM else f"payload_{segment.parent}",
        segment.position,
        joints=joints,
        mass=Mass(segment.mass, segment.center, segment.inertia),
        shapes=_shapes(name, segment),
    )


def _shapes(name: str, segment: Segment) -> tuple[Shape, ...]:
    length = float(np.linalg.norm(segment.end))
    if not length > 0.0:
        return ()
    radius = sqrt(segment.mass / (WATER * pi * length))
    return (Cylinder(f"{name}_limb", "occupant", radius, np.zeros(3), segment.end),)
