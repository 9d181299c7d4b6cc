"""Masses that parts of legs have in an engine where the machine gives them none.

An engine divides by the mass of every part that moves by itself; the reference does not. Parts
lighter than `LEAST_SHARE` of the machine get that mass, and the moments of a ball of
`GYRATION` of the leg's reach. It changes the platform's accelerations by about that share, less
than the rounding of either engine. Measured on a hexapod of 1.8 kg, with constraints as in
`twin.engines.mujoco.settings`: errors against the reference are those of legs of any other mass
(MuJoCo 6e-11 rad, Bullet 2e-9 rad in 0.12 s).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from twin.engines.mechanism.mechanism import Mechanism
from twin.errors import InputError, TwinWarning, listed
from twin.machine.machine import MachineParameters
from twin.machine.mechanism.parts import Body, Mass

LEAST_SHARE = 1e-12
"""Mass of a part in an engine, at least, per mass of the whole machine. A platform of less loses
digits in Bullet's constraint solver: errors of 5e-8 rad in place of 2e-10."""

GYRATION = 0.1
"""Radius of gyration of a part that gets the least mass, per reach of the legs."""


def machine_mass(parameters: MachineParameters) -> float:
    """Return the mass [kg] of platform and legs."""
    legs = sum(leg.mass for leg in parameters.legs)
    return float(parameters.platform.body.mass + legs)


def least_mass(parameters: MachineParameters) -> float:
    """Return the mass [kg] that a part of a leg that moves by itself has in an engine at least."""
    return LEAST_SHARE * machine_mass(parameters)


def with_least_masses(bodies: Sequence[Body], parameters: MachineParameters) -> list[Body]:
    """Return platform and legs; what moves on joints of a leg moves the least mass at least.

    A body that carries a heavier one on its joints moves that mass and stays as it is.
    """
    least = least_mass(parameters)
    moment = least * (GYRATION * max(leg.reach for leg in parameters.legs)) ** 2
    light = light_bodies(bodies, least)
    return [
        body._replace(mass=Mass(least, body.mass.center, moment * np.eye(3)))
        if body.name in light
        else body
        for body in bodies
    ]


def light_bodies(bodies: Sequence[Body], least: float) -> tuple[str, ...]:
    """Return the names of bodies on joints that move less than the least mass [kg]."""

    def moved(body: Body) -> float:
        carried = (moved(other) for other in bodies if other.parent == body.name)
        return body.mass.mass + sum(carried)

    return tuple(body.name for body in bodies if body.joints and moved(body) < least)


def least_mass_note(machine: Mechanism, parameters: MachineParameters) -> str:
    """Return the sentence about parts of legs that have the least mass; empty without such."""
    least = least_mass(parameters)
    light = [body.name for body in machine.bodies if body.joints and body.mass.mass == least]
    if not light:
        return ""
    return (
        f"{machine.name}: in MuJoCo and Bullet {listed(light)} have {least:.2g} kg each, "
        f"{LEAST_SHARE:g} of the machine's mass, because an engine divides by the mass of every "
        "part that moves. The file gives them less; the analytic engine takes them as they are."
    )


def check_masses(machine: Mechanism, parameters: MachineParameters, engine: str) -> None:
    """Refuse a platform that is too light for an engine, and warn of massless parts of legs.

    Raises:
        InputError: the platform's mass is below `LEAST_SHARE` of the machine's.
    """
    least, own = least_mass(parameters), parameters.platform.body.mass
    if own < least:
        raise InputError(
            "platform.body.mass",
            f"{own:.3g} kg is {own / machine_mass(parameters):.2g} of the mass of "
            f"{parameters.name}, {machine_mass(parameters):.3g} kg; the {engine} engine is exact "
            f"from {LEAST_SHARE:g} on. Give at least {least:.2g} kg, lighter legs, or use the "
            "analytic engine",
        )
    note = least_mass_note(machine, parameters)
    if note:
        warnings.warn(note, TwinWarning, stacklevel=2)
