"""Matrices of the formulations.

Statements of the extended-configuration-space paper about the formulations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.linalg import null_space

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import IntegrationError
from twin.model.machine_base import changed
from twin.papers.formulations import (
    Formulation,
    FormulationRun,
    formulation_names,
    simulate_formulation,
)
from twin.papers.formulations.formulation import Operations, operations
from twin.validation.case import validation_case
from twin.validation.cases.formulations.runs import (
    ERROR_ROUNDINGS,
    OUTPUT_STEP,
    PRINTED_RESULTS,
    PRINTED_STOP,
    Structure,
    Structures,
    rigidity_ranks,
    structures,
    tips_of,
)
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import EXTENDED_SPACE_PAPER
from twin.validation.results import CaseResult, Measure, Statement, Table

EXPRESSION_SIZES = {
    "M, extended": ("4.1", "35.515"),
    "C, extended": ("15.5", "100.984"),
    "M, configuration": ("900", "13369"),
    "C, configuration": ("103400", "748207"),
    "constraint Jacobian, angles": ("27", "246"),
    "constraint Jacobian, lengths": ("15", "143"),
}
"""[KB] Sizes of the expressions in C++ and Mathematica, tables 1, 2 and 4."""

LINEAR_SYSTEMS = {
    "configuration": "18 and 12, Cholesky",
    "actuator": "12 per step of the root, LU; 6, Cholesky",
    "task": "6, Cholesky",
    "extended_to_task": "6, Cholesky",
    "extended_to_actuator": "6 per step of the root, LU; 6, Cholesky",
}
"""Size and solution of the systems of linear equations in one evaluation."""

DIFFERENCE_TOLERANCE = 1e-7
"""Relative error that central differences of a mass matrix leave."""


@validation_case(
    machines=("srspm",),
    because="the paper's tables are about its benchmark machine, srspm",
)
def check_formulation_matrices(platform: Platform) -> CaseResult:
    """Matrices of the formulations.

    The case measures sizes, structure and operations behind tables 1 to 4 and figure 6 of the
    extended-configuration-space paper. The paper's tables give the sizes of symbolic expressions.
    Here the matrices themselves are measured: their zero, constant and varying entries at states
    with closed loops. The operations of one evaluation of each formulation are counted.
    """
    matrices = structures(platform)
    counts = {name: operations(Formulation(platform, name)) for name in formulation_names()}
    return check_formulation_matrices.result(
        platform,
        _measures(matrices, counts),
        statements=_statements(matrices, counts),
        tables=(_matrix_table(matrices), _count_table(counts)),
    )


def _measures(found: Structures, counts: Mapping[str, Operations]) -> Iterator[Measure]:
    rates, kinetic = found.rates, found.kinetic
    # The first six of the extended rates are those of the platform, the others those of the joints.
    for name, mass, coordinate_rates in (
        ("extended", found.extended_mass, rates),
        ("configuration", found.configuration_mass, rates[:, 6:]),
    ):
        energy = 0.5 * np.einsum("ki,kij,kj->k", coordinate_rates, mass.values, coordinate_rates)
        yield Measure(
            f"{name}: kinetic energy of M against the reference",
            largest(energy - kinetic) / largest(kinetic),
            1e-12,
            "two derivations; rounding",
        )
    # The first six extended coordinates are the platform's, the other 18 those of the legs.
    leg_coriolis = found.extended_coriolis.values[:, 6:, 6:]
    force_error = np.einsum("kij,kj->ki", leg_coriolis, rates[:, 6:]) - found.leg_forces
    yield Measure(
        "extended: C by eq. (15) times the rates, against the formulations' forces of the legs",
        largest(force_error) / largest(found.leg_forces),
        DIFFERENCE_TOLERANCE,
        "central differences of M",
    )
    coriolis = found.configuration_coriolis.values
    force_error = np.einsum("kij,kj->ki", coriolis, rates[:, 6:]) - found.configuration_forces
    allowed_motions = [null_space(closure_matrix) for closure_matrix in found.closure.values]
    yield Measure(
        "configuration: C times the rates against the formulation's forces, along motions that the "
        "constraints allow",
        max(
            largest(closure_matrix.T @ error)
            for closure_matrix, error in zip(allowed_motions, force_error, strict=True)
        )
        / largest(found.configuration_forces),
        DIFFERENCE_TOLERANCE,
        "central differences of M; across them the two differ by forces of the constraints",
    )
    closure_rates = np.einsum("kij,kj->ki", found.closure.values, rates[:, 6:])
    yield Measure(
        "rates that open the constraints of the configuration space",
        largest(closure_rates),
        1e-12,
        "the states close all loops; rounding",
        unit="m/s",
    )
    # Position, Rodrigues parameters (a full 3 x 3 block), and three principal entries of each leg.
    expected_entries = 3 + 9 + 6 * 3
    yield Measure(
        "extended: entries of M beside mass, attitude and the legs' principal moments",
        abs(found.extended_mass.filled - expected_entries),
        0.0,
        f"{expected_entries}: 3 for the position, 9 for the Rodrigues parameters, 3 per leg on "
        "its axis",
    )
    yield Measure(
        "extended-to-task: operations per evaluation, per those of the task space",
        counts["extended_to_task"].total / counts["task"].total,
        0.6,
        "the platform's inertia takes no way through the joints: 0.45 is found",
    )


def _rows(found: Structures) -> dict[str, Structure]:
    closure = found.closure.values
    angles = [k for k in range(18) if k % 3 != 2]
    return {
        "M, extended": found.extended_mass,
        "C, extended": found.extended_coriolis,
        "M, configuration": found.configuration_mass,
        "C, configuration": found.configuration_coriolis,
        "constraint Jacobian, angles": Structure(closure[:, :, angles]),
        "constraint Jacobian, lengths": Structure(closure[:, :, 2::3]),
    }


def _matrix_table(found: Structures) -> Table:
    rows = tuple(
        (
            name,
            " x ".join(str(size) for size in structure.kinds.shape),
            str(structure.filled),
            str(structure.constant),
            f"{100.0 * structure.share:.1f}",
            *EXPRESSION_SIZES[name],
        )
        for name, structure in _rows(found).items()
    )
    columns = ("matrix", "shape", "not zero", "of these constant", "not zero [%]")
    caption = "Printed: sizes of symbolic expressions, tables 1, 2 and 4."
    printed = ("printed, C++ [KB]", "printed, Mathematica [KB]")
    return Table("Structure of the matrices (tables 1 to 4)", (*columns, *printed), rows, caption)


def _count_table(counts: Mapping[str, Operations]) -> Table:
    reference_count = counts["extended_to_task"].total
    rows = tuple(
        (
            PRINTED_RESULTS[name].title,
            *(str(number) for number in count),
            str(count.total),
            f"{count.total / reference_count:.2f}",
            LINEAR_SYSTEMS[name],
        )
        for name, count in counts.items()
    )
    columns = ("additions", "multiplications", "divisions", "functions", "all")
    last_columns = ("per extended-to-task", "systems solved")
    caption = "At home and at rest, with the root already found."
    title = "Operations of one evaluation"
    return Table(title, ("formulation", *columns, *last_columns), rows, caption)


def _statements(found: Structures, counts: Mapping[str, Operations]) -> tuple[Statement, ...]:
    rows = _rows(found)
    fractions = {name: f"{100.0 * structure.share:.0f} %" for name, structure in rows.items()}
    totals = {name: count.total for name, count in counts.items()}
    operation_ratio = totals["configuration"] / totals["extended_to_task"]
    entry_ratios = [
        rows[f"{m}, configuration"].filled / rows[f"{m}, extended"].filled for m in "MC"
    ]
    angle_entries, length_entries = (
        rows[f"constraint Jacobian, {coordinate}"].filled for coordinate in ("angles", "lengths")
    )
    return (
        EXTENDED_SPACE_PAPER["sparse_matrices"].judged(
            f"Not zero: M {fractions['M, extended']} against {fractions['M, configuration']}, C "
            f"{fractions['C, extended']} against {fractions['C, configuration']} of the entries.",
            found.extended_mass.share < found.configuration_mass.share
            and found.extended_coriolis.share < found.configuration_coriolis.share,
        ),
        EXTENDED_SPACE_PAPER["sizes_differ"].judged(
            f"Entries other than zero: M {entry_ratios[0]:.1f} times, C {entry_ratios[1]:.1f} "
            f"times as many; operations per evaluation {operation_ratio:.1f} times as many in "
            "configuration space.",
            min(*entry_ratios, operation_ratio) >= 1e3,
            "a recursion over the bodies does not grow as expressions do; the printed sizes of M "
            "differ by 220 and 376 themselves, see the errata",
        ),
        EXTENDED_SPACE_PAPER["sizes_task_space"].judged(
            f"An evaluation takes {totals['task']} operations in the task space and "
            f"{totals['configuration']} in the configuration space; C is not formed.",
            totals["task"] > totals["configuration"],
            "a closed form of M in task coordinates repeats the inverse kinematics in every entry, "
            "a recursion over the bodies evaluates it once",
        ),
        EXTENDED_SPACE_PAPER["sizes_actuator_space"].judged(
            f"Of the Jacobian by the angles {angle_entries} of 144 entries are not zero, of that "
            f"by the lengths {length_entries} of 72; the ratio is "
            f"{angle_entries / length_entries:.2f}.",
            abs(angle_entries / length_entries - 27.0 / 15.0) < 0.05,
            "the paper compares lengths of expressions, and those of the entries differ",
        ),
    )


def stop_statement(stops: dict[str, IntegrationError]) -> Statement:
    """Return the statement about the end of the actuator spaces."""
    times = {PRINTED_RESULTS[name].title: error.data["time"] for name, error in stops.items()}
    times_text = ", ".join(f"{title} at {time:.5f} s" for title, time in times.items())
    last_times = [error.data["run"].time[-1] for error in stops.values()]
    as_printed = len(last_times) == 2 and bool(
        np.abs(np.array(last_times) - PRINTED_STOP).max() < 1e-9
    )
    return EXTENDED_SPACE_PAPER["end_of_actuator_spaces"].judged(
        f"They stop at the singular pose: {times_text}; the last of the paper's output times "
        f"before is {PRINTED_STOP} s.",
        as_printed,
    )


def branch_statement(platform: Platform, fall: FormulationRun) -> Statement:
    """Return the statement about configuration space behind the singular pose."""
    ranks = rigidity_ranks(tips_of(platform, fall.pose))
    variation = largest(ranks / ranks[0] - 1.0)
    passes_base = fall.pose[-1, 2] < 0.0
    branch_text = "goes on through the base" if passes_base else "turns back"
    return EXTENDED_SPACE_PAPER["configuration_space_branch"].judged(
        f"It {branch_text}.",
        not passes_base,
        "what loses rank at the singular pose is the constraint Jacobian of the passive angles, "
        "which this formulation does not invert. That of all joints keeps its rank as long as no "
        "leg lies along its first axis: it is a matter of the platform's shape. For twelve "
        "constraints as the paper's (nine distances, three of coplanarity) the ratio of extreme "
        f"singular values is {ranks.min():.3g}, the same all along to {variation:.0e}",
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
    tables = {
        "times_in_mathematica": {name: row.mathematica for name, row in PRINTED_RESULTS.items()},
        "times_compiled": {name: row.compiled for name, row in PRINTED_RESULTS.items()},
    }
    reason = (
        "the paper times how long symbolic expressions take to evaluate, largest for the Coriolis "
        "matrix of configuration space; here each term is a short recursion, and what costs is to "
        "track a root, in configuration space to solve with 18 and 12 unknowns"
    )
    orders = EXTENDED_SPACE_PAPER["times_in_mathematica"], EXTENDED_SPACE_PAPER["times_compiled"]
    return (
        EXTENDED_SPACE_PAPER["fastest_formulation"].judged(
            f"Run time per real time: {times_text}.", fastest_first[0] == "extended_to_task"
        ),
        *(
            order.judged(f"Per extended-to-task: {ratios}.", fastest_first == _order(table), reason)
            for order, table in zip(orders, tables.values(), strict=True)
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


def error_statements(
    runs: dict[str, FormulationRun], loose: dict[str, FormulationRun]
) -> Iterator[Statement]:
    """Yield the statements about table 7 and what the paper concludes from it.

    `loose` are the runs with a tolerance of 1e-7 per step.
    """
    error_ratio = float(runs["configuration"].e1.max() / runs["actuator"].e1.max())
    loose_ratio = float(loose["configuration"].e1.max() / loose["actuator"].e1.max())
    sentences = {
        "configuration": EXTENDED_SPACE_PAPER["errors_configuration"],
        "actuator": EXTENDED_SPACE_PAPER["errors_actuator"],
        "task": EXTENDED_SPACE_PAPER["errors_task"],
        "extended_to_task": EXTENDED_SPACE_PAPER["errors_extended_to_task"],
        "extended_to_actuator": EXTENDED_SPACE_PAPER["errors_extended_to_actuator"],
    }
    for name, fall in runs.items():
        errors, printed_errors = (
            _errors(fall),
            (*PRINTED_RESULTS[name].errors, PRINTED_RESULTS[name].energy),
        )
        resolution_text = ", ".join(f"{value:.0e}" for value in fall.resolution.max(axis=0))
        same_orders = all(
            _same_order(error, printed_error)
            for error, printed_error in zip(errors, printed_errors, strict=True)
        )
        yield sentences[name].judged(
            ERRORS_TEMPLATE.format(*errors)
            + f"; one rounding of the terms that cancel is {resolution_text}",
            same_orders,
            ERROR_REASONS[name],
        )
    yield EXTENDED_SPACE_PAPER["configuration_error_ratio"].judged(
        f"{error_ratio:.0f} times at a tolerance of 1e-13 per step, {loose_ratio:.0e} times at "
        "1e-7.",
        _same_order(error_ratio, 1e8),
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


ERROR_REASONS = {
    "configuration": "the fall is integrated to 1e-13 per step, which keeps the constraints by six "
    "orders better than printed; with 1e-7 per step e1 and e2 are of the printed order, see the "
    "table",
    "actuator": "e1, e2 and e3 are at rounding in both; the energy shows the integrator's "
    "tolerance, here tighter",
    "task": "e1, e2 and e3 are at rounding in both; the energy shows the integrator's tolerance, "
    "here tighter",
    "extended_to_task": "1e-21 m/s and 1e-20 m/s2 are below what double precision resolves of "
    "terms of this size: such values occur where both sides are the same expression",
    "extended_to_actuator": "e1, e2 and e3 are at rounding in both; the energy shows the "
    "integrator's tolerance, here tighter",
}
"""Reasons why an error differs from the printed order of magnitude, by formulation."""


def error_table(by_tolerance: dict[float, dict[str, FormulationRun]]) -> Table:
    """Return table 7 with the errors of runs with several tolerances per step."""
    rows = []
    for name, row in PRINTED_RESULTS.items():
        rows.append((row.title, "printed", *(f"{v:.0e}" for v in (*row.errors, row.energy))))
        for tolerance, runs in by_tolerance.items():
            error_texts = (f"{value:.0e}" for value in _errors(runs[name]))
            rows.append((row.title, f"{tolerance:.0e}", *error_texts))
    columns = ("formulation", "tolerance", "e1 [m]", "e2 [m/s]", "e3 [m/s2]", "energy [%]")
    return Table("Errors of the free fall (table 7)", columns, tuple(rows))


def _errors(fall: FormulationRun) -> tuple[float, float, float, float]:
    return (
        float(fall.e1.max()),
        float(fall.e2.max()),
        float(fall.e3.max()),
        largest(fall.energy_error),
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
        f"model's {falls[0].e1.max():.0e} m. e2, e3 and the energy keep its bounds too.",
        all(map(_consistent, falls)) and min(differences) > 1e-6,
    )


def _fall(machine: Platform) -> FormulationRun:
    options = {"relative_tolerance": 1e-13, "absolute_tolerance": 1e-13}
    return simulate_formulation(
        machine, "extended_to_task", WRONG_MODEL_TIME, OUTPUT_STEP, **options
    )


def _consistent(fall: FormulationRun) -> bool:
    """Return whether a fall keeps the bounds that the case sets for the true model."""
    bounds = np.array(ERROR_ROUNDINGS["extended_to_task"]) * fall.resolution.max(axis=0)
    errors = np.array([fall.e1.max(), fall.e2.max(), fall.e3.max()])
    return bool((errors <= bounds).all()) and largest(fall.energy_error) <= ENERGY_TOLERANCE


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
    content = platform.parameters.model_dump()
    content["platform"]["body"]["mass"] = mass
    machine = changed(platform, content)
    omega = 2.0 * np.pi * frequency
    phase = np.arange(24)[:, None] * (2.0 * np.pi / 24.0)
    pose = np.tile(machine.home, (24, 1))
    pose[:, :6] += np.sin(phase) * MOTION_AMPLITUDE
    twist, acceleration = (
        omega * np.cos(phase) * MOTION_AMPLITUDE,
        -(omega**2) * np.sin(phase) * MOTION_AMPLITUDE,
    )
    no_motion = np.zeros_like(twist)
    forces = machine.inverse_dynamics(pose, twist, acceleration)
    wrench: FloatArray = mass * acceleration
    platform_forces = np.linalg.solve(np.swapaxes(machine.jacobian(pose), 1, 2), wrench[..., None])[
        ..., 0
    ]
    leg_forces = forces - machine.inverse_dynamics(pose, no_motion, no_motion) - platform_forces
    return float(np.sqrt(np.mean(leg_forces**2) / np.mean(forces**2)))
