"""Matrices of the formulations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.linalg import null_space

from twin.analysis.platform import Platform
from twin.papers.formulations import Formulation, formulation_names
from twin.papers.formulations.formulation import Operations, operations
from twin.validation.case import validation_case
from twin.validation.cases.formulations.runs import (
    PRINTED_RESULTS,
    Structure,
    Structures,
    structures,
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
