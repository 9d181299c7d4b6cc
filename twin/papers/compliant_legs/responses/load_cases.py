"""Load cases: a constant force or moment applied as a step, with and without an occupant.

The platform is in an equilibrium with locked actuators. A load applied slowly takes it to the
quasi-static displacement; applied as a step, it swings beyond.

An occupant is rigid added mass here; an engine can carry the same segments with springs between.

Reference: compliant-leg paper, appendix A: a humanoid in a wheelchair on the platform.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.machine import MachineParameters
from twin.machine.payload.occupant import Occupant
from twin.machine.payload.seating import seated_on
from twin.papers.compliant_legs.equations.solve import solve_locked
from twin.papers.compliant_legs.loads import FRAMES, Load, load, wrench_in_base
from twin.papers.compliant_legs.machine import CompliantMachine, from_parameters
from twin.papers.compliant_legs.responses.motion import locked_motions
from twin.papers.compliant_legs.rest.modes import Modes, locked_linearisation, modes_of
from twin.papers.compliant_legs.rest.statics import Equilibrium, locked_equilibrium
from twin.papers.compliant_legs.state import solved
from twin.rotations import displacement

KINDS = ("force", "moment")
AXES = ("x", "y", "z")


class LoadCase(NamedTuple):
    """One load case."""

    kind: str
    """`force` or `moment`"""
    frame: str
    """`base` or `platform`"""
    axis: str
    """`x`, `y` or `z` of the frame"""
    load: Load
    """The load itself"""


class LoadResponse(NamedTuple):
    """Response to a load case; displacements (translation [m], rotation vector [rad])."""

    case: LoadCase
    """The case"""
    quasi_static: FloatArray
    """Displacement of the new equilibrium `(6,)`"""
    linear: FloatArray
    """The same by the stiffness matrix `(6,)`"""
    peak: FloatArray
    """Largest displacement along each axis during the step response `(6,)`, absolute values"""
    overshoot: float
    """Largest displacement along the load over the quasi-static one, minus one"""
    deflection: float
    """Largest change of a spring's deflection during the step response [m]"""
    reaction: float
    """Largest joint reaction during the step response [N]"""


def standard_load_cases(force: float = 100.0, moment: float = 20.0) -> tuple[LoadCase, ...]:
    """Return the twelve cases: force [N] or moment [N m], in both frames, along three axes."""
    size = {"force": force, "moment": moment}
    return tuple(
        LoadCase(kind, frame, axis, load(**{kind: size[kind] * unit}, frame=frame))
        for kind in KINDS
        for frame in FRAMES
        for axis, unit in zip(AXES, np.eye(3), strict=True)
    )


def run_load_cases(
    machine: CompliantMachine,
    cases: Sequence[LoadCase],
    start: Equilibrium | None = None,
    duration: float = 1.0,
    step: float = 1e-3,
) -> tuple[LoadResponse, ...]:
    """Return the responses to load cases, each starting from the same equilibrium.

    Args:
        machine: the machine.
        cases: load cases.
        start: equilibrium without load and with locked actuators; default that of the
            extensions of home.
        duration: length of the step responses [s].
        step: time between the samples that peaks are taken from [s].

    Raises:
        StateError: no equilibrium under a load.
        IntegrationError: the integrator stopped.
    """
    if not cases:
        return ()
    if start is None:
        start = locked_equilibrium(machine, machine.home_extension)
    stiffness = locked_linearisation(machine, start).stiffness
    samples = 1 + round(duration / step)
    loads = [case.load for case in cases]
    motion = locked_motions(
        machine, np.linspace(0.0, duration, max(samples, 2)), start.extension, start.pose, loads
    )
    responses = []
    for k, case in enumerate(cases):
        wrench = wrench_in_base(case.load, start.pose)
        settled = locked_equilibrium(machine, start.extension, case.load, start.pose)
        quasi_static = displacement(settled.pose, start.pose)
        path = displacement(motion.pose[k], start.pose)
        n = machine.n_legs
        reactions = solve_locked(
            machine,
            motion.pose[k],
            motion.twist[k],
            motion.deflection[k],
            wrench_in_base(case.load, motion.pose[k]),
        ).reactions
        responses.append(
            LoadResponse(
                case,
                quasi_static,
                solved(stiffness, wrench),
                np.abs(path).max(axis=0),
                float((path @ wrench).max() / (quasi_static @ wrench) - 1.0),
                float(np.abs(motion.deflection[k][:, :n] - start.deflection).max()),
                float(np.linalg.norm(reactions, axis=-1).max()),
            )
        )
    return tuple(responses)


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
