"""Sag, modes, load cases and occupant of the compliant platform.

Actuators are locked. The platform settles under gravity where statics has it. Without gravity its
stiffness is J' k J. As the springs stiffen, the sag falls as 1 / k. Modes are computed about the
settled pose. Twelve load cases (a force or a moment, in base or in platform axes) are compared with
the stiffness matrix. A seated occupant, with or without a wheelchair, changes sag and modes: the
case shows by how much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.machine.payload import Occupant, Wheelchair, rigid_sum
from twin.papers.compliant_legs.machine import CompliantMachine, from_parameters
from twin.papers.compliant_legs.responses import (
    LoadResponse,
    OccupantEffect,
    locked_motions,
    occupant_study,
    run_load_cases,
    standard_load_cases,
)
from twin.papers.compliant_legs.rest import (
    Equilibrium,
    Modes,
    locked_equilibrium,
    locked_linearisation,
    modes_of,
)
from twin.rotations import displacement
from twin.validation.case import Case
from twin.validation.cases.compliant_legs.systems import seated_sum
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import VISCOELASTIC_PAPER
from twin.validation.results import (
    CaseResult,
    Curve,
    Entry,
    Measure,
    Panel,
    Plot,
    Quantity,
    Statement,
)

DISTANCE_FLOOR = 1e-12
"""[m], [rad] Smallest distance that is drawn, so that a logarithmic axis can show zeros."""

CASE = Case(
    "compliant_response",
    __doc__,
    machines=("compliant_stewart",),
    because="a person on the platform and loads of 100 N belong to a machine of that size",
    cost=4.0,
)

STIFFNESS_FACTORS = (1.0, 10.0, 100.0, 1000.0)
"""Factors on the springs' stiffness."""

TIME_SAMPLES = 801
"""Number of times in a response."""

STUDIED_OCCUPANTS = {
    "empty": None,
    "1.75 m, 75 kg": Occupant(1.75, 75.0),
    "the same in a wheelchair": Occupant(1.75, 75.0, wheelchair=Wheelchair()),
}

SEGMENTS_REASON = "typed a second time from de Leva's table, no tensor is moved: rounding alone"


def settling_plot(time: FloatArray, away: FloatArray) -> Plot:
    """Return the plot of displacements `(k, 6)` from the pose where the platform comes to rest."""
    distance_curves = [
        Curve("of all axes", time, np.maximum(np.abs(away).max(axis=1), DISTANCE_FLOOR))
    ]
    height_curves = (Curve("z", time, 1e3 * away[:, 2]),)
    panels = (
        Panel("height above the settled pose [mm]", *height_curves),
        Panel("distance from the settled pose [m, rad]", *distance_curves, log_y=True),
    )
    caption = f"Distances below {DISTANCE_FLOOR:g} are drawn there."
    return Plot("Settling under gravity, actuators locked", "time [s]", *panels, caption=caption)


def loads_plot(responses: tuple[LoadResponse, ...]) -> Plot:
    """Return the plot of settled and largest displacements of all load cases."""
    load_number = np.arange(1.0, len(responses) + 1.0)
    panels = []
    for label, columns, scale in (
        ("translation [mm]", slice(0, 3), 1e3),
        ("rotation [mrad]", slice(3, 6), 1e3),
    ):
        curves = [
            Curve(
                name,
                load_number,
                scale
                * np.array(
                    [np.linalg.norm(getattr(response, field)[columns]) for response in responses]
                ),
                "markers",
            )
            for name, field in (
                ("settled", "quasi_static"),
                ("by the stiffness matrix", "linear"),
                ("peak of the step response", "peak"),
            )
        ]
        panels.append(Panel(label, *curves))
    caption = (
        "Cases 1 to 6: 100 N along x, y, z of the base, then of the platform; 7 to 12: 20 N m "
        "likewise. The step responses last 1 s."
    )
    return Plot("Load cases", "load case", *panels, caption=caption)


def modes_plot(seated: tuple[OccupantEffect, ...]) -> Plot:
    """Return the plot of natural frequencies with different occupants."""
    mode_number = np.arange(1.0, 7.0)
    curves = [
        Curve(effect.name, mode_number, effect.modes.frequencies, "line+markers")
        for effect in seated
    ]
    panel = Panel("natural frequency [Hz]", *curves)
    return Plot("Modes with and without an occupant", "mode", panel)


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    machine = from_parameters(platform.parameters)
    equilibrium = locked_equilibrium(machine, machine.home_extension)
    modes = modes_of(locked_linearisation(machine, equilibrium))
    time = np.linspace(0.0, 2.0 * modes.settling_time, TIME_SAMPLES)
    settling_poses = locked_motions(machine, time, machine.home_extension, machine.home).pose[0]
    displacements = displacement(settling_poses, equilibrium.pose)
    loads = standard_load_cases()
    responses = run_load_cases(machine, loads, equilibrium, duration=1.0)
    occupant_effects = occupant_study(platform.parameters, STUDIED_OCCUPANTS, ())
    measures = [
        *_settling(displacements, equilibrium, modes),
        *_stiffness(platform, machine),
        *_loads(responses),
        *_occupants(occupant_effects),
    ]
    plots = (
        settling_plot(time, displacements),
        loads_plot(responses),
        modes_plot(occupant_effects),
    )
    return CASE.result(platform, measures, plots, _statements())


def _settling(away: FloatArray, settled: Equilibrium, modes: Modes) -> Iterator[Entry]:
    sag = largest(away[0])
    yield Measure(
        "settling from home: left of the sag after two settling times",
        np.abs(away[-1]).max() / sag,
        1e-8,
        "it sinks in heave alone, which dies away to 1e-20; the integrator's tolerance is left",
    )
    yield Quantity(
        "sag with actuators locked at home",
        sag,
        note=f"actuators carry {np.abs(settled.forces).max():.4g} N at most",
        unit="m",
    )
    frequencies = ", ".join(f"{value:.3f}" for value in modes.frequencies)
    yield Quantity(
        "lowest natural frequency, actuators locked",
        modes.frequencies[0],
        note=f"all: {frequencies}; damping ratio {modes.damping_ratios[0]:.3f}, below 2 percent "
        f"after {modes.settling_time:.3g} s",
        unit="Hz",
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


def _loads(responses: tuple[LoadResponse, ...]) -> Iterator[Entry]:
    errors = [
        np.linalg.norm(response.quasi_static - response.linear)
        / np.linalg.norm(response.quasi_static)
        for response in responses
    ]
    yield Measure(
        f"{len(responses)} load cases: not predicted by the stiffness matrix, per displacement",
        np.max(errors),
        0.05,
        "of second order: the displacement per length of a leg, 1e-2 at most, times a few; a wrong "
        "entry of the matrix shows at 1",
    )
    for quantity, values, unit in (
        ("largest overshoot", [response.overshoot for response in responses], "1"),
        ("largest deflection of a spring", [response.deflection for response in responses], "m"),
        ("largest joint reaction", [response.reaction for response in responses], "N"),
    ):
        worst_case = responses[int(np.argmax(values))].case
        yield Quantity(
            f"load cases: {quantity}",
            np.max(values),
            note=f"{worst_case.kind} along {worst_case.axis} of the {worst_case.frame}",
            unit=unit,
        )


def _occupants(seated: tuple[OccupantEffect, ...]) -> Iterator[Entry]:
    empty_mass = seated[0].mass
    for effect, in_chair in zip(seated[1:], (False, True), strict=True):
        occupant, points = STUDIED_OCCUPANTS[effect.name], seated_sum("male", 1.75, 75.0, in_chair)
        assert occupant is not None
        rigid_body = rigid_sum(occupant.segments())
        expected_height = points.mass * points.center[2] / (empty_mass + points.mass)
        for quantity, value, expected in (
            ("mass of platform and occupant", effect.mass, empty_mass + points.mass),
            ("height of their centre of mass", effect.center[2], expected_height),
            ("inertia of the occupant", rigid_body.inertia, points.inertia),
        ):
            name = f"{quantity} against point masses from published segments, {effect.name}"
            error = largest(value - expected) / largest(expected)
            yield Measure(f"{name}: relative error", error, 1e-12, SEGMENTS_REASON)
        yield Quantity(
            f"lowest natural frequency, {effect.name}",
            effect.modes.frequencies[0],
            note=f"empty {seated[0].modes.frequencies[0]:.3f} Hz; "
            f"sag {1e3 * -effect.sag[2]:.2f} mm, damping ratio "
            f"{effect.modes.damping_ratios[0]:.3f}",
            unit="Hz",
        )


def _statements() -> tuple[Statement, ...]:
    return (
        VISCOELASTIC_PAPER["humanoid"].not_given(
            "A seated occupant of sixteen segments from published fractions of stature and mass, "
            "with or without a wheelchair.",
            "dimensions stand in figures, without masses and without results",
        ),
    )
