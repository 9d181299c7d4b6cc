"""Runs and matrices of the formulations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import null_space

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import IntegrationError
from twin.papers.formulations import Formulation, FormulationRun, formulation_names
from twin.papers.formulations.formulation import Operations, operations
from twin.papers.formulations.model import CoefficientMatrices, coriolis, extended_joints
from twin.validation.case import CaseResult, Measure, Panel, Plot, Statement, Table, validation_case
from twin.validation.measures.comparison import log_curve
from twin.validation.measures.sampling import largest, random_states, rotation_of
from twin.validation.published.printed import EXTENDED_SPACE_PAPER

STRUCTURE_STATES = 4
"""Number of random states at which the structure of the matrices is examined."""

ERROR_ROUNDINGS = {
    "configuration": (150.0, 150.0, 4.0),
    "actuator": (20.0, 4.0, 1000.0),
    "task": (4.0, 4.0, 4.0),
    "extended_to_task": (4.0, 4.0, 4.0),
    "extended_to_actuator": (20.0, 4.0, 1000.0),
}
"""Rounding errors of the largest terms that e1, e2 and e3 may contain: of integrated constraints,
of a root that is tracked, of a Jacobian that becomes singular at the end, alike in both actuator
spaces. Processors round differently: of five kinds, one left 235 in e3 of the actuator space of the
6-RSS machine, which ends at the singular pose."""

PRINTED_STOP = 0.48
"""[s] Time at which actuator-space simulations end; section 5.2, table 6."""

FALL_TIME = 1.0
"""[s] Duration of the fall."""

OUTPUT_STEP = 0.01
"""[s] Time between outputs: the paper has 100 equal steps."""

RUN_COUNT = 11
"""Number of runs of each formulation; their median counts."""

TIME_QUANTILES = {"fastest": 0.0, "lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75}
"""Quantiles of the run times in the table."""

ZERO_TOLERANCE = 1e-8
"""Largest entry, relative to the largest of the matrix, that counts as zero: differences of eq.
(15) leave as much."""

CONSTANT_TOLERANCE = 1e-8
"""Largest change of an entry over the states, relative to the largest of the matrix, that counts as
constant."""


class Structure(NamedTuple):
    """One matrix, evaluated at several states."""

    values: FloatArray
    """`(states, m, k)`"""

    @property
    def kinds(self) -> FloatArray:
        """0 where an entry is zero, 1 where it is constant, 2 where it varies `(m, k)`."""
        largest_entry = largest(self.values)
        nonzero = np.abs(self.values).max(axis=0) > ZERO_TOLERANCE * largest_entry
        varies = np.ptp(self.values, axis=0) > CONSTANT_TOLERANCE * largest_entry
        return np.asarray(nonzero.astype(float) + (nonzero & varies))

    @property
    def nonzero_count(self) -> int:
        """Number of entries other than zero."""
        return int(np.count_nonzero(self.kinds))

    @property
    def constant_count(self) -> int:
        """Number of entries that are constant and not zero."""
        return int((self.kinds == 1.0).sum())

    @property
    def share(self) -> float:
        """Fraction of entries other than zero."""
        return self.nonzero_count / self.kinds.size


class Structures(NamedTuple):
    """The matrices of tables 1, 2 and 4 and of figure 6, and forces, at several states."""

    matrices: dict[str, Structure]
    """name in the paper's table -> matrix"""
    closure: FloatArray
    """`(states, 12, 18)` Jacobian of the rigidity constraints by the joint coordinates"""
    rates: FloatArray
    """`(states, 24)` rates of the extended coordinates"""
    leg_forces: FloatArray
    """`(states, 18)` Coriolis and centrifugal forces of the legs by the formulations"""
    configuration_forces: FloatArray
    """`(states, 18)` Coriolis and centrifugal forces of the configuration space"""
    kinetic: FloatArray
    """`(states,)` kinetic energy [J] of the reference"""


def structures(platform: Platform) -> Structures:
    """Return the matrices at random states with closed loops."""
    functions = CoefficientMatrices(platform)
    states = random_states(platform, STRUCTURE_STATES, seed=23)

    def matrices_at(pose: FloatArray, twist: FloatArray) -> tuple[FloatArray, ...]:
        coordinates, rates = functions.coordinates(pose), extended_rates(platform, pose, twist)
        joints, joint_rates = coordinates[6:], rates[6:]
        return (
            functions.extended_mass(coordinates),
            coriolis(functions.extended_mass, coordinates, rates),
            functions.configuration_mass(joints),
            coriolis(functions.configuration_mass, joints, joint_rates),
            functions.closure(joints),
            rates,
            functions.leg_forces(joints, joint_rates),
            functions.configuration_forces(joints, joint_rates),
        )

    samples = zip(*map(matrices_at, states.pose, states.twist), strict=True)
    arrays = [np.stack(values) for values in samples]
    closure, rates, leg_forces, configuration_forces = arrays[4:]
    is_length = np.arange(18) % 3 == 2
    values = (*arrays[:4], closure[:, :, ~is_length], closure[:, :, is_length])
    matrices = dict(zip(EXPRESSION_SIZES, map(Structure, values), strict=True))
    kinetic = platform.energy(states.pose, states.twist)[0]
    return Structures(matrices, closure, rates, leg_forces, configuration_forces, kinetic)


def extended_rates(platform: Platform, pose: FloatArray, twist: FloatArray) -> FloatArray:
    """Return the rates `(24,)` of position, Rodrigues parameters and joint coordinates."""
    parameters, omega = pose[4:] / pose[3], twist[3:]
    rodrigues_rate = omega + np.cross(omega, parameters) + parameters * (parameters @ omega)
    joints = extended_joints(platform, platform.leg_coordinates(pose, twist).rates)
    return np.concatenate([twist[:3], 0.5 * rodrigues_rate, joints.ravel()])


class Printed(NamedTuple):
    """Printed values of one formulation's free fall."""

    title: str
    real_time: float
    """[s] simulated, table 6"""
    mathematica: float
    """simulation time per real time, table 5"""
    compiled: float
    """simulation time per real time in C++, table 6"""
    errors: tuple[float, float, float]
    """orders of e1 [m], e2 [m/s], e3 [m/s2], table 7"""
    energy: float
    """order of the energy error [percent], table 7"""


PRINTED_RESULTS = {
    "configuration": Printed("configuration", 1.0, 0.705, 0.794, (1e-7, 1e-6, 1e-4), 1e-8),
    "actuator": Printed("actuator", 0.48, 0.717, 1.619, (1e-15, 1e-15, 1e-13), 1e-7),
    "task": Printed("task", 1.0, 0.469, 0.721, (1e-15, 1e-14, 1e-13), 1e-6),
    "extended_to_task": Printed("extended-to-task", 1.0, 0.289, 0.042, (1e-16, 1e-21, 1e-20), 1e-8),
    "extended_to_actuator": Printed(
        "extended-to-actuator", 0.48, 0.423, 0.143, (1e-16, 1e-15, 1e-13), 1e-7
    ),
}
"""Printed results by the name that the formulation has in this project."""


Runs = dict[str, FormulationRun]
"""Falls by formulation."""

Stops = dict[str, IntegrationError]
"""Errors of the formulations that stop."""


def falls(platform: Platform, duration: float = FALL_TIME, **options: Any) -> tuple[Runs, Stops]:
    """Return the fall by each formulation as far as it goes, and the errors of those that stop.

    `options` are those of `Formulation.integrate`.
    """
    runs, stops = {}, {}
    for name in formulation_names():
        try:
            runs[name] = Formulation(platform, name).integrate(duration, OUTPUT_STEP, **options)
        except IntegrationError as error:
            runs[name], stops[name] = error.data["run"], error
    return runs, stops


def stop_measure(stops: Stops) -> Measure:
    """Return how many formulations stop at the singular pose and should not, or pass it."""
    return Measure(
        "formulations that pass the singular pose and should stop, or the other way round",
        len({"actuator", "extended_to_actuator"} ^ set(stops)),
        0.0,
        "the two actuator spaces have to stop, the three others have to pass",
    )


def error_measures(
    name: str, fall: FormulationRun, energy: float, reason: str
) -> Iterator[Measure]:
    """Yield e1, e2, e3, and the energy error against a bound [percent] with its reason."""
    title, resolution = PRINTED_RESULTS[name].title, fall.resolution.max(axis=0)
    *errors, energy_error = fall.largest_errors
    for k, (error, unit) in enumerate(zip(errors, ("m", "m/s", "m/s2"), strict=True)):
        roundings = ERROR_ROUNDINGS[name][k]
        yield Measure(
            f"{title}: e{k + 1}",
            error,
            roundings * float(resolution[k]),
            f"{roundings:g} roundings of the terms that cancel, {resolution[k]:.1e}",
            unit,
        )
    yield Measure(f"{title}: energy error", energy_error, energy, reason, "%")


def error_plot(title: str, runs: Runs, caption: str = "") -> Plot:
    """Return the errors of all formulations over time."""
    panels = []
    for label, field in (
        ("e1 [m]", "e1"),
        ("e2 [m/s]", "e2"),
        ("e3 [m/s2]", "e3"),
        ("energy error [%]", "energy_error"),
    ):
        curves = (
            log_curve(PRINTED_RESULTS[name].title, fall.time[1:], np.abs(getattr(fall, field))[1:])
            for name, fall in runs.items()
        )
        panels.append(Panel(label, *curves, log_y=True))
    return Plot(title, "time [s]", *panels, caption=caption)


def run_times(platform: Platform) -> dict[str, FloatArray]:
    """Return processor seconds per simulated second `(RUNS,)`, for runs as long as the paper's.

    The formulations run in turn, so that a busy moment of the computer affects all of them.
    """
    names = formulation_names()
    formulations = {name: Formulation(platform, name) for name in names}
    times = {name: np.empty(RUN_COUNT) for name in names}
    for index in range(RUN_COUNT):
        for name in names:
            start_time = thread_time()
            formulations[name].integrate(PRINTED_RESULTS[name].real_time, OUTPUT_STEP)
            times[name][index] = (thread_time() - start_time) / PRINTED_RESULTS[name].real_time
    return times


def rigidity_ratios(tips: FloatArray) -> FloatArray:
    """Return the ratios `(k,)` of smallest to largest singular value of twelve constraints.

    The constraints hold the tips `(k, 6, 3)` together as one rigid body: nine distances and three
    triple products (coplanarity) stay the same.
    """
    pairs = [(i, (i + 1) % 6) for i in range(6)] + [(0, 2), (2, 4), (4, 0)]
    ratios = []
    for points in tips:
        jacobian = np.zeros((12, 6, 3))
        for row, (i, j) in enumerate(pairs):
            side = points[j] - points[i]
            jacobian[row, i], jacobian[row, j] = -side, side
        corner, first_edge, second_edge = points[0], points[2] - points[0], points[4] - points[0]
        for row, m in enumerate((1, 3, 5), start=9):
            arm = points[m] - corner
            gradients = (
                np.cross(first_edge, second_edge),
                np.cross(second_edge, arm),
                np.cross(arm, first_edge),
            )
            jacobian[row, m], jacobian[row, 2], jacobian[row, 4] = gradients
            jacobian[row, 0] = -sum(gradients)
        values = np.linalg.svd(jacobian.reshape(12, 18), compute_uv=False)
        ratios.append(values[-1] / values[0])
    return np.array(ratios)


def tips_of(platform: Platform, pose: FloatArray) -> FloatArray:
    """Return the tips of the legs `(k, 6, 3)` [m] at poses `(k, 7)`."""
    arms = np.einsum("kab,ib->kia", rotation_of(pose).as_matrix(), platform.platform_joints)
    return np.asarray(pose[:, None, :3] + arms)


def time_table(times: Mapping[str, FloatArray]) -> Table:
    """Return tables 5 and 6 with our times."""
    reference_time = float(np.median(times["extended_to_task"]))
    columns = ("table 5, Mathematica", "table 6, C++", *TIME_QUANTILES, "per extended-to-task")
    return Table(
        "Run times per real time",
        ("formulation", *columns),
        tuple(
            (
                PRINTED_RESULTS[name].title,
                f"{PRINTED_RESULTS[name].mathematica:g}",
                f"{PRINTED_RESULTS[name].compiled:g}",
                *(f"{np.quantile(values, quantile):.4f}" for quantile in TIME_QUANTILES.values()),
                f"{np.median(values) / reference_time:.2f}",
            )
            for name, values in times.items()
        ),
        "Seconds per simulated second, of one processor, here and now.",
    )


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


def _measures(terms: Structures, counts: Mapping[str, Operations]) -> Iterator[Measure]:
    matrices, rates, kinetic = terms.matrices, terms.rates, terms.kinetic
    # The first six of the extended rates are those of the platform, the others those of the joints.
    for name, mass, coordinate_rates in (
        ("extended", matrices["M, extended"], rates),
        ("configuration", matrices["M, configuration"], rates[:, 6:]),
    ):
        energy = 0.5 * np.einsum("ki,kij,kj->k", coordinate_rates, mass.values, coordinate_rates)
        yield Measure(
            f"{name}: kinetic energy of M against the reference",
            largest(energy - kinetic) / largest(kinetic),
            1e-12,
            "two derivations; rounding",
        )
    # The first six extended coordinates are the platform's, the other 18 those of the legs.
    leg_coriolis = matrices["C, extended"].values[:, 6:, 6:]
    force_error = np.einsum("kij,kj->ki", leg_coriolis, rates[:, 6:]) - terms.leg_forces
    yield Measure(
        "extended: C by eq. (15) times the rates, against the formulations' forces of the legs",
        largest(force_error) / largest(terms.leg_forces),
        DIFFERENCE_TOLERANCE,
        "central differences of M",
    )
    coriolis = matrices["C, configuration"].values
    force_error = np.einsum("kij,kj->ki", coriolis, rates[:, 6:]) - terms.configuration_forces
    yield Measure(
        "configuration: C times the rates against the formulation's forces, along motions that the "
        "constraints allow",
        max(
            largest(motion.T @ error)
            for motion, error in zip(map(null_space, terms.closure), force_error, strict=True)
        )
        / largest(terms.configuration_forces),
        DIFFERENCE_TOLERANCE,
        "central differences of M; across them the two differ by forces of the constraints",
    )
    yield Measure(
        "rates that open the constraints of the configuration space",
        largest(np.einsum("kij,kj->ki", terms.closure, rates[:, 6:])),
        1e-12,
        "the states close all loops; rounding",
        "m/s",
    )
    # Position, Rodrigues parameters (a full 3 x 3 block), and three principal entries of each leg.
    expected_entries = 3 + 9 + 6 * 3
    yield Measure(
        "extended: entries of M beside mass, attitude and the legs' principal moments",
        abs(matrices["M, extended"].nonzero_count - expected_entries),
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


def _matrix_table(terms: Structures) -> Table:
    rows = tuple(
        (
            name,
            " x ".join(str(size) for size in structure.kinds.shape),
            str(structure.nonzero_count),
            str(structure.constant_count),
            f"{100.0 * structure.share:.1f}",
            *EXPRESSION_SIZES[name],
        )
        for name, structure in terms.matrices.items()
    )
    columns = ("matrix", "shape", "not zero", "of these constant", "not zero [%]")
    printed = ("printed, C++ [KB]", "printed, Mathematica [KB]")
    return Table(
        "Structure of the matrices (tables 1 to 4)",
        (*columns, *printed),
        rows,
        "Printed: sizes of symbolic expressions, tables 1, 2 and 4.",
    )


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
    return Table(
        "Operations of one evaluation",
        ("formulation", *columns, *last_columns),
        rows,
        "At home and at rest, with the root already found.",
    )


def _statements(terms: Structures, counts: Mapping[str, Operations]) -> tuple[Statement, ...]:
    rows = terms.matrices
    fractions = {name: f"{100.0 * structure.share:.0f} %" for name, structure in rows.items()}
    totals = {name: count.total for name, count in counts.items()}
    operation_ratio = totals["configuration"] / totals["extended_to_task"]
    entry_ratios = [
        rows[f"{m}, configuration"].nonzero_count / rows[f"{m}, extended"].nonzero_count
        for m in "MC"
    ]
    angle_entries, length_entries = (
        rows[f"constraint Jacobian, {coordinate}"].nonzero_count
        for coordinate in ("angles", "lengths")
    )
    return (
        EXTENDED_SPACE_PAPER["sparse_matrices"].judged(
            f"Not zero: M {fractions['M, extended']} against {fractions['M, configuration']}, C "
            f"{fractions['C, extended']} against {fractions['C, configuration']} of the entries.",
            all(rows[f"{m}, extended"].share < rows[f"{m}, configuration"].share for m in "MC"),
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
