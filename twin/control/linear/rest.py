"""A pose at rest: the actuator forces and spring deflections that hold the machine there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_pose, as_vector
from twin.errors import StateError
from twin.model.machine_model import MachineModel, as_model
from twin.model.motions import REST

ITERATIONS = 60
"""Deflections move the legs' masses a little: each step shrinks the error a hundredfold."""

SETTLED = 1e-15
"""Change of a deflection [m] that is rounding."""


class Rest(NamedTuple):
    """A machine that does not move."""

    pose: FloatArray
    """`(7,)`"""
    forces: FloatArray
    """`(n,)` of the actuators [N] or [N m]"""
    wrench: FloatArray
    """`(6,)` that acts on the platform meanwhile, base axes"""
    deflection: FloatArray
    """`(2k,)` coordinates inside the legs [m], then their rates, zero"""


def rest_at(platform: MachineModel, pose: Any = None, wrench: Any = None) -> Rest:
    """Return what holds a machine still at a pose `(7,)`, default home, against a wrench `(6,)`.

    Where there are more actuators than degrees of freedom, the forces of smallest norm. Springs in
    series with the actuators deflect as those forces and the legs' weights ask.

    Raises:
        InputError: wrong shape, not finite, a pose the machine cannot have.
        SingularPoseError: the pose is singular.
        StateError: the springs do not settle (`data`: pose, change).
    """
    machine = as_model(platform)
    place = as_pose(as_vector(machine.home if pose is None else pose, "pose", 7))
    load = as_vector(REST if wrench is None else wrench, "wrench", 6)
    k = machine.n_deflections
    deflection = np.zeros(2 * k)
    forces = machine.inverse_dynamics(place, REST, REST, load, deflection=deflection)
    if not k:
        return Rest(place, forces, load, deflection)
    softness = internal_mass(machine) / spring_constants(machine)[0]
    for _ in range(ITERATIONS):
        found = machine.forward_dynamics(place, REST, forces, load, deflection=deflection)
        change = softness * found[6:]
        deflection[:k] += change
        forces = machine.inverse_dynamics(place, REST, REST, load, deflection=deflection)
        if np.abs(change).max() <= SETTLED:
            return Rest(place, forces, load, deflection)
    raise StateError(
        f"the springs of {machine.name} do not settle at this pose: they are too soft for the "
        "load. Stiffen them or choose another pose.",
        {"pose": place, "change": change},
    )


def internal_mass(platform: MachineModel) -> FloatArray:
    """Return the mass `(k,)` [kg] that a spring in series moves when only it deflects.

    Raises:
        InputError: not a machine.

    Reference:
        Compliant-legs paper, sections 1.6 to 1.11: m_1/4 + m_2; see docs/compliant_legs.md.
    """
    if not as_model(platform).n_deflections:
        return np.empty(0)
    legs: Any = platform.parameters.legs
    return np.array([0.25 * leg.spring_mass + leg.housing_mass for leg in legs])


def spring_constants(platform: MachineModel) -> tuple[FloatArray, FloatArray]:
    """Return stiffness [N/m] and damping [N s/m] `(n,)` along the legs; zero where there is none.

    Of the spring in series with the actuator (viscoelastic legs) or beside it (struts).

    Raises:
        InputError: not a machine.
    """
    springs = as_model(platform).leg_springs
    return springs.stiffness, springs.damping
