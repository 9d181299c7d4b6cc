"""A platform with an occupant on it as rigid added mass."""

from __future__ import annotations

import numpy as np

from twin.errors import InputError, brief
from twin.machine.body import RigidBody
from twin.machine.machine import MachineParameters
from twin.machine.payload.occupant import Occupant
from twin.machine.payload.segments import RigidSum, combined, rigid_sum


def seated_on(parameters: MachineParameters, occupant: Occupant) -> MachineParameters:
    """Return the machine with the occupant as part of its platform's body.

    Everything else, the machine's name included, stays as it is.

    Raises:
        InputError: not parameters or not an occupant.
    """
    if not isinstance(parameters, MachineParameters):
        raise InputError("parameters", "must be MachineParameters; take platform.parameters")
    if not isinstance(occupant, Occupant):
        raise InputError("occupant", f"must be an Occupant, not {brief(occupant)}")
    moving = parameters.platform
    total = with_body(moving.body, rigid_sum(occupant.segments()))
    body = RigidBody.model_validate(
        {
            "source": f"{moving.body.source}; {_description(occupant)}",
            "kind": "rigid",
            "mass": total.mass,
            "center_of_mass": total.center.tolist(),
            "inertia": total.inertia.tolist(),
        }
    )
    return parameters.model_copy(update={"platform": moving.model_copy(update={"body": body})})


def with_body(body: RigidBody, added: RigidSum) -> RigidSum:
    """Return a body of the platform frame and what is fixed to it as one."""
    return combined(
        np.array([body.mass, added.mass]),
        np.array([body.center_of_mass_vector, added.center]),
        np.array([body.inertia_tensor, added.inertia]),
    )


def _description(occupant: Occupant) -> str:
    chair = "" if occupant.wheelchair is None else f", wheelchair of {occupant.wheelchair.mass} kg"
    return (
        f"seated occupant of {occupant.stature} m and {occupant.mass} kg, fractions of de Leva "
        f"(1996, table 4) and Drillis and Contini (1966){chair}"
    )
