"""Parameters packed for the kernels: the platform's body, its legs, and what they are at home."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import BODY_CENTER, BODY_MASS, BODY_SIZE, BODY_TENSOR, GRAVITY
from twin.kernels.legs.kinds import Legs
from twin.machine.derived import cranks, home_leg_frames
from twin.machine.machine import MachineParameters
from twin.model.leg_constants import pack_legs, parallel_axis, six


class Constants(NamedTuple):
    """Arrays read by the kernels; not to be written to."""

    body: FloatArray
    """`(BODY_SIZE,)`"""
    legs: Legs
    """one row per leg, in the type of their kind"""
    home: FloatArray
    """`(n, HOME_SIZE)` leg frames at home (rows of the rotation leg to base; roll and pitch of
    pillars), and actuator coordinates"""


def pack(parameters: MachineParameters) -> Constants:
    """Return the kernels' constants of a machine."""
    home = np.column_stack([_home_frames(parameters), parameters.home_coordinates])
    return Constants(_pack_body(parameters), pack_legs(parameters), home)


def _home_frames(parameters: MachineParameters) -> FloatArray:
    """Return `(n, 9)` frames of legs or of rods behind cranks; roll and pitch of pillars."""
    count = len(parameters.legs)
    if parameters.leg.kind == "pillar":
        x, y, z = parameters.home_rotation[:, 2]
        attitude = [np.arctan2(-y, z), np.arctan2(x, np.hypot(y, z))]
        return np.tile([*attitude, *np.zeros(7)], (count, 1))
    if parameters.leg.kind == "rss":
        geometry = cranks(parameters)
        along = geometry.rods / np.linalg.norm(geometry.rods, axis=1)[:, None]
        second = np.cross(geometry.axes, along)
        second /= np.linalg.norm(second, axis=1)[:, None]
        return np.stack([second, np.cross(along, second), along], axis=2).reshape(count, 9)
    return np.asarray(home_leg_frames(parameters)).reshape(count, 9)


def _pack_body(parameters: MachineParameters) -> FloatArray:
    platform = parameters.platform.body
    masses, centers = [platform.mass], [platform.center_of_mass_vector]
    tensor = platform.inertia_tensor + parallel_axis(platform.mass, centers[0])
    leg: Any
    for leg, joint in zip(parameters.legs, parameters.platform.joints.points, strict=True):
        if leg.kind == "pillar":
            masses.append(leg.upper_mass)
            centers.append(joint)
            tensor = tensor + parallel_axis(leg.upper_mass, joint)
    body = np.zeros(BODY_SIZE)
    body[BODY_MASS] = total = sum(masses)
    body[BODY_CENTER : BODY_CENTER + 3] = np.array(masses) @ np.array(centers) / total
    body[BODY_TENSOR : BODY_TENSOR + 6] = six(tensor)
    body[GRAVITY + 2] = -parameters.gravity
    return body
