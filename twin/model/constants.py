"""Parameters packed for the kernels: the platform's body, and its legs with their home."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import (
    BODY_CENTER,
    BODY_GRAVITY,
    BODY_MASS,
    BODY_SIZE,
    BODY_TENSOR,
)
from twin.kernels.legs.dispatch import LEG_MODULES
from twin.kernels.legs.interface import BASE_JOINT, PLATFORM_JOINT, Legs
from twin.machine.body import parallel_axis, six
from twin.machine.legs import LEG_KINDS
from twin.machine.legs.leg import Leg
from twin.machine.machine import MachineParameters


class Constants(NamedTuple):
    """Arrays read by the kernels; not to be written to."""

    body: FloatArray
    """`(BODY_SIZE,)` platform body: mass, centre of mass, tensor, field; see `assembly`"""
    legs: Legs
    """one row per leg, in the type of their kind"""
    home: FloatArray
    """`(n, HOME_SIZE)` leg frames at home (rows of the rotation leg to base; roll and pitch of
    pillars), and actuator coordinates"""


def pack(parameters: MachineParameters) -> Constants:
    """Return the kernels' constants of a machine."""
    leg_kind = LEG_KINDS[parameters.leg.kind]
    frames = list(map(leg_kind.home_frame, parameters.legs, parameters.home_leg_geometry))
    home = np.column_stack([frames, parameters.home_coordinates])
    return Constants(_pack_body(parameters), _pack_legs(parameters), home)


NOT_PACKED = frozenset({"appearance", "drive", "encoder", "source"})
"""Fields of a leg that its constants do not contain."""

NOT_GEOMETRY = NOT_PACKED | {"axial", "crank", "friction", "housing", "rod"}
"""Fields of a leg that do not affect its joints or its coordinates at home."""


def same_geometry(one: MachineParameters, other: MachineParameters) -> bool:
    """Return whether two machines share the tables that joints, home and limits come from."""
    return (
        one.name == other.name
        and one.base is other.base
        and one.home is other.home
        and one.platform.joints is other.platform.joints
        and _same_fields(one, other, NOT_GEOMETRY)
    )


def repacked(
    old_constants: Constants, old_parameters: MachineParameters, new_parameters: MachineParameters
) -> Constants:
    """Return the constants of a machine from those of one with the same geometry."""
    legs = (
        old_constants.legs
        if _same_fields(old_parameters, new_parameters, NOT_PACKED)
        else _pack_legs(new_parameters)
    )
    return Constants(_pack_body(new_parameters), legs, old_constants.home)


def _same_fields(one: MachineParameters, other: MachineParameters, ignored: frozenset[str]) -> bool:
    """Return whether the legs of two machines share all fields but some."""
    return all(
        type(a) is type(b)
        and all(
            getattr(a, name) is getattr(b, name) for name in type(a).model_fields.keys() - ignored
        )
        for a, b in changed_legs(one, other)
    )


def changed_legs(one: MachineParameters, other: MachineParameters) -> list[tuple[Leg, Leg]]:
    """Return the legs that two machines do not share, each pair once."""
    if one.leg is other.leg and one.variant is other.variant:
        return []
    pairs = zip(one.legs, other.legs, strict=True)
    return list({(id(a), id(b)): (a, b) for a, b in pairs if a is not b}.values())


def _pack_legs(parameters: MachineParameters) -> Legs:
    """Return the constants of the legs, of the type of their equations, one row per leg."""
    modules = _equations(type(parameters.leg))
    legs_type = next(kind for kind, (module, _) in LEG_MODULES.items() if module is modules[0])
    constant_rows = np.zeros((len(parameters.legs), modules[0].LEG_SIZE))
    constant_rows[:, BASE_JOINT : BASE_JOINT + 3] = parameters.base.joints.points
    constant_rows[:, PLATFORM_JOINT : PLATFORM_JOINT + 3] = parameters.platform.joints.points
    constants = LEG_KINDS[parameters.leg.kind].constants
    for leg_row, leg, leg_geometry in zip(
        constant_rows, parameters.legs, parameters.home_leg_geometry, strict=True
    ):
        for name, value in constants(leg, leg_geometry).items():
            first_column = _entry(modules, name)
            leg_row[first_column : first_column + np.size(value)] = value
    legs: Legs = legs_type(constant_rows)
    return legs


def without_shortcuts(parameters: MachineParameters, rows: FloatArray) -> FloatArray:
    """Return leg constants that make kernels use the equations of general, asymmetric bodies.

    The shorter equations of symmetric bodies would lose derivatives by parameters that are zero.
    """
    modules, general_rows = _equations(type(parameters.leg)), rows.copy()
    if any(hasattr(module, "AXISYMMETRIC") for module in modules):
        general_rows[:, _entry(modules, "axisymmetric")] = 0.0
    return general_rows


def _entry(modules: tuple[ModuleType, ...], name: str) -> int:
    """Return the first column of a constant in a leg's row."""
    column_name = name.upper()
    return next(
        int(getattr(module, column_name)) for module in modules if hasattr(module, column_name)
    )


@lru_cache
def _equations(leg: type[Leg]) -> tuple[ModuleType, ...]:
    """Return the modules that name the entries of a leg's row; first those of its own kind."""
    names = dict.fromkeys(
        base_class.equations for base_class in leg.__mro__ if hasattr(base_class, "equations")
    )
    return tuple(import_module(f"twin.kernels.legs.{name}") for name in names)


def _pack_body(parameters: MachineParameters) -> FloatArray:
    """Return the constants of the platform body, with the masses that legs add to it."""
    platform = parameters.platform.body
    mass, center = platform.mass, platform.center_of_mass_vector
    tensor = platform.inertia_tensor + parallel_axis(mass, center)
    moment = mass * center
    for leg, joint in zip(parameters.legs, parameters.platform.joints.points, strict=True):
        if leg.platform_mass:
            mass += leg.platform_mass
            moment = moment + leg.platform_mass * joint
            tensor = tensor + parallel_axis(leg.platform_mass, joint)
    body = np.zeros(BODY_SIZE)
    body[BODY_MASS] = mass
    body[BODY_CENTER : BODY_CENTER + 3] = moment / mass
    body[BODY_TENSOR : BODY_TENSOR + 6] = six(tensor)
    body[BODY_GRAVITY + 2] = -parameters.gravity
    return body
