"""Segments of the human body: published fractions of mass and length, and trees of rigid segments.

Masses, centres, radii and lengths: P. de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment
inertia parameters", Journal of Biomechanics 29 (1996) 1223-1230, table 4, in the definitions with
joint centres and the seventh cervical vertebra as ends. Breadths and heights that de Leva does not
give: R. Drillis and R. Contini, "Body segment parameters", 1966, as fractions of stature in D. A.
Winter, "Biomechanics and motor control of human movement", 4th edition, figure 4.1.

An engine attaches the tree to the platform. All frames are parallel to the platform's frame while
every joint coordinate is zero, which is the seated posture. A segment's frame has its origin at its
joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError

SEXES = ("male", "female")

PAIRED_SEGMENTS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
"""Segments that a body has twice."""

SITTING_HEIGHT = 0.520

SHOULDER_BREADTH = 0.259

HIP_BREADTH = 0.191

ANKLE_HEIGHT = 0.039
"""Height of the ankle as a fraction of stature, after Drillis and Contini."""

ROOT_PARENT = "platform"
"""Name of the parent of a root segment."""

JOINT_TYPES = ("fixed", "hinge", "slide")


class SegmentFractions(NamedTuple):
    """One segment; the longitudinal axis goes from the first named end to the second."""

    ends: str
    """Names of the points where the segment starts and ends"""
    mass: float
    """mass as a fraction of the body's mass"""
    length: float
    """[m] Length in a body of the table's stature"""
    center: float
    """Centre of mass from the first end, as a fraction of the length"""
    sagittal: float
    """Radius of gyration about the axis to the front, as a fraction of the length"""
    transverse: float
    """Radius of gyration about the axis to the side, as a fraction of the length"""
    longitudinal: float
    """Radius of gyration about the longitudinal axis, as a fraction of the length"""


class MeanBody(NamedTuple):
    """The mean body of one sex."""

    stature: float
    """standing height [m]"""
    shoulder_height: float
    """Distance from mid-hip to mid-shoulder [m]"""
    segments: dict[str, SegmentFractions]
    """Segments by name; limbs are those of one side"""


MALE_BODY = MeanBody(
    1.741,
    0.5155,
    {
        "head": SegmentFractions("vertex, cervicale", 0.0694, 0.2429, 0.5002, 0.303, 0.315, 0.261),
        "thorax": SegmentFractions(
            "cervicale, xiphion", 0.1596, 0.2421, 0.5066, 0.505, 0.320, 0.465
        ),
        "abdomen": SegmentFractions(
            "xiphion, omphalion", 0.1633, 0.2155, 0.4502, 0.482, 0.383, 0.468
        ),
        "pelvis": SegmentFractions(
            "omphalion, mid-hip", 0.1117, 0.1457, 0.6115, 0.615, 0.551, 0.587
        ),
        "upper_arm": SegmentFractions(
            "shoulder, elbow", 0.0271, 0.2817, 0.5772, 0.285, 0.269, 0.158
        ),
        "forearm": SegmentFractions("elbow, wrist", 0.0162, 0.2689, 0.4574, 0.276, 0.265, 0.121),
        "hand": SegmentFractions(
            "wrist, third metacarpale", 0.0061, 0.0862, 0.7900, 0.628, 0.513, 0.401
        ),
        "thigh": SegmentFractions("hip, knee", 0.1416, 0.4222, 0.4095, 0.329, 0.329, 0.149),
        "shank": SegmentFractions("knee, ankle", 0.0433, 0.4403, 0.4395, 0.251, 0.246, 0.102),
        "foot": SegmentFractions("heel, toe", 0.0137, 0.2581, 0.4415, 0.257, 0.245, 0.124),
    },
)

FEMALE_BODY = MeanBody(
    1.735,
    0.4979,
    {
        "head": SegmentFractions("vertex, cervicale", 0.0668, 0.2437, 0.4841, 0.271, 0.295, 0.261),
        "thorax": SegmentFractions(
            "cervicale, xiphion", 0.1545, 0.2280, 0.5050, 0.466, 0.314, 0.449
        ),
        "abdomen": SegmentFractions(
            "xiphion, omphalion", 0.1465, 0.2053, 0.4512, 0.433, 0.354, 0.415
        ),
        "pelvis": SegmentFractions(
            "omphalion, mid-hip", 0.1247, 0.1815, 0.4920, 0.433, 0.402, 0.444
        ),
        "upper_arm": SegmentFractions(
            "shoulder, elbow", 0.0255, 0.2751, 0.5754, 0.278, 0.260, 0.148
        ),
        "forearm": SegmentFractions("elbow, wrist", 0.0138, 0.2643, 0.4559, 0.261, 0.257, 0.094),
        "hand": SegmentFractions(
            "wrist, third metacarpale", 0.0056, 0.0780, 0.7474, 0.531, 0.454, 0.335
        ),
        "thigh": SegmentFractions("hip, knee", 0.1478, 0.3685, 0.3612, 0.369, 0.364, 0.162),
        "shank": SegmentFractions("knee, ankle", 0.0481, 0.4386, 0.4352, 0.267, 0.263, 0.092),
        "foot": SegmentFractions("heel, toe", 0.0129, 0.2283, 0.4014, 0.299, 0.279, 0.139),
    },
)

BODIES = {"male": MALE_BODY, "female": FEMALE_BODY}


def mass_sum(body: MeanBody) -> float:
    """Return the sum of all mass fractions, one but for the rounding of the published digits."""
    return sum(
        segment.mass * (2 if name in PAIRED_SEGMENTS else 1)
        for name, segment in body.segments.items()
    )


class Segment(NamedTuple):
    """One rigid segment and the joint that carries it.

    A hinge turns about, a slide moves along `axis`; the joint's spring and damper push with
    stiffness * (rest - coordinate) - damping * rate [N m or N].
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
    """stiffness of the joint's spring [N m/rad] or [N/m]"""
    damping: float
    """damping of the joint [N m s/rad] or [N s/m]"""
    rest: float
    """Coordinate of the relaxed spring [rad or m]: it carries the weight in the seated posture"""
    mass: float
    """mass of the segment [kg]"""
    center: FloatArray
    """Centre of mass `(3,)` [m] from the joint"""
    inertia: FloatArray
    """Tensor `(3, 3)` [kg m2] about the centre of mass"""
    end: FloatArray
    """The segment's far end `(3,)` [m] from the joint, for drawing"""


class RigidSum(NamedTuple):
    """Mass properties of several segments as one rigid body."""

    mass: float
    """total mass [kg]"""
    center: FloatArray
    """Centre of mass `(3,)` [m], platform frame"""
    inertia: FloatArray
    """Tensor `(3, 3)` [kg m2] about the centre of mass, platform axes"""


def origins(segments: Sequence[Segment]) -> dict[str, FloatArray]:
    """Return the joints' positions `(3,)` [m] in the platform frame in the seated posture.

    Raises:
        InputError: a name that comes twice, or a parent that does not come before its child.
    """
    positions = {ROOT_PARENT: np.zeros(3)}
    for segment in segments:
        if segment.name in positions:
            raise InputError("segments", f"the name {segment.name!r} comes twice")
        if segment.parent not in positions:
            raise InputError("segments", f"{segment.parent!r} must come before {segment.name!r}")
        positions[segment.name] = positions[segment.parent] + segment.position
    del positions[ROOT_PARENT]
    return positions


def rigid_sum(segments: Sequence[Segment]) -> RigidSum:
    """Return mass, centre and tensor of all segments frozen in the seated posture.

    Raises:
        InputError: no segment, or no tree.
    """
    if not segments:
        raise InputError("segments", "at least one is needed")
    joint_positions = origins(segments)
    masses = np.array([segment.mass for segment in segments])
    centers = np.array([joint_positions[segment.name] + segment.center for segment in segments])
    tensors = np.array([segment.inertia for segment in segments])
    return combined(masses, centers, tensors)


def combined(masses: FloatArray, centers: FloatArray, tensors: FloatArray) -> RigidSum:
    """Return bodies of masses `(k,)`, centres `(k, 3)` and tensors `(k, 3, 3)` as one body.

    Tensors are about the bodies' own centres; the parallel-axis theorem moves them.
    """
    mass = masses.sum()
    center = masses @ centers / mass
    offsets = centers - center
    inertia_shapes = (offsets**2).sum(axis=1)[:, None, None] * np.eye(3) - offsets[
        :, :, None
    ] * offsets[:, None]
    inertia = (tensors + masses[:, None, None] * inertia_shapes).sum(axis=0)
    return RigidSum(float(mass), np.asarray(center), np.asarray(inertia))


def branch(segments: Sequence[Segment], root: str) -> list[Segment]:
    """Return a segment and all that it carries."""
    names = {root}
    for segment in segments:
        if segment.parent in names:
            names.add(segment.name)
    return [segment for segment in segments if segment.name in names]
