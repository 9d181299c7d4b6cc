"""Margins of universal and ball joints: angles of the legs from the joints' neutral directions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from twin.analysis.feasibility.course import Course
from twin.analysis.feasibility.leg_points import LegPoints, crank_frames
from twin.analysis.feasibility.margin import Quantity, amount
from twin.basics.arrays import FloatArray
from twin.machine.legs.joint_limit import JointLimit
from twin.model.machine_model import MachineModel

JOINTS = {
    "base_joint": "base joint",
    "elbow_joint": "elbow joint",
    "platform_joint": "platform joint",
}
"""Field of a leg's table -> name of the joint."""


class Directions(NamedTuple):
    """Directions `(k, n, 3)` of the legs away from their joints, in the frame of what carries them.

    None where a kind of leg has no such joint.
    """

    base_joint: FloatArray | None
    elbow_joint: FloatArray | None
    platform_joint: FloatArray | None


def directions(platform: MachineModel, points: LegPoints) -> Directions:
    """Return the directions of the legs at their joints; pillars have none that turn freely."""
    upper = points.upper
    down = -np.einsum("kji,knj->kni", points.rotation, upper)
    if platform.leg.has_foot:
        return Directions(None, None, None)
    if platform.leg.has_crank:
        frames = crank_frames(platform, points)
        return Directions(None, np.einsum("knji,knj->kni", frames, upper), down)
    return Directions(points.lower, None, down)


def joint_quantities(
    platform: MachineModel, course: Course, found: Directions, home: Directions
) -> Iterator[Quantity]:
    """Yield the angle [deg] of every kind of joint for which a leg has a limit.

    Args:
        platform: the machine.
        course: the task.
        found: directions along the course.
        home: directions `(1, n, 3)` at home.
    """
    for field, name in JOINTS.items():
        present = getattr(found, field)
        limits = _limits(platform, field)
        if present is None or not any(limits):
            continue
        neutral = np.array(
            [
                at_home if limit is None or limit.neutral is None else np.array(limit.neutral)
                for limit, at_home in zip(limits, getattr(home, field)[0], strict=True)
            ]
        )
        angles = np.degrees(angle_between(present, neutral))
        most = np.degrees([np.inf if limit is None else limit.maximum_angle for limit in limits])
        bound = np.broadcast_to(most, angles.shape)
        legs = [(i + 1,) for i in range(platform.n_actuators)]

        def remedy(
            row: int,
            leg: int,
            name: str = name,
            angles: FloatArray = angles,
            most: FloatArray = most,
        ) -> str:
            angle, limit = float(angles[row, leg]), float(most[leg])
            return (
                f"The {name} of leg {leg + 1} turns {amount(angle, 'deg')} from its neutral "
                f"direction ({course.place(row)}), it allows {amount(limit, 'deg')}. Turn its "
                f"neutral direction, tilt and move less, or take joints of {amount(angle, 'deg')}."
            )

        yield Quantity(f"angle of {name}", "deg", angles, bound, angles / bound, legs, remedy)


def missing_joints(platform: MachineModel, found: Directions) -> list[str]:
    """Return the joints whose limits no leg gives."""
    return [
        f"angles of the {name}s"
        for field, name in JOINTS.items()
        if getattr(found, field) is not None and not any(_limits(platform, field))
    ]


def angle_between(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the angles `(...)` [rad] between vectors `(..., 3)`, exact for small ones too."""
    sine = np.linalg.norm(np.cross(first, second), axis=-1)
    return np.asarray(np.arctan2(sine, np.einsum("...i,...i->...", first, second)))


def _limits(platform: MachineModel, field: str) -> list[JointLimit | None]:
    return [getattr(leg, field, None) for leg in platform.parameters.legs]
