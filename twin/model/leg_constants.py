"""Constants of the legs packed for the kernels: one row per leg, one function per kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.legs.kinds import (
    AXIS,
    BASE_JOINT,
    PLATFORM_JOINT,
    Legs,
    PillarLegs,
    RssLegs,
    StrutLegs,
    UpsLegs,
    ViscoelasticLegs,
)
from twin.kernels.legs.pillar import dynamics as pillar
from twin.kernels.legs.pillar import kinematics as pillar_geometry
from twin.kernels.legs.rss import dynamics as rss
from twin.kernels.legs.rss import kinematics as rss_geometry
from twin.kernels.legs.strut import dynamics as strut
from twin.kernels.legs.ups import dynamics as ups
from twin.kernels.legs.viscoelastic import dynamics as viscoelastic
from twin.machine.derived import leg_bodies
from twin.machine.machine import MachineParameters

ROUNDING = 1e-15
"""Relative size below which an off-axis entry is rounding error of the frame's rotation."""


def pack_legs(parameters: MachineParameters) -> Legs:
    """Return the constants of a machine's legs, of the type of their kind."""
    kind, width, fill = KINDS[parameters.leg.kind]
    base, top = parameters.base.joints.points, parameters.platform.joints.points
    rows = np.zeros((len(base), width))
    rows[:, BASE_JOINT : BASE_JOINT + 3] = base
    rows[:, PLATFORM_JOINT : PLATFORM_JOINT + 3] = top
    fill(parameters, rows)
    legs: Legs = kind(rows)
    return legs


def parallel_axis(mass: float, center: FloatArray) -> FloatArray:
    """Return the tensor `(3, 3)` [kg m2] of a point mass at `center` [m] about the origin."""
    return mass * (center @ center * np.eye(3) - np.outer(center, center))


def six(tensor: FloatArray) -> FloatArray:
    """Return xx, yy, zz, xy, xz, yz of a tensor `(3, 3)`."""
    return tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _ups(parameters: MachineParameters, rows: FloatArray) -> None:
    bodies = leg_bodies(parameters)
    rows[:, AXIS : AXIS + 3] = parameters.first_axes
    rows[:, ups.HOUSING_MASS] = bodies.housing_mass
    rows[:, ups.HOUSING_CENTER : ups.HOUSING_CENTER + 3] = bodies.housing_center
    rows[:, ups.ROD_MASS] = bodies.rod_mass
    rows[:, ups.ROD_CENTER : ups.ROD_CENTER + 3] = bodies.rod_center
    for i, row in enumerate(rows):
        tensor = (
            bodies.housing_inertia[i]
            + parallel_axis(float(bodies.housing_mass[i]), bodies.housing_center[i])
            + bodies.rod_inertia[i]
        )
        row[ups.TENSOR : ups.TENSOR + 6] = six(tensor)
        row[ups.AXISYMMETRIC] = float(_axisymmetric(tensor, row))


def _axisymmetric(tensor: FloatArray, row: FloatArray) -> bool:
    size = np.abs(tensor).max() * ROUNDING
    across = [tensor[0, 1], tensor[0, 2], tensor[1, 2], tensor[0, 0] - tensor[1, 1]]
    housing = row[ups.HOUSING_CENTER : ups.HOUSING_CENTER + 2]
    centers = [*housing, *row[ups.ROD_CENTER : ups.ROD_CENTER + 2]]
    return bool(np.abs(across).max() <= size and np.abs(centers).max() == 0.0)


def _strut(parameters: MachineParameters, rows: FloatArray) -> None:
    _ups(parameters, rows)
    leg: Any
    for row, leg, home in zip(rows, parameters.legs, parameters.home_coordinates, strict=True):
        axial = leg.axial
        row[strut.STIFFNESS], row[strut.DAMPING] = axial.stiffness, axial.damping
        row[strut.REST_LENGTH] = home if axial.rest_length is None else axial.rest_length


def _rss(parameters: MachineParameters, rows: FloatArray) -> None:
    rows[:, AXIS : AXIS + 3] = parameters.first_axes
    leg: Any
    for row, leg, place in zip(rows, parameters.legs, parameters.home_places, strict=True):
        row[rss_geometry.ZERO : rss_geometry.ZERO + 3] = leg.home_zero(place)
        row[rss_geometry.MIDDLE] = 0.5 * (leg.actuator.minimum + leg.actuator.maximum)
        row[rss_geometry.CRANK_LENGTH] = leg.crank_length
        row[rss_geometry.ROD_LENGTH] = leg.rod_length
        row[rss_geometry.BRANCH] = 1.0 if leg.branch == "outward" else -1.0
        center, mass = leg.crank.center_of_mass_vector, leg.crank.mass
        tensor = leg.crank.inertia_tensor + parallel_axis(mass, center)
        row[rss.ROD_MASS] = leg.rod_mass
        row[rss.CRANK_INERTIA] = tensor[0, 0]
        row[rss.CRANK_MASS] = mass
        # The crank's own axes are u, -c' and c; the kernel's are u, c' and c.
        row[rss.CRANK_MOMENT : rss.CRANK_MOMENT + 3] = mass * center * [1.0, -1.0, 1.0]


def _viscoelastic(parameters: MachineParameters, rows: FloatArray) -> None:
    rows[:, AXIS : AXIS + 3] = parameters.first_axes
    leg: Any
    for row, leg in zip(rows, parameters.legs, strict=True):
        row[viscoelastic.SPRING_LENGTH] = leg.spring_length
        row[viscoelastic.HOUSING_LENGTH] = leg.housing_length
        row[viscoelastic.FOLLOWER_LENGTH] = leg.follower_length
        row[viscoelastic.SPRING_MASS] = leg.spring_mass
        row[viscoelastic.HOUSING_MASS] = leg.housing_mass
        row[viscoelastic.FOLLOWER_MASS] = leg.follower_mass
        row[viscoelastic.STIFFNESS], row[viscoelastic.DAMPING] = leg.stiffness, leg.damping


def _pillar(parameters: MachineParameters, rows: FloatArray) -> None:
    leg: Any
    for i, (row, leg) in enumerate(zip(rows, parameters.legs, strict=True)):
        row[pillar_geometry.FIXED] = float(leg.fixed_foot == i + 1)
        row[pillar.FOOT_MASS] = leg.foot_mass
        row[pillar.TRANSITION_SPEED] = 1.0
        if leg.friction is not None:
            row[pillar.VISCOUS] = leg.friction.viscous
            row[pillar.COULOMB] = leg.friction.coulomb
            row[pillar.TRANSITION_SPEED] = leg.friction.transition_speed


KINDS: dict[str, tuple[Any, int, Callable[[MachineParameters, FloatArray], None]]] = {
    "ups": (UpsLegs, ups.LEG_SIZE, _ups),
    "strut": (StrutLegs, strut.LEG_SIZE, _strut),
    "rss": (RssLegs, rss.LEG_SIZE, _rss),
    "viscoelastic": (ViscoelasticLegs, viscoelastic.LEG_SIZE, _viscoelastic),
    "pillar": (PillarLegs, pillar.LEG_SIZE, _pillar),
}
"""Kind of leg -> type of its constants, entries of a row, and what fills them."""
