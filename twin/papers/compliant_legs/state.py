"""Positions and rates of the legs and their masses at a state of the machine, and their algebra."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_pose, flatten_batch
from twin.basics.quaternions import cross, cross_matrix, rotation_matrix
from twin.errors import SingularPoseError
from twin.papers.compliant_legs.machine import CompliantMachine


class LegState(NamedTuple):
    """Legs of a batch of states, base frame; all rates are time derivatives."""

    arm: FloatArray
    """From the reference point to the platform joints `(batch, n, 3)` [m]"""
    centripetal: FloatArray
    """Acceleration of the platform joints at zero platform acceleration `(batch, n, 3)` [m/s2]"""
    direction: FloatArray
    """Unit vectors from base joint to tip `(batch, n, 3)`"""
    length: FloatArray
    """`(batch, n)` [m]"""
    direction_rate: FloatArray
    """`(batch, n, 3)` [1/s], perpendicular to the direction"""
    length_rate: FloatArray
    """`(batch, n)` [m/s]"""
    deflection: FloatArray
    """delta1 `(batch, n)` [m]"""
    deflection_rate: FloatArray
    """`(batch, n)` [m/s]"""
    extension: FloatArray
    """delta2 `(batch, n)` [m]"""
    radii: FloatArray
    """Distances of m1, m2, m3 from the base joint `(batch, n, 3)` [m]"""
    radius_rates: FloatArray
    """`(batch, n, 3)` [m/s]"""
    masses: FloatArray
    """m1, m2, m3 `(n, 3)` [kg]"""

    @property
    def inertia(self) -> FloatArray:
        """Moments of inertia about the base joint `(batch, n)` [kg m2]."""
        return np.asarray((self.masses * self.radii**2).sum(axis=-1))

    @property
    def first_moment(self) -> FloatArray:
        """Sums of mass times radius `(batch, n)` [kg m]."""
        return np.asarray((self.masses * self.radii).sum(axis=-1))

    @property
    def coriolis_moment(self) -> FloatArray:
        """Sums of mass times radius times its rate `(batch, n)` [kg m2/s]."""
        return np.asarray((self.masses * self.radii * self.radius_rates).sum(axis=-1))

    @property
    def turning_squared(self) -> FloatArray:
        """Squares of the legs' angular velocities `(batch, n)` [1/s2]."""
        return dot(self.direction_rate, self.direction_rate)


def leg_state(
    machine: CompliantMachine, pose: FloatArray, twist: FloatArray, deflection: FloatArray
) -> LegState:
    """Return the legs of poses `(batch, 7)`, twists `(batch, 6)`, deflection states `(batch, 2n)`.

    Raises:
        SingularPoseError: a tip coincides with its base joint.
    """
    legs = machine.n_legs
    arm = machine.platform_joints @ np.swapaxes(rotation_matrix(pose[..., 3:]), -1, -2)
    vector = pose[:, None, :3] + arm - machine.base_joints
    length = np.linalg.norm(vector, axis=-1)
    if not (length > 0.0).all():
        index = int(np.argwhere(~(length > 0.0))[0, 0])
        data = {"index": index, "pose": pose[index].copy()}
        raise SingularPoseError(f"entry {index}: a leg has no length. Move away from it.", data)
    direction = vector / length[..., None]
    omega = twist[:, None, 3:]
    turning = cross(omega, arm)
    velocity = twist[:, None, :3] + turning
    length_rate = dot(direction, velocity)
    direction_rate = (velocity - direction * length_rate[..., None]) / length[..., None]
    deflection, rate = deflection[:, :legs], deflection[:, legs:]
    middle = machine.spring_length / 2.0 + deflection / 2.0
    housing = machine.spring_length + deflection + machine.housing_length
    follower = length - machine.follower_length
    masses = [machine.spring_mass, machine.housing_mass, machine.follower_mass]
    return LegState(
        arm,
        cross(omega, turning),
        direction,
        length,
        direction_rate,
        length_rate,
        deflection,
        rate,
        length - machine.fixed_length - deflection,
        np.stack([middle, housing, follower], axis=-1),
        np.stack([rate / 2.0, rate, length_rate], axis=-1),
        np.stack(masses, axis=-1),
    )


def checked_pose(pose: Any, **others: tuple[Any, int]) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Return the batch shape and flat arrays of a pose and of what belongs to it.

    Args:
        pose: `(..., 7)`.
        others: name -> (value, size of its last axis); None is zero.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion.
    """
    arrays = {
        name: as_floats(np.zeros(size) if value is None else value, name, size)
        for name, (value, size) in others.items()
    }
    return flatten_batch(pose=as_pose(pose), **arrays)


def checked_state(
    machine: CompliantMachine, pose: Any, twist: Any, deflection: Any, **others: tuple[Any, int]
) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Return the batch shape and flat arrays of a state and of what belongs to it.

    Args:
        machine: whose state it is.
        pose: `(..., 7)`.
        twist: `(..., 6)`; None is rest.
        deflection: `(..., 2n)` deflections and their rates; None is zero.
        others: name -> (value, size of its last axis); None is zero.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion.
    """
    state = {"twist": (twist, 6), "deflection": (deflection, 2 * machine.n_legs)}
    return checked_pose(pose, **state, **others)


def dot(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return scalar products `(...)` of vectors `(..., 3)`."""
    return np.asarray((first * second).sum(axis=-1))


def outer(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return dyadic products `(..., 3, 3)` of vectors `(..., 3)`."""
    return np.asarray(first[..., :, None] * second[..., None, :])


def tip_matrices(arm: FloatArray) -> FloatArray:
    """Return `(..., 3, 6)`: tip velocity = matrix @ twist, for arms `(..., 3)`.

    Reference: compliant-leg paper, equation (51), in velocities instead of angle rates.
    """
    matrix = np.empty((*arm.shape, 6))
    matrix[..., :3] = np.eye(3)
    matrix[..., 3:] = -cross_matrix(arm)
    return matrix


def solved(matrix: FloatArray, right_side: FloatArray) -> FloatArray:
    """Return solutions `(..., size)` of systems `(..., size, size)` and `(..., size)`."""
    found = np.linalg.solve(matrix, right_side[..., None])
    return np.asarray(found[..., 0], dtype=np.float64)


def least_squares(matrix: FloatArray, right_side: FloatArray) -> FloatArray:
    """Return the smallest least-squares solution `(columns,)` of one system."""
    return np.asarray(np.linalg.lstsq(matrix, right_side, rcond=None)[0], dtype=np.float64)
