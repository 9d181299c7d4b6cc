"""The numbers of any machine on pillars: joints, masses, tensor, in the form of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.papers.driving_simulator.plate import CORNERS, FIXED, PlateModel


@dataclass(frozen=True, eq=False)
class Pillars:
    """A plate on `n` pillars; each stands at a right angle to the plate, one foot is fixed."""

    joints: FloatArray
    """`(n, 3)` [m] upper ends of the pillars in the platform frame"""
    fixed: int
    """number, from 0, of the pillar whose foot is fixed"""
    foot: FloatArray
    """`(3,)` [m] where that foot is in the base; the other feet stand as high"""
    mass: float
    """[kg] of the plate"""
    center_of_mass: FloatArray
    """`(3,)` [m] of the plate in the platform frame"""
    inertia: FloatArray
    """`(3, 3)` [kg m2] of the plate about its centre of mass, platform axes"""
    upper_masses: FloatArray
    """`(n,)` [kg] at the joints"""
    foot_masses: FloatArray
    """`(n,)` [kg] at the feet"""
    gravity: float
    """[m/s2]"""

    @property
    def shared_arguments(self) -> list[Any]:
        """Arguments that all terms of `derivation` take after the state."""
        return [*self.joints[self.fixed].tolist(), *self.foot.tolist(), self.gravity]

    @property
    def plate_arguments(self) -> list[Any]:
        """Arguments of the plate's terms after the shared ones."""
        tensor = self.inertia
        products = [tensor[0, 1], tensor[0, 2], tensor[1, 2]]
        return [self.mass, *self.center_of_mass.tolist(), *np.diag(tensor), *products]

    @property
    def pillar_arguments(self) -> list[FloatArray]:
        """Arguments `(n,)` of the pillars' terms after the shared ones."""
        return [*self.joints.T, self.upper_masses, self.foot_masses]

    @classmethod
    def from_plate(cls, plate: PlateModel) -> Pillars:
        """Return the pillars of a rectangular plate."""
        count = len(CORNERS)
        joints = np.hstack([plate.corners, np.zeros((count, 1))])
        return cls(
            joints=joints,
            fixed=FIXED,
            foot=joints[FIXED],
            mass=plate.plate_mass,
            center_of_mass=np.zeros(3),
            inertia=np.diag([plate.roll_inertia, plate.pitch_inertia, plate.yaw_inertia]),
            upper_masses=np.full(count, plate.upper_mass),
            foot_masses=np.full(count, plate.foot_mass),
            gravity=plate.gravity,
        )

    @classmethod
    def from_parameters(cls, parameters: Any) -> Pillars:
        """Return the pillars of a machine.

        Args:
            parameters: `twin.machine.MachineParameters` with legs of kind "pillar".

        Raises:
            InputError: other legs.
        """
        legs, body = parameters.legs, parameters.platform.body
        if not all(leg.has_foot for leg in legs):
            raise InputError("parameters", "must describe legs of kind 'pillar'")
        fixed = legs[0].fixed_foot - 1
        return cls(
            joints=parameters.platform.joints.points,
            fixed=fixed,
            foot=parameters.base.joints.points[fixed],
            mass=body.mass,
            center_of_mass=body.center_of_mass_vector,
            inertia=body.inertia_tensor,
            upper_masses=np.array([leg.upper_mass for leg in legs]),
            foot_masses=np.array([leg.foot_mass for leg in legs]),
            gravity=parameters.gravity,
        )
