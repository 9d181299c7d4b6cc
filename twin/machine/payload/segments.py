"""Rigid segments that hang together in a tree: what an engine attaches to the platform.

All frames are parallel to the platform's frame while every joint coordinate is zero, which is the
seated posture. A segment's frame has its origin at its joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError

PLATFORM = "platform"
"""Parent of a root."""

JOINTS = ("fixed", "hinge", "slide")


class Segment(NamedTuple):
    """One rigid segment and the joint that carries it.

    A hinge turns about, a slide moves along `axis`; the joint's spring and damper push with
    stiffness (rest - coordinate) - damping rate [N m or N].
    """

    name: str
    """Unique in the tree"""
    parent: str
    """Name of the segment that carries it, or `platform`; parents come first"""
    joint: str
    """`fixed`, `hinge` or `slide`"""
    axis: FloatArray
    """Unit vector `(3,)`; zero for a fixed joint"""
    position: FloatArray
    """The joint `(3,)` [m] in the parent's frame"""
    stiffness: float
    """[N m/rad] or [N/m]"""
    damping: float
    """[N m s/rad] or [N s/m]"""
    rest: float
    """Coordinate of the relaxed spring [rad or m]: it carries the weight in the seated posture"""
    mass: float
    """[kg]"""
    center: FloatArray
    """Centre of mass `(3,)` [m] from the joint"""
    inertia: FloatArray
    """Tensor `(3, 3)` [kg m2] about the centre of mass"""
    end: FloatArray
    """The segment's far end `(3,)` [m] from the joint, for drawing"""


class RigidSum(NamedTuple):
    """Segments taken as one rigid body."""

    mass: float
    """[kg]"""
    center: FloatArray
    """Centre of mass `(3,)` [m], platform frame"""
    inertia: FloatArray
    """Tensor `(3, 3)` [kg m2] about the centre of mass, platform axes"""


def origins(segments: Sequence[Segment]) -> dict[str, FloatArray]:
    """Return the joints' positions `(3,)` [m] in the platform frame in the seated posture.

    Raises:
        InputError: a name that comes twice, or a parent that does not come before its child.
    """
    found = {PLATFORM: np.zeros(3)}
    for segment in segments:
        if segment.name in found:
            raise InputError("segments", f"the name {segment.name!r} comes twice")
        if segment.parent not in found:
            raise InputError("segments", f"{segment.parent!r} must come before {segment.name!r}")
        found[segment.name] = found[segment.parent] + segment.position
    del found[PLATFORM]
    return found


def rigid_sum(segments: Sequence[Segment]) -> RigidSum:
    """Return mass, centre and tensor of all segments frozen in the seated posture.

    Raises:
        InputError: no segment, or no tree.
    """
    if not segments:
        raise InputError("segments", "at least one is needed")
    places = origins(segments)
    masses = np.array([segment.mass for segment in segments])
    centers = np.array([places[segment.name] + segment.center for segment in segments])
    tensors = np.array([segment.inertia for segment in segments])
    return combined(masses, centers, tensors)


def combined(masses: FloatArray, centers: FloatArray, tensors: FloatArray) -> RigidSum:
    """Return bodies of masses `(k,)`, centres `(k, 3)` and tensors `(k, 3, 3)` as one.

    Tensors are about the bodies' own centres; the parallel-axis theorem moves them.
    """
    mass = masses.sum()
    center = masses @ centers / mass
    away = centers - center
    squares = (away**2).sum(axis=1)[:, None, None] * np.eye(3) - away[:, :, None] * away[:, None]
    inertia = (tensors + masses[:, None, None] * squares).sum(axis=0)
    return RigidSum(float(mass), np.asarray(center), np.asarray(inertia))


def branch(segments: Sequence[Segment], root: str) -> list[Segment]:
    """Return a segment and all that it carries."""
    names = {root}
    for segment in segments:
        if segment.parent in names:
            names.add(segment.name)
    return [segment for segment in segments if segment.name in names]
