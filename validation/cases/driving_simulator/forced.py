"""Driving simulator: actuator forces as inputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import MissingDependencyError
from twin.papers.driving_simulator.dae.lagrange import home_inertia
from twin.papers.driving_simulator.inputs import DrivenLengths
from twin.papers.driving_simulator.kinematics import PlateModel
from twin.papers.driving_simulator.studies import Released, driven_motion, exact_forces, released
from twin.simulation.simulate import simulate
from twin.validation.case import validation_case
from twin.validation.cases.driving_simulator.engines import LINE_WIDTH, MACHINE_REASON
from twin.validation.cases.driving_simulator.figures import (
    SIGMOID_INPUTS,
    SINE_INPUTS,
    coordinates_of,
    paper_inputs,
    paper_machine,
    states_along,
    without_feet,
)
from twin.validation.measures.comparison import ENGINE_LABELS, missing
from twin.validation.measures.sampling import fitted_order, largest
from twin.validation.published.printed import SIMULATOR_PAPER
from twin.validation.results import CaseResult, Entry, Measure, Statement

RUN_DURATIONS = {SINE_INPUTS: 1.0, SIGMOID_INPUTS: 1.5}
"""[s] Durations of the runs. A plate under constant forces is unstable: its tilt grows by a factor
e in 0.3 s, so that longer runs show nothing new."""

ENGINE_TIMESTEP = 1e-3
"""[s] Time step of the engines, over which forces are constant."""

INPUT_FRACTIONS = (1.0, 0.5, 0.25)
"""Fractions of the paper's inputs that are compared."""

POSE_TOLERANCES = {
    "analytic": (2e-7, "forces held over 1 ms at their middle value; a tilt error grows 150-fold"),
    "bullet": (2e-7, "as the reference; the extrapolated steps add 1e-9"),
    "mujoco": (5e-6, "springs at the feet give way by 1e-7 m, less as they come to rest; likewise"),
}
"""Largest distance [m], [rad] from the prescribed motion, by engine."""


@validation_case(machines=("driving_simulator",), because=MACHINE_REASON, cost=3.0)
def check_simulator_forced(platform: Platform) -> CaseResult:
    """Driving simulator: actuator forces as inputs.

    Prescribed lengths give the motion for any masses; prescribed forces do not. The forces that the
    exact model needs for the paper's sines and sigmoids drive three pillars. The fourth follows,
    and nothing corrects the motion. The forces drive our reference, MuJoCo and PyBullet, which must
    return to the prescribed lengths. They also drive the paper's Lagrangian with its index reduced.
    It runs once as printed (with the errata that its own solutions demand), and once with the two
    terms that its energies leave out. The error from those terms is derived beside it, and inputs
    of a half and a quarter show the order.
    """
    machine = paper_machine(platform)
    plate = PlateModel.from_parameters(machine.parameters)
    measures: list[Entry] = []
    full_inputs = {}
    for name, inputs in paper_inputs(plate).items():
        run_duration = RUN_DURATIONS[name]
        responses = {
            fraction: released(without_feet(plate), inputs.scaled(fraction), run_duration)
            for fraction in INPUT_FRACTIONS
        }
        measures += [*_engines(machine, plate, inputs, name), *_models(name, responses)]
        full_inputs[name] = responses[1.0]
    return check_simulator_forced.result(
        platform, measures, statements=(_statement(plate, full_inputs),)
    )


def _engines(
    machine: Platform, plate: PlateModel, inputs: DrivenLengths, name: str
) -> Iterator[Entry]:
    """Yield the errors of all engines under forces that are constant in each step."""
    steps = round(RUN_DURATIONS[name] / ENGINE_TIMESTEP)
    midpoints = np.asarray((np.arange(steps) + 0.5) * ENGINE_TIMESTEP, dtype=np.float64)
    forces = exact_forces(plate, inputs, midpoints)
    initial = states_along(plate, inputs, np.zeros(1))
    for engine, (bar, reason) in POSE_TOLERANCES.items():
        label = ENGINE_LABELS.get(engine, "reference")
        try:
            trajectory = simulate(
                machine,
                RUN_DURATIONS[name],
                pose=initial.pose[0],
                twist=initial.twist[0],
                forces=forces,
                engine=engine,
                timestep=ENGINE_TIMESTEP,
                progress=False,
            )
        except MissingDependencyError as error:
            yield missing(label, error)
            continue
        expected = driven_motion(plate, inputs, trajectory.time).value.coordinates
        pose_error = largest(coordinates_of(trajectory.pose) - expected)
        measure_name = f"{name}, {label}: under forces alone, off the motion they belong to"
        yield Measure(measure_name, pose_error, bar, reason, unit="m, rad")


def _models(name: str, found: dict[float, Released]) -> Iterator[Entry]:
    full_response = found[1.0]
    yield Measure(
        f"{name}: drift of the constraints under forces",
        max(full_response.printed.drift, full_response.complete.drift),
        1e-12,
        "linear constraints, whose second derivative is zero at every evaluation: rounding",
        unit="m",
    )
    # Columns are heave, roll, pitch; the two terms missing in the printed model turn the plate.
    printed_errors = [largest(response.printed_error[:, 1:]) for response in found.values()]
    complete_errors = [largest(response.complete_error) for response in found.values()]
    relative_errors = [
        largest(response.printed_error[:, 1:] - response.derived) / largest(response.derived)
        for response in found.values()
    ]
    fractions: FloatArray = np.array(INPUT_FRACTIONS)
    yield Measure(
        f"{name}: printed model, tilt off the exact one, against the two missing terms, relative",
        relative_errors[-1],
        0.05,
        "derived to first order, so the rest falls with the inputs, here "
        f"{INPUT_FRACTIONS[-1]:g} of them: "
        f"{', '.join(f'{response:.2g}' for response in relative_errors)} at "
        f"{', '.join(map(str, INPUT_FRACTIONS))}",
    )
    yield Measure(
        f"{name}: printed model's tilt against the two missing terms, order in the size of the "
        "inputs",
        fitted_order(fractions, np.array(relative_errors)).order,
        0.8,
        "first order at least: what is left over is of second order, per first",
        at_least=True,
        at_bound=True,
    )
    yield Measure(
        f"{name}: printed model, order of its error in the size of the inputs, off 1 by",
        abs(fitted_order(fractions, np.array(printed_errors)).order - 1.0),
        0.1,
        "the missing terms are of the first order; the next one is left",
    )
    yield Measure(
        f"{name}: completed energies, order of their error in the size of the inputs",
        fitted_order(fractions, np.array(complete_errors)).order,
        1.9,
        "small angles cost the second order",
        at_least=True,
        at_bound=True,
    )
    yield Measure(
        f"{name}: printed model's error per that of the completed energies",
        printed_errors[0] / complete_errors[0],
        50.0,
        "one over the largest angle, some 0.02 rad: the ratio of first to second order",
        at_least=True,
    )


def _statement(plate: PlateModel, found: dict[str, Released]) -> Statement:
    angles, line_fractions = [], []
    for name, response in found.items():
        largest_tilt_error = largest(response.printed_error[:, 1:])
        line_fractions.append(largest_tilt_error / np.ptp(response.exact[:, 1:], axis=0).max())
        angles.append(
            f"{np.degrees(largest_tilt_error):.1f} deg after {RUN_DURATIONS[name]:g} s of the "
            f"{name}"
        )
    inertia = home_inertia(plate)
    moments = ", ".join(
        f"{name} {printed:.1f} in place of {exact:.1f} kg m2"
        for name, printed, exact in zip(
            ("roll", "pitch"), inertia.printed[1:], inertia.exact[1:], strict=True
        )
    )
    return SIMULATOR_PAPER["accuracy"].judged(
        "Prescribed lengths give the same motion for any masses. Under the forces that these "
        f"lengths take, the printed model is off by {', '.join(angles)}.",
        max(line_fractions) < LINE_WIDTH,
        "identical movement confirms the constraints alone. The energies leave out that a plate "
        f"on pillars moves sideways and comes down as it tilts: {moments}, and no moment of its "
        "weight",
    )
