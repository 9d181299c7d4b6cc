"""Parameters packed for the kernels: one row per leg, one vector for the platform."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.dynamics.assembly import BODY_CENTER, BODY_MASS, BODY_SIZE, BODY_TENSOR, GRAVITY
from twin.dynamics.legs.ups import (
    AXISYMMETRIC,
    HOUSING_CENTER,
    HOUSING_MASS,
    LEG_SIZE,
    ROD_CENTER,
    ROD_MASS,
    TENSOR,
)
from twin.kinematics.legs import BASE_JOINT, FIRST_AXIS, PLATFORM_JOINT
from twin.parameters.derived import home_leg_frames, leg_bodies
from twin.parameters.machine import MachineParameters

ROUNDING = 1e-15
"""Relative size below which an off-axis entry is rounding error of the frame's rotation."""


class Constants(NamedTuple):
    """Arrays read by the kernels; not to be written to."""

    body: FloatArray
    """`(BODY_SIZE,)`"""
    legs: FloatArray
    """`(n, LEG_SIZE)`"""
    frames: FloatArray
    """`(n, 9)` home leg frames, rows of the rotation matrices leg to base"""


def parallel_axis(mass: float, center: FloatArray) -> FloatArray:
    """Return the tensor `(3, 3)` [kg m2] of a point mass at `center` [m] about the origin."""
    return mass * (center @ center * np.eye(3) - np.outer(center, center))


def pack(parameters: MachineParameters) -> Constants:
    """Return the kernels' constants of a machine."""
    base, top = parameters.base.joints.points, parameters.platform.joints.points
    bodies = leg_bodies(parameters)
    legs = np.zeros((len(base), LEG_SIZE))
    legs[:, BASE_JOINT : BASE_JOINT + 3] = base
    legs[:, PLATFORM_JOINT : PLATFORM_JOINT + 3] = top
    legs[:, FIRST_AXIS : FIRST_AXIS + 3] = parameters.first_axes
    legs[:, HOUSING_MASS] = bodies.housing_mass
    legs[:, HOUSING_CENTER : HOUSING_CENTER + 3] = bodies.housing_center
    legs[:, ROD_MASS] = bodies.rod_mass
    legs[:, ROD_CENTER : ROD_CENTER + 3] = bodies.rod_center
    for i, row in enumerate(legs):
        tensor = (
            bodies.housing_inertia[i]
            + parallel_axis(float(bodies.housing_mass[i]), bodies.housing_center[i])
            + bodies.rod_inertia[i]
        )
        row[TENSOR : TENSOR + 6] = _six(tensor)
        row[AXISYMMETRIC] = float(_axisymmetric(tensor, row))
    return Constants(
        _pack_body(parameters), legs, np.array(home_leg_frames(parameters)).reshape(-1, 9)
    )


def _pack_body(parameters: MachineParameters) -> FloatArray:
    platform = parameters.platform.body
    center = platform.center_of_mass_vector
    body = np.zeros(BODY_SIZE)
    body[BODY_MASS] = platform.mass
    body[BODY_CENTER : BODY_CENTER + 3] = center
    body[BODY_TENSOR : BODY_TENSOR + 6] = _six(
        platform.inertia_tensor + parallel_axis(platform.mass, center)
    )
    body[GRAVITY] = parameters.gravity
    return body


def _six(tensor: FloatArray) -> FloatArray:
    return tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _axisymmetric(tensor: FloatArray, row: FloatArray) -> bool:
    size = np.abs(tensor).max() * ROUNDING
    across = [tensor[0, 1], tensor[0, 2], tensor[1, 2], tensor[0, 0] - tensor[1, 1]]
    centers = [*row[HOUSING_CENTER : HOUSING_CENTER + 2], *row[ROD_CENTER : ROD_CENTER + 2]]
    return bool(np.abs(across).max() <= size and np.abs(centers).max() == 0.0)
