"""Free falls by the five formulations, their run times, and the rank of rigidity constraints.

Published simulation output.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import thread_time
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import IntegrationError
from twin.model.integrate import Solution, integrate
from twin.papers.formulations import (
    Formulation,
    FormulationRun,
    formulation_names,
    simulate_formulation,
)
from twin.papers.formulations.model import CoefficientMatrices, coriolis, extended_joints
from twin.rotations import angles_from_quaternion, pose_from_angles
from twin.validation.case import validation_case
from twin.validation.measures.sampling import largest, random_states
from twin.validation.published.printed import (
    EXTENDED_SPACE_PAPER,
    LEVEL_FALL,
    SIGNIFICANT_DIGITS,
    TILTED_END_TASK_SPACE,
    TILTED_FALL,
    TILTED_START,
)
from twin.validation.results import CaseResult, Curve, Measure, Panel, Plot, Statement, Table

DIGIT_TOLERANCE = 1.0
"""Largest error in units of the last printed digit."""

TOLERANCE_REASON = (
    "half a unit for the printing, half a unit for the published integration (tolerance 1e-6); a "
    "wrong mass or length shows from the first rows on by hundreds of units"
)


@validation_case(
    machines=("srspm",),
    because="the programs were published for the paper's benchmark machine, srspm",
)
def check_published_runs(platform: Platform) -> CaseResult:
    """Published simulation output.

    Output files of the published C++ programs are compared with the reference. The actuator-space
    program gives leg lengths of the fall from home up to the singular pose. The
    extended-to-task-space program gives the whole pose of a fall from a tilted start over 1 s.
    Differences are in units of the last printed digit.
    """
    # The first column of both tables is the time [s].
    level, tilted = np.array(LEVEL_FALL), np.array(TILTED_FALL)
    lengths = platform.inverse_kinematics(integrate(platform, 0.5)(level[:, 0])[0])
    initial = pose_from_angles(TILTED_START[:3], TILTED_START[3:], "rodrigues")
    fall = integrate(platform, 1.0, pose=initial)
    poses = rodrigues_from_pose(fall(tilted[:, 0])[0])
    task_space_end = np.array(TILTED_END_TASK_SPACE)
    difference = largest(task_space_end - tilted[-1, 1:])
    end_error = largest(poses[-1] - tilted[-1, 1:])
    # Column 0 of both tables is the time.
    level_errors = digits_off(lengths, level[:, 1:])
    tilted_errors = digits_off(poses, tilted[:, 1:])
    measures = (
        Measure(
            f"leg lengths of the fall from home, {len(level)} times up to {level[-1, 0]:g} s",
            level_errors.max(),
            DIGIT_TOLERANCE,
            TOLERANCE_REASON,
            unit="digits",
        ),
        Measure(
            f"pose of the tilted fall, {len(tilted)} times up to {tilted[-1, 0]:g} s",
            tilted_errors.max(),
            DIGIT_TOLERANCE,
            TOLERANCE_REASON,
            unit="digits",
        ),
    )
    statements = (
        Statement.judged(
            f"{EXTENDED_SPACE_PAPER}, output of the actuator-space program",
            "Leg lengths at 0.48 s: " + ", ".join(f"{value:.6g}" for value in level[-1, 1:]),
            ", ".join(f"{value:.6g}" for value in lengths[-1]),
            bool(level_errors.max() <= DIGIT_TOLERANCE),
        ),
        Statement.judged(
            f"{EXTENDED_SPACE_PAPER}, output of the extended-to-task-space program",
            "Tilted fall at 1 s: " + ", ".join(f"{value:.6g}" for value in tilted[-1, 1:]),
            ", ".join(f"{value:.6g}" for value in poses[-1]),
            bool(tilted_errors.max() <= DIGIT_TOLERANCE),
        ),
        Statement.judged(
            f"{EXTENDED_SPACE_PAPER}, output of the task-space program",
            "Tilted fall at 1 s: " + ", ".join(f"{value:.6g}" for value in task_space_end),
            ", ".join(f"{value:.6g}" for value in poses[-1]),
            bool(digits_off(poses[-1], task_space_end).max() <= DIGIT_TOLERANCE),
            f"the two published programs end {difference:.1e} apart; the reference is "
            f"{end_error:.1e} from the extended-to-task-space one",
            "differs",
        ),
    )
    return check_published_runs.result(
        platform, measures, (_plot(fall, tilted, tilted_errors),), statements
    )


def rodrigues_from_pose(pose: FloatArray) -> FloatArray:
    """Return positions and Rodrigues parameters `(..., 6)`; see `TILTED_START`."""
    return np.concatenate(
        [pose[..., :3], angles_from_quaternion(pose[..., 3:], "rodrigues")], axis=-1
    )


def digits_off(value: FloatArray, printed: FloatArray) -> FloatArray:
    """Return differences in units of the last of the printed significant digits."""
    digit_unit = 10.0 ** (np.floor(np.log10(np.abs(printed))) - SIGNIFICANT_DIGITS + 1)
    return np.asarray(np.abs(value - printed) / digit_unit)


def _plot(fall: Solution, printed: FloatArray, off: FloatArray) -> Plot:
    time = np.linspace(0.0, 1.0, 401)
    reference = rodrigues_from_pose(fall(time)[0])
    panels = []
    for label, names, first_column in (
        ("position [m]", ("x", "y", "z"), 0),
        ("Rodrigues parameter", ("c1", "c2", "c3"), 3),
    ):
        curves = [
            Curve(f"{n} reference", time, reference[:, first_column + i])
            for i, n in enumerate(names)
        ]
        curves += [
            Curve(f"{n} published", printed[:, 0], printed[:, 1 + first_column + i], "markers")
            for i, n in enumerate(names)
        ]
        panels.append(Panel(label, *curves))
    error_curve = Curve("largest difference", printed[:, 0], off.max(axis=1), "line+markers")
    panels.append(Panel("units of the last digit", error_curve))
    return Plot("Tilted fall: reference and published output", "time [s]", *panels)


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
        largest_entry = np.abs(self.values).max()
        nonzero = np.abs(self.values).max(axis=0) > ZERO_TOLERANCE * largest_entry
        varies = np.ptp(self.values, axis=0) > CONSTANT_TOLERANCE * largest_entry
        return np.asarray(nonzero.astype(float) + (nonzero & varies))

    @property
    def filled(self) -> int:
        """Number of entries other than zero."""
        return int(np.count_nonzero(self.kinds))

    @property
    def constant(self) -> int:
        """Number of entries that are constant and not zero."""
        return int((self.kinds == 1.0).sum())

    @property
    def share(self) -> float:
        """Fraction of entries other than zero."""
        return self.filled / self.kinds.size


class Structures(NamedTuple):
    """The matrices of tables 1, 2 and 4 and of figure 6, at several states."""

    extended_mass: Structure
    extended_coriolis: Structure
    configuration_mass: Structure
    configuration_coriolis: Structure
    closure: Structure
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
    matrices = CoefficientMatrices(platform)
    states = random_states(platform, STRUCTURE_STATES, seed=23)

    def at(pose: FloatArray, twist: FloatArray) -> tuple[FloatArray, ...]:
        coordinates = matrices.coordinates(pose)
        rates = extended_rates(platform, pose, twist)
        joints, joint_rates = coordinates[6:], rates[6:]
        return (
            matrices.extended_mass(coordinates),
            coriolis(matrices.extended_mass, coordinates, rates),
            matrices.configuration_mass(joints),
            coriolis(matrices.configuration_mass, joints, joint_rates),
            matrices.closure(joints),
            rates,
            matrices.leg_forces(joints, joint_rates),
            matrices.configuration_forces(joints, joint_rates),
        )

    samples = zip(*map(at, states.pose, states.twist), strict=True)
    arrays = [np.stack(values) for values in samples]
    kinetic = platform.energy(states.pose, states.twist)[0]
    mass, coriolis_matrix, joint_mass, joint_coriolis, closure = map(Structure, arrays[:5])
    rates, leg_forces, joint_forces = arrays[5:]
    return Structures(
        mass,
        coriolis_matrix,
        joint_mass,
        joint_coriolis,
        closure,
        rates,
        leg_forces,
        joint_forces,
        kinetic,
    )


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


def falls(
    platform: Platform, tolerance: float = 1e-13
) -> tuple[dict[str, FormulationRun], dict[str, IntegrationError]]:
    """Return the fall by each formulation as far as it goes, and the errors of those that stop.

    `tolerance` is relative and absolute, per step.
    """
    options = {"relative_tolerance": tolerance, "absolute_tolerance": tolerance}
    runs, stops = {}, {}
    for name in formulation_names():
        try:
            runs[name] = simulate_formulation(platform, name, FALL_TIME, OUTPUT_STEP, **options)
        except IntegrationError as error:
            runs[name], stops[name] = error.data["run"], error
    return runs, stops


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


def rigidity_ranks(tips: FloatArray) -> FloatArray:
    """Return the ratios of smallest to largest singular value of twelve rigidity constraints.

    The rows are nine distances and three triple products (coplanarity) of the tips `(k, 6, 3)`,
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
    from scipy.spatial.transform import Rotation

    # SciPy expects the scalar part last; a pose has it first, in column 3.
    rotations = Rotation.from_quat(pose[:, [4, 5, 6, 3]]).as_matrix()
    return np.asarray(
        pose[:, None, :3] + np.einsum("kab,ib->kia", rotations, platform.platform_joints)
    )


def box_plot(times: Mapping[str, FloatArray]) -> Plot:
    """Return figure 10: the quartiles of the run times, one place of the x axis per formulation."""
    positions = np.arange(1.0, len(times) + 1.0)
    curves = [
        Curve(
            name,
            positions,
            np.array([np.quantile(values, quantile) for values in times.values()]),
            "markers",
        )
        for name, quantile in TIME_QUANTILES.items()
    ]
    printed = np.array([PRINTED_RESULTS[name].compiled for name in times])
    panel = Panel(
        "run time per real time",
        *curves,
        Curve("printed, C++", positions, printed, "markers"),
        log_y=True,
    )
    names = [PRINTED_RESULTS[name].title for name in times]
    title = "Run times of the formulations (figure 10)"
    return Plot(title, "formulation", panel, names=names)


def time_table(times: Mapping[str, FloatArray]) -> Table:
    """Return tables 5 and 6 with our times."""
    reference_time = float(np.median(times["extended_to_task"]))
    rows = tuple(
        (
            PRINTED_RESULTS[name].title,
            f"{PRINTED_RESULTS[name].mathematica:g}",
            f"{PRINTED_RESULTS[name].compiled:g}",
            *(f"{np.quantile(values, quantile):.4f}" for quantile in TIME_QUANTILES.values()),
            f"{np.median(values) / reference_time:.2f}",
        )
        for name, values in times.items()
    )
    columns = ("table 5, Mathematica", "table 6, C++", *TIME_QUANTILES, "per extended-to-task")
    caption = "Seconds per simulated second, of one processor, here and now."
    return Table("Run times per real time", ("formulation", *columns), rows, caption)
