"""A machine with viscoelastic legs as arrays: the arguments of the equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_pose,
    cross,
    cross_matrix,
    flatten_batch,
    read_only,
    rotation_matrix,
)
from twin.errors import InputError, SingularPoseError
from twin.machine.legs.viscoelastic import ViscoelasticLeg
from twin.machine.machine import MachineParameters

LOAD_FRAMES = ("base", "platform")

LEG_FIELDS = (
    "spring_length",
    "housing_length",
    "follower_start",
    "follower_length",
    "spring_mass",
    "housing_mass",
    "follower_mass",
    "stiffness",
    "damping",
)
"""Numbers that each leg may have different."""


@dataclass(frozen=True, eq=False)
class CompliantMachine:
    """Platform, joints and legs of one machine; every leg may be different.

    Along leg i, from the base joint: m1 at l1 + delta1 / 2, m2 at 2 l1 + delta1 + l2, m3 at
    2 l1 + delta1 + l2 + l3 + delta2, and the tip l4 further out. The spring acts on the deflection
    delta1, the actuator on the extension delta2.

    Reference: compliant-leg paper, figure 1 and equations (30), (65).
    """

    base_joints: FloatArray
    """`(n, 3)` [m] in the base frame"""
    platform_joints: FloatArray
    """`(n, 3)` [m] in the platform frame"""
    platform_mass: float
    """[kg] mass of the platform"""
    platform_center: FloatArray
    """Centre of mass `(3,)` [m] in the platform frame"""
    platform_inertia: FloatArray
    """Tensor `(3, 3)` [kg m2] about the centre of mass, platform frame"""
    gravity: float
    """[m/s2] along -z of the base"""
    home: FloatArray
    """Pose `(7,)`"""
    spring_length: FloatArray
    """Rest lengths 2 l1 of the springs `(n,)` [m]"""
    housing_length: FloatArray
    """l2 `(n,)` [m]"""
    follower_start: FloatArray
    """l3 `(n,)` [m]"""
    follower_length: FloatArray
    """l4 `(n,)` [m]"""
    spring_mass: FloatArray
    """m1 `(n,)` [kg]"""
    housing_mass: FloatArray
    """m2 `(n,)` [kg]"""
    follower_mass: FloatArray
    """m3 `(n,)` [kg]"""
    stiffness: FloatArray
    """k `(n,)` [N/m]"""
    damping: FloatArray
    """B `(n,)` [N s/m]"""

    @property
    def n_legs(self) -> int:
        """Number of legs."""
        return len(self.base_joints)

    @property
    def fixed_length(self) -> FloatArray:
        """Leg lengths `(n,)` [m] without deflection and extension: 2 l1 + l2 + l3 + l4."""
        return self.spring_length + self.housing_length + self.follower_start + self.follower_length

    @property
    def home_extension(self) -> FloatArray:
        """Extensions delta2 of the actuators `(n,)` [m] at home with relaxed springs."""
        tips = self.home[:3] + self.platform_joints @ rotation_matrix(self.home[3:]).T
        return np.asarray(np.linalg.norm(tips - self.base_joints, axis=1) - self.fixed_length)

    @property
    def deflecting_mass(self) -> FloatArray:
        """Masses `(n,)` [kg] that a deflection accelerates: m1 / 4 + m2."""
        return self.spring_mass / 4.0 + self.housing_mass

    @property
    def hanging_mass(self) -> FloatArray:
        """Masses `(n,)` [kg] that a deflection lifts: m1 / 2 + m2, as m1 moves half as far."""
        return self.spring_mass / 2.0 + self.housing_mass

    @property
    def weight_direction(self) -> FloatArray:
        """Gravity `(3,)` [m/s2] in the base frame."""
        return np.array([0.0, 0.0, -self.gravity])


def from_parameters(parameters: MachineParameters) -> CompliantMachine:
    """Return the machine that `parameters` describe.

    Raises:
        InputError: legs without a viscoelastic element.
    """
    legs = [leg for leg in parameters.legs if isinstance(leg, ViscoelasticLeg)]
    if len(legs) != len(parameters.legs):
        raise InputError("parameters", f"{parameters.name} has no viscoelastic legs")
    body = parameters.platform.body
    return CompliantMachine(
        base_joints=parameters.base.joints.points,
        platform_joints=parameters.platform.joints.points,
        platform_mass=body.mass,
        platform_center=body.center_of_mass_vector,
        platform_inertia=body.inertia_tensor,
        gravity=parameters.gravity,
        home=np.array([*parameters.home.position, *parameters.home.orientation]),
        **{name: np.array([getattr(leg, name) for leg in legs]) for name in LEG_FIELDS},
    )


class LegState(NamedTuple):
    """Legs of a batch of states, base frame; all rates are time derivatives."""

    arm: FloatArray
    """Vectors from the reference point to the platform joints `(batch, n, 3)` [m]"""
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
    joint_vectors = machine.platform_joints @ np.swapaxes(rotation_matrix(pose[..., 3:]), -1, -2)
    vector = pose[:, None, :3] + joint_vectors - machine.base_joints
    length = np.linalg.norm(vector, axis=-1)
    if not (length > 0.0).all():
        index = int(np.argwhere(~(length > 0.0))[0, 0])
        data = {"index": index, "pose": pose[index].copy()}
        raise SingularPoseError(f"entry {index}: a leg has no length. Move away from it.", data)
    direction = vector / length[..., None]
    omega = twist[:, None, 3:]
    joint_velocity = cross(omega, joint_vectors)
    velocity = twist[:, None, :3] + joint_velocity
    length_rate = dot(direction, velocity)
    direction_rate = (velocity - direction * length_rate[..., None]) / length[..., None]
    deflection, rate = deflection[:, :legs], deflection[:, legs:]
    spring_center = machine.spring_length / 2.0 + deflection / 2.0
    housing = machine.spring_length + deflection + machine.housing_length
    follower = length - machine.follower_length
    masses = [machine.spring_mass, machine.housing_mass, machine.follower_mass]
    return LegState(
        joint_vectors,
        cross(omega, joint_velocity),
        direction,
        length,
        direction_rate,
        length_rate,
        deflection,
        rate,
        length - machine.fixed_length - deflection,
        np.stack([spring_center, housing, follower], axis=-1),
        np.stack([rate / 2.0, rate, length_rate], axis=-1),
        np.stack(masses, axis=-1),
    )


def checked_pose(
    pose: Any, **quantities: tuple[Any, int]
) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Return the batch shape and flat arrays of a pose and of what belongs to it.

    Args:
        pose: `(..., 7)`.
        quantities: name -> (value, size of its last axis); None is zero.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion.
    """
    arrays = {
        name: as_floats(np.zeros(size) if value is None else value, name, size)
        for name, (value, size) in quantities.items()
    }
    return flatten_batch(pose=as_pose(pose), **arrays)


def checked_state(
    machine: CompliantMachine, pose: Any, twist: Any, deflection: Any, **quantities: tuple[Any, int]
) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Return the batch shape and flat arrays of a state and of what belongs to it.

    Args:
        machine: whose state it is.
        pose: `(..., 7)`.
        twist: `(..., 6)`; None is rest.
        deflection: `(..., 2n)` deflections and their rates; None is zero.
        quantities: name -> (value, size of its last axis); None is zero.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion.
    """
    state_fields = {"twist": (twist, 6), "deflection": (deflection, 2 * machine.n_legs)}
    return checked_pose(pose, **state_fields, **quantities)


def dot(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return scalar products `(...)` of vectors `(..., 3)`."""
    return np.asarray((first * second).sum(axis=-1))


def outer(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return dyadic products `(..., 3, 3)` of vectors `(..., 3)`."""
    return first[..., :, None] * second[..., None, :]


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
    solution = np.linalg.solve(matrix, right_side[..., None])
    return np.asarray(solution[..., 0], dtype=np.float64)


def least_squares(matrix: FloatArray, right_side: FloatArray) -> FloatArray:
    """Return the smallest least-squares solution `(columns,)` of one system."""
    return np.asarray(np.linalg.lstsq(matrix, right_side, rcond=None)[0], dtype=np.float64)


class Load(NamedTuple):
    """A constant load; in the frame `platform` it turns with the platform."""

    wrench: FloatArray
    """Force [N], moment about the reference point [N m] `(6,)`, in axes of the frame"""
    frame: str
    """`base` or `platform`"""


def load(force: Any = (0, 0, 0), moment: Any = (0, 0, 0), frame: str = "base") -> Load:
    """Return a load of a force `(3,)` [N] at the reference point and a moment `(3,)` [N m].

    Reference: compliant-leg paper, equations (25) to (27): loads in base axes.
    """
    return Load(read_only([*force, *moment]), frame)


def wrench_in_base(load: Load, pose: FloatArray) -> FloatArray:
    """Return the wrenches `(..., 6)` of a load in base axes at poses `(..., 7)`."""
    wrench = np.broadcast_to(load.wrench, (*pose.shape[:-1], 6))
    if load.frame == "platform":
        wrench_parts = rotation_matrix(pose[..., 3:])[..., None, :, :] @ wrench.reshape(
            (*wrench.shape[:-1], 2, 3, 1)
        )
        wrench = wrench_parts.reshape(wrench.shape)
    return np.array(wrench)


def load_derivative(load: Load, pose: FloatArray) -> FloatArray:
    """Return `(6, 6)`: the change of the wrench at a pose `(7,)` per displacement, base axes.

    Displacements are (translation, rotation vector); a load in base axes does not change.
    """
    derivative = np.zeros((6, 6))
    if load.frame == "platform":
        wrench = wrench_in_base(load, pose)
        derivative[:3, 3:] = -cross_matrix(wrench[:3])
        derivative[3:, 3:] = -cross_matrix(wrench[3:])
    return derivative


NO_LOAD = load()
