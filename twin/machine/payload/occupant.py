"""A seated occupant: a tree of segments from stature, mass and posture.

Springs and dampers of the joints are derived from frequencies and damping ratios. The primary
resonance of a seated body under vertical vibration is published at 4.5 to 5.5 Hz (M. H. Pope, D. G.
Wilder, M. Magnusson and others; also ISO 5982): the seat's spring has 5 Hz. All other frequencies
and the damping ratios are engineering choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from math import pi, radians
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_instance,
    as_vector,
    bounded,
    one_of,
    positive,
)
from twin.errors import InputError, brief
from twin.machine.body import RigidBody
from twin.machine.machine import MachineParameters
from twin.machine.payload import anthropometry
from twin.machine.payload.anthropometry import (
    BODIES,
    PAIRED_SEGMENTS,
    ROOT_PARENT,
    SEXES,
    MeanBody,
    RigidSum,
    Segment,
    branch,
    combined,
    mass_sum,
    origins,
    rigid_sum,
)


class JointTuning(NamedTuple):
    """Tuning of one joint, with all others frozen and the platform at rest."""

    frequency: float
    """Natural frequency without damping [Hz], gravity included"""
    damping_ratio: float
    """Damping as a fraction of critical damping"""


JOINT_TUNINGS = {
    "pelvis": JointTuning(5.0, 0.4),
    "abdomen": JointTuning(2.5, 0.3),
    "thorax": JointTuning(2.0, 0.3),
    "head": JointTuning(3.0, 0.3),
    "upper_arm": JointTuning(2.0, 0.3),
    "forearm": JointTuning(3.0, 0.3),
    "shank": JointTuning(3.0, 0.3),
}
"""Frequency and damping of the joints by the segment they carry; all others are fixed."""


def tuned(
    segments: Sequence[Segment], tuning: dict[str, JointTuning], gravity: float
) -> tuple[Segment, ...]:
    """Return the segments with stiffness, damping and rest coordinate of their joints.

    Args:
        segments: a tree in the seated posture.
        tuning: by the names of the segments that the joints carry, without the side.
        gravity: [m/s2] along -z of the level platform.

    Raises:
        InputError: no tree.
    """
    joint_positions = origins(segments)
    gravity_vector = np.array([0.0, 0.0, -gravity])
    jointed = []
    for segment in segments:
        if segment.joint == "fixed":
            jointed.append(segment)
            continue
        inertia, gravity_load, gravity_stiffness = _carried(
            segment, branch(segments, segment.name), joint_positions, gravity_vector
        )
        frequency, ratio = tuning[segment.name.removesuffix("_left").removesuffix("_right")]
        natural_frequency = 2.0 * pi * frequency
        spring_stiffness = inertia * natural_frequency**2 - gravity_stiffness
        jointed.append(
            segment._replace(
                stiffness=spring_stiffness,
                damping=2.0 * ratio * inertia * natural_frequency,
                rest=-gravity_load / spring_stiffness,
            )
        )
    return tuple(jointed)


def _carried(
    segment: Segment,
    segments: Sequence[Segment],
    joint_positions: dict[str, FloatArray],
    gravity: FloatArray,
) -> tuple[float, float, float]:
    """Return inertia, gravity load and gravity stiffness along a joint's coordinate.

    The stiffness is minus the derivative of the load; `gravity` `(3,)` is in m/s2.
    """
    joint = joint_positions[segment.name]
    carried_body = combined(
        np.array([part.mass for part in segments]),
        np.array([joint_positions[part.name] + part.center - joint for part in segments]),
        np.array([part.inertia for part in segments]),
    )
    axis = segment.axis
    if segment.joint == "slide":
        return carried_body.mass, carried_body.mass * float(axis @ gravity), 0.0
    lever = np.cross(axis, carried_body.center)
    inertia = float(axis @ carried_body.inertia @ axis) + carried_body.mass * float(lever @ lever)
    gravity_load = carried_body.mass * float(lever @ gravity)
    gravity_stiffness = -carried_body.mass * float(np.cross(axis, lever) @ gravity)
    return inertia, gravity_load, gravity_stiffness


TRUNK_SEGMENTS = ("pelvis", "abdomen", "thorax")

UPRIGHT_SEGMENTS = (*TRUNK_SEGMENTS, "head")
"""Segments whose first end is the upper one and whose joint is at the lower end."""

SEAT_HEIGHT = 0.45
"""Top of the seat above the platform [m] without a wheelchair (engineering choice)."""

ANKLE_FROM_HEEL = 0.25
"""Distance from heel to ankle as a fraction of the foot's length (engineering choice)."""

PARENT_SEGMENTS = {
    "pelvis": ROOT_PARENT,
    "abdomen": "pelvis",
    "thorax": "abdomen",
    "head": "thorax",
    "upper_arm": "thorax",
    "forearm": "upper_arm",
    "hand": "forearm",
    "thigh": "pelvis",
    "shank": "thigh",
    "foot": "shank",
}
"""Parent of each segment, parents first."""

JOINT_AXES = {
    "pelvis": ("slide", (0.0, 0.0, 1.0)),
    "abdomen": ("hinge", (0.0, 1.0, 0.0)),
    "thorax": ("hinge", (1.0, 0.0, 0.0)),
    "head": ("hinge", (0.0, 1.0, 0.0)),
    "upper_arm": ("hinge", (0.0, 1.0, 0.0)),
    "forearm": ("hinge", (0.0, 1.0, 0.0)),
    "shank": ("hinge", (0.0, 1.0, 0.0)),
}
"""Type and axis of the joint of each segment that moves: seat cushion, trunk pitch, trunk roll,
nod, shoulder, elbow, knee; all other segments are fixed.
"""


@dataclass(frozen=True)
class SeatedPosture:
    """Angles [rad] of a symmetric seated posture; the values are engineering choices.

    Raises:
        InputError: not finite, or more than half a turn.
    """

    recline: float = radians(10.0)
    """Angle of the trunk from straight up, backwards"""
    head: float = 0.0
    """Angle of the head from straight up, backwards"""
    thigh: float = radians(90.0)
    """Angle of the thighs from straight down, forwards"""
    shank: float = radians(15.0)
    """Angle of the shanks from straight down, forwards"""
    upper_arm: float = radians(20.0)
    """Angle of the upper arms from straight down, forwards"""
    forearm: float = radians(85.0)
    """Angle of the forearms from straight down, forwards; the hands continue in their direction"""

    def __post_init__(self) -> None:
        for angle in fields(self):
            bounded(getattr(self, angle.name), angle.name, -pi, pi)

    def direction(self, segment: str) -> FloatArray:
        """Return the unit vector `(3,)` from the first to the second end of a segment.

        Axes of the platform: x to the front, y to the left, z up.
        """
        if segment == "foot":
            return np.array([1.0, 0.0, 0.0])
        angle_names = {"hand": "forearm"} | dict.fromkeys(TRUNK_SEGMENTS, "recline")
        angle = getattr(self, angle_names.get(segment, segment))
        return np.array([np.sin(angle), 0.0, -np.cos(angle)])


@dataclass(frozen=True)
class Wheelchair:
    """A manual wheelchair: a uniform box tied to the platform.

    Mass and seat height are those from which a chair counts as a standard one in the United States
    (Medicare class K0001: more than 36 lb, seat at 19 in or more), rounded up; the box is adopted.

    Raises:
        InputError: numbers that no chair can have.
    """

    mass: float = 17.0
    """[kg]"""
    seat_height: float = 0.49
    """Top of the seat above the platform [m]"""
    length: float = 1.05
    """[m]"""
    width: float = 0.62
    """[m]"""
    height: float = 0.90
    """[m]"""
    behind: float = 0.05
    """Centre of mass behind the occupant's hips [m]"""

    def __post_init__(self) -> None:
        for size in fields(self):
            if size.name != "behind":
                positive(getattr(self, size.name), size.name)
        if as_floats(self.behind, "behind").ndim:
            raise InputError("behind", "must be one number")

    def segment(self, seat: FloatArray) -> Segment:
        """Return the chair on the platform under a seat at `(3,)` [m]."""
        squares = np.square([self.length, self.width, self.height])
        return Segment(
            "wheelchair",
            ROOT_PARENT,
            "fixed",
            np.zeros(3),
            np.array([seat[0] - self.behind, seat[1], 0.0]),
            0.0,
            0.0,
            0.0,
            self.mass,
            np.array([0.0, 0.0, self.height / 2.0]),
            np.diag(self.mass * (squares.sum() - squares) / 12.0),
            np.array([0.0, 0.0, self.height]),
        )


@dataclass(frozen=True)
class Occupant:
    """A person seated on a platform, facing its x axis.

    Raises:
        InputError: numbers that no person can have, or an unknown sex.
    """

    stature: float
    """standing height [m]"""
    mass: float
    """body mass [kg]"""
    sex: str = "male"
    """Table of mass and length fractions: `male` or `female`"""
    posture: SeatedPosture = field(default_factory=SeatedPosture)
    """Angles of the segments"""
    seat: tuple[float, float, float] | None = None
    """Top of the seat under the hips, platform frame [m]; default: as high as the seat of the
    wheelchair, or 0.45 m, and where the common centre of mass is above the reference point"""
    wheelchair: Wheelchair | None = None
    """The chair, if the occupant brings one"""

    def __post_init__(self) -> None:
        one_of(self.sex, "sex", SEXES)
        bounded(self.stature, "stature", 0.8, 2.5)
        bounded(self.mass, "mass", 10.0, 300.0)
        as_instance(self.posture, "posture", SeatedPosture)
        if self.wheelchair is not None:
            as_instance(self.wheelchair, "wheelchair", Wheelchair)
        if self.seat is not None:
            as_vector(self.seat, "seat", 3)

    def segments(self, gravity: float = 9.81) -> tuple[Segment, ...]:
        """Return the occupant as a tree of rigid segments, and the wheelchair if there is one.

        Args:
            gravity: [m/s2] that springs carry on a level platform.

        Raises:
            InputError: gravity that is not above zero.
        """
        gravity_magnitude = positive(gravity, "gravity")
        chair = self.wheelchair
        seat = np.array([0.0, 0.0, SEAT_HEIGHT if chair is None else chair.seat_height])
        if self.seat is None:
            seat[0] -= rigid_sum(self._placed(seat)).center[0]
        else:
            seat = np.array(self.seat)
        return tuned(self._placed(seat), JOINT_TUNINGS, gravity_magnitude)

    def _placed(self, seat: FloatArray) -> tuple[Segment, ...]:
        """Return all segments of the person on the seat."""
        body = BODIES[self.sex]
        mass_fractions = {
            name: segment.mass / mass_sum(body) for name, segment in body.segments.items()
        }
        segments = []
        for name, carrier in PARENT_SEGMENTS.items():
            for side in ("_left", "_right") if name in PAIRED_SEGMENTS else ("",):
                parent = carrier + side if carrier in PAIRED_SEGMENTS else carrier
                sideways = 1.0 if side == "_left" else -1.0
                position = self._joint(body, name, sideways)
                if name == "pelvis":
                    position = position + seat
                segments.append(
                    self._segment(body, name, side, parent, position, mass_fractions[name])
                )
        if self.wheelchair is not None:
            segments.append(self.wheelchair.segment(seat))
        return tuple(segments)

    def _joint(self, body: MeanBody, name: str, sideways: float) -> FloatArray:
        """Return a segment's joint `(3,)` [m] in the frame of the segment that carries it."""
        scale = self.stature / body.stature
        left_offset = np.array([0.0, sideways, 0.0])
        if name == "pelvis":
            trunk = sum(body.segments[segment_name].length for segment_name in TRUNK_SEGMENTS)
            height = anthropometry.SITTING_HEIGHT * self.stature
            # The published sitting height is upright: what is left is the flesh under the hips.
            return np.array([0.0, 0.0, height - scale * (trunk + body.segments["head"].length)])
        if name == "thigh":
            return anthropometry.HIP_BREADTH / 2.0 * self.stature * left_offset
        if name == "upper_arm":
            pelvis_and_abdomen = body.segments["pelvis"].length + body.segments["abdomen"].length
            rise = scale * (body.shoulder_height - pelvis_and_abdomen)
            half_breadth = anthropometry.SHOULDER_BREADTH / 2.0 * self.stature
            return half_breadth * left_offset - rise * self.posture.direction("thorax")
        carrier = PARENT_SEGMENTS[name]
        length = scale * body.segments[carrier].length
        upwards = -1.0 if carrier in UPRIGHT_SEGMENTS else 1.0
        return upwards * length * self.posture.direction(carrier)

    def _segment(
        self,
        body: MeanBody,
        name: str,
        side: str,
        parent: str,
        position: FloatArray,
        mass_fraction: float,
    ) -> Segment:
        """Return one segment, scaled from the body of the tables."""
        reference_segment = body.segments[name]
        length = reference_segment.length * self.stature / body.stature
        segment_axis = self.posture.direction(name)
        front_axis = np.cross([0.0, 1.0, 0.0], segment_axis)
        center_of_mass = np.zeros(3)
        if name in UPRIGHT_SEGMENTS:
            center_of_mass = -length * segment_axis
        elif name == "foot":
            height = anthropometry.ANKLE_HEIGHT * self.stature
            center_of_mass = np.array([-ANKLE_FROM_HEEL * length, 0.0, -height / 2.0])
        axes = np.stack([front_axis, [0.0, 1.0, 0.0], segment_axis], axis=1)
        radii = length * np.array(
            [
                reference_segment.sagittal,
                reference_segment.transverse,
                reference_segment.longitudinal,
            ]
        )
        joint, axis = JOINT_AXES.get(name, ("fixed", (0.0, 0.0, 0.0)))
        return Segment(
            name + side,
            parent,
            joint,
            np.array(axis),
            position,
            0.0,
            0.0,
            0.0,
            mass_fraction * self.mass,
            center_of_mass + reference_segment.center * length * segment_axis,
            axes @ np.diag(mass_fraction * self.mass * radii**2) @ axes.T,
            center_of_mass if name in UPRIGHT_SEGMENTS else center_of_mass + length * segment_axis,
        )


def seated_on(parameters: MachineParameters, occupant: Occupant) -> MachineParameters:
    """Return the machine with the occupant as part of its platform's body.

    Everything else, the machine's name included, stays as it is.

    Raises:
        InputError: not parameters or not an occupant.
    """
    as_instance(parameters, "parameters", MachineParameters)
    if not isinstance(occupant, Occupant):
        raise InputError("occupant", f"must be an Occupant, not {brief(occupant)}")
    platform = parameters.platform
    loaded_body = with_body(platform.body, rigid_sum(occupant.segments()))
    body = RigidBody(
        source=f"{platform.body.source}; {_description(occupant)}",
        mass=loaded_body.mass,
        center_of_mass=tuple(loaded_body.center.tolist()),
        inertia=loaded_body.inertia.tolist(),
    )
    return parameters.model_copy(update={"platform": platform.model_copy(update={"body": body})})


def with_body(body: RigidBody, added: RigidSum) -> RigidSum:
    """Return a body and a payload fixed to it as one rigid body in the platform frame."""
    return combined(
        np.array([body.mass, added.mass]),
        np.array([body.center_of_mass_vector, added.center]),
        np.array([body.inertia_tensor, added.inertia]),
    )


def _description(occupant: Occupant) -> str:
    chair = "" if occupant.wheelchair is None else f", wheelchair of {occupant.wheelchair.mass} kg"
    return (
        f"seated occupant of {occupant.stature} m and {occupant.mass} kg, fractions of de Leva "
        f"(1996, table 4) and Drillis and Contini (1966){chair}"
    )
