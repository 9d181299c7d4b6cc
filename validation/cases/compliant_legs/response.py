"""Sag, modes, load cases and occupant of the compliant platform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.machine.machine import MachineParameters
from twin.machine.payload import Occupant, Wheelchair, rigid_sum, seated_on
from twin.papers.compliant_legs.machine import CompliantMachine, from_parameters
from twin.papers.compliant_legs.responses import (
    LoadResponse,
    locked_motions,
    run_load_cases,
    standard_load_cases,
)
from twin.papers.compliant_legs.rest import (
    locked_equilibrium,
    locked_linearisation,
    modes_of,
)
from twin.rotations import displacement
from twin.validation.case import validation_case
from twin.validation.cases.compliant_legs.systems import seated_sum
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import VISCOELASTIC_PAPER
from twin.validation.results import (
    CaseResult,
    Entry,
    Measure,
    Statement,
)

STIFFNESS_FACTORS = (1.0, 10.0, 100.0, 1000.0)
"""Factors on the springs' stiffness."""

TIME_SAMPLES = 801
"""Number of times in a response."""

STUDIED_OCCUPANTS = {
    "1.75 m, 75 kg": Occupant(1.75, 75.0),
    "the same in a wheelchair": Occupant(1.75, 75.0, wheelchair=Wheelchair()),
}

SEGMENTS_REASON = "typed a second time from de Leva's table, no tensor is moved: rounding alone"


@validation_case(
    machines=("compliant_stewart",),
    because="a person on the platform and loads of 100 N belong to a machine of that size",
    cost=4.0,
)
def check_compliant_response(platform: Platform) -> CaseResult:
    """Sag, modes, load cases and occupant of the compliant platform.

    Actuators are locked. The platform settles under gravity where statics has it. Without gravity
    its stiffness is J' k J. As the springs stiffen, the sag falls as 1 / k. Modes are computed
    about the settled pose. Twelve load cases (a force or a moment, in base or in platform axes) are
    compared with the stiffness matrix. The mass of a seated occupant, with or without a wheelchair,
    is compared with point masses.
    """
    machine = from_parameters(platform.parameters)
    equilibrium = locked_equilibrium(machine, machine.home_extension)
    modes = modes_of(locked_linearisation(machine, equilibrium))
    time = np.linspace(0.0, 2.0 * modes.settling_time, TIME_SAMPLES)
    settling_poses = locked_motions(machine, time, machine.home_extension, machine.home).pose[0]
    displacements = displacement(settling_poses, equilibrium.pose)
    loads = standard_load_cases()
    responses = run_load_cases(machine, loads, equilibrium)
    measures = [
        _settling(displacements),
        *_stiffness(platform, machine),
        _loads(responses),
        *_occupants(platform.parameters),
    ]
    return check_compliant_response.result(platform, measures, statements=_statements())


def _settling(away: FloatArray) -> Measure:
    sag = largest(away[0])
    return Measure(
        "settling from home: left of the sag after two settling times",
        np.abs(away[-1]).max() / sag,
        1e-8,
        "it sinks in heave alone, which dies away to 1e-20; the integrator's tolerance is left",
    )


def _stiffness(platform: Platform, machine: CompliantMachine) -> Iterator[Entry]:
    floating = replace(machine, gravity=0.0)
    equilibrium = locked_equilibrium(floating, floating.home_extension)
    stiffness = locked_linearisation(floating, equilibrium).stiffness
    jacobian = platform.jacobian(equilibrium.pose)
    expected = jacobian.T @ (machine.stiffness[:, None] * jacobian)
    yield Measure(
        "stiffness without gravity against J' k J of the machine's Jacobian",
        np.abs(stiffness - expected).max() / np.abs(expected).max(),
        1e-12,
        "relaxed springs: nothing else is left; rounding",
    )
    sags = np.array([stiffened_sag(machine, factor) for factor in STIFFNESS_FACTORS])
    orders = np.log10(sags[:-1] / sags[1:])
    yield Measure(
        "order at which the sag falls with the stiffness, off 1 by",
        largest(orders[1:] - 1.0),
        0.02,
        f"springs {STIFFNESS_FACTORS[-1]:g} times as stiff: {1e3 * sags[-1]:.2g} mm; the first "
        "step from the machine's own springs is left out, as its sag is large",
    )


def stiffened_sag(machine: CompliantMachine, factor: float) -> float:
    """Return the sag [m] at home with springs of `factor` times the stiffness."""
    stiff_machine = replace(machine, stiffness=factor * machine.stiffness)
    equilibrium = locked_equilibrium(stiff_machine, stiff_machine.home_extension)
    return float(np.linalg.norm(displacement(equilibrium.pose, machine.home)[:3]))


def _loads(responses: tuple[LoadResponse, ...]) -> Measure:
    errors = [
        np.linalg.norm(response.quasi_static - response.linear)
        / np.linalg.norm(response.quasi_static)
        for response in responses
    ]
    return Measure(
        f"{len(responses)} load cases: not predicted by the stiffness matrix, per displacement",
        np.max(errors),
        0.05,
        "of second order: the displacement per length of a leg, 1e-2 at most, times a few; a wrong "
        "entry of the matrix shows at 1",
    )


def _occupants(parameters: MachineParameters) -> Iterator[Entry]:
    empty_mass = parameters.platform.body.mass
    for name, occupant in STUDIED_OCCUPANTS.items():
        points = seated_sum("male", 1.75, 75.0, occupant.wheelchair is not None)
        body = seated_on(parameters, occupant).platform.body
        rigid_body = rigid_sum(occupant.segments())
        expected_height = points.mass * points.center[2] / (empty_mass + points.mass)
        for quantity, value, expected in (
            ("mass of platform and occupant", body.mass, empty_mass + points.mass),
            ("height of their centre of mass", body.center_of_mass_vector[2], expected_height),
            ("inertia of the occupant", rigid_body.inertia, points.inertia),
        ):
            error = largest(value - expected) / largest(expected)
            yield Measure(
                f"{quantity} against point masses from published segments, {name}: relative error",
                error,
                1e-12,
                SEGMENTS_REASON,
            )


def _statements() -> tuple[Statement, ...]:
    return (
        VISCOELASTIC_PAPER["humanoid"].not_given(
            "A seated occupant of sixteen segments from published fractions of stature and mass, "
            "with or without a wheelchair.",
            "dimensions stand in figures, without masses and without results",
        ),
    )
