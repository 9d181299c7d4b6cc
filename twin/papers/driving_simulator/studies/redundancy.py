"""Four actuators for three dof: internal force, and a wrong fourth command.

In a plane rectangle the lengths are linear in center length and slopes, so that at every pose

    h_front_right - h_front_left + h_rear_left - h_rear_right = 0

and forces in the pattern (1, -1, 1, -1) do no work in any motion: the plate is twisted, not moved.
Forces that are a gradient of the coordinates have no part of this pattern; among all forces for one
motion they are the smallest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector, read_only
from twin.papers.driving_simulator.closed_forms import ExactKinematics
from twin.papers.driving_simulator.kinematics import PlateKinematics
from twin.papers.driving_simulator.plate import CORNERS, SIGNS, PlateModel

TWISTING = read_only(0.5 * SIGNS[:, 0] * -SIGNS[:, 1])
"""Unit vector `(4,)` of the forces that move nothing: (1, -1, 1, -1) / 2."""


class ForceSplit(NamedTuple):
    """Forces `(..., 4)` [N] as the sum of two at a right angle to each other."""

    motion: FloatArray
    """The smallest forces that move the plate in the same way"""
    twisting: FloatArray
    """The rest: it twists the plate and moves nothing"""


class WrongLength(NamedTuple):
    """Effect of a wrong length command of one actuator on a plate held by position loops."""

    forces: FloatArray
    """`(4,)` [N] that the loops add"""
    coordinates: FloatArray
    """`(3,)` heave [m], roll, pitch [rad] that the plate goes to"""
    lengths: FloatArray
    """`(4,)` [m] that the pillars go to"""


def split_forces(forces: Any) -> ForceSplit:
    """Return actuator forces `(..., 4)` [N] as moving and internal part; the same at every pose.

    Raises:
        InputError: wrong shape, not finite.
    """
    given = as_floats(forces, "forces", len(CORNERS))
    twisting = (given @ TWISTING)[..., None] * TWISTING
    return ForceSplit(given - twisting, twisting)


def wrong_force(corner: str, excess: float) -> ForceSplit:
    """Return the split of the excess force of one actuator.

    A quarter of the excess becomes internal force in all four, three quarters stay where they are
    and a quarter appears in each of the others, with signs: these move the plate. Only if the
    excess comes in the pattern (1, -1, 1, -1) nothing moves.

    Args:
        corner: name of the actuator, of `twin.papers.driving_simulator.plate.CORNERS`.
        excess: [N].
    """
    return split_forces(excess * np.eye(len(CORNERS))[CORNERS.index(corner)])


def wrong_length(
    plate: PlateModel,
    coordinates: Any,
    corner: str,
    offset: float,
    stiffness: float,
    kinematics: type[PlateKinematics] = ExactKinematics,
) -> WrongLength:
    """Return the pose and forces when one of four length commands is wrong.

    No rigid plate has the four commanded lengths. Four equal loops push with
    stiffness * (command - length) on top of the forces that the motion takes; they are in balance
    where the squares of what is missing are least. Lengths are linear in center length and slopes,
    which makes this a closed form for any offset: the missing part is offset / 4 in the internal
    pattern, whatever the stiffness, and the rest becomes an error of the pose.

    Args:
        plate: the machine.
        coordinates: `(3,)` heave [m], roll, pitch [rad] that the other three commands belong to.
        corner: name of the actuator with the wrong command.
        offset: [m] that its command is too long.
        stiffness: [N/m] of each position loop.
        kinematics: model of the plate.

    Raises:
        InputError: coordinates of the wrong shape or not finite.
    """
    model = kinematics(plate)
    commanded = model.inverse(as_vector(coordinates, "coordinates", 3))
    number = CORNERS.index(corner)
    x, y = plate.corners[number].tolist()
    squares = len(CORNERS) * np.array([1.0, plate.half_width**2, plate.half_length**2])
    shift = offset * np.array([1.0, y, -x]) / squares
    slopes = np.stack(model.slopes(*commanded.coordinates)) + shift
    reached = model.inverse(np.stack(model.angles(*slopes)))
    command = commanded.lengths + offset * np.eye(len(CORNERS))[number]
    forces = stiffness * (command - reached.lengths)
    return WrongLength(forces, reached.coordinates, reached.lengths)
