"""A machine with viscoelastic legs as arrays: the arguments of the equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import rotation_matrix
from twin.errors import InputError
from twin.machine.legs.viscoelastic.parameters import ViscoelasticLeg
from twin.machine.machine import MachineParameters


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
    """[kg]"""
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
        spring_length=np.array([leg.spring_length for leg in legs]),
        housing_length=np.array([leg.housing_length for leg in legs]),
        follower_start=np.array([leg.follower_start for leg in legs]),
        follower_length=np.array([leg.follower_length for leg in legs]),
        spring_mass=np.array([leg.spring_mass for leg in legs]),
        housing_mass=np.array([leg.housing_mass for leg in legs]),
        follower_mass=np.array([leg.follower_mass for leg in legs]),
        stiffness=np.array([leg.stiffness for leg in legs]),
        damping=np.array([leg.damping for leg in legs]),
    )
