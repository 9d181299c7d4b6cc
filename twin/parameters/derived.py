"""Quantities that follow from the parameters: leg frames at home and bodies in the leg frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.arrays import FloatArray, read_only
from twin.parameters.body import Cylinder, RigidBody
from twin.parameters.machine import MachineParameters


class LegBodies(NamedTuple):
    """Bodies of all legs in their leg frames (s2, Z x s2, Z).

    The housing's frame has its origin at the base joint, the rod's at the tip. Tensors are about
    the centres of mass.
    """

    housing_mass: FloatArray
    """`(n,)` [kg]"""
    housing_center: FloatArray
    """`(n, 3)` [m] from the base joint"""
    housing_inertia: FloatArray
    """`(n, 3, 3)` [kg m2]"""
    rod_mass: FloatArray
    """`(n,)` [kg]"""
    rod_center: FloatArray
    """`(n, 3)` [m] from the tip"""
    rod_inertia: FloatArray
    """`(n, 3, 3)` [kg m2]"""


def home_leg_frames(parameters: MachineParameters) -> FloatArray:
    """Return `(n, 3, 3)` rotations leg to base at home: columns s2, Z x s2, Z."""
    vectors = parameters.home_leg_vectors
    along = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    second = np.cross(parameters.first_axes, along)
    second /= np.linalg.norm(second, axis=1)[:, None]
    return read_only(np.stack([second, np.cross(along, second), along], axis=2))


def leg_bodies(parameters: MachineParameters) -> LegBodies:
    """Return masses, centres and tensors of all legs in their leg frames.

    The data of the file is turned by `frame_angle` about the leg; legs listed in `mirrored` are
    reflected in x of the file's frame first (centre and tensor together).
    """
    leg = parameters.leg
    cosine, sine = np.cos(leg.frame_angle), np.sin(leg.frame_angle)
    turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    columns: list[tuple[FloatArray, ...]] = []
    for number in range(1, len(parameters.first_axes) + 1):
        mirror = np.diag([-1.0 if number in leg.mirrored else 1.0, 1.0, 1.0])
        columns.append((*_turned(leg.housing, turn @ mirror), *_turned(leg.rod, turn @ mirror)))
    return LegBodies(*(read_only(values) for values in zip(*columns, strict=True)))


def _turned(
    body: RigidBody | Cylinder, map_to_leg: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    center, tensor = map_to_leg @ body.center_of_mass_vector, body.inertia_tensor
    return np.array(body.mass), center, map_to_leg @ tensor @ map_to_leg.T
