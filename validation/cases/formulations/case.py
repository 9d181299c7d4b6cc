"""Five formulations of the dynamics, and what the paper says about them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.model.integrate import integrate
from twin.model.machine_base import changed
from twin.papers.formulations import Formulation, FormulationRun
from twin.validation.case import CaseResult, Measure, Statement, Table, validation_case
from twin.validation.cases.formulations.matrices import (
    ERROR_ROUNDINGS,
    FALL_TIME,
    OUTPUT_STEP,
    PRINTED_RESULTS,
    PRINTED_STOP,
    Runs,
    Stops,
    error_measures,
    error_plot,
    falls,
    rigidity_ratios,
    run_times,
    stop_measure,
    time_table,
    tips_of,
)
from twin.validation.measures.sampling import largest, random_states
from twin.validation.published.printed import EXTENDED_SPACE_PAPER

PRINTED_ERROR_RATIO = 1e8
"""e1 in configuration space over that in actuator space, as the paper's section 5.3 has it."""


def stop_statement(stops: Stops) -> Statement:
    """Return the statement about the end of the actuator spaces."""
    times = {PRINTED_RESULTS[name].title: error.data["time"] for name, error in stops.items()}
    times_text = ", ".join(f"{title} at {time:.5f} s" for title, time in times.items())
    last_times = [error.data["run"].time[-1] for error in stops.values()]
    as_printed = len(last_times) == 2 and largest(np.subtract(last_times, PRINTED_STOP)) < 1e-9
    return EXTENDED_SPACE_PAPER["end_of_actuator_spaces"].judged(
        f"They stop at the singular pose: {times_text}; the last of the paper's output times "
        f"before is {PRINTED_STOP} s.",
        as_printed,
    )


def branch_statement(platform: Platform, fall: FormulationRun) -> Statement:
    """Return the statement about configuration space behind the singular pose."""
    ratios = rigidity_ratios(tips_of(platform, fall.pose))
    passes_base = fall.pose[-1, 2] < 0.0
    branch_text = "goes on through the base" if passes_base else "turns back"
    return EXTENDED_SPACE_PAPER["configuration_space_branch"].judged(
        f"It {branch_text}.",
        not passes_base,
        "what loses rank at the singular pose is the constraint Jacobian of the passive angles, "
        "which this formulation does not invert. It needs the rank of the constraint Jacobian of "
        "all joint coordinates: that of the legs' tips, whose rank depends on the platform's shape "
        "alone, times the Jacobian of the tips by the joint coordinates, which is regular as long "
        "as no leg lies along its first axis. Of the tips' twelve constraints (nine distances, "
        "three of coplanarity, as in the paper) the smallest singular value is "
        f"{ratios.min():.3g} of the largest, the same all along to "
        f"{largest(ratios / ratios[0] - 1.0):.0e}",
    )


def time_statements(seconds: dict[str, float]) -> tuple[Statement, ...]:
    """Return the statements about tables 5 and 6, given seconds per simulated second."""
    extended_time, fastest_first = seconds["extended_to_task"], _order(seconds)
    times_text = "; ".join(
        f"{PRINTED_RESULTS[name].title} {seconds[name]:.2g}" for name in fastest_first
    )
    ratios = ", ".join(
        f"{PRINTED_RESULTS[name].title} {seconds[name] / extended_time:.1f}"
        for name in fastest_first
    )
    reason = (
        "the paper times how long symbolic expressions take to evaluate, largest for the Coriolis "
        "matrix of configuration space; here each term is a short recursion, and what costs is to "
        "track a root, in configuration space to solve with 18 and 12 unknowns"
    )
    printed = (
        (
            EXTENDED_SPACE_PAPER["times_in_mathematica"],
            {name: row.mathematica for name, row in PRINTED_RESULTS.items()},
        ),
        (
            EXTENDED_SPACE_PAPER["times_compiled"],
            {name: row.compiled for name, row in PRINTED_RESULTS.items()},
        ),
    )
    return (
        EXTENDED_SPACE_PAPER["fastest_formulation"].judged(
            f"Run time per real time: {times_text}.", fastest_first[0] == "extended_to_task"
        ),
        *(
            order.judged(f"Per extended-to-task: {ratios}.", fastest_first == _order(table), reason)
            for order, table in printed
        ),
        EXTENDED_SPACE_PAPER["larger_matrices_faster"].judged(
            f"Extended-to-task {extended_time:.2g} against configuration space "
            f"{seconds['configuration']:.2g}; extended-to-actuator, which tracks its root in small "
            f"steps towards the singular pose, {seconds['extended_to_actuator']:.2g}.",
            extended_time < 0.5 * seconds["configuration"],
        ),
    )


def _order(seconds: dict[str, float]) -> list[str]:
    """Return the formulations from the fastest to the slowest."""
    return sorted(seconds, key=lambda name: seconds[name])


ERRORS_TEMPLATE = "e1 {0:.0e} m, e2 {1:.0e} m/s, e3 {2:.0e} m/s2, energy {3:.0e} percent"


def error_statements(runs: Runs, loose: Runs) -> Iterator[Statement]:
    """Yield the statements about table 7 and what the paper concludes from it.

    `loose` are the runs with a tolerance of 1e-7 per step.
    """
    error_ratio = float(runs["configuration"].e1.max() / runs["actuator"].e1.max())
    loose_ratio = float(loose["configuration"].e1.max() / loose["actuator"].e1.max())
    for name, fall in runs.items():
        errors, printed = fall.largest_errors, PRINTED_RESULTS[name]
        resolution_text = ", ".join(f"{value:.0e}" for value in fall.resolution.max(axis=0))
        same_orders = all(
            _same_order(error, printed_error)
            for error, printed_error in zip(errors, (*printed.errors, printed.energy), strict=True)
        )
        sentence, reason = ERROR_SENTENCES[name]
        yield sentence.judged(
            ERRORS_TEMPLATE.format(*errors)
            + f"; one rounding of the terms that cancel is {resolution_text}",
            same_orders,
            reason,
        )
    yield EXTENDED_SPACE_PAPER["configuration_error_ratio"].judged(
        f"{error_ratio:.0f} times at a tolerance of 1e-13 per step, {loose_ratio:.0e} times at "
        "1e-7.",
        _same_order(error_ratio, PRINTED_ERROR_RATIO),
        "configuration space integrates its constraints: the conclusion is about the tolerance "
        "of the integration, not about formulations",
    )
    task, actuator = runs["extended_to_task"], runs["actuator"]
    yield EXTENDED_SPACE_PAPER["extended_is_more_precise"].judged(
        f"e1 {task.e1.max():.1e} m against {actuator.e1.max():.1e} m; one rounding is "
        f"{task.resolution[:, 0].max():.0e} m",
        bool(5.0 * task.e1.max() < actuator.e1.max()),
        "both are at one rounding of the terms that cancel: neither is more precise",
    )


AT_ROUNDING = (
    "e1, e2 and e3 are at rounding in both; the energy shows the integrator's tolerance, here "
    "tighter"
)

ERROR_SENTENCES = {
    "configuration": (
        EXTENDED_SPACE_PAPER["errors_configuration"],
        "the fall is integrated to 1e-13 per step, which keeps the constraints by six orders "
        "better than printed; with 1e-7 per step e1 and e2 are of the printed order, see the table",
    ),
    "actuator": (EXTENDED_SPACE_PAPER["errors_actuator"], AT_ROUNDING),
    "task": (EXTENDED_SPACE_PAPER["errors_task"], AT_ROUNDING),
    "extended_to_task": (
        EXTENDED_SPACE_PAPER["errors_extended_to_task"],
        "1e-21 m/s and 1e-20 m/s2 are below what double precision resolves of terms of this size: "
        "such values occur where both sides are the same expression",
    ),
    "extended_to_actuator": (EXTENDED_SPACE_PAPER["errors_extended_to_actuator"], AT_ROUNDING),
}
"""Sentences about the errors, and why they differ from the printed order, by formulation."""


def error_table(by_tolerance: dict[float, Runs]) -> Table:
    """Return table 7 with the errors of runs with several tolerances per step."""
    rows = []
    for name, row in PRINTED_RESULTS.items():
        rows.append((row.title, "printed", *(f"{v:.0e}" for v in (*row.errors, row.energy))))
        for tolerance, runs in by_tolerance.items():
            error_texts = (f"{value:.0e}" for value in runs[name].largest_errors)
            rows.append((row.title, f"{tolerance:.0e}", *error_texts))
    return Table(
        "Errors of the free fall (table 7)",
        ("formulation", "tolerance", "e1 [m]", "e2 [m/s]", "e3 [m/s2]", "energy [%]"),
        tuple(rows),
    )


def _same_order(ours: float, printed: float) -> bool:
    """Return whether a number is of a printed order of magnitude: within a factor of ten."""
    return 0.1 * printed < ours < 10.0 * printed


WRONG_DENSITY = 1.1
"""Density of the legs in a wrong model, relative to the true density."""

WRONG_ANGLE = 0.1
"""[rad] Rotation of the platform's joints about its axis in a wrong model."""

WRONG_MODEL_TIME = 0.4
"""[s] Free fall of the wrong models, before the singular pose."""

ENERGY_TOLERANCE = 1e-10
"""[percent] Bound of the energy error, as for the true model."""

PAYLOAD_MASSES = (2.0, 20.0, 200.0)
"""[kg] Masses of the platform; table A.9 has about 200 kg."""

MOTION_FREQUENCIES = (0.5, 1.0, 2.0)
"""[Hz] Frequencies of a sinusoidal motion about home."""

MOTION_AMPLITUDE = np.array([0.05, 0.03, 0.05, 0.0, 0.0, 0.0])
"""[m] Amplitude of that motion; it does not rotate."""


def modelling_statement(platform: Platform) -> Statement:
    """Return the statement about modelling errors that e1, e2, e3 and the energy do not show."""
    content = platform.parameters.model_dump()
    for part in ("housing", "rod"):
        content["leg"][part]["density"] *= WRONG_DENSITY
    rotated_content = platform.parameters.model_dump()
    rotated_content["platform"]["joints"]["center_angle"] += WRONG_ANGLE
    machines = (platform, changed(platform, content), changed(platform, rotated_content))
    falls = [_fall(machine) for machine in machines]
    differences = [largest(fall.pose[-1] - falls[0].pose[-1]) for fall in falls[1:]]
    return EXTENDED_SPACE_PAPER["unseen_modelling_errors"].judged(
        f"One model has legs {100.0 * (WRONG_DENSITY - 1.0):.0f} percent denser, one a platform "
        f"frame rotated by {WRONG_ANGLE:g} rad. After {WRONG_MODEL_TIME:g} s of free fall their "
        f"poses differ by {differences[0]:.1g} and {differences[1]:.1g} (m, quaternion) from the "
        f"true model's, but e1 is {falls[1].e1.max():.0e} and {falls[2].e1.max():.0e} m, the true "
        f"model's {falls[0].e1.max():.0e} m. In all, e2, e3 and the energy stay within the bounds.",
        all(map(_consistent, falls)) and min(differences) > 1e-6,
    )


def _fall(machine: Platform) -> FormulationRun:
    return Formulation(machine, "extended_to_task").integrate(WRONG_MODEL_TIME, OUTPUT_STEP)


def _consistent(fall: FormulationRun) -> bool:
    """Return whether a fall keeps the bounds that the case sets for the true model."""
    bounds = np.array(ERROR_ROUNDINGS["extended_to_task"]) * fall.resolution.max(axis=0)
    bounds = np.append(bounds, ENERGY_TOLERANCE)
    return bool((np.array(fall.largest_errors) <= bounds).all())


def leg_inertia_statement(platform: Platform) -> Statement:
    """Return the statement about the influence of the legs' inertia."""
    fractions = np.array(
        [[_leg_fraction(platform, mass, f) for f in MOTION_FREQUENCIES] for mass in PAYLOAD_MASSES]
    )
    by_mass, by_speed = fractions[:, -1], fractions[0]
    percent = [
        ", ".join(f"{100.0 * number:.1f}" for number in values) for values in (by_mass, by_speed)
    ]
    masses, speeds = (
        ", ".join(f"{number:g}" for number in values)
        for values in (PAYLOAD_MASSES, MOTION_FREQUENCIES)
    )
    return EXTENDED_SPACE_PAPER["leg_inertia"].judged(
        f"The share of the legs' inertial forces in the actuator forces is {percent[0]} percent "
        f"with platforms of {masses} kg at {MOTION_FREQUENCIES[-1]:g} Hz, and {percent[1]} percent "
        f"at {speeds} Hz with {PAYLOAD_MASSES[0]:g} kg.",
        bool((np.diff(by_mass) > 0.0).all() and (np.diff(by_speed) > 0.0).all()),
        "the share grows with speed, but falls with the payload's mass, which increases the "
        "actuator forces and not those of the legs. The legs' mass has to be comparably high",
    )


def _leg_fraction(platform: Platform, mass: float, frequency: float) -> float:
    """Return the rms of the legs' inertial forces per rms of the actuator forces, over one period.

    The legs' forces are the actuator forces less those at rest, and less those that
    accelerate the platform by Newton's law.
    """
    machine = platform.with_(parameters={"platform.body.mass": mass})
    omega = 2.0 * np.pi * frequency
    phase = np.arange(24)[:, None] * (2.0 * np.pi / 24.0)
    pose = np.tile(machine.home, (24, 1))
    pose[:, :6] += np.sin(phase) * MOTION_AMPLITUDE
    twist = omega * np.cos(phase) * MOTION_AMPLITUDE
    acceleration = -(omega**2) * np.sin(phase) * MOTION_AMPLITUDE
    no_motion = np.zeros_like(twist)
    forces = machine.inverse_dynamics(pose, twist, acceleration)
    wrench: FloatArray = mass * acceleration
    platform_forces = np.linalg.solve(np.swapaxes(machine.jacobian(pose), 1, 2), wrench[..., None])[
        ..., 0
    ]
    leg_forces = forces - machine.inverse_dynamics(pose, no_motion, no_motion) - platform_forces
    return float(np.sqrt(np.mean(leg_forces**2) / np.mean(forces**2)))


AGREEMENT_TIME = 0.3
"""[s] Duration in which engines are compared."""

STATE_COUNT = 50
"""Number of random states at which the accelerations of the formulations are compared."""

LOOSE_TOLERANCE = 1e-7
"""Tolerance per step at which integrated constraints have the printed errors."""

STEP_TOLERANCES = (LOOSE_TOLERANCE, 1e-10)
"""Further tolerances per step that are compared with that of the other runs."""

ENERGY_GAIN = 100.0
"""Ratio by which the energy error has to be smaller than the printed one."""


@validation_case(
    machines=("srspm",),
    because="the paper's tables are about its benchmark machine, srspm",
    run_time=1.5,
)
def check_formulations(platform: Platform) -> CaseResult:
    """Five formulations of the dynamics.

    The platform falls freely from home. The fall is computed by the configuration-space,
    actuator-space, task-space, extended-to-task-space and extended-to-actuator-space formulations.
    Accelerations and motion are compared with the reference, also at the singular pose in the plane
    of the base. Errors of the loop closure (e1 position, e2 velocity, e3 acceleration), energy and
    run time stand beside the paper's tables. All use Dormand-Prince 5(4) at 1e-13 per step.
    """
    runs, stops = falls(platform)
    by_tolerance = {value: falls(platform, tolerance=value)[0] for value in STEP_TOLERANCES}
    by_tolerance[1e-13] = runs
    times = run_times(platform)
    seconds = {name: float(np.median(values)) for name, values in times.items()}
    measures = [*_agreement(platform, runs), *_singular(platform, runs, stops)]
    for name, fall in runs.items():
        printed = PRINTED_RESULTS[name].energy
        reason = f"a hundredth of the printed order {printed:.0e}"
        measures += error_measures(name, fall, printed / ENERGY_GAIN, reason)
    statements = (
        stop_statement(stops),
        branch_statement(platform, runs["configuration"]),
        *time_statements(seconds),
        *error_statements(runs, by_tolerance[LOOSE_TOLERANCE]),
        modelling_statement(platform),
        leg_inertia_statement(platform),
    )
    caption = "Figures 11 to 14 and B.19 to B.22 of the paper for all formulations."
    plot = error_plot("Errors of the five formulations", runs, caption)
    tables = (error_table(by_tolerance), time_table(times))
    return check_formulations.result(platform, measures, (plot,), statements, tables)


def _agreement(platform: Platform, runs: Runs) -> Iterator[Measure]:
    states = random_states(platform, STATE_COUNT, seed=11)
    forces = platform.inverse_dynamics(states.pose, states.twist, states.acceleration)
    joints = platform.leg_coordinates(*states[:3]).accelerations
    reference = integrate(platform, AGREEMENT_TIME)
    index = round(AGREEMENT_TIME / OUTPUT_STEP)
    for name, fall in runs.items():
        formulation, largest_error = Formulation(platform, name), 0.0
        for k, pose in enumerate(states.pose):
            expected = joints[k, :, 2] if "actuator" in name else states.acceleration[k]
            if name == "configuration":
                expected = joints[k].reshape(18)
            state = formulation.state_from(pose, states.twist[k])
            acceleration = formulation.derivative(state, forces[k], guess=pose)[-expected.size :]
            largest_error = max(largest_error, largest(acceleration - expected) / largest(expected))
        title = PRINTED_RESULTS[name].title
        yield Measure(
            f"{title}: accelerations at {STATE_COUNT} random states",
            largest_error,
            1e-9,
            "two derivations of one equation; forces from inverse dynamics",
        )
        yield Measure(
            f"{title}: pose after {AGREEMENT_TIME:g} s against the reference",
            largest(fall.pose[index] - reference.pose[-1]),
            1e-11,
            "the reference's tolerance of 1e-12 per step, summed up",
            "m, 1",
        )


def _singular(platform: Platform, runs: Runs, stops: Stops) -> Iterator[Measure]:
    yield stop_measure(stops)
    reference_end = integrate(platform, FALL_TIME).pose[-1]
    for name, fall in runs.items():
        if name in stops:
            continue
        yield Measure(
            f"{PRINTED_RESULTS[name].title}: branch behind the singular pose, height at the end",
            fall.pose[-1, 2],
            0.0,
            "negative: it goes on through the base, as momentum has it; positive: it turns back",
            "m",
        )
        yield Measure(
            f"{PRINTED_RESULTS[name].title}: pose after {FALL_TIME:g} s against the reference",
            largest(fall.pose[-1] - reference_end),
            1e-9,
            "0.3 s before it agrees to 1e-12; passing the singular pose costs no digits",
            "m, 1",
        )
