"""Quantities that follow from the parameters: leg frames at home and bodies in the leg frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.machine.body import Cylinder, RigidBody
from twin.machine.legs import RssLeg, StrutLeg, UpsLeg
from twin.machine.machine import MachineParameters


class LegBodies(NamedTuple):
    """Bodies of all UPS legs or struts in their leg frames (s2, Z x s2, Z).

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


class Cranks(NamedTuple):
    """Cranks and rods of all RSS legs; directions in the base frame."""

    axes: FloatArray
    """`(n, 3)` axes u of the cranks, unit vectors"""
    zeros: FloatArray
    """`(n, 3)` directions c0 of the cranks at angle 0, unit vectors perpendicular to the axes"""
    angles: FloatArray
    """`(n,)` crank angles at home [rad]"""
    frames: FloatArray
    """`(n, 3, 3)` rotations crank to base at home: columns u, z x u, z with z along the crank"""
    elbows: FloatArray
    """`(n, 3)` vectors [m] from base joint to elbow at home"""
    rods: FloatArray
    """`(n, 3)` vectors [m] from elbow to platform joint at home"""


def home_leg_frames(parameters: MachineParameters) -> FloatArray:
    """Return `(n, 3, 3)` rotations leg to base at home of straight legs: columns s2, Z x s2, Z."""
    vectors = parameters.home_leg_vectors
    along = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    second = np.cross(parameters.first_axes, along)
    second /= np.linalg.norm(second, axis=1)[:, None]
    return read_only(np.stack([second, np.cross(along, second), along], axis=2))


def leg_bodies(parameters: MachineParameters) -> LegBodies:
    """Return masses, centres and tensors of all UPS legs or struts in their leg frames.

    The data of the file is turned by `frame_angle` about the leg; legs listed in `mirrored` are
    reflected in x of the file's frame first (centre and tensor together).

    Raises:
        TypeError: legs of another kind.
    """
    columns: list[tuple[FloatArray, ...]] = []
    for number, leg in enumerate(parameters.legs, start=1):
        if not isinstance(leg, UpsLeg):
            raise TypeError(f"legs of kind {leg.kind!r} have no housing and rod")
        cosine, sine = np.cos(leg.frame_angle), np.sin(leg.frame_angle)
        turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
        mirror = np.diag([-1.0 if number in leg.mirrored else 1.0, 1.0, 1.0])
        columns.append((*_turned(leg.housing, turn @ mirror), *_turned(leg.rod, turn @ mirror)))
    return LegBodies(*(read_only(values) for values in zip(*columns, strict=True)))


def cranks(parameters: MachineParameters) -> Cranks:
    """Return the geometry of all RSS legs at home.

    Raises:
        TypeError: legs of another kind.
    """
    columns: list[tuple[FloatArray, ...]] = []
    for leg, place in zip(parameters.legs, parameters.home_places, strict=True):
        if not isinstance(leg, RssLeg):
            raise TypeError(f"legs of kind {leg.kind!r} have no cranks")
        axis, elbow = leg.home_axis(place), leg.home_crank(place)
        along = elbow / leg.crank_length
        frame = np.stack([axis, np.cross(along, axis), along], axis=1)
        angle = np.array(leg.home_coordinate(place))
        columns.append((axis, leg.home_zero(place), angle, frame, elbow, place.vector - elbow))
    return Cranks(*(read_only(values) for values in zip(*columns, strict=True)))


def rest_lengths(parameters: MachineParameters) -> FloatArray:
    """Return the lengths `(n,)` [m] at which struts have no spring force."""
    pairs = zip(parameters.legs, parameters.home_places, strict=True)
    return read_only(
        [leg.home_rest_length(place) for leg, place in pairs if isinstance(leg, StrutLeg)]
    )


def _turned(
    body: RigidBody | Cylinder, map_to_leg: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    center, tensor = map_to_leg @ body.center_of_mass_vector, body.inertia_tensor
    return np.array(body.mass), center, map_to_leg @ tensor @ map_to_leg.T
