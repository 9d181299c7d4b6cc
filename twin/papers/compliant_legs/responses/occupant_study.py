"""Effect of an occupant on a compliant platform: sag, modes and load cases.

The occupant is rigid added mass here; an engine can carry the same segments with springs between.

Reference: compliant-leg paper, appendix A: a humanoid in a wheelchair on the platform.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.machine.machine import MachineParameters
from twin.machine.payload.occupant import Occupant
from twin.machine.payload.seating import seated_on
from twin.papers.compliant_legs.machine import from_parameters
from twin.papers.compliant_legs.responses.load_cases import (
    LoadCase,
    LoadResponse,
    run_load_cases,
    standard_load_cases,
)
from twin.papers.compliant_legs.rest.equilibrium import Equilibrium, locked_equilibrium
from twin.papers.compliant_legs.rest.linear import locked_linearisation
from twin.papers.compliant_legs.rest.modes import Modes, modes_of
from twin.rotations import displacement


class OccupantEffect(NamedTuple):
    """A machine with one occupant, or with none."""

    name: str
    """Given name"""
    mass: float
    """Of the platform with the occupant [kg]"""
    center: FloatArray
    """Their common centre of mass `(3,)` [m], platform frame"""
    settled: Equilibrium
    """With actuators locked at home"""
    sag: FloatArray
    """Displacement from home to there `(6,)` [m, rad], base axes"""
    modes: Modes
    """Of the platform about there, actuators locked"""
    responses: tuple[LoadResponse, ...]
    """Load cases from there"""


def occupant_study(
    parameters: MachineParameters,
    occupants: Mapping[str, Occupant | None],
    cases: Sequence[LoadCase] | None = None,
    duration: float = 1.0,
) -> tuple[OccupantEffect, ...]:
    """Return the effects of occupants on a machine with viscoelastic legs.

    Args:
        parameters: the machine.
        occupants: by name; None is the empty platform.
        cases: load cases; default the twelve standard ones.
        duration: length of the step responses [s].

    Raises:
        InputError: no viscoelastic legs, not an occupant.
        StateError: the springs cannot carry the occupant.
        IntegrationError: an integration stopped.
    """
    chosen = standard_load_cases() if cases is None else cases
    effects = []
    for name, occupant in occupants.items():
        seated = parameters if occupant is None else seated_on(parameters, occupant)
        machine = from_parameters(seated)
        settled = locked_equilibrium(machine, machine.home_extension)
        effects.append(
            OccupantEffect(
                name,
                machine.platform_mass,
                machine.platform_center,
                settled,
                displacement(settled.pose, machine.home),
                modes_of(locked_linearisation(machine, settled)),
                run_load_cases(machine, chosen, settled, duration),
            )
        )
    return tuple(effects)
