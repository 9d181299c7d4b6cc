"""A machine with one thing changed: gravity, or the stiffness of its struts."""

from __future__ import annotations

from typing import Any

from twin.analysis.stiffness.springs import strut_springs
from twin.basics.arrays import as_floats, positive
from twin.errors import InputError
from twin.machine.machine import MachineParameters
from twin.model.machine_model import MachineModel, as_model
from twin.simulation.platform import Platform


def with_gravity(platform: MachineModel, gravity: Any) -> Platform:
    """Return the machine under another gravity [m/s2] along -z; 0 turns it off.

    Raises:
        InputError: not a machine, not one number from zero on.
    """
    value = as_floats(gravity, "gravity")
    if value.ndim or value < 0.0:
        raise InputError("gravity", f"must be one number from 0 on, got {gravity!r}")
    content = as_model(platform).parameters.model_dump()
    content["gravity"] = float(value)
    return Platform(MachineParameters.model_validate(content))


def with_strut_stiffness(platform: MachineModel, factor: Any) -> Platform:
    """Return the machine with the stiffness and damping of all struts times `factor`.

    Raises:
        InputError: a machine without struts, a factor not above zero.
    """
    if strut_springs(as_model(platform)) is None:
        raise InputError("platform", f"{platform.name} has no struts")
    scale = positive(factor, "factor")
    content = platform.parameters.model_dump()
    for table in (content, *content["variant"]):
        axial = table["leg"]["axial"]
        axial["stiffness"] *= scale
        axial["damping"] *= scale
    return Platform(MachineParameters.model_validate(content))
