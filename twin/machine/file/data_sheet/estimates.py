"""Estimates of masses and tensors that data sheets leave out, from sizes and common materials."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.body import parallel_axis

SHEET_SOURCE = "Data sheet"
"""Beginning of the source of numbers that a data sheet gives."""

PLATE_DENSITY = 2700.0
"""[kg/m3] Density of the plates, of aluminium."""

LEG_DENSITY = 5000.0
"""[kg/m3] Density of the legs, of steel and aluminium."""

PAYLOAD_DENSITY = 500.0
"""[kg/m3] Density of a payload with its frame."""

PLATE_THICKNESS_RATIO = 0.05
"""Thickness of a plate over the radius of its joints."""

LEG_RADIUS_RATIO = 0.05
"""Radius of a leg over its length."""

PART_LENGTH_RATIO = 0.9
"""Length of each part of a leg over the shortest length of the leg."""

HOUSING_MASS_FRACTION = 0.6
"""Fraction of a leg's mass in the part on the base."""


class Body(NamedTuple):
    """Mass properties of a body whose centre of mass lies on the z axis, or of many `(m,)`."""

    mass: Any
    """mass [kg]"""
    center: Any
    """z coordinate of the centre of mass [m]"""
    tensor: FloatArray
    """`(3,)` or `(3, m)` [kg m2] principal moments about the centre"""


def rod(mass: Any, length: Any, radius: Any, middle: Any) -> Body:
    """Return a solid cylinder along z whose centre is at z = `middle` [m]."""
    transverse_inertia = mass * (3.0 * radius**2 + length**2) / 12.0
    return Body(
        mass, middle, np.array([transverse_inertia, transverse_inertia, 0.5 * mass * radius**2])
    )


def plate(radius: Any, mass: float | None) -> Body:
    """Return round plates above joints on a `radius` [m], of aluminium where no mass is given."""
    thickness = PLATE_THICKNESS_RATIO * radius
    volume = math.pi * (1.1 * radius) ** 2 * thickness
    return rod(mass or PLATE_DENSITY * volume, thickness, 1.1 * radius, 0.5 * thickness)


def load(mass: float, radius: float) -> Body:
    """Return a payload of `PAYLOAD_DENSITY`: a cylinder on the plate, its height its diameter."""
    width = (4.0 * mass / (math.pi * PAYLOAD_DENSITY)) ** (1.0 / 3.0)
    return rod(mass, width, 0.5 * width, PLATE_THICKNESS_RATIO * radius + 0.5 * width)


def joined_bodies(bodies: list[Body]) -> Body:
    """Return the mass properties of bodies along z that are fixed to each other."""
    mass = sum(body.mass for body in bodies)
    center = sum(body.mass * body.center for body in bodies) / mass
    tensor = sum(
        np.diag(body.tensor) + parallel_axis(body.mass, np.array([0.0, 0.0, body.center - center]))
        for body in bodies
    )
    return Body(mass, center, np.diag(tensor))


def leg_mass(length: Any) -> Any:
    """Return the masses [kg] of legs of a `length` [m]: cylinders of `LEG_RADIUS_RATIO`."""
    return LEG_DENSITY * math.pi * (LEG_RADIUS_RATIO * length) ** 2 * length


def quoted(text: str | None) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def body_table(table: str, body: Body, source: str, *, symmetric: bool = False) -> str:
    """Return the table of a rigid body; `symmetric` is for a part that turns about its leg."""
    if symmetric:
        transverse, _, axial = body.tensor
        return f"""\
[{table}]
source = {quoted(source)}
kind = "symmetric"
mass = {body.mass:.6g}  # kg
center = {body.center:.6g}
transverse_inertia = {transverse:.6g}  # kg m2, about the centre of mass
axial_inertia = {axial:.6g}
"""
    moments = ", ".join(f"{value:.6g}" for value in body.tensor)
    return f"""\
[{table}]
source = {quoted(source)}
kind = "rigid"
mass = {body.mass:.6g}  # kg
center_of_mass = [0.0, 0.0, {body.center:.6g}]
inertia = [{moments}]  # kg m2, about the centre of mass
"""
