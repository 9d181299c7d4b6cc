"""The numbers of a plate on four pillars at the corners of a rectangle, one of them fixed.

The pillars are in the order front right, front left, rear left, rear right, x forward and y to the
left; the foot of the last one is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.errors import InputError

CORNERS = ("front_right", "front_left", "rear_left", "rear_right")
"""Order of the pillars in every array of four."""

SIGNS = read_only([[1, -1], [1, 1], [-1, 1], [-1, -1]])
"""Signs of x and y of the corners."""

FIXED = CORNERS.index("rear_right")
"""The pillar whose foot does not slide."""

TOLERANCE = 1e-9
"""[m], [kg], [kg m2] What a file may be off by and still describe this plate."""


@dataclass(frozen=True)
class PlateModel:
    """A rectangular plate whose reference point and centre of mass are at its centre.

    `upper_mass` moves with the plate at each corner, `foot_mass` slides with each foot.
    """

    half_length: float
    """[m] from the centre to the front pillars, along x"""
    half_width: float
    """[m] from the centre to the left pillars, along y"""
    plate_mass: float
    """[kg]"""
    roll_inertia: float
    """[kg m2] of the plate about its x axis"""
    pitch_inertia: float
    """[kg m2] of the plate about its y axis"""
    yaw_inertia: float
    """[kg m2] of the plate about its z axis"""
    upper_mass: float
    """[kg] of each pillar"""
    foot_mass: float
    """[kg] of each pillar"""
    gravity: float
    """[m/s2]"""
    home_length: float
    """[m] of the pillars in the middle of their stroke"""
    stroke: float
    """[m] between the shortest and the longest pillar"""

    @property
    def corners(self) -> FloatArray:
        """Places `(4, 2)` [m] of the pillars on the plate, x and y from its centre."""
        return read_only(SIGNS * [self.half_length, self.half_width])

    @property
    def minimum_length(self) -> float:
        """Length [m] of a retracted pillar."""
        return self.home_length - 0.5 * self.stroke

    @property
    def maximum_length(self) -> float:
        """Length [m] of an extended pillar."""
        return self.home_length + 0.5 * self.stroke

    @property
    def lifted_mass(self) -> float:
        """Mass [kg] that heave lifts: the plate and what moves with it."""
        return self.plate_mass + len(CORNERS) * self.upper_mass

    def lumped(self) -> PlateModel:
        """Return the plate with all mass of the pillars at its corners, as in the paper."""
        return replace(self, upper_mass=self.upper_mass + self.foot_mass, foot_mass=0.0)

    @classmethod
    def from_parameters(cls, parameters: Any) -> PlateModel:
        """Return the model of a machine on pillars.

        Args:
            parameters: `twin.machine.MachineParameters` with legs of kind "pillar".

        Raises:
            InputError: not such a machine: other legs, another number or order of them, unequal
                ones, pillars that are no rectangle, a body that is not centred and aligned.
        """
        legs = parameters.legs
        if not all(leg.has_foot for leg in legs) or len(legs) != len(CORNERS):
            raise InputError("parameters", "must describe four legs of kind 'pillar'")
        leg, body, joints = legs[0], parameters.platform.body, parameters.platform.joints.points
        actuator = leg.actuator
        half_length, half_width = np.abs(joints[:, :2]).mean(axis=0).tolist()
        middle = 0.5 * (actuator.minimum + actuator.maximum)
        inertia = np.diag(body.inertia_tensor).tolist()
        numbers = [(leg.fixed_foot, leg.upper_mass, leg.foot_mass, leg.actuator) for leg in legs]
        constraints = {
            "leg: must be the same for all pillars": numbers.count(numbers[0]) == len(numbers),
            f"leg.fixed_foot: must be {FIXED + 1}": leg.fixed_foot == FIXED + 1,
            "platform.joints: must be a rectangle in the platform's plane, in the order "
            + ", ".join(CORNERS): _near(joints[:, :2], SIGNS * [half_length, half_width])
            and _near(joints[:, 2], 0.0),
            "platform.body: must have its centre of mass at the centre and aligned axes": _near(
                body.center_of_mass_vector, 0.0
            )
            and _near(body.inertia_tensor, np.diag(inertia)),
            "home: must be level, centred, with the pillars in the middle of their stroke": _near(
                parameters.home_rotation, np.eye(3)
            )
            and _near(parameters.home_leg_vectors, [0.0, 0.0, middle]),
        }
        for condition, met in constraints.items():
            if not met:
                field, _, message = condition.partition(": ")
                raise InputError(f"parameters.{field}", message)
        return cls(
            half_length=half_length,
            half_width=half_width,
            plate_mass=body.mass,
            roll_inertia=inertia[0],
            pitch_inertia=inertia[1],
            yaw_inertia=inertia[2],
            upper_mass=leg.upper_mass,
            foot_mass=leg.foot_mass,
            gravity=parameters.gravity,
            home_length=middle,
            stroke=actuator.stroke,
        )


def _near(value: FloatArray, wanted: Any) -> bool:
    return bool(np.abs(value - wanted).max() < TOLERANCE)
