"""Springs along the actuators: those of struts, or the stiffness of position loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, read_only
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model


class Springs(NamedTuple):
    """Springs parallel to the actuators: force = stiffness (rest - coordinate) - damping rate."""

    stiffness: FloatArray
    """`(n,)` [N/m], for cranks [N m/rad]"""
    damping: FloatArray
    """`(n,)` [N s/m], for cranks [N m s/rad]"""
    rest: FloatArray
    """`(n,)` coordinates [m] or [rad] at which the springs carry nothing"""
    own: bool
    """whether they are the machine's struts, part of its dynamics"""


def strut_springs(platform: MachineModel) -> Springs | None:
    """Return the springs of the machine's own struts; None for a machine without struts."""
    return Springs(*platform.leg_springs, own=True) if platform.leg.has_axial_spring else None


def springs_of(platform: MachineModel, stiffness: Any = None) -> Springs:
    """Return the machine's struts, or springs of the given stiffness at its actuators.

    Args:
        platform: the machine.
        stiffness: one number or `(n,)` [N/m], for cranks [N m/rad]: what holds the actuators of a
            machine without struts, such as position loops. Struts have their own.

    Raises:
        InputError: machines whose legs deform inside or that have fewer than six degrees of
            freedom, no stiffness for a machine without struts, or one for a machine with struts.
    """
    if as_model(platform).dof != 6 or platform.n_deflections:
        raise InputError(
            "platform",
            f"{platform.name} must have six degrees of freedom and no springs inside its legs: "
            "its stiffness follows from that of its actuators alone",
        )
    own = strut_springs(platform)
    if own is not None:
        if stiffness is not None:
            raise InputError(
                "stiffness", f"the struts of {platform.name} have their own; leave it out"
            )
        return own
    if stiffness is None:
        raise InputError(
            "stiffness", f"{platform.name} has no struts; give the stiffness of its actuators"
        )
    n = platform.n_actuators
    values = as_floats(stiffness, "stiffness")
    if values.shape not in ((), (n,)) or not (values > 0.0).all():
        raise InputError("stiffness", f"must be one number or {n} numbers above zero")
    return Springs(
        read_only(np.broadcast_to(values, (n,))),
        read_only(np.zeros(n)),
        read_only(platform.home_coordinates),
        own=False,
    )


def rest_length_forces(platform: MachineModel, lengths: Any) -> FloatArray:
    """Return the actuator forces `(..., n)` [N] that command rest lengths `(..., n)` [m] of struts.

    A strut whose rest length is moved from its own to `lengths` carries the additional force
    stiffness (lengths - own rest length) at every length.

    Raises:
        InputError: a machine without struts, wrong shape, not finite.
    """
    springs = strut_springs(as_model(platform))
    if springs is None:
        raise InputError("platform", f"{platform.name} has no struts to command by rest length")
    commanded = as_floats(lengths, "lengths", platform.n_actuators)
    return np.asarray(springs.stiffness * (commanded - springs.rest))
