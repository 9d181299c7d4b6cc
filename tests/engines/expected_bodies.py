"""Masses, centres and tensors that the bodies of a machine must have, from its parameters alone."""

from __future__ import annotations

import numpy as np
from legs_at_home import leg_bodies

from twin.basics.arrays import FloatArray
from twin.machine.legs.pillar import PillarLeg
from twin.machine.legs.rss import RssLeg
from twin.machine.legs.ups import UpsLeg
from twin.machine.legs.upu import UpuLeg
from twin.machine.legs.viscoelastic import ViscoelasticLeg
from twin.machine.machine import MachineParameters

Properties = tuple[float, FloatArray, FloatArray]

NONE = (0.0, np.zeros(3), np.zeros((3, 3)))


def point(mass: float, z: float = 0.0) -> Properties:
    """Return the properties of a point mass on the z axis."""
    return mass, np.array([0.0, 0.0, z]), np.zeros((3, 3))


def expected_bodies(parameters: MachineParameters) -> dict[str, Properties]:
    """Return mass [kg], centre [m] and tensor [kg m2] of every body by its name."""
    body = parameters.platform.body
    found = {"platform": (body.mass, body.center_of_mass_vector, body.inertia_tensor)}
    for i, leg in enumerate(parameters.legs):
        name = f"leg_{i + 1}"
        if isinstance(leg, UpsLeg):
            parts = [part[i] for part in leg_bodies(parameters)]
            found[f"{name}_housing"] = (float(parts[0]), parts[1], parts[2])
            found[f"{name}_rod"] = (float(parts[3]), parts[4], parts[5])
            if isinstance(leg, UpuLeg):  # a pin in an engine's model, too light to matter
                pin, arm = 1e-9 * leg.rod.mass, 0.1 * parameters.home_coordinates[i]
                found[f"{name}_upper_pin"] = (pin, np.zeros(3), pin * arm**2 * np.eye(3))
        elif isinstance(leg, RssLeg):
            across = leg.rod_mass * leg.rod_length**2 / 12.0
            middle = np.array([0.0, 0.0, 0.5 * leg.rod_length])
            crank = leg.crank
            found[f"{name}_crank"] = (
                crank.mass,
                crank.center_of_mass_vector,
                crank.inertia_tensor,
            )
            found[f"{name}_rod"] = (leg.rod_mass, middle, np.diag([across, across, 0.0]))
        elif isinstance(leg, ViscoelasticLeg):
            found[f"{name}_guide"] = NONE
            found[f"{name}_housing"] = point(leg.housing_mass, leg.housing_length)
            found[f"{name}_spring_mass"] = point(leg.spring_mass / 4.0)
            found[f"{name}_rod"] = point(leg.follower_mass, -leg.follower_length)
        else:
            assert isinstance(leg, PillarLeg)
            found[f"{name}_upper"] = point(leg.upper_mass)
            if i + 1 == leg.fixed_foot:
                found[f"{name}_pillar"] = NONE
            else:
                found[f"{name}_rod"] = point(0.75 * leg.foot_mass)
                found[f"{name}_carriage"] = point(0.25 * leg.foot_mass)
    return found
