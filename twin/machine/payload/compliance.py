"""Springs and dampers of an occupant's joints, derived from frequencies and damping ratios.

The primary resonance of a seated body under vertical vibration is published at 4.5 to 5.5 Hz (M. H.
Pope, D. G. Wilder, M. Magnusson and others; also ISO 5982): the seat's spring has 5 Hz. All other
frequencies and the damping ratios are engineering choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.payload.anthropometry import Segment, branch, combined, origins


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
        carried_segments = branch(segments, segment.name)
        joint_position = joint_positions[segment.name]
        inertia, gravity_stiffness, stiffness = _carried(
            segment, carried_segments, joint_positions, joint_position, gravity_vector
        )
        frequency, ratio = tuning[segment.name.removesuffix("_left").removesuffix("_right")]
        natural = 2.0 * pi * frequency
        spring = inertia * natural**2 - stiffness
        jointed.append(
            segment._replace(
                stiffness=spring,
                damping=2.0 * ratio * inertia * natural,
                rest=-gravity_stiffness / spring,
            )
        )
    return tuple(jointed)


def _carried(
    segment: Segment,
    carried: Sequence[Segment],
    places: dict[str, FloatArray],
    joint: FloatArray,
    weight: FloatArray,
) -> tuple[float, float, float]:
    """Return inertia, gravity load and gravity stiffness along a joint's coordinate."""
    carried_body = combined(
        np.array([part.mass for part in carried]),
        np.array([places[part.name] + part.center - joint for part in carried]),
        np.array([part.inertia for part in carried]),
    )
    axis = segment.axis
    if segment.joint == "slide":
        return carried_body.mass, carried_body.mass * float(axis @ weight), 0.0
    lever = np.cross(axis, carried_body.center)
    inertia = float(axis @ carried_body.inertia @ axis) + carried_body.mass * float(lever @ lever)
    gravity_stiffness = carried_body.mass * float(lever @ weight)
    stiffness = -carried_body.mass * float(np.cross(axis, lever) @ weight)
    return inertia, gravity_stiffness, stiffness
